"""Clicks and commands, through the bolt app, without a socket."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from tailhound.errors import StoreUnavailable
from tailhound.model import Incident
from tailhound.slack.blocks import message
from tailhound.slack.calls import client
from tailhound.slack.listeners import NOT_RECORDED, SlackListeners
from tailhound.slack.local import LocalSlack, block_action
from tests.samples.incidents import CONFIRMED, FIRST, RESOLVED
from tests.samples.story import NOW

CHANNEL, ANA = "C0ALERTS", "U0ANA"
PAGE = "https://tailhound.example/incidents/8R5W"


class Replies:
    """What clickers were told."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._new = threading.Condition()

    def __call__(self, url: str, text: str) -> None:
        with self._new:
            self.texts.append(text)
            self._new.notify_all()

    def wait(self, count: int = 1) -> list[str]:
        """The replies, once there are so many."""
        with self._new:
            assert self._new.wait_for(lambda: len(self.texts) >= count, 3)
            return self.texts


class Desk:
    """What the app gives to the listeners, and the clicks that it stored."""

    def __init__(self) -> None:
        self.stored: list[tuple[str, str, str]] = []
        self.do: Callable[[], bool] = lambda: True
        self.open: Sequence[Incident] = (CONFIRMED, FIRST, RESOLVED)

    def recheck(self, incident: str, user: str, envelope: str) -> bool:
        done = self.do()
        if done:
            self.stored.append((incident, user, envelope))
        return done

    def status(self) -> Sequence[Incident]:
        return self.open


@contextmanager
def listening(desk: Desk, replies: Replies) -> Iterator[SlackListeners]:
    """Listeners whose replies go to `replies`."""
    listeners = SlackListeners(
        client("xoxb-local", "http://127.0.0.1:9/api/", 2),
        recheck=desk.recheck,
        status=desk.status,
        reply=replies,
        now=lambda: NOW,
    )
    try:
        yield listeners
    finally:
        listeners.close()


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def replies() -> Replies:
    return Replies()


@pytest.fixture
def listeners(desk: Desk, replies: Replies) -> Iterator[SlackListeners]:
    with listening(desk, replies) as made:
        yield made


def click(action: str = "recheck", value: str | None = None) -> dict[str, Any]:
    """The payload of a click on the message of the confirmed incident."""
    slack = LocalSlack(lambda: 1.0)
    channel = slack.add_channel(CHANNEL, "alerts")
    shown = message(CONFIRMED, page_url=PAGE, now=NOW)
    posted = {"channel": CHANNEL, "text": shown.text, "blocks": list(shown.blocks)}
    slack.call("chat.postMessage", slack.bot_token, posted)
    payload = block_action(slack.messages(CHANNEL)[0], channel, action, ANA)
    payload["response_url"] = "https://hooks.example/1"
    if value is not None:
        payload["actions"][0]["value"] = value
    return payload


def command(text: str) -> dict[str, Any]:
    """The payload of `/tailhound text`."""
    return {"command": "/tailhound", "text": text, "user_id": ANA, "channel_id": CHANNEL}


def test_a_click_is_stored_and_then_acknowledged(
    listeners: SlackListeners, desk: Desk, replies: Replies
) -> None:
    answer = listeners.receive("e1", click())
    assert answer.status == 200
    assert desk.stored == [("8R5W", ANA, "e1")]
    assert replies.wait() == [
        "Recorded: 8R5W is checked again; its message changes with the answer."
    ]


def test_the_same_envelope_again_is_a_no_op(
    listeners: SlackListeners, desk: Desk, replies: Replies
) -> None:
    for _ in range(3):
        assert listeners.receive("e1", click()).status == 200
    assert len(desk.stored) == 1
    assert len(replies.wait()) == 1


def test_two_clicks_are_two_envelopes(listeners: SlackListeners, desk: Desk) -> None:
    listeners.receive("e1", click())
    listeners.receive("e2", click())
    assert [envelope for _, _, envelope in desk.stored] == ["e1", "e2"]


def test_a_store_that_says_no_is_told(
    listeners: SlackListeners, desk: Desk, replies: Replies
) -> None:
    desk.do = lambda: False
    assert listeners.receive("e1", click()).status == 200
    assert replies.wait() == [NOT_RECORDED]


@pytest.mark.parametrize("error", [StoreUnavailable("disk full"), KeyError("a bug")])
def test_a_store_that_fails_is_told(
    listeners: SlackListeners, desk: Desk, replies: Replies, error: Exception
) -> None:
    def fail() -> bool:
        raise error

    desk.do = fail
    assert listeners.receive("e1", click()).status == 200
    assert replies.wait() == [NOT_RECORDED]


def test_a_store_that_hangs_costs_less_than_a_second(
    listeners: SlackListeners, desk: Desk, replies: Replies
) -> None:
    release = threading.Event()
    desk.do = lambda: release.wait(10)
    begun = time.monotonic()
    assert listeners.receive("e1", click()).status == 200
    assert time.monotonic() - begun < 1.0
    assert replies.wait() == [NOT_RECORDED]
    release.set()


def test_hanging_stores_do_not_pile_up_threads(
    listeners: SlackListeners, desk: Desk, replies: Replies
) -> None:
    release = threading.Event()
    desk.do = lambda: release.wait(10)
    begun = time.monotonic()
    threads = [
        threading.Thread(target=listeners.receive, args=(f"e{n}", click())) for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    waiting = [t for t in threading.enumerate() if t.name == "slack-store"]
    release.set()
    assert len(waiting) <= 8
    assert time.monotonic() - begun < 3.0
    assert replies.wait(20) == [NOT_RECORDED] * 20


def test_what_was_not_recorded_may_be_delivered_again(
    listeners: SlackListeners, desk: Desk, replies: Replies
) -> None:
    desk.do = lambda: False
    listeners.receive("e1", click())
    desk.do = lambda: True
    listeners.receive("e1", click())
    assert len(desk.stored) == 1
    assert replies.wait(2)[0] == NOT_RECORDED


@pytest.mark.parametrize("value", ["", "8R5W", "8R5W:", ":3", "8R5W:3; drop", "x" * 2000, "../:1"])
def test_a_value_that_is_none_of_ours_stores_nothing(
    listeners: SlackListeners, desk: Desk, replies: Replies, value: str
) -> None:
    assert listeners.receive("e1", click(value=value)).status == 200
    assert replies.wait()[0].startswith("Not recorded")
    assert desk.stored == []


def test_a_click_on_the_link_is_acknowledged_and_does_nothing(
    listeners: SlackListeners, desk: Desk
) -> None:
    assert listeners.receive("e1", click("page")).status == 200
    assert desk.stored == []


def test_an_unknown_button_is_not_ours(listeners: SlackListeners, desk: Desk) -> None:
    payload = click()
    payload["actions"][0]["action_id"] = "delete_everything"
    assert listeners.receive("e1", payload).status == 404
    assert desk.stored == []


def test_status_tells_what_is_open(listeners: SlackListeners) -> None:
    body = _told(listeners, "status")
    assert body["response_type"] == "ephemeral"
    assert body["text"].splitlines() == [
        "*2 open.*",
        "8R5W llm/chat-json · the CPU limit stops the engine · high · since 03:00 UTC",
        "8R5W llm/chat-json · being checked · since 03:00 UTC",
    ]


def test_status_without_a_store_says_so(listeners: SlackListeners, desk: Desk) -> None:
    def fail() -> Sequence[Incident]:
        raise StoreUnavailable("locked")

    desk.status = fail  # type: ignore[method-assign]
    with listening(desk, Replies()) as broken:
        assert _told(broken, "status")["text"].startswith("The store did not answer")


def test_an_unknown_word_runs_nothing_and_gets_the_nearest_command(
    listeners: SlackListeners,
) -> None:
    assert _told(listeners, "statsu now")["text"] == (
        "No command `statsu`. Did you mean `status`? `/tailhound help` lists all 2."
    )
    assert _told(listeners, "<!channel>`x")["text"] == (
        "No command `&lt;!channel&gt;'x`. `/tailhound help` lists all 2."
    )


@pytest.mark.parametrize("text", ["", "help", "HELP me"])
def test_help_lists_every_command(listeners: SlackListeners, text: str) -> None:
    told = _told(listeners, text)["text"]
    assert "`/tailhound status`" in told
    assert "`/tailhound help`" in told


def _told(listeners: SlackListeners, text: str) -> dict[str, Any]:
    answer = listeners.receive(f"c{time.monotonic_ns()}", command(text))
    assert answer.status == 200
    found: dict[str, Any] = json.loads(answer.body)
    return found
