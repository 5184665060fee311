"""*Silence…*: a preview of what it mutes, follows each choice, and is stored once."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tailhound.durable.silences import Wish
from tailhound.errors import StoreUnavailable
from tailhound.model import Alert, Incident, Missing, Reason, Silenced
from tailhound.slack.forms import SEND_AGAIN
from tailhound.slack.local import Person as Member
from tailhound.slack.local import View
from tailhound.slack.modals.silence import CHANGED
from tailhound.slack.people import STRANGER
from tailhound.slack.promptly import NOT_RECORDED, NOT_YET
from tailhound.slack.silence_form import (
    ENDED,
    ENDED_BEFORE,
    NO_ALERTMANAGER,
    NO_SILENCE,
    NOTHING_FIRES,
)
from tailhound.slack.tools import BUSY, TOO_LATE
from tailhound.store.history import Past
from tests.samples.incidents import CONFIRMED, RESOLVED
from tests.samples.story import NOW, at
from tests.unit.slack.floor import ANA, BEN, Floor, envelope, floor, texts


@pytest.fixture
def room() -> Iterator[Floor]:
    with floor() as made:
        made.desk.fires = quiet(2)
        made.desk.incidents["8R5W"] = WARNED
        made.show(WARNED)
        yield made


def at_severity(incident: Incident, severity: str) -> Incident:
    """The incident with all its alerts rated like this."""
    return replace(
        incident,
        alerts=tuple(
            replace(one, severity=severity, labels={**one.labels, "severity": severity})
            for one in incident.alerts
        ),
    )


WARNED = at_severity(CONFIRMED, "warning")


def quiet(amount: int, severity: str = "warning") -> tuple[Alert, ...]:
    """So many alerts of the incident that fire now."""
    first = WARNED.alerts[0]
    labels = {**first.labels, "severity": severity}
    return tuple(
        replace(first, fingerprint=f"f{n}", labels=labels, severity=severity) for n in range(amount)
    )


def opened(room: Floor, user: str = ANA) -> View:
    """The filled form."""
    room.press("silence", user=user)
    return room.modal(lambda view: "submit" in view.body, user)


def put(room: Floor, action: str, value: str, user: str = ANA) -> None:
    """Choose or type something; what the app is told of is delivered."""
    payload = room.slack.core.use(user, action, value)
    if payload is not None:
        room.deliver(envelope(), payload)


def sent(room: Floor, user: str = ANA, **values: str) -> dict[str, str]:
    """Fill in and send; what is wrong, by field."""
    for name, value in {"silence_why": "Planned work", **values}.items():
        put(room, name, value, user)
    return dict(room.hands(user).submit())


def wishes(room: Floor) -> list[Wish]:
    return [call[2] for call in room.desk.stored if call[0] == "silence"]


def test_the_form_shows_what_it_mutes_before_anything_is_stored(room: Floor) -> None:
    view = opened(room)
    shown = texts(view)
    assert 'namespace="llm"' in shown
    assert "*Mutes now:* 2 firing alerts (2 warnings)." in shown
    assert "14 other alerts, among them pages of 2 real incidents: 5B2M, 1Q9X." in shown
    assert "Ends by itself 05:04 UTC" in shown
    assert view.body["submit"]["text"] == "Silence for 2\u00a0h".replace("\u00a0", " ")
    assert room.desk.stored == []


def test_a_sent_form_is_stored_once_and_told(room: Floor) -> None:
    view = opened(room)
    assert sent(room, note="rollout of 3.2") == {}
    assert room.slack.modal() is None
    (wish,) = wishes(room)
    assert (wish.hours, wish.why, wish.alerts) == (2.0, "Planned work: rollout of 3.2", 2)
    assert 'alertname="InferenceInterTokenLatencyHigh"' in [m.text for m in wish.matchers]
    assert room.desk.stored[0][1].envelope == f"view:{view.id}"
    assert room.told()[0].startswith("Recorded: silence for 2\u00a0h.")


def test_counts_and_label_follow_each_choice(room: Floor) -> None:
    opened(room)
    put(room, "silence_hours", "8")
    room.modal(lambda view: view.body["submit"]["text"] == "Silence for 8 h")
    other = replace(quiet(1)[0], name="Other", labels={**WARNED.alerts[0].labels,
                                                      "alertname": "Other"})  # fmt: skip
    room.desk.fires = (*quiet(2), other)
    put(room, "silence_scope", "all")
    view = room.modal(lambda view: "*Mutes now:* 3 firing alerts (3 " in texts(view))
    assert "alertname" not in texts(view)
    assert sent(room) == {}
    (wish,) = wishes(room)
    assert (wish.hours, wish.alerts) == (8.0, 3)


def test_more_than_eight_hours_is_not_offered_and_not_taken(room: Floor) -> None:
    opened(room)
    view = room.slack.modal()
    assert view is not None
    put(room, "silence_why", "Other")
    payload = room.slack.core.submit(ANA)
    state = payload["view"]["state"]["values"]["silence_hours"]["silence_hours"]
    state["selected_option"]["value"] = "720"
    answer = room.deliver(envelope(), payload)
    assert "silence_hours" in str(answer.body)
    assert wishes(room) == []


def test_pages_want_one_tick_more(room: Floor) -> None:
    room.desk.fires = quiet(3, "critical")
    view = opened(room)
    assert "3 firing alerts (3 pages)" in texts(view)
    assert sent(room) == {"silence_pages": "Please complete this required field."}
    assert wishes(room) == []
    room.slack.core.use(ANA, "silence_pages", ["yes"])
    assert sent(room) == {}
    assert wishes(room)[0].alerts == 3


@pytest.mark.parametrize(
    "fires", [(), Missing(Reason.TIMEOUT, "alertmanager:9093 did not answer within 5 s")], ids=str
)
def test_pages_of_the_incident_want_the_tick_whatever_alertmanager_tells(
    room: Floor, fires: tuple[Alert, ...] | Missing
) -> None:
    room.desk.incidents["8R5W"] = at_severity(CONFIRMED, "critical")
    room.desk.fires = ()
    opened(room)
    room.desk.fires = fires
    assert sent(room) == {"silence_pages": "Please complete this required field."}
    assert wishes(room) == []


@pytest.mark.parametrize(
    "fires", [(), Missing(Reason.TIMEOUT, "alertmanager:9093 did not answer within 5 s")], ids=str
)
def test_an_incident_that_pages_since_the_preview_wants_the_tick(
    room: Floor, fires: tuple[Alert, ...] | Missing
) -> None:
    opened(room)
    room.desk.incidents["8R5W"] = paging = at_severity(CONFIRMED, "critical")
    assert [one.severity for one in paging.alerts] == ["critical"] * len(paging.alerts)
    room.desk.fires = fires
    assert sent(room) == {}
    assert wishes(room) == []
    assert sent(room) == {"silence_pages": "Please complete this required field."}


def test_a_client_that_sends_without_the_tick_is_refused(room: Floor) -> None:
    room.desk.fires = quiet(1, "page")
    opened(room)
    put(room, "silence_why", "Other")
    room.slack.core.use(ANA, "silence_pages", ["yes"])
    payload = room.slack.core.submit(ANA)
    payload["view"]["state"]["values"]["silence_pages"]["silence_pages"]["selected_options"] = []
    assert "tick the box" in str(room.deliver(envelope(), payload).body)
    assert wishes(room) == []


def test_an_alertmanager_that_does_not_answer_is_unknown_and_never_zero(room: Floor) -> None:
    room.desk.fires = Missing(Reason.TIMEOUT, "alertmanager:9093 did not answer within 5 s")
    shown = texts(opened(room))
    assert "*How many alerts it mutes now is not known:* alertmanager:9093 did not answer" in shown
    assert "Mutes now" not in shown
    assert "(0 now)" not in str(room.slack.modal())
    room.slack.core.use(ANA, "silence_pages", ["yes"])
    assert sent(room) == {}
    assert wishes(room)[0].alerts == len(WARNED.alerts)


def test_a_history_that_is_not_read_is_unknown(room: Floor) -> None:
    room.desk.was = None
    assert "is not known: the store did not answer" in texts(opened(room)).replace("*", "")


def test_a_preview_of_something_else_is_never_what_is_set(room: Floor) -> None:
    opened(room)
    others = tuple(
        replace(alert, name="New", labels={**alert.labels, "alertname": "New"})
        for alert in WARNED.alerts
    )
    room.desk.incidents["8R5W"] = replace(WARNED, alerts=others)
    assert sent(room) == {}
    assert wishes(room) == []
    view = room.slack.modal()
    assert view is not None
    assert CHANGED in texts(view)
    assert 'alertname="New"' in texts(view)
    assert sent(room) == {}
    assert 'alertname="New"' in [matcher.text for matcher in wishes(room)[0].matchers]


def test_a_preview_that_was_chosen_in_is_shown_anew_too(room: Floor) -> None:
    opened(room)
    put(room, "silence_hours", "4")
    room.modal(lambda view: view.body["submit"]["text"] == "Silence for 4 h")
    new = {"alertname": "New"}
    others = tuple(replace(a, name="New", labels={**a.labels, **new}) for a in WARNED.alerts)
    room.desk.incidents["8R5W"] = replace(WARNED, alerts=others)
    assert sent(room) == {}
    assert wishes(room) == []
    view = room.slack.modal()
    assert view is not None
    assert view.body["submit"]["text"] == "Silence for 4 h"
    assert sent(room) == {}
    assert [(wish.hours, wish.matchers[0].value) for wish in wishes(room)] == [(4.0, "New")]


def test_pages_that_fire_after_the_preview_are_not_muted_without_the_tick(room: Floor) -> None:
    opened(room)
    room.desk.fires = quiet(7, "critical")
    assert sent(room) == {}
    assert wishes(room) == []
    view = room.slack.modal()
    assert view is not None
    assert CHANGED in texts(view)
    assert "*Mutes now:* 7 firing alerts (7 pages)." in texts(view)
    assert sent(room) == {"silence_pages": "Please complete this required field."}
    room.slack.core.use(ANA, "silence_pages", ["yes"])
    assert sent(room) == {}
    assert [wish.alerts for wish in wishes(room)] == [7]


def test_more_warnings_than_the_preview_showed_are_counted_and_no_trouble(room: Floor) -> None:
    opened(room)
    room.desk.fires = quiet(5)
    assert sent(room) == {}
    assert [wish.alerts for wish in wishes(room)] == [5]


@pytest.mark.parametrize(("age", "stored"), [(60, True), (61, False)])
def test_a_preview_counts_for_a_minute_while_alertmanager_says_nothing(
    room: Floor, age: int, stored: bool
) -> None:
    opened(room)
    room.desk.fires = Missing(Reason.TIMEOUT, "alertmanager:9093 did not answer within 5 s")
    put(room, "silence_why", "Other")
    payload = room.slack.core.submit(ANA)
    note = payload["view"]["private_metadata"]
    drawn = str(int(NOW.timestamp()))
    assert drawn in note
    payload["view"]["private_metadata"] = note.replace(drawn, str(int(drawn) - age))
    answer = room.deliver(envelope(), payload)
    assert [wish.alerts for wish in wishes(room)] == ([2] if stored else [])
    assert ("How many alerts it mutes now is not known" in str(answer.body)) is not stored


def test_a_sent_form_is_answered_within_three_seconds_whatever_hangs(
    room: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(room)
    release = threading.Event()
    monkeypatch.setattr(room.desk, "firing", lambda _: (release.wait(10), room.desk.fires)[1])
    calls = iter([None])
    room.desk.before = lambda: None if next(calls, 1) is None else release.wait(10)
    put(room, "silence_why", "Other")
    payload = room.slack.core.submit(ANA)
    begun = time.monotonic()
    answer = room.deliver(envelope(), payload)
    assert time.monotonic() - begun < 2.7
    assert SEND_AGAIN in str(answer.body)
    release.set()
    assert room.told()[0].startswith("Recorded: silence for 2\u00a0h.")
    room.at_rest()
    assert len(wishes(room)) == 1


def test_of_an_incident_that_has_joined_another_the_other_one_is_named(room: Floor) -> None:
    room.desk.incidents["8R5W"] = replace(WARNED, id="7F3K")
    opened(room)
    assert sent(room) == {}
    assert "The message of 7F3K says so" in room.told()[0]


def test_a_form_that_is_sent_twice_sets_one_silence(room: Floor) -> None:
    opened(room)
    put(room, "silence_why", "Other")
    payload = room.slack.core.submit(ANA)
    for _ in range(2):
        room.deliver(envelope(), payload)
    first, second = (call[1].envelope for call in room.desk.stored)
    assert first == second


def test_a_store_that_fails_keeps_the_form_open(room: Floor) -> None:
    opened(room)
    calls = iter([None])

    def fail_second() -> None:
        if next(calls, 1):
            raise StoreUnavailable("locked")

    room.desk.before = fail_second
    assert sent(room) == {"note": NOT_RECORDED}
    assert room.slack.modal() is not None


def test_a_store_that_fails_at_first_offers_to_try_again(room: Floor) -> None:
    def fail() -> None:
        raise StoreUnavailable("locked")

    room.desk.before = fail
    room.press("silence")
    room.modal(lambda view: "did not answer in time" in texts(view))
    room.desk.before = lambda: None
    room.hands().use("try_again")
    room.modal(lambda view: "*Mutes now:* 2 firing alerts (2 warnings)." in texts(view))


def test_a_click_that_slack_delivers_late_is_told(room: Floor) -> None:
    payload = room.clicked("silence")
    room.slack.core.expire_triggers()
    room.deliver("e1", payload)
    assert room.told() == [TOO_LATE]
    assert room.slack.modal() is None


def test_without_an_alertmanager_nothing_opens(room: Floor) -> None:
    room.desk.can_silence = False
    room.press("silence")
    assert room.told() == [NO_ALERTMANAGER]
    assert room.slack.modal() is None


def test_nothing_fires_nothing_to_silence(room: Floor) -> None:
    room.desk.incidents["8R5W"] = replace(RESOLVED, alerts=tuple(
        replace(alert, ends_at=NOW) for alert in RESOLVED.alerts
    ))  # fmt: skip
    room.press("silence")
    room.modal(lambda view: NOTHING_FIRES in texts(view))


def test_an_incident_that_is_gone_is_told_in_the_form(room: Floor) -> None:
    room.desk.incidents.clear()
    room.press("silence")
    room.modal(lambda view: "There is no such incident here any more" in texts(view))


@pytest.mark.parametrize("more", [{"is_restricted": True}, {"is_stranger": True}, {"deleted": True},
                                  {"is_bot": True}, {"team": "T0OTHER"}], ids=str)  # fmt: skip
def test_only_full_members_silence(room: Floor, more: dict[str, Any]) -> None:
    room.slack.core.add_person(Member(BEN, "ben", **more))
    room.press("silence", user=BEN)
    room.modal(lambda view: "full members" in texts(view), BEN)


def test_who_is_no_member_any_more_is_refused_when_it_is_sent(room: Floor) -> None:
    opened(room)
    put(room, "silence_why", "Other")
    payload = room.slack.core.submit(ANA)
    payload["user"]["id"] = BEN
    room.slack.core.add_person(Member(BEN, "ben", is_restricted=True))
    assert "full members" in str(room.deliver(envelope(), payload).body)
    assert wishes(room) == []


@pytest.mark.parametrize(
    "note",
    ["", "{}", "[]", "null", '{"incident": "8R5W"}', "x" * 3000,
     '{"incident": "<!channel>", "channel": "", "thread": "", "seen": ""}',
     '{"incident": 7, "channel": "", "thread": "", "seen": ""}',
     '{"incident": "8R5W", "channel": "C1; drop", "thread": "", "seen": ""}'],
)  # fmt: skip
def test_a_note_that_is_none_of_ours_sets_nothing(room: Floor, note: str) -> None:
    opened(room)
    put(room, "silence_why", "Other")
    payload = room.slack.core.submit(ANA)
    payload["view"]["private_metadata"] = note
    assert "none of tailhound's" in str(room.deliver(envelope(), payload).body)
    assert wishes(room) == []


def test_a_form_of_another_workspace_sets_nothing(room: Floor) -> None:
    opened(room)
    put(room, "silence_why", "Other")
    payload = room.slack.core.submit(ANA)
    payload["user"]["team_id"] = "T0OTHER"
    room.deliver(envelope(), payload)
    assert wishes(room) == []
    assert STRANGER.startswith("Not done")


def test_an_older_choice_that_comes_late_does_not_replace_a_newer_one(room: Floor) -> None:
    opened(room)
    older = room.slack.core.use(ANA, "silence_hours", "1")
    newer = room.slack.core.use(ANA, "silence_hours", "4")
    assert older is not None
    assert newer is not None
    room.deliver(envelope(), newer)
    room.modal(lambda view: view.body["submit"]["text"] == "Silence for 4 h")
    room.deliver(envelope(), older)
    room.at_rest()
    view = room.slack.modal()
    assert view is not None
    assert view.body["submit"]["text"] == "Silence for 4 h"


def test_a_newer_choice_wins_over_the_update_of_an_older_one(room: Floor) -> None:
    opened(room)
    older = room.slack.core.use(ANA, "silence_hours", "1")
    newer = room.slack.core.use(ANA, "silence_hours", "4")
    assert older is not None
    assert newer is not None
    room.deliver(envelope(), older)
    room.modal(lambda view: view.body["submit"]["text"] == "Silence for 1 h")
    room.deliver(envelope(), newer)  # its hash is that of the first view
    room.modal(lambda view: view.body["submit"]["text"] == "Silence for 4 h")
    room.slack.refused.clear()


def test_an_older_choice_that_a_newer_one_overtakes_is_not_shown(
    room: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(room)
    older = room.slack.core.use(ANA, "silence_hours", "1")
    newer = room.slack.core.use(ANA, "silence_hours", "4")
    assert older is not None
    assert newer is not None
    asked, release = threading.Event(), threading.Event()
    first = iter([None])

    def firing(_: object) -> tuple[Alert, ...] | Missing:
        if next(first, 1) is None:
            asked.set()
            release.wait(10)
        return room.desk.fires

    monkeypatch.setattr(room.desk, "firing", firing)
    room.deliver(envelope(), older)
    assert asked.wait(10)
    room.deliver(envelope(), newer)
    room.modal(lambda view: view.body["submit"]["text"] == "Silence for 4 h")
    release.set()
    room.at_rest()
    view = room.slack.modal()
    assert view is not None
    assert view.body["submit"]["text"] == "Silence for 4 h"
    room.slack.refused.clear()


HELD = Silenced(id="abc-1", by="ben", until=at(120), alerts=3)


def test_a_silence_that_holds_is_shown_and_ended_by_another_full_member(room: Floor) -> None:
    gone = replace(HELD, id="abc-2", by="cem", ended_at=at(1))
    failed = replace(HELD, id="", by="dan", trouble="was not set")
    room.desk.incidents["8R5W"] = replace(WARNED, silences=(HELD, gone, failed))
    shown = texts(opened(room))
    assert "Silenced by ben until" in shown
    assert "cem" not in shown
    assert "dan" not in shown
    room.hands().use("end_silence")
    room.modal(lambda view: ENDED in texts(view))
    assert room.desk.stored[-1][0] == "end_silence"
    assert room.desk.stored[-1][2] == "abc-1"


def ended(room: Floor, **who: Any) -> str:
    """What the form says after *End it now*, pressed by whom the payload names."""
    room.desk.incidents["8R5W"] = replace(WARNED, silences=(HELD,))
    opened(room)
    payload = room.slack.core.use(ANA, "end_silence")
    assert payload is not None
    payload["user"].update(who)
    room.deliver(envelope(), payload)
    room.at_rest()
    view = room.slack.modal()
    assert view is not None
    return texts(view)


def test_a_guest_ends_no_silence(room: Floor) -> None:
    room.slack.core.add_person(Member(BEN, "ben", is_restricted=True))
    assert "full members" in ended(room, id=BEN)
    assert room.desk.stored == []


def test_a_stranger_who_ends_a_silence_is_told_in_the_form(room: Floor) -> None:
    assert ended(room, team_id="T0OTHER") == STRANGER
    assert room.desk.stored == []


def test_the_end_of_a_silence_of_another_incident_is_told_as_such(room: Floor) -> None:
    def fail() -> None:
        if wanted:
            raise LookupError("there is no silence abc-1 of incident 8R5W")

    wanted: list[int] = []
    room.desk.incidents["8R5W"] = replace(WARNED, silences=(HELD,))
    room.desk.before = fail
    opened(room)
    wanted.append(1)
    room.hands().use("end_silence")
    room.modal(lambda view: NO_SILENCE in texts(view))


def test_an_end_that_was_stored_before_is_told_as_such(room: Floor) -> None:
    room.desk.is_new = False
    assert ended(room) == ENDED_BEFORE


def test_an_end_whose_store_is_late_is_told_twice(room: Floor) -> None:
    room.desk.incidents["8R5W"] = replace(WARNED, silences=(HELD,))
    opened(room)
    release = threading.Event()
    room.desk.before = lambda: release.wait(10)
    room.hands().use("end_silence")
    room.modal(lambda view: NOT_YET in texts(view))
    release.set()
    room.modal(lambda view: ENDED in texts(view))


def test_ten_silences_that_hold_are_shown_and_the_others_counted(room: Floor) -> None:
    held = tuple(replace(HELD, id=f"abc-{n}", until=at(100 + n)) for n in range(12))
    odd = replace(HELD, id="<odd>", by="eve", until=at(900), trouble="HTTP 403")
    room.desk.incidents["8R5W"] = replace(WARNED, silences=(*held, odd))
    view = opened(room)
    ids = [block["accessory"]["value"] for block in view.body["blocks"] if "accessory" in block]
    assert ids == [f"abc-{n}" for n in range(11, 2, -1)]
    told = "*could not be ended:* HTTP 403. End it in Alertmanager: its id is none of ours."
    assert told in texts(view)
    assert "+ 3 more silences; end one of these to see the next." in texts(view)


def test_when_too_much_goes_on_a_choice_is_told_so_in_the_form(room: Floor) -> None:
    opened(room)
    release = threading.Event()

    def hang() -> None:
        release.wait(10)

    while room.listeners.behind.do(hang):
        pass
    put(room, "silence_hours", "4")
    room.modal(lambda view: BUSY in texts(view))
    before = room.slack.modal()
    assert before is not None
    was = before.hash
    room.hands().use("try_again")
    room.modal(lambda view: BUSY in texts(view) and view.hash != was)
    release.set()
    room.at_rest()
    room.hands().use("try_again")
    room.modal(lambda view: "*Mutes now:*" in texts(view))


def test_a_form_that_was_closed_meanwhile_is_not_changed_and_can_be_opened_again(
    room: Floor,
) -> None:
    opened(room)
    payload = room.slack.core.use(ANA, "silence_hours", "4")
    assert payload is not None
    room.slack.core.close(ANA)
    room.deliver(envelope(), payload)
    room.at_rest()
    assert room.slack.refused == ["not_found"]
    assert room.slack.modal() is None
    assert "*Mutes now:*" in texts(opened(room))


@pytest.mark.parametrize(
    ("past", "told"),
    [
        (Past(), "matched* nothing else."),
        (Past(whole=False), "matched* nothing else among the newest incidents."),
        (Past(alerts=1), "matched* 1 other alert, no page."),
        (
            Past(alerts=1, untold=1),
            "1 other alert, among them pages of 1 incident "
            "of which nobody has said whether it was real.",
        ),
        (
            Past(alerts=9, real=("5B2M",), untold=2, whole=False),
            "at least 9 other alerts, among them pages of 1 real incident: 5B2M; "
            "and of 2 incidents of which nobody has said whether they were real.",
        ),
    ],
)
def test_no_page_is_called_harmless_because_nobody_said_what_it_was(
    room: Floor, past: Past, told: str
) -> None:
    room.desk.was = past
    assert told in texts(opened(room))
    assert set(room.desk.past_without) == {"8R5W"}
