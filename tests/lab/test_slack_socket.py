"""slack-bolt over a real WebSocket, against the stand-in of Slack."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tailhound.durable.acts import Click, Person
from tailhound.slack.blocks import message
from tailhound.slack.calls import client
from tailhound.slack.listeners import SlackListeners
from tailhound.slack.promptly import NOT_YET
from tailhound.slack.socket import SlackSocket
from tests.samples.incidents import CONFIRMED
from tests.samples.story import NOW
from tests.standins.slack import SlackStandin
from tests.unit.slack.floor import Desk

pytestmark = pytest.mark.lab

CHANNEL = "C0ALERTS"
APP_TOKEN = "xapp-local"


class Lab:
    """A stand-in, a message in its channel, and tailhound's socket."""

    def __init__(self, slack: SlackStandin, app_token: str = APP_TOKEN) -> None:
        self.slack, self.desk = slack, Desk()
        web = client("xoxb-local", slack.api_url, 2)
        shown = message(CONFIRMED, page_url="", now=NOW)
        web.chat_postMessage(
            channel=CHANNEL, text=shown.text, blocks=[dict(block) for block in shown.blocks]
        )
        listeners = SlackListeners(web, self.desk, now=lambda: NOW)
        self.socket = SlackSocket(web, lambda: app_token, listeners)

    def told(self, count: int = 1) -> list[str]:
        """What the clickers were told, once there are so many answers."""
        self.slack.wait_for(lambda: len(self.slack.whispers(CHANNEL)) >= count)
        return [whisper["text"] for whisper in self.slack.whispers(CHANNEL)]


@pytest.fixture
def lab() -> Iterator[Lab]:
    before = set(threading.enumerate())
    with SlackStandin() as slack:
        slack.add_channel(CHANNEL)
        made = Lab(slack)
        made.socket.start()
        slack.wait_connected()
        yield made
        begun = time.monotonic()
        made.socket.stop()
        assert time.monotonic() - begun < 4.0
        assert slack.unknown_calls == []
        assert slack.late_acks == []
    for thread in set(threading.enumerate()) - before:
        thread.join(3)
        assert not thread.is_alive(), thread.name


def test_a_click_is_stored_acknowledged_and_answered(lab: Lab) -> None:
    acked = lab.slack.click("recheck", channel=CHANNEL, envelope="e1")
    assert acked.seconds < 1.0
    assert lab.desk.stored == [("recheck", Click("8R5W", Person("U0ANA", "u0ana"), "e1"))]
    assert lab.told() == ["Recorded: 8R5W is checked again; its message changes with the answer."]
    assert lab.slack.whispers(CHANNEL)[0]["response_type"] == "ephemeral"


def test_a_duplicate_envelope_is_acknowledged_and_does_nothing(lab: Lab) -> None:
    for _ in range(2):
        lab.slack.click("recheck", channel=CHANNEL, envelope="e1")
    assert len(lab.desk.stored) == 1


def test_a_store_that_hangs_is_told_within_a_second(lab: Lab) -> None:
    release = threading.Event()
    lab.desk.before = lambda: release.wait(10)
    assert lab.slack.click("recheck", channel=CHANNEL).seconds < 1.0
    assert lab.told() == [NOT_YET]
    release.set()


def test_twenty_people_clicking_at_once_are_all_stored(lab: Lab) -> None:
    with ThreadPoolExecutor(20) as people:
        clicks = [
            people.submit(lab.slack.click, "recheck", channel=CHANNEL, user=f"U{n}")
            for n in range(20)
        ]
        assert max(click.result().seconds for click in clicks) < 1.0
    assert len({click.person.id for _, click in lab.desk.stored}) == 20


def test_a_command_is_answered_in_the_acknowledgement(lab: Lab) -> None:
    acked = lab.slack.command("status", channel=CHANNEL)
    assert acked.seconds < 1.0
    assert acked.payload["response_type"] == "ephemeral"
    assert "8R5W llm/chat-json" in acked.payload["text"]


@pytest.mark.parametrize("politely", [True, False])
def test_a_dropped_connection_comes_back(lab: Lab, politely: bool) -> None:
    lab.slack.click("recheck", channel=CHANNEL, envelope="e1")
    first = lab.slack.opened
    lab.slack.drop_sockets(politely=politely)
    lab.slack.wait_for(lambda: lab.slack.opened > first, 12)
    lab.slack.wait_connected()
    lab.slack.click("recheck", channel=CHANNEL, envelope="e2")
    assert [click.envelope for _, click in lab.desk.stored] == ["e1", "e2"]


def test_tailhound_starts_before_slack_answers() -> None:
    with SlackStandin() as slack:
        slack.add_channel(CHANNEL)
        lab = Lab(slack)
        slack.faults.methods = frozenset({"apps.connections.open"})
        slack.faults.statuses = [503, 500]
        lab.socket.start()
        assert lab.socket.connected is False
        slack.wait_connected(timeout=10)
        slack.click("recheck", channel=CHANNEL)
        assert len(lab.desk.stored) == 1
        lab.socket.stop()


def test_a_wrong_app_token_does_not_stop_tailhound() -> None:
    with SlackStandin() as slack:
        slack.add_channel(CHANNEL)
        lab = Lab(slack, app_token="xapp-wrong")
        lab.socket.start()
        slack.wait_for(lambda: "invalid_auth" in slack.refused)
        assert lab.socket.connected is False
        begun = time.monotonic()
        lab.socket.stop()
        assert time.monotonic() - begun < 4.0
