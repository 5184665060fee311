"""The connections to Slack: two of them, watched, and told of."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from tailhound.app.clicks import Clicks
from tailhound.slack.blocks import message
from tailhound.slack.calls import client, fingerprint
from tailhound.slack.listeners import SlackListeners
from tailhound.slack.local import APP_ID
from tailhound.slack.socket import (
    CONNECTIONS,
    DEAF_SECONDS,
    RECOUNT_SECONDS,
    RECOUNTS_APART,
    Around,
    SlackSocket,
    Standing,
)
from tests.samples.incidents import CONFIRMED
from tests.samples.story import NOW
from tests.standins.slack import SlackStandin
from tests.unit.slack.floor import CHANNEL, Desk

APP_TOKEN = "xapp-local"


@dataclass
class World:
    """Two connections, what they say and are told, and a clock that stands still."""

    slack: SlackStandin
    tokens: list[str] = field(default_factory=lambda: [APP_TOKEN])
    replicas: int = 1
    told: list[bool] = field(default_factory=list)
    refusals: int = 0
    said: list[str] = field(default_factory=list)
    at: float = 1000.0
    desk: Desk = field(default_factory=Desk)

    def __post_init__(self) -> None:
        web = client("xoxb-local", self.slack.api_url, 2)
        listeners = SlackListeners(web, self.desk, now=lambda: NOW)
        around = Around(
            replicas=lambda: self.replicas,
            changed=self._changed,
            say=self.said.append,
            clock=lambda: self.at,
            look_seconds=3600.0,
        )
        self.socket = SlackSocket(web, lambda: self.tokens[-1], listeners, around)

    def _changed(self) -> bool:
        self.told.append(self.socket.deaf)
        self.refusals -= 1
        return self.refusals < 0

    def look(self, later: float = 0.0) -> Standing:
        """What is seen after so many seconds."""
        self.at += later
        self.socket.look()
        return self.socket.standing()


@contextlib.contextmanager
def world(slack: SlackStandin) -> Iterator[World]:
    made = World(slack)
    made.socket.start()
    try:
        yield made
    finally:
        made.socket.stop()


@pytest.fixture
def slack() -> Iterator[SlackStandin]:
    before = set(threading.enumerate())
    with SlackStandin() as made:
        made.add_channel(CHANNEL)
        yield made
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive(), thread.name


def until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait until something is true; nobody tells of it."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.01)


def connected(slack: SlackStandin, at: World, count: int = CONNECTIONS) -> None:
    """Until its connections stand, for both sides, and Slack has so many of the app."""
    slack.wait_connected(count, 20)
    until(lambda: at.socket.standing().up == CONNECTIONS)
    until(lambda: at.socket.standing().counted == count)


def test_two_connections_stand_and_say_whose_they_are(slack: SlackStandin) -> None:
    with world(slack) as at:
        connected(slack, at)
        found = at.look()
        assert (found.up, found.wanted, found.app, found.others) == (2, 2, APP_ID, 0)
        at.look()
        (line,) = at.said
        assert APP_ID in line
        assert fingerprint(APP_TOKEN) in line
        assert APP_TOKEN not in line


def test_while_one_connection_is_gone_the_other_hears_clicks(slack: SlackStandin) -> None:
    with world(slack) as at:
        connected(slack, at)
        web = client("xoxb-local", slack.api_url, 2)
        shown = message(CONFIRMED, page_url="", now=NOW)
        blocks = [dict(block) for block in shown.blocks]
        web.chat_postMessage(channel=CHANNEL, text=shown.text, blocks=blocks)
        at.socket._links[0].close()
        until(lambda: slack._sockets.open == 1)
        slack.click("recheck", channel=CHANNEL)
        assert len(at.desk.stored) == 1
        assert at.socket.connected


def test_connections_of_another_program_are_counted_a_second_time_before_they_are_told(
    slack: SlackStandin,
) -> None:
    with world(slack) as other:
        connected(slack, other)
        with world(slack) as at:
            connected(slack, at, 4)
            assert at.look().others == 0
            assert slack.opened == 4
            assert at.look(RECOUNT_SECONDS - 1).others == 0
            assert slack.opened == 4
            at.look(1)
            until(lambda: at.look().others == 2)
            assert slack.opened == 5
            assert at.look(RECOUNTS_APART / 2).others == 2
            other.socket.stop()
            until(lambda: slack._sockets.open == 2)
            at.look(RECOUNTS_APART)
            until(lambda: at.look().others == 0)
            assert slack.opened == 6


def test_connections_of_a_known_replica_are_no_strangers(slack: SlackStandin) -> None:
    with world(slack) as other:
        connected(slack, other)
        with world(slack) as at:
            at.replicas = 2
            connected(slack, at, 4)
            at.look()
            assert at.look(RECOUNT_SECONDS).others == 0
            at.replicas = 0  # nobody knows now
            assert at.look(RECOUNT_SECONDS).others == 0
            assert slack.opened == 4


def test_without_a_connection_for_two_minutes_buttons_cease_and_come_back() -> None:
    with SlackStandin() as gone:
        port = gone.bound_port
    slack = SlackStandin(port=port)
    with world(slack) as at:
        assert not at.look(DEAF_SECONDS - 1).up
        assert not at.socket.deaf
        at.refusals = 1
        found = at.look(2)
        assert at.socket.deaf
        assert found.quiet > DEAF_SECONDS
        at.look()
        at.look()
        assert at.told == [True, True]  # the first time it could not be stored
        with slack:
            until(lambda: at.socket.connected)
            at.look()
            assert not at.socket.deaf
            assert at.told == [True, True, False]
            at.socket.stop()


def test_where_another_replica_lives_buttons_stay() -> None:
    with SlackStandin() as gone:
        pass
    with world(gone) as at:
        at.replicas = 2
        at.look(DEAF_SECONDS + 10)
        assert not at.socket.deaf
        assert at.told == []


def test_a_new_app_token_is_used_without_a_restart(slack: SlackStandin) -> None:
    made = World(slack, tokens=["xapp-old"])
    made.socket.start()
    try:
        until(lambda: "invalid_auth" in slack.refused)
        made.tokens.append(APP_TOKEN)
        connected(slack, made)
        assert made.look().token == fingerprint(APP_TOKEN)
    finally:
        made.socket.stop()


UP = Standing(up=2, wanted=2, app=APP_ID, counted=2, token="1a2b3c4d5e")


@pytest.mark.parametrize(
    ("standing", "works", "state", "told"),
    [
        (UP, True, "heard over 2 of 2 connections", APP_ID),
        (Standing(up=1, wanted=2), None, "heard over 1 of 2 connections", "may be lost"),
        (Standing(up=0, wanted=2, quiet=3.0), None, "connecting", "nothing"),
        (
            Standing(up=0, wanted=2, quiet=200.0, why="Slack opens no socket (invalid_auth)"),
            False,
            "not heard for 3",
            "invalid_auth",
        ),
        (
            Standing(up=2, wanted=2, app=APP_ID, counted=5, others=3, token="1a2b3c4d5e"),
            None,
            "3 other connections",
            "1a2b3c4d5e",
        ),
    ],
)
def test_health_says_whether_clicks_are_heard(
    standing: Standing, works: bool | None, state: str, told: str
) -> None:
    (line,) = Clicks(lambda: standing).lines()
    assert line.works is works
    assert state in line.state
    assert told in f"{line.detail} {line.effect} {line.fix}"


def test_metrics_count_connections() -> None:
    registry = CollectorRegistry()
    registry.register(Clicks(lambda: UP))
    text = generate_latest(registry).decode()
    assert "tailhound_slack_sockets 2.0" in text
    assert "tailhound_slack_sockets_unknown 0.0" in text
    nothing = CollectorRegistry()
    nothing.register(Clicks(lambda: None))
    assert generate_latest(nothing) == b""
    assert Clicks(lambda: None).lines() == ()
