"""Whatever people do with an incident, its message keeps what was measured."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from tailhound.model import (
    Feedback,
    Incident,
    OnIt,
    Rating,
    Recheck,
    Silenced,
    State,
    telling,
)
from tailhound.slack.blocks import lines, message
from tailhound.slack.limits import PHONE_LINES
from tests.samples.incidents import STATES
from tests.samples.mocked import MOCKED
from tests.samples.story import NOW, at

PAGE = "https://tailhound.example/incidents/8R5W"
EVERY: Mapping[str, Incident] = {
    **STATES,
    **{f"mocked {name}": incident for name, (incident, _) in MOCKED.items()},
}


def _taken(incident: Incident) -> Incident:
    return replace(incident, on_it=OnIt(by="a person of a long name", since=at(3)))


def _silenced(incident: Incident) -> Incident:
    held = Silenced(id="s1", by="ana", until=NOW + timedelta(hours=2), alerts=3)
    return replace(incident, silences=(*incident.silences, held))


def _said(rating: Rating) -> Callable[[Incident], Incident]:
    def said(incident: Incident) -> Incident:
        note = "the drain came first, as the events of the node say; I saw it on the dashboard"
        word = Feedback(rating=rating, cause="", note=note, by="ana", at=at(9))
        return replace(incident, feedback=(*incident.feedback, word))

    return said


def _checking(incident: Incident) -> Incident:
    if not incident.verdict_stands or incident.state is not State.DIAGNOSED:
        return incident
    asked = Recheck(n=incident.n + 1, since=at(16), by="a person of a long name")
    return replace(incident, state=State.INVESTIGATING, recheck=asked)


def _checked(incident: Incident) -> Incident:
    if not incident.verdict_stands or incident.state is not State.DIAGNOSED:
        return incident
    done = Recheck(n=incident.n, since=at(16), by="ana", ended_at=at(17), same=True)
    return replace(incident, recheck=done)


DEEDS: Mapping[str, Callable[[Incident], Incident]] = {
    "I'm on it": _taken,
    "Silence": _silenced,
    "right": _said(Rating.RIGHT),
    "wrong": _said(Rating.WRONG),
    "Re-check": _checking,
    "Re-check that ended": _checked,
}


def facts(incident: Incident) -> list[str]:
    """The lines of what was measured: without that somebody disputes it, or looks again."""
    made = message(incident, page_url=PAGE, now=NOW)
    told = {block["block_id"][0]: block["text"]["text"] for block in made.blocks if "text" in block}
    text = "\n".join(told.get(slot, "") for slot in "SWE")
    for doubt in ("* (a person disputes it).", "; a person disputes it"):
        text = text.replace(doubt, ".*" if doubt.startswith("*") else "")
    return [line for line in text.splitlines() if not line.lstrip("*").startswith("Check")]


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("name", EVERY)
def test_what_a_person_does_removes_no_measured_fact(name: str, deed: str) -> None:
    before = EVERY[name]
    after = facts(DEEDS[deed](before))
    assert [line for line in facts(before) if line not in after] == []


@pytest.mark.parametrize("name", EVERY)
def test_all_of_it_together_still_fits_on_a_phone(name: str) -> None:
    incident = EVERY[name]
    for deed in DEEDS.values():
        incident = deed(incident)
    made = message(incident, page_url=PAGE, now=NOW)
    height = sum(lines(one["text"]["text"]) for one in made.blocks if one["block_id"][0] in "HSWD")
    row = [one["elements"] for one in made.blocks if one["block_id"][0] == "A"]
    assert height + sum(map(len, row)) <= PHONE_LINES


@pytest.mark.parametrize("name", [*(f"{name}, {deed}" for name in EVERY for deed in DEEDS), *EVERY])
def test_what_people_do_never_takes_away_what_to_do_first(name: str) -> None:
    of, _, deed = name.partition(", ")
    incident = EVERY[of]
    first = _first_to_do(incident)
    for done in [DEEDS[deed]] if deed else DEEDS.values():
        incident = done(incident)
    assert _first_to_do(incident) == first


def _first_to_do(incident: Incident) -> str:
    made = message(incident, page_url=PAGE, now=NOW)
    told = {block["block_id"][0]: block["text"]["text"] for block in made.blocks if "text" in block}
    lines_ = told.get("D", "").splitlines()
    return next((line[:24] for line in lines_ if line.startswith("1. ")), "")


def test_who_is_on_it_is_told_once() -> None:
    made = message(_taken(STATES["confirmed"]), page_url=PAGE, now=NOW)
    assert str(made.blocks).count("is on it") == 1


@pytest.mark.parametrize(("state", "is_told"), [("unknown", True), ("confirmed", False)])
def test_a_resolved_message_with_neither_symptom_nor_cause_says_what_was_measured(
    state: str, is_told: bool
) -> None:
    """A cause without a symptom says itself why it is not sure."""
    incident = STATES[state]
    assert incident.diagnosis is not None
    found = replace(incident.diagnosis, symptom=None)
    over = replace(incident, diagnosis=found, state=State.RESOLVED, resolved_at=NOW)
    made = message(over, page_url=PAGE, now=NOW)
    (told,) = (one["text"]["text"] for one in made.blocks if one["block_id"].startswith("S:"))
    assert (f"Measured symptom: {telling.no_symptom(found)}" in told) is is_told
