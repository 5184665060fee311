"""The home tab: what is open, what waits, how it went, how tailhound stands."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tailhound.errors import StoreUnavailable
from tailhound.model import State
from tailhound.slack.app_home import NOT_READ, NOT_STOPPED, NOTHING_WAITS, home_view
from tailhound.slack.deeds import Open, Overview
from tailhound.slack.local import Person as Member
from tailhound.slack.people import STRANGER
from tailhound.slack.promptly import NOT_YET
from tailhound.slack.texts import written
from tailhound.slack.validate import view_faults
from tailhound.store.history import Month
from tests.samples.incidents import LISTED, RESOLVED
from tests.samples.story import NOW
from tests.unit.slack.floor import ANA, BEN, Floor, envelope, floor, texts


@pytest.fixture
def room() -> Iterator[Floor]:
    with floor() as made:
        yield made


def test_it_is_drawn_when_somebody_looks(room: Floor) -> None:
    room.hands().look_home()
    shown = texts(room.home()).splitlines()
    assert shown[0] == "Open incidents (2)"
    assert "llm/chat-json · severity page · the CPU limit stops the engine · high" in shown[1]
    assert NOTHING_WAITS in shown
    assert "41 incidents: 31 cause found, 8 not confirmed, 2 could not see." in shown
    assert "26 have feedback: 24 right, 1 incomplete, 1 wrong." in shown
    assert "Prometheus 40 ms · *SSH can't be reached* · changes off (observe mode)" in shown
    assert shown[-1] == "Stop all changes Open the web page ↗"


def test_one_word_on_an_incident_without_a_named_cause_counts_as_nothing_wrong() -> None:
    month = Month(incidents=2, blind=1, unnamed=1)
    told = written("home_month", month=month, incidents="2 incidents")
    assert told == (
        "2 incidents: 0 cause found, 1 not confirmed, 1 could not see.\n"
        "1 has feedback: 0 right, 0 incomplete, 0 wrong, 1 where no cause was named."
    )


def test_it_is_drawn_at_most_once_in_thirty_seconds_for_each_viewer(room: Floor) -> None:
    for _ in range(3):
        room.hands().look_home()
    room.hands(BEN).look_home()
    room.home()
    room.home(user=BEN)
    published = [done for done in room.slack.done if done.method == "views.publish"]
    assert sorted(done.arguments["user_id"] for done in published) == [ANA, BEN]


def test_another_tab_than_home_draws_nothing(room: Floor) -> None:
    payload = room.slack.core.home_opened(ANA)
    payload["event"]["tab"] = "messages"
    assert room.deliver(envelope(), payload).status == 200
    room.hands(BEN).look_home()
    room.home(user=BEN)
    assert room.slack.core.home(ANA) is None


def test_stop_is_stored_and_shown_at_once(room: Floor) -> None:
    room.hands().look_home()
    room.home()
    room.hands().use("stop_changes", home=True)
    shown = texts(room.home(lambda view: "⛔" in texts(view)))
    assert "⛔ u0ana stopped all changes 03:04 UTC." in shown
    assert "Stop all changes" not in shown
    assert [call[0] for call in room.desk.stored] == ["stop"]


def test_a_guest_does_not_stop(room: Floor) -> None:
    room.slack.core.add_person(Member(BEN, "ben", is_restricted=True))
    room.hands(BEN).look_home()
    room.home(user=BEN)
    room.hands(BEN).use("stop_changes", home=True)
    room.home(lambda view: "full members" in texts(view), user=BEN)
    assert room.desk.stored == []


def test_a_stop_that_was_not_stored_is_told_where_it_was_pressed(room: Floor) -> None:
    room.hands().look_home()
    room.home()
    calls = iter([None])

    def fail_first() -> None:
        if next(calls, 1) is None:
            raise StoreUnavailable("locked")

    room.desk.before = fail_first
    room.hands().use("stop_changes", home=True)
    shown = texts(room.home(lambda view: NOT_STOPPED in texts(view)))
    assert "Stop all changes" in shown
    assert room.desk.stored == []
    room.hands().use("stop_changes", home=True)
    assert NOT_STOPPED not in texts(room.home(lambda view: "⛔" in texts(view)))


def test_a_stop_whose_store_is_late_is_told_at_once_and_shown_later(room: Floor) -> None:
    room.hands().look_home()
    room.home()
    release = threading.Event()
    calls = iter([None])
    room.desk.before = lambda: release.wait(10) if next(calls, 1) is None else None
    room.hands().use("stop_changes", home=True)
    assert "⛔" not in texts(room.home(lambda view: NOT_YET in texts(view)))
    release.set()
    assert NOT_YET not in texts(room.home(lambda view: "⛔" in texts(view)))


def test_a_stranger_who_stops_is_told_and_sees_nothing_else(room: Floor) -> None:
    room.hands(BEN).look_home()
    room.home(user=BEN)
    payload = room.slack.core.use(BEN, "stop_changes", home=True)
    assert payload is not None
    payload["user"]["team_id"] = "T0OTHER"
    room.deliver(envelope(), payload)
    shown = texts(room.home(lambda view: STRANGER in texts(view), user=BEN))
    assert "llm/chat-json" not in shown
    assert room.desk.stored == []


@pytest.mark.parametrize("said_by", ["the payload", "Slack"])
def test_a_stranger_who_looks_sees_nothing(room: Floor, said_by: str) -> None:
    payload = dict(room.slack.core.home_opened(BEN))
    if said_by == "Slack":
        room.slack.core.add_person(Member(BEN, "ben", is_stranger=True))
    else:
        payload["team_id"] = "T0OTHER"
    room.deliver(envelope(), payload)
    shown = texts(room.home(user=BEN))
    assert STRANGER in shown
    assert "llm/chat-json" not in shown


def test_when_too_much_goes_on_the_tab_is_drawn_all_the_same(room: Floor) -> None:
    release = threading.Event()

    def hang() -> None:
        release.wait(10)

    while room.listeners.behind.do(hang):
        pass
    room.hands().look_home()
    room.home()
    room.hands().use("stop_changes", home=True)
    room.home(lambda view: "⛔" in texts(view))
    release.set()


def test_a_silent_store_is_told_and_nothing_is_made_up(room: Floor) -> None:
    def fail() -> None:
        raise StoreUnavailable("locked")

    room.desk.before = fail
    room.hands().look_home()
    assert texts(room.home()).splitlines() == ["Open incidents", NOT_READ]


def test_nothing_open_names_the_last_incident(room: Floor) -> None:
    room.desk.listed, room.desk.last = (), RESOLVED
    room.hands().look_home()
    assert "Nothing is open. Last incident: 8R5W, resolved" in texts(room.home())


def test_an_empty_start_says_how_to_begin() -> None:
    found = Overview(open=Open((), 0), last=None, month=Month(), parts=(), stopped=None)
    view = home_view(found, mode="observe", page="", now=NOW)
    assert view_faults(view) == []
    shown = str(view)
    assert "Nothing is open." in shown
    assert "No incidents. Send one" in shown


@pytest.mark.parametrize("amount", [0, 1, 20, 500])
def test_however_many_are_open_slack_takes_it(amount: int) -> None:
    wild = replace(
        LISTED[0],
        state=State.DIAGNOSED,
        subject=replace(LISTED[0].subject, namespace="<!here>" * 90, workload="𝕏&<>" * 90),
    )
    found = Overview(
        open=Open((wild,) * amount, amount), last=None, month=Month(), parts=(), stopped=None
    )
    view = home_view(found, mode="observe", page="https://x.example", now=NOW)
    assert view_faults(view) == []
    assert "<!here>" not in str(view)
    if amount > 20:
        assert "more on the page" in str(view)
