"""A server that is killed in a storm: each incident has its message or its row, each once."""

import os
import random
import re
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.databases import the_server
from tests.faults.server import (
    CHANNEL,
    WITH_HISTORY,
    Bot,
    alert,
    body,
    payload_of,
    until,
    with_slack,
)
from tests.lab.bot import merged
from tests.standins.slack import SlackStandin

pytestmark = [
    pytest.mark.xdist_group("faults-kill-storm"),
    pytest.mark.timeout(300),  # each start of the server takes seconds on a busy machine
]

ALERTS = 12
MESSAGES = 3
_TOLD = re.compile(r"(\d+) incidents at once\..* (\d+) of them in one message", re.DOTALL)


def narrow(
    folder: Path, slack: SlackStandin, *, socket: bool = False, threads: bool = True
) -> dict[str, Any]:
    """A channel that takes three messages."""
    slack.add_channel(CHANNEL)
    own = {"slack": {"messages_at_most": MESSAGES, "threads": threads}}
    return merged(with_slack(folder, slack, socket=socket), own)


def storm_body() -> bytes:
    """Twelve workloads at once."""
    return body(*(alert(deployment=f"w-{n}", severity="warning") for n in range(ALERTS)))


def posted(slack: SlackStandin) -> Counter[str]:
    """How often each incident's own message was posted; `storm` is the storm's."""
    told = [
        payload_of(call.answer["message"])
        for call in slack.done
        if call.method == "chat.postMessage"
    ]
    own = [str(one["incident"]) for one in told if "part" not in one]
    return Counter([*own, *("storm" for one in told if one.get("part") == "storm")])


def storm_posts(slack: SlackStandin) -> int:
    """How many messages of a storm were ever posted."""
    return posted(slack)["storm"]


def told_by_storm(slack: SlackStandin) -> tuple[int, int]:
    """What the storm's message says now: incidents, and how many of them it holds."""
    texts = [
        str(m["text"]) for m in slack.messages(CHANNEL) if payload_of(m).get("part") == "storm"
    ]
    found = _TOLD.search(texts[-1]) if texts else None
    return (int(found[1]), int(found[2])) if found else (0, 0)


def until_quiet(bot: Bot) -> None:
    """Until all verdicts are there, and nothing more is to be sent."""
    until(lambda: {one["state"] for one in bot.incidents()} == {"diagnosed"}, "verdicts", 60)
    until(lambda: bot.metric("tailhound_outbox_waiting") == 0, "an empty outbox", 60, bot.said)


def check(bot: Bot, slack: SlackStandin, most: int = MESSAGES) -> None:
    """Each incident has its own message, once, or is held in the one message of the storm."""
    until_quiet(bot)
    found = posted(slack)
    assert set(found.values()) == {1}, found
    own = len(found) - 1
    assert MESSAGES <= own <= most, found
    ids = {one["incident"] for one in bot.incidents()}
    assert len(ids) == ALERTS
    assert set(found) <= ids | {"storm"}
    until(lambda: told_by_storm(slack) == (ALERTS, ALERTS - own), "the storm's message", 10)
    assert slack.core.invalid == []
    assert slack.unknown_calls == []


def accepted(bot: Bot, content: bytes) -> None:
    """Send a body, and see it accepted."""
    assert bot.post(content).status == 200


def gone(bot: Bot) -> int:
    """How many replicas are gone, by the page of this one."""
    return bot.get("/health").body.count(b"gone for")


def filled(bot: Bot) -> None:
    """The channel has taken all messages that it takes."""
    for n in range(MESSAGES):
        accepted(bot, body(alert(deployment=f"first-{n}", severity="warning")))
    until_quiet(bot)


def rest(first: int, last: int) -> bytes:
    """Workloads that come when the channel is full."""
    return body(*(alert(deployment=f"w-{n}", severity="warning") for n in range(first, last)))


def held(slack: SlackStandin, method: str, before: int) -> bool:
    """Whether a call of this method was done since, whose answer is held."""
    return any(call.method == method for call in slack.done[before:])


@pytest.mark.parametrize(("method", "first"), [("chat.postMessage", 0), ("chat.update", 4)])
def test_a_kill_before_the_answer_to_a_storms_message_leaves_one(
    tmp_path: Path, method: str, first: int
) -> None:
    with (
        SlackStandin(scopes=WITH_HISTORY) as slack,
        Bot(tmp_path / "bot", narrow(tmp_path, slack, threads=False)) as bot,
    ):
        filled(bot.start())
        if first:
            accepted(bot, rest(0, first))
            until_quiet(bot)
        before = len(slack.done)
        slack.faults.methods = frozenset({method})
        slack.faults.hold_answers = 1
        accepted(bot, rest(first, 5))
        slack.wait_for(lambda: held(slack, method, before), 30)
        assert storm_posts(slack) == 1
        bot.kill()
        bot.start()
        accepted(bot, rest(5, ALERTS - MESSAGES))
        check(bot, slack)
        assert bot.stop() < 5


def test_an_incident_that_was_opened_before_a_kill_gets_its_message_once(tmp_path: Path) -> None:
    with (
        SlackStandin(scopes=WITH_HISTORY) as slack,
        Bot(tmp_path / "bot", narrow(tmp_path, slack, socket=True, threads=False)) as bot,
    ):
        filled(bot.start())
        slack.wait_connected(timeout=20)
        accepted(bot, rest(0, ALERTS - MESSAGES))
        check(bot, slack)
        (storm,) = [m for m in slack.messages(CHANNEL) if payload_of(m).get("part") == "storm"]
        slack.faults.hold_answers = 1
        slack.click("open_held", channel=CHANNEL, ts=storm["ts"])
        bot.kill()
        bot.start()
        until(lambda: len(posted(slack)) == MESSAGES + 2, "its own message", 30, bot.said)
        check(bot, slack, MESSAGES + 1)
        assert bot.stop() < 5


def kills(folder: Path, seed: int, times: int) -> None:
    """Kill a server so often at random while a storm comes in and is told."""
    moments = random.Random(seed)  # noqa: S311 (repeatable, no secret)
    with (
        SlackStandin(scopes=WITH_HISTORY) as slack,
        Bot(folder / "bot", narrow(folder, slack)) as bot,
    ):
        bot.start()
        accepted(bot, storm_body())
        for _ in range(times):
            time.sleep(moments.random() * 1.5)  # the moment is what is tested
            bot.kill()
            bot.start()
        check(bot, slack)
        assert bot.stop() < 5


def test_kills_at_any_moment_of_a_storm_lose_no_incident(tmp_path: Path) -> None:
    kills(tmp_path, seed=0, times=3)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1, 6))
def test_many_kills_in_a_storm_lose_no_incident(tmp_path: Path, seed: int) -> None:
    kills(tmp_path, seed, times=8)


@pytest.mark.postgres
def test_two_replicas_have_one_message_for_one_storm(tmp_path: Path) -> None:
    server = the_server()
    url = server.empty()
    with SlackStandin(scopes=WITH_HISTORY) as slack:
        shared = merged(narrow(tmp_path, slack), {"store": {"url": url}})
        with Bot(tmp_path / "one", shared) as one, Bot(tmp_path / "two", shared) as other:
            for bot in (one, other):
                bot.start(wait=False)
            for bot in (one, other):
                bot.wait_up()
            accepted(one, storm_body())
            slack.wait_for(lambda: storm_posts(slack) > 0, 30)
            one.kill()
            one.start()
            os.kill(other.pid, signal.SIGSTOP)
            until(lambda: gone(one) == 2, "the other one to be taken for dead", 30)
            os.kill(other.pid, signal.SIGCONT)
            check(one, slack)
            assert one.stop() < 5
            assert other.stop() < 5
    server.drop(url)
