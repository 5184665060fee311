"""A storm of alerts: none is lost, memory is bounded, pages work, and Slack is never flooded."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.faults.kept import CAUSE, kept_lab
from tests.faults.server import (
    CHANNEL,
    WITH_HISTORY,
    Bot,
    alert,
    body,
    own_posts,
    payload_of,
    until,
    with_slack,
)
from tests.lab.bot import merged
from tests.lab.lab import Lab
from tests.standins.slack import SlackStandin

pytestmark = pytest.mark.timeout(180)  # each start of the server takes seconds on a busy machine

SENDERS = 4
MEMORY_MEBIBYTES = 400
MESSAGES_AT_MOST = 12
"""New messages of a channel in ten minutes, as shipped."""


class Storm:
    """Alerts of some workloads, one a webhook, sent by a few senders at the same time."""

    def __init__(self, bot: Bot, workloads: int, alerts_each: int) -> None:
        self._bot = bot
        self.incidents: set[str] = set()
        self.refused: list[int] = []
        self.slowest = 0.0
        bodies = [
            body(alert(deployment=f"w{workload}", pod=f"w{workload}-{number}"))
            for number in range(alerts_each)
            for workload in range(workloads)
        ]
        self.alerts = len(bodies)
        began = time.monotonic()
        senders = [
            threading.Thread(target=self._send, args=(bodies[first::SENDERS],))
            for first in range(SENDERS)
        ]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        self.seconds = time.monotonic() - began

    def _send(self, bodies: Sequence[bytes]) -> None:
        for content in bodies:
            began = time.monotonic()
            answer = self._bot.post(content)
            self.slowest = max(self.slowest, time.monotonic() - began)
            if answer.status == 200:
                self.incidents.update(answer.json["incidents"])
            else:
                self.refused.append(answer.status)


def decided(bot: Bot) -> int:
    """How many incidents have their verdict."""
    return int(bot.metric("tailhound_incidents", state="diagnosed"))


def survived(folder: Path, workloads: int, alerts_each: int) -> None:
    """Send a storm, and look at pages, channel and memory until every incident is decided."""
    with SlackStandin(scopes=WITH_HISTORY, rates=True) as slack:
        slack.add_channel(CHANNEL)
        slack.faults.one_a_second = True
        with Bot(folder / "bot", with_slack(folder, slack)) as bot:
            storm = Storm(bot.start(), workloads, alerts_each)
            assert storm.refused == []
            assert storm.slowest < 5
            assert len(storm.incidents) == workloads
            while decided(bot) < workloads:
                began = time.monotonic()
                assert bot.get("/incidents").status == 200
                assert time.monotonic() - began < 3
                time.sleep(0.2)
            lines = bot.incidents()
            assert {line["incident"] for line in lines} == storm.incidents
            assert {line["state"] for line in lines} == {"diagnosed"}
            assert sum(line["alerts"] for line in lines) == storm.alerts
            assert bot.peak_mebibytes() < MEMORY_MEBIBYTES
            posts = [call.at for call in slack.done if call.method == "chat.postMessage"]
            assert len(slack.refused) <= 1 + len(posts) // 10
            assert len(own_posts(slack)) <= MESSAGES_AT_MOST
            assert bot.stop() < 5


def test_hundreds_of_alerts_at_once_all_have_their_outcome(tmp_path: Path) -> None:
    survived(tmp_path, workloads=100, alerts_each=6)


@pytest.mark.nightly
@pytest.mark.timeout(300)
def test_two_thousand_alerts_at_once_all_have_their_outcome(tmp_path: Path) -> None:
    survived(tmp_path, workloads=500, alerts_each=4)


@pytest.mark.nightly
@pytest.mark.timeout(400)
def test_the_messages_of_a_storm_come_out_one_a_second_each_once(tmp_path: Path) -> None:
    with SlackStandin(scopes=WITH_HISTORY, rates=True) as slack:
        slack.add_channel(CHANNEL)
        slack.faults.one_a_second = True
        unbounded = {"slack": {"messages_at_most": 1000, "threads": False}}
        values = merged(with_slack(tmp_path, slack), unbounded)
        with Bot(tmp_path / "bot", values) as bot:
            storm = Storm(bot.start(), workloads=100, alerts_each=4)
            until(lambda: bot.metric("tailhound_outbox_waiting") == 0, "an empty outbox", 300)
            posted = [
                payload_of(call.answer["message"])["incident"]
                for call in slack.done
                if call.method == "chat.postMessage"
            ]
            assert sorted(posted) == sorted(storm.incidents)
            texts = [str(message["text"]) for message in slack.messages(CHANNEL)]
            assert not [text for text in texts if text.startswith("Investigating")]
            edits = sum(call.method == "chat.update" for call in slack.done)
            assert edits < len(posted) // 4


@pytest.fixture(scope="module")
def lab(needs: Callable[..., None]) -> Iterator[Lab]:
    needs("prometheus")
    with kept_lab() as kept:
        yield kept


def crowd(lab: Lab) -> bytes:
    """Forty alerts of as many workloads in one notification; one pages, and its cause is there."""
    (pages,) = json.loads(lab.body)["alerts"]
    others = [alert(deployment=f"w{n}", severity="warning") for n in range(39)]
    return body(*others, pages)


def test_of_forty_alerts_at_once_twelve_get_a_message_and_so_does_the_page_that_is_confirmed(
    tmp_path: Path, lab: Lab
) -> None:
    with SlackStandin(scopes=WITH_HISTORY, rates=True) as slack:
        slack.add_channel(CHANNEL)
        values = merged(lab.settings, with_slack(tmp_path, slack))
        with Bot(tmp_path / "bot", values) as bot:
            answer = bot.start().post(crowd(lab))
            assert len(answer.json["incidents"]) == 40
            until(lambda: decided(bot) == 40, "all verdicts", 90, bot.said)
            until(lambda: bot.metric("tailhound_outbox_waiting") == 0, "an empty outbox", 90)
            (page,) = [line for line in bot.incidents() if line["primary"] == CAUSE]
            assert len(own_posts(slack, str(page["incident"]))) == 1
            assert MESSAGES_AT_MOST <= len(own_posts(slack)) <= MESSAGES_AT_MOST + 1
            storms = [m for m in slack.messages(CHANNEL) if payload_of(m).get("part") == "storm"]
            assert len(storms) == 1
            assert str(storms[0]["text"]).startswith("40 incidents at once.")
            assert slack.core.invalid == []
