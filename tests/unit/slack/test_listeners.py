"""Buttons that need no form: stored first, then acknowledged, then answered."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tailhound.durable.acts import Click, Person
from tailhound.errors import StoreUnavailable
from tailhound.model import Incident
from tailhound.slack.buttons import Offers
from tailhound.slack.listeners import NOT_RECORDED
from tailhound.slack.local import Person as Member
from tailhound.slack.people import STRANGER
from tailhound.slack.presses import KNOWN, NOT_OURS, OUTDATED
from tailhound.slack.promptly import NOT_YET
from tailhound.slack.storm_view import storm_message
from tailhound.slack.tools import answer
from tests.samples.incidents import CONFIRMED, QUEUED, RESOLVED, STORM, TAKEN
from tests.samples.story import NOW
from tests.unit.slack.floor import ANA, BEN, CHANNEL, Floor, envelope, floor
from tests.unit.transports.servers import (
    Behaviour,
    misbehaving,
    sends_half_and_hangs_up,
    speaks_no_http,
)

PERSON = Person(ANA, "u0ana")


@pytest.fixture
def room() -> Iterator[Floor]:
    with floor() as made:
        made.show(CONFIRMED)
        yield made


def done(room: Floor) -> list[str]:
    """What was stored, by name."""
    return [str(call[0]) for call in room.desk.stored]


@pytest.mark.parametrize(
    ("incident", "action", "said"),
    [
        (CONFIRMED, "recheck", "8R5W is checked again"),
        (CONFIRMED, "on_it", "you are on it"),
        (RESOLVED, "right", "that was it"),
        (QUEUED, "check_now", "8R5W is checked now"),
    ],
    ids=["recheck", "on it", "right", "check now"],
)
def test_a_click_is_stored_and_then_acknowledged(
    incident: Incident, action: str, said: str
) -> None:
    with floor() as room:
        room.show(incident)
        room.press(action)
        assert room.answers[0].status == 200
        assert len(room.desk.stored) == 1
        (told,) = room.told()
        assert told.startswith("Recorded:")
        assert said in told


def test_who_is_on_it_can_give_it_back_in_the_answer_that_only_they_see(room: Floor) -> None:
    room.press("on_it")
    room.told()
    (answer,) = room.slack.whispers(CHANNEL)
    room.press("off_it", ts=answer["ts"])
    room.slack.wait_for(lambda: "not on it any more" in room.slack.whispers(CHANNEL)[0]["text"])
    assert [call[0] for call in room.desk.stored] == ["on_it", "off_it"]
    assert "off_it" not in str(room.slack.whispers(CHANNEL))
    assert "off_it" not in str(room.slack.messages(CHANNEL))


def test_a_press_that_was_not_stored_leaves_its_button_where_it_is(room: Floor) -> None:
    room.press("on_it")
    room.told()
    (answer,) = room.slack.whispers(CHANNEL)
    payload = room.slack.core.press(CHANNEL, answer["ts"], "off_it", ANA)
    payload["user"]["team_id"] = "T0OTHER"
    room.deliver("e2", payload)
    assert room.told(2)[1] == STRANGER
    assert "off_it" in str(room.slack.whispers(CHANNEL)[0])


def test_nobody_else_finds_the_button_of_an_answer(room: Floor) -> None:
    room.press("on_it")
    room.told()
    (answer,) = room.slack.whispers(CHANNEL)
    with pytest.raises(LookupError):
        room.press("off_it", user=BEN, ts=answer["ts"])


def test_the_button_offers_to_take_over_once_somebody_is_on_it(room: Floor) -> None:
    room.show(TAKEN)
    assert "Take over" in str(room.slack.messages(CHANNEL)[-1])
    assert "I'm on it" not in str(room.slack.messages(CHANNEL)[-1])
    room.press("on_it")
    assert "you are on it" in room.told()[0]


def test_who_clicked_is_kept_with_a_name_and_the_envelope(room: Floor) -> None:
    room.deliver("e1", room.clicked("on_it"))
    assert room.desk.stored == [("on_it", Click("8R5W", PERSON, "e1"))]


def test_yes_that_was_it_agrees_with_the_diagnosis_that_was_shown(room: Floor) -> None:
    room.show(RESOLVED)
    room.press("right")
    assert RESOLVED.diagnosis is not None
    (stored,) = room.desk.stored
    assert (stored[0], stored[2]) == ("agree", RESOLVED.diagnosis.mark)


def test_agreeing_with_a_diagnosis_that_stands_no_more_is_told_so(room: Floor) -> None:
    room.desk.outdated = True
    room.show(RESOLVED)
    room.press("right")
    assert room.told() == [OUTDATED.format(incident="8R5W")]


@pytest.mark.parametrize("behaviour", [speaks_no_http, sends_half_and_hangs_up])
def test_an_answer_to_something_that_speaks_no_http_is_lost_and_no_more(
    behaviour: Behaviour, caplog: pytest.LogCaptureFixture
) -> None:
    with misbehaving(behaviour) as port:
        answer(f"http://127.0.0.1:{port}/", {"text": "Recorded."})
    assert any("did not arrive" in record.message for record in caplog.records)


def test_a_new_token_reaches_those_who_answer_people() -> None:
    lies = ["xoxb-local"]
    with floor(token=lambda: lies[-1]) as room:
        room.show(CONFIRMED)
        room.slack.wait_for(lambda: any(c.method == "auth.test" for c in room.slack.done))
        room.at_rest()  # what is learned at the start is asked with the old one
        room.slack.core.bot_token = "xoxb-new"
        lies.append("xoxb-new")
        room.press("silence")
        assert room.modal(lambda view: "Silence" in str(view.body["title"]))
        assert room.slack.refused == []


def test_the_same_envelope_again_is_a_no_op(room: Floor) -> None:
    payload = room.clicked("recheck")
    for _ in range(3):
        assert room.deliver("e1", payload).status == 200
    assert len(room.desk.stored) == 1
    assert len(room.told()) == 1


def test_two_clicks_are_two_envelopes(room: Floor) -> None:
    for one in ("e1", "e2"):
        room.deliver(one, room.clicked("recheck"))
    assert [click.envelope for _, click in room.desk.stored] == ["e1", "e2"]


def test_a_click_that_another_replica_has_stored_is_told_so(room: Floor) -> None:
    room.desk.is_new = False
    room.press("recheck")
    assert room.told() == [KNOWN]


def test_a_button_that_was_drawn_before_the_end_says_that_it_is_over(room: Floor) -> None:
    room.desk.over = "It is over (resolved 03:38 UTC); nothing is checked again."
    room.press("recheck")
    assert room.told() == [room.desk.over]


def test_what_waits_no_more_has_its_own_message() -> None:
    with floor() as room:
        room.show(QUEUED)
        room.desk.is_new = False
        room.press("check_now")
        assert room.told()[0].startswith("8R5W does not wait any more.")


@pytest.mark.parametrize("error", [StoreUnavailable("disk full"), KeyError("a bug")], ids=str)
def test_a_store_that_fails_is_told(room: Floor, error: Exception) -> None:
    def fail() -> None:
        raise error

    room.desk.before = fail
    room.press("recheck")
    assert room.told() == [NOT_RECORDED]


def test_an_incident_that_is_gone_is_told(room: Floor) -> None:
    def fail() -> None:
        raise LookupError("there is no incident 8R5W")

    room.desk.before = fail
    room.press("recheck")
    assert room.told() == ["Not recorded: there is no incident 8R5W here any more."]


def test_a_store_that_hangs_costs_less_than_a_second(room: Floor) -> None:
    release = threading.Event()
    room.desk.before = lambda: release.wait(10)
    begun = time.monotonic()
    room.press("recheck")
    assert time.monotonic() - begun < 1.0
    assert room.told() == [NOT_YET]
    release.set()
    assert room.told(2)[1].startswith("Recorded: 8R5W is checked again")
    assert done(room) == ["recheck"]


def test_a_store_that_fails_after_it_was_late_is_told_and_the_click_may_come_again(
    room: Floor,
) -> None:
    release = threading.Event()

    def fail() -> None:
        release.wait(10)
        raise StoreUnavailable("locked")

    payload, room.desk.before = room.clicked("recheck"), fail
    room.deliver("e1", payload)
    assert room.told() == [NOT_YET]
    release.set()
    assert room.told(2)[1] == NOT_RECORDED
    room.desk.before = lambda: None
    room.deliver("e1", payload)
    assert done(room) == ["recheck"]


def test_hanging_stores_do_not_pile_up_threads(room: Floor) -> None:
    release = threading.Event()
    room.desk.before = lambda: release.wait(10)
    begun = time.monotonic()
    payloads = [room.clicked("recheck") for _ in range(20)]
    threads = [threading.Thread(target=room.deliver, args=(envelope(), p)) for p in payloads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    waiting = [t for t in threading.enumerate() if t.name == "slack-store"]
    release.set()
    assert len(waiting) <= 8
    assert time.monotonic() - begun < 3.0
    told = room.told(28)
    assert sorted(told)[:12] == [NOT_RECORDED] * 12  # nothing was begun for them
    assert told.count(NOT_YET) == 8
    assert len(done(room)) == 8


def test_what_was_not_recorded_may_be_delivered_again(room: Floor) -> None:
    def fail() -> None:
        raise StoreUnavailable("locked")

    payload, room.desk.before = room.clicked("recheck"), fail
    room.deliver("e1", payload)
    room.desk.before = lambda: None
    room.deliver("e1", payload)
    assert len(room.desk.stored) == 1
    assert NOT_RECORDED in room.told(2)


@pytest.mark.parametrize("action", ["recheck", "silence", "wrong"])
@pytest.mark.parametrize("value", ["", "8R5W", "8R5W:", ":3", "8R5W:3; drop", "x" * 2000, "../:1"])
def test_a_value_that_is_none_of_ours_stores_nothing(room: Floor, action: str, value: str) -> None:
    payload = room.clicked(action)
    payload["actions"][0]["value"] = value
    assert room.deliver("e1", payload).status == 200
    assert room.told() == [NOT_OURS]
    assert room.desk.stored == []
    assert room.slack.modal() is None


def test_a_click_on_a_link_is_acknowledged_and_does_nothing(room: Floor) -> None:
    room.press("page")
    assert room.answers[0].status == 200
    assert room.desk.stored == []


def test_an_unknown_button_is_not_ours(room: Floor) -> None:
    payload = room.clicked("recheck")
    payload["actions"][0]["action_id"] = "delete_everything"
    assert room.deliver("e1", payload).status == 404
    assert room.desk.stored == []


@pytest.mark.parametrize("action", ["recheck", "on_it", "silence", "wrong"])
def test_a_click_from_another_workspace_does_nothing(room: Floor, action: str) -> None:
    payload = room.clicked(action)
    payload["user"]["team_id"] = "T0OTHER"
    room.deliver("e1", payload)
    assert room.told() == [STRANGER]
    assert room.desk.stored == []


def test_a_click_without_a_name_is_looked_up(room: Floor) -> None:
    room.slack.core.add_person(Member(ANA, "Ana\u202e <!channel>"))
    payload = room.clicked("on_it")
    payload["user"] = {"id": ANA, "team_id": payload["user"]["team_id"]}
    room.deliver("e1", payload)
    assert room.desk.stored[0][1].person == Person(ANA, "Ana <!channel>")


@pytest.mark.parametrize("user", [{}, {"id": ""}, {"id": "<!channel>"}, {"id": 7}, None])
def test_a_click_of_nobody_does_nothing(room: Floor, user: object) -> None:
    payload = room.clicked("on_it")
    payload["user"] = user
    room.deliver("e1", payload)
    assert room.desk.stored == []


def test_an_answer_that_slack_does_not_take_harms_nothing(room: Floor) -> None:
    payload = room.clicked("on_it")
    payload["response_url"] = f"{room.slack.url}/response/used"
    room.deliver("e1", payload)
    room.press("recheck")
    assert done(room) == ["on_it", "recheck"]
    assert len(room.told()) == 1


def test_a_row_of_a_storm_opens_its_own_incident(room: Floor) -> None:
    shown = storm_message(
        STORM,
        list_url="https://tailhound.example/incidents",
        now=NOW,
        channel_limit=(12, 600.0),
        offers=Offers(can_silence=True),
    )
    post = {"channel": CHANNEL, "text": shown.text, "blocks": list(shown.blocks)}
    answer = room.slack.core.call("chat.postMessage", room.slack.core.bot_token, post)
    row = next(block for block in shown.blocks if block["block_id"].startswith("2:"))
    ts = str(answer.body["ts"])
    room.hands().press(CHANNEL, ts, "open_held", str(row["block_id"]))
    assert room.desk.stored == [("check_now", STORM.worst[1].id)]
    assert room.told() == [
        f"Recorded: {STORM.worst[1].id} gets its own message, and is checked now."
    ]


def test_names_are_cut_and_cleaned_before_they_are_stored(room: Floor) -> None:
    payload = room.clicked("on_it")
    payload["user"]["name"] = "\u202e<!here>\x07 " + "x" * 500
    room.deliver("e1", payload)
    name = room.desk.stored[0][1].person.name
    assert len(name) <= 40
    assert name.isprintable()


def test_every_button_of_a_message_is_listened_to(room: Floor) -> None:
    for incident in (CONFIRMED, QUEUED, RESOLVED):
        ts = room.show(replace(incident))
        message = next(m for m in room.slack.messages(CHANNEL) if m["ts"] == ts)
        buttons = [e for b in message["blocks"] for e in b.get("elements", ()) if "action_id" in e]
        assert buttons
        for button in buttons:
            room.press(button["action_id"], ts=ts)
            assert room.answers[-1].status == 200, button
            if button["action_id"] in ("silence", "wrong"):
                room.modal(lambda view: "submit" in view.body)
