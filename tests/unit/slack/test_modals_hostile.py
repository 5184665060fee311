"""Forms, tabs and answers over whatever comes from outside: Slack takes them, nothing is markup."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.actions.silence import scopes
from tailhound.durable.switch import Moved, Stopped
from tailhound.model import Alert, AlertStatus, Incident, Missing, OnIt, Reason, Silenced
from tailhound.model.people import Rating
from tailhound.slack import command_texts, commands
from tailhound.slack.app_home import home_view
from tailhound.slack.commands import Standing
from tailhound.slack.deeds import Begun, Open, Overview, Part
from tailhound.slack.local.forms import preset
from tailhound.slack.modals import feedback, sheet, silence
from tailhound.slack.modals.sheet import Note
from tailhound.slack.validate import too_large, view_faults
from tailhound.store.history import Month, Past
from tests.samples.anything import NASTY
from tests.samples.hostile import HOSTILE, hostile
from tests.samples.incidents import CONFIRMED
from tests.samples.story import NOW, at

QUICK = settings(max_examples=40, deadline=None, derandomize=True, database=None)
WILD = st.text(max_size=90) | st.sampled_from([*(text[:2_000] for text in NASTY), HOSTILE])
MARKUP = re.compile(r"<(?:[!@#]|https?:|mailto:)")
NOTE = Note(incident="8R5W", channel="C0ALERTS", thread="1700000000.000100")


@st.composite
def alerts(draw: st.DrawFn) -> Alert:
    names = st.sampled_from(["namespace", "deployment", "cluster", "pod", "severity"]) | WILD
    labels = draw(st.dictionaries(names, WILD, max_size=6))
    name = draw(WILD)
    return Alert(
        fingerprint=draw(st.text(max_size=5)),
        name=name,
        labels={**labels, "alertname": name},
        annotations={},
        status=AlertStatus.FIRING,
        starts_at=at(0),
    )


@st.composite
def incidents(draw: st.DrawFn) -> Incident:
    found = tuple(draw(st.lists(alerts(), min_size=1, max_size=6)))
    subject = replace(CONFIRMED.subject, namespace=draw(WILD), workload=draw(WILD))
    id, trouble = draw(WILD), draw(st.just("") | WILD)
    silenced = Silenced(id=id, by=draw(WILD), until=at(300), alerts=3, trouble=trouble)
    held = tuple(silenced for _ in range(draw(st.integers(0, 15))))
    taken = OnIt(by=draw(WILD), since=at(1))
    return replace(CONFIRMED, alerts=found, subject=subject, silences=held, on_it=taken)


def mrkdwn(view: Any) -> Iterator[str]:
    """Every text that Slack reads as mrkdwn."""
    if isinstance(view, dict):
        if view.get("type") == "mrkdwn":
            yield str(view["text"])
        for inner in view.values():
            yield from mrkdwn(inner)
    elif isinstance(view, list | tuple):
        for inner in view:
            yield from mrkdwn(inner)


def harmless(view: dict[str, Any]) -> None:
    assert view_faults(view) == []
    assert not too_large(view)
    for text in mrkdwn(view):
        assert MARKUP.search(text) is None, text


@QUICK
@given(incidents(), st.sampled_from(["these", "names", "all", "", "x"]), st.booleans(), WILD)
def test_the_silence_form_is_always_one(
    incident: Incident, scope: str, knows: bool, why: str
) -> None:
    choice = silence.Choice.of(incident, scope, "8")
    assert choice is not None
    firing = incident.alerts if knows else Missing(Reason.TIMEOUT, why)
    known = silence.Known(firing=firing, past=Past(alerts=3, real=(why,) * 9) if knows else None)
    view = silence.preview(choice, known, NOTE, NOW, changed=True)
    harmless(view)
    note = sheet.note_in(view["private_metadata"])
    assert note is not None
    assert silence.Seen.of(note.seen) is not None
    assert ("Mutes now" in str(view)) is knows


@QUICK
@given(incidents(), WILD)
def test_what_is_set_is_what_was_shown_whatever_the_labels_are(
    incident: Incident, typed: str
) -> None:
    choice = silence.Choice.of(incident)
    assert choice is not None
    known = silence.Known(firing=incident.alerts)
    view = silence.preview(choice, known, NOTE, NOW)
    state = preset(view)
    state["silence_why"]["silence_why"]["selected_option"] = {"value": "Other"}
    state["note"]["note"]["value"] = typed
    if "silence_pages" in state:
        state["silence_pages"]["silence_pages"]["selected_options"] = [{"value": "yes"}]
    note = sheet.note_in(view["private_metadata"])
    assert note is not None
    form = {**view, "state": {"values": state}}
    assert not silence.is_stale(form, choice, note, known, NOW)
    wished = silence.wish(form, choice, note, known)
    assert not isinstance(wished, dict)
    assert wished.matchers == scopes(incident)[0].matchers
    assert wished.alerts == len(incident.alerts)
    assert len(wished.why) <= 500
    assert wished.why.isprintable() or "\u00a0" in wished.why


@QUICK
@given(incidents())
def test_the_feedback_form_is_always_one(incident: Incident) -> None:
    harmless(feedback.form(incident, (), NOTE))


@QUICK
@given(WILD)
def test_the_cause_of_a_hostile_diagnosis_is_no_runbook(typed: str) -> None:
    state = {"rating": {"rating": {"selected_option": {"value": "wrong"}}},
             "cause": {"cause": {"selected_option": {"value": typed}}}}  # fmt: skip
    said = feedback.word({"state": {"values": state}}, hostile(), ())
    assert isinstance(said, dict) is (typed != feedback.NOT_IN_LIST)
    if not isinstance(said, dict):
        assert (said.rating, said.cause) == (Rating.WRONG, "")


@QUICK
@given(st.lists(incidents(), max_size=3), WILD, WILD)
def test_the_home_tab_is_always_one(found: list[Incident], name: str, why: str) -> None:
    overview = Overview(
        open=Open(tuple(found) * 12, 12 * len(found)),
        last=None,
        month=Month(incidents=3),
        parts=(Part(name, why, False),) * 30,
        stopped=Stopped(by=name, at=NOW, why=why),
    )
    harmless(home_view(overview, mode="observe", page="https://x.example", now=NOW))


@QUICK
@given(st.lists(incidents(), max_size=3), WILD, WILD)
def test_answers_of_commands_are_short_and_without_markup(
    found: list[Incident], name: str, why: str
) -> None:
    stopped = Stopped(by=name, at=NOW, why=why)
    parts = (Part(name, why, None),) * 30
    listed = Open(tuple(found) * 12, 300)
    standing = Standing(open=listed, parts=parts, mode=name, stopped=stopped, page=why)
    labels = {"namespace": name, "deployment": why}
    said = [
        commands.status_text(standing, NOW),
        commands.unknown_text(name),
        command_texts.begun_text(Begun(incident="", why_not=why), labels, "C1"),
        command_texts.begun_text(
            Begun(incident="7F3K", joined=True, channels=("C1",)), labels, "C1"
        ),
        command_texts.stopped_text(stopped, is_new=True, now=NOW),
        command_texts.resumed_text(Moved(before=stopped, now=None), name, NOW),
        command_texts.known_text(Moved(before=stopped, now=stopped, known=True), NOW),
        command_texts.runbooks_text((), [name]),
        *([command_texts.ran_text(found[0], labels)] if found else []),
    ]
    for text in said:
        assert MARKUP.search(text) is None, text
        assert len(text) <= 12_000


@QUICK
@given(st.lists(WILD, max_size=4))
def test_whatever_is_typed_is_labels_or_a_hint(words: list[str]) -> None:
    found = command_texts.subject_labels(words)
    if isinstance(found, str):
        assert MARKUP.search(found) is None
    else:
        assert "alertname" not in found
        assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,253}", value) for value in found.values())


@QUICK
@given(st.text(max_size=200) | st.sampled_from(["{", "[]", "null", "7"]))
def test_any_note_is_ours_or_none(text: str) -> None:
    assert sheet.note_in(text) is None
    assert silence.Seen.of(text) is None


def test_a_note_comes_back_as_it_was() -> None:
    assert sheet.note_in(NOTE.text()) == NOTE


@pytest.mark.parametrize("view", [{}, {"state": None}, {"state": {"values": []}},
                                  {"state": {"values": {"note": {"note": 7}}}}])  # fmt: skip
def test_a_state_that_is_none_holds_nothing(view: dict[str, Any]) -> None:
    assert sheet.chosen(view, "note") == ""
    assert not sheet.ticked(view, "note")
