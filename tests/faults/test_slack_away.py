"""Slack is away in the middle of things: two replicas, messages that stand already, people waiting.

Every accepted incident ends in its right visible outcome: one message in its last state.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.faults.server import (
    CHANNEL,
    WITH_HISTORY,
    Bot,
    alert,
    body,
    own_posts,
    thread_posts,
    until,
)
from tests.faults.test_outages import messages_of, until_settled
from tests.faults.test_people import two_that_hear
from tests.standins.slack import SlackStandin

pytestmark = [pytest.mark.postgres, pytest.mark.xdist_group("faults-replicas-serve")]
ALERTS_AT_MOST = 9
"""Fewer than a channel gets messages for before a storm: each has one of its own."""


@pytest.fixture
def slack() -> Iterator[SlackStandin]:
    with SlackStandin(scopes=WITH_HISTORY, rates=True) as started:
        started.add_channel(CHANNEL)
        yield started


@pytest.fixture
def bots(tmp_path: Path, slack: SlackStandin) -> Iterator[tuple[Bot, Bot]]:
    """Two replicas on one database, which both hear people."""
    with two_that_hear(tmp_path, slack) as both:
        yield both


def accepted(bot: Bot, sent: Mapping[str, Any]) -> str:
    """Send an alert; the id of its incident."""
    answer = bot.post(body(sent))
    assert answer.status == 200
    (id,) = answer.json["incidents"]
    return str(id)


def ended(sent: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same alert, resolved."""
    return {**sent, "status": "resolved", "endsAt": datetime.now(UTC).isoformat()}


def away(bots: tuple[Bot, Bot], slack: SlackStandin, seconds: float, alerts: int) -> None:
    """Take Slack away for so long while alerts come in, and see what became of each."""
    one, other = bots
    short = alert(deployment="short")
    first, over = accepted(one, alert(deployment="first")), accepted(other, short)
    until_settled(one, slack, [first, over])
    slack.faults.down = True
    slack.drop_sockets()
    gone = time.monotonic()
    ids = [first]
    for number in range(alerts):
        bot = bots[number % 2]
        ids.append(accepted(bot, alert(deployment=f"w{number}")))
        bot.diagnosed(ids[-1])
        if number == 0:
            assert accepted(other, ended(short)) == over
        wait_for(gone + seconds * (number + 1) / alerts)
    for bot in bots:
        until(lambda: b"does not take messages now" in bot.get("/health").body, "a line of health")  # noqa: B023
        assert bot.get("/readyz").status == 200
    assert all(messages_of(slack, id) == [] for id in ids[1:])
    slack.faults.down = False
    until_settled(one, slack, ids, 120)
    stands(slack, over, lambda text: text.startswith("Resolved"))
    slack.wait_connected(2, timeout=120)
    for id in ids:
        until(lambda: f"{id}-evidence.md" in thread_posts(slack, id), "the thread", 60)  # noqa: B023
        once = {"timeline": 1, "evidence": 1, f"{id}-evidence.md": 1}
        assert thread_posts(slack, id) == once
    people_are_heard(bots, slack, first)


def wait_for(moment: float) -> None:
    """Let time pass: how long Slack is away is what these tests are about."""
    time.sleep(max(0.0, moment - time.monotonic()))


def stands(slack: SlackStandin, id: str, holds: Callable[[str], bool]) -> None:
    """One message of the incident stands, and says so."""
    until(lambda: [holds(text) for text in messages_of(slack, id)] == [True], f"{id} at its end")


def people_are_heard(bots: tuple[Bot, Bot], slack: SlackStandin, id: str) -> None:
    """A press counts, whichever replica hears it."""
    (ts,) = own_posts(slack, id)
    assert slack.click("on_it", channel=CHANNEL, ts=ts).seconds < 3
    for bot in bots:
        page = f"/incidents/{id}"
        until(lambda: b"u0ana is on it" in bot.get(page).body, "who is on it", 20, bot.said)  # noqa: B023


@pytest.mark.timeout(180)  # each start of the server takes seconds on a busy machine
def test_slack_is_away_for_ten_seconds(bots: tuple[Bot, Bot], slack: SlackStandin) -> None:
    away(bots, slack, 10, alerts=2)


@pytest.mark.nightly
@pytest.mark.timeout(1200)
def test_slack_is_away_for_ten_minutes(bots: tuple[Bot, Bot], slack: SlackStandin) -> None:
    away(bots, slack, 600, alerts=ALERTS_AT_MOST)
