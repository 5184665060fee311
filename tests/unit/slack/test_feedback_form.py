"""*Wrong? Tell us the cause*: one word per person, about a cause that there is."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tailhound.app import collectors, runbook_files
from tailhound.errors import StoreUnavailable
from tailhound.model import Incident, Rating
from tailhound.requests.argv import SHIPPED
from tailhound.rules.loading import load_runbooks
from tailhound.rules.runbook import Runbook
from tailhound.settings import Settings
from tailhound.slack.deeds import Word
from tailhound.slack.forms import SEND_AGAIN
from tailhound.slack.modals.feedback import CHANGED
from tailhound.slack.people import STRANGER, People
from tailhound.slack.promptly import NOT_RECORDED
from tailhound.slack.tools import TOO_LATE
from tests.samples.incidents import CONFIRMED, FIRST, SAID_WRONG, TWO_FIT, UNKNOWN
from tests.unit.slack.floor import ANA, Floor, envelope, floor, texts


@pytest.fixture(scope="module")
def runbooks() -> tuple[Runbook, ...]:
    return load_runbooks(runbook_files(Settings()), collectors(), SHIPPED)


@pytest.fixture
def room(runbooks: tuple[Runbook, ...]) -> Iterator[Floor]:
    with floor() as made:
        made.desk.runbooks = runbooks
        made.show(CONFIRMED)
        made.press("wrong")
        made.modal(lambda view: "submit" in view.body)
        yield made


def sent(room: Floor, **values: str) -> dict[str, str]:
    for name, value in values.items():
        room.slack.core.use(ANA, name, value)
    return dict(room.hands().submit())


def causes(room: Floor) -> list[str]:
    view = room.slack.modal()
    assert view is not None
    block = next(b for b in view.body["blocks"] if b["block_id"] == "cause")
    return [option["value"] for option in block["element"]["options"]]


def test_the_confirmed_cause_stands_first_and_not_in_this_list_last(
    room: Floor, runbooks: tuple[Runbook, ...]
) -> None:
    found = causes(room)
    assert found[0] == "cpu-throttling"
    assert found[-1] == "-"
    assert set(found[:-1]) == {one.id for one in runbooks}


def preset(room: Floor) -> dict[str, object]:
    """What the form holds before anybody has touched it, by field."""
    view = room.slack.modal()
    assert view is not None
    fields = [block for block in view.body["blocks"] if block["type"] == "input"]
    elements = {block["block_id"]: block["element"] for block in fields}
    chosen = {id: one.get("initial_option", {}).get("value") for id, one in elements.items()}
    return {id: value or elements[id].get("initial_value") for id, value in chosen.items()}


def test_nothing_is_chosen_that_the_person_did_not_choose(room: Floor) -> None:
    assert preset(room) == {"rating": None, "cause": None, "note": None}


@pytest.mark.parametrize(
    ("mine", "found"),
    [
        (Word(rating=Rating.RIGHT), ("right", None, None)),
        (Word(rating=Rating.UNSURE, note="it stopped"), ("unsure", None, "it stopped")),
        (Word(rating=Rating.WRONG, cause="rdma-fabric"), ("wrong", "rdma-fabric", None)),
        (Word(rating=Rating.WRONG), ("wrong", "-", None)),
        (Word(rating=Rating.PARTLY, cause="gone-since"), ("partly", None, None)),
    ],
)
def test_who_has_answered_finds_their_own_word_again(
    runbooks: tuple[Runbook, ...], mine: Word, found: tuple[str | None, ...]
) -> None:
    word = replace(SAID_WRONG, rating=mine.rating, cause=mine.cause, note=mine.note, person=ANA)
    other = replace(SAID_WRONG, note="another one's", person="U0BEN")
    with floor() as room:
        room.desk.runbooks = runbooks
        room.desk.incidents["8R5W"] = replace(CONFIRMED, feedback=(other, word))
        room.show(CONFIRMED)
        room.press("wrong")
        room.modal(lambda view: "submit" in view.body)
        assert tuple(preset(room).values()) == found
        view = room.slack.modal()
        assert view is not None
        assert "This is what you said before" in texts(view)


def test_a_word_is_stored_and_told(room: Floor) -> None:
    other = causes(room)[1]
    assert sent(room, rating="wrong", cause=other, note="the drain came first") == {}
    word = room.desk.stored[0][2]
    assert word == Word(rating=Rating.WRONG, cause=other, note="the drain came first")
    assert room.slack.modal() is None
    assert room.told()[0].startswith("Saved. The message of 8R5W")


@pytest.mark.parametrize(
    ("rating", "expected"),
    [("right", Rating.RIGHT), ("partly", Rating.PARTLY), ("unsure", Rating.UNSURE)],
)
def test_a_word_without_a_cause_is_one(room: Floor, rating: str, expected: Rating) -> None:
    assert sent(room, rating=rating) == {}
    assert room.desk.stored[0][2] == Word(rating=expected)


def test_not_in_this_list_is_no_runbook(room: Floor) -> None:
    assert sent(room, rating="wrong", cause="-") == {}
    assert room.desk.stored[0][2].cause == ""


def test_the_cause_that_was_named_cannot_be_what_it_was_instead(room: Floor) -> None:
    wrong = sent(room, rating="wrong", cause="cpu-throttling")
    assert wrong == {
        "cause": "This is the cause that was named. Choose another one, or Right above."
    }
    assert room.desk.stored == []
    assert sent(room, rating="partly", cause="cpu-throttling") == {}


def test_without_a_rating_slack_holds_the_form_back(room: Floor) -> None:
    assert set(sent(room, cause="-")) == {"rating"}


@pytest.mark.parametrize(
    ("block", "value"), [("rating", "perfect"), ("cause", "no-such-cause"), ("cause", "<!here>")]
)
def test_what_is_not_offered_is_not_taken(room: Floor, block: str, value: str) -> None:
    room.slack.core.use(ANA, "rating", "wrong")
    room.slack.core.use(ANA, "cause", "-")
    payload = room.slack.core.submit(ANA)
    payload["view"]["state"]["values"][block][block]["selected_option"]["value"] = value
    assert "Choose one of these." in str(room.deliver(envelope(), payload).body)
    assert room.desk.stored == []


def test_what_people_type_is_cleaned_and_without_secrets(room: Floor) -> None:
    note = "\u202eknown\x07 since\ntoken=xoxb-" + "123456789012-123456789012-abcdefABCDEF"
    assert sent(room, rating="right", note=note) == {}
    kept = room.desk.stored[0][2].note
    assert kept.startswith("known since")
    assert "abcdefABCDEF" not in kept


def test_a_store_that_fails_keeps_the_form_open(room: Floor) -> None:
    reads = iter([None])

    def fail_second() -> None:
        if next(reads, 1):
            raise StoreUnavailable("locked")

    room.desk.before = fail_second
    assert sent(room, rating="right") == {"rating": NOT_RECORDED}
    assert room.slack.modal() is not None


def test_a_store_that_fails_at_first_offers_to_try_again() -> None:
    with floor() as room:
        room.show(CONFIRMED)

        def fail() -> None:
            raise StoreUnavailable("locked")

        room.desk.before = fail
        room.press("wrong")
        room.modal(lambda view: "did not answer in time" in texts(view))
        room.desk.before = lambda: None
        room.hands().use("try_again")
        room.modal(lambda view: "submit" in view.body)


def test_a_click_that_slack_delivers_late_is_told() -> None:
    with floor() as room:
        room.show(CONFIRMED)
        payload = room.clicked("wrong")
        room.slack.core.expire_triggers()
        room.deliver("e1", payload)
        assert room.told() == [TOO_LATE]


@pytest.mark.parametrize("incident", [TWO_FIT, UNKNOWN, FIRST], ids=["two fit", "unknown", "first"])
def test_a_diagnosis_of_any_kind_can_be_rated(
    incident: Incident, runbooks: tuple[Runbook, ...]
) -> None:
    with floor() as room:
        room.desk.runbooks = runbooks
        room.desk.incidents["8R5W"] = incident
        room.show(CONFIRMED)
        room.press("wrong")
        room.modal(lambda view: "submit" in view.body)
        rating = {"rating": "wrong"} if incident is TWO_FIT else {}
        assert sent(room, **rating, cause=causes(room)[1]) == {}


@pytest.fixture
def unnamed(runbooks: tuple[Runbook, ...]) -> Iterator[Floor]:
    with floor() as made:
        made.desk.runbooks = runbooks
        made.desk.incidents["8R5W"] = UNKNOWN
        made.show(CONFIRMED)
        made.press("wrong")
        made.modal(lambda view: "submit" in view.body)
        yield made


def test_where_no_cause_was_named_the_form_asks_what_it_was(unnamed: Floor) -> None:
    view = unnamed.slack.modal()
    assert view is not None
    asked = str(view.body["blocks"])
    assert "What was it?" in asked
    assert "None of these: what was it? (optional)" in asked
    assert "none of these" in asked
    for word in ("The diagnosis was", "Right, but not the whole story", "How do you know?"):
        assert word not in asked
    assert list(preset(unnamed)) == ["cause", "note"]


def test_none_of_these_is_an_answer_with_what_it_was(unnamed: Floor) -> None:
    assert sent(unnamed, cause="-", note="a bad proxy") == {}
    word = unnamed.desk.stored[0][2]
    assert word == Word(rating=Rating.WRONG, cause="", note="a bad proxy")


def test_without_an_answer_nothing_is_stored(unnamed: Floor) -> None:
    assert "cause" in sent(unnamed, note="a bad proxy")
    assert not unnamed.desk.stored


def test_there_are_never_more_than_a_hundred_causes(runbooks: tuple[Runbook, ...]) -> None:
    with floor() as room:
        room.desk.runbooks = [replace(runbooks[0], id=f"cause-{n}") for n in range(300)]
        room.show(CONFIRMED)
        room.press("wrong")
        room.modal(lambda view: "submit" in view.body)
        assert len(causes(room)) == 100
        assert causes(room)[-1] == "-"
        view = room.slack.modal()
        assert "The nearest 99 of 300 runbooks: name another one below." in str(view)


def test_who_read_another_diagnosis_is_shown_the_one_that_stands(room: Floor) -> None:
    room.desk.incidents["8R5W"] = TWO_FIT
    assert sent(room, rating="right", note="seen before") == {}
    assert room.desk.stored == []
    view = room.slack.modal()
    assert view is not None
    assert CHANGED in texts(view)
    assert "It says now: two causes fit: the CPU limit stops the engine, " in texts(view)
    assert sent(room) == {}
    assert room.desk.stored[0][2] == Word(rating=Rating.RIGHT, note="seen before")


def test_a_late_store_keeps_the_form_open_and_tells_later(room: Floor) -> None:
    release = threading.Event()
    reads = iter([None])
    room.desk.before = lambda: release.wait(10) if next(reads, 1) else None
    assert sent(room, rating="right") == {"rating": SEND_AGAIN}
    release.set()
    assert room.told()[0].startswith("Saved. The message of 8R5W")


def test_a_stranger_who_sends_is_told_in_the_form(room: Floor) -> None:
    room.slack.core.use(ANA, "rating", "right")
    payload = room.slack.core.submit(ANA)
    payload["user"]["team_id"] = "T0OTHER"
    assert STRANGER in str(room.deliver(envelope(), payload).body)
    assert room.desk.stored == []


def test_who_sends_while_slack_does_not_tell_who_it_is_is_refused_in_time(
    room: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.slack.core.use(ANA, "rating", "right")
    payload = room.slack.core.submit(ANA)
    hung = threading.Event()
    monkeypatch.setattr(People, "_found", lambda *_: (hung.wait(10), "no answer")[1])
    begun = time.monotonic()
    answer = room.deliver(envelope(), payload)
    assert time.monotonic() - begun < 2.7
    hung.set()
    assert "did not tell who you are (no answer)" in str(answer.body)
    assert room.desk.stored == []
