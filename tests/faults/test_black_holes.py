"""Every backend takes calls and never answers: a message at once, a verdict in time, and the truth
in its place when a backend comes back.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.kept import CAUSE, alert_body, kept_lab
from tests.faults.server import CHANNEL, WITH_HISTORY, Bot, own_posts, until, with_slack
from tests.faults.valve import Valve
from tests.lab.bot import merged
from tests.lab.lab import Lab
from tests.lab.process import BlackHole
from tests.standins.slack import SlackStandin

pytestmark = [
    pytest.mark.lab,
    pytest.mark.xdist_group("faults-dark"),
    pytest.mark.timeout(180),  # each start of the server takes seconds on a busy machine
]

VERDICT_SECONDS = 5.0


@pytest.fixture(scope="module")
def lab(needs: Callable[..., None]) -> Iterator[Lab]:
    needs("prometheus")
    with kept_lab() as kept:
        yield kept


@pytest.fixture
def slack() -> Iterator[SlackStandin]:
    with SlackStandin(scopes=WITH_HISTORY, rates=True) as slack:
        slack.add_channel(CHANNEL)
        yield slack


@pytest.fixture
def prometheus(lab: Lab) -> Iterator[Valve]:
    assert lab.prometheus is not None
    with Valve(lab.prometheus.port) as valve:
        yield valve


def settings(folder: Path, lab: Lab, slack: SlackStandin, prometheus: Valve) -> dict[str, Any]:
    """The lab behind a valve, with deadlines that only the investigation sets."""
    values = merged(lab.settings, with_slack(folder, slack))
    return merged(
        values,
        {
            "deadlines": {"verdict": VERDICT_SECONDS, "late": 60},
            "prometheus": {"url": f"http://127.0.0.1:{prometheus.port}", "timeout_seconds": 60},
            "kubernetes": {"timeout_seconds": 60},
        },
    )


def at_first_in_the_dark(bot: Bot, slack: SlackStandin, content: bytes) -> str:
    """Send the alert: a post within a second, a verdict at the deadline that says what is missing.

    The id of the incident.
    """
    sent = time.monotonic()
    answer = bot.post(content)
    (id,) = answer.json["incidents"]
    slack.wait_for(lambda: len(own_posts(slack)) == 1)
    assert slack.done[0].at - sent < 1.0
    assert slack.messages(CHANNEL)[0]["text"].startswith("Investigating")
    until(lambda: _text(slack).startswith("Cannot see"), "the verdict", VERDICT_SECONDS + 5)
    verdict = next(
        call for call in slack.done if str(call.arguments.get("text", "")).startswith("Cannot see")
    )
    assert verdict.at - sent < VERDICT_SECONDS + 0.5
    found = bot.incident(id)
    assert found["state"] == "diagnosed"
    assert found["primary"] is None
    assert "Prometheus" in _text(slack)
    return str(id)


def until_revised(bot: Bot, slack: SlackStandin, id: str) -> None:
    """Until the same message says what the cause is, and that this is a revision."""
    until(lambda: _text(slack).startswith("Revised to cause found"), "the revision", 60, bot.said)
    (message,) = slack.messages(CHANNEL)
    assert "evised" in str(message["blocks"])
    assert "annot see" in str(message["blocks"])
    assert len(own_posts(slack)) == 1
    found = bot.incident(id)
    assert found["primary"] == CAUSE
    assert "revised" in bot.get(f"/incidents/{id}").body.decode().lower()


def _text(slack: SlackStandin) -> str:
    return str(slack.messages(CHANNEL)[0]["text"])


@pytest.mark.nightly
@pytest.mark.timeout(120)
def test_late_answers_of_prometheus_revise_the_verdict_once_its_breaker_lets_them(
    tmp_path: Path, lab: Lab, slack: SlackStandin, prometheus: Valve
) -> None:
    with Bot(tmp_path / "bot", settings(tmp_path, lab, slack, prometheus)) as bot:
        id = at_first_in_the_dark(bot.start(), slack, alert_body(lab, "late"))
        prometheus.open()
        until_revised(bot, slack, id)


def test_when_all_is_dark_prometheus_alone_is_enough_to_revise(
    tmp_path: Path, lab: Lab, slack: SlackStandin, prometheus: Valve
) -> None:
    hole = BlackHole()
    dark = {
        "kubernetes": {"server": f"https://127.0.0.1:{hole.port}", "timeout_seconds": 3},
        "prometheus": {"concurrency": 1},  # one hanging question does not open the breaker
    }
    values = merged(settings(tmp_path, lab, slack, prometheus), dark)
    try:
        with Bot(tmp_path / "bot", values) as bot:
            id = at_first_in_the_dark(bot.start(), slack, alert_body(lab, "dark"))
            prometheus.open()
            until_revised(bot, slack, id)
    finally:
        hole.stop()
