"""Fifty hosts that hang: whoever does not need them is as fast as ever, and nothing piles up."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.faults.hanging import ASKED_IN, NAMES, hung_hosts
from tests.faults.kept import CAUSE, alert_body, kept_lab
from tests.faults.server import Bot, alert, body, until
from tests.lab.bot import merged
from tests.lab.lab import Lab

pytestmark = [
    pytest.mark.lab,
    pytest.mark.xdist_group("faults-hung"),
    pytest.mark.timeout(180),  # each start of the server takes seconds on a busy machine
]

VERDICT_SECONDS = 4.0
SSH_POOL, OTHER_POOLS = 20, 8
"""Threads that the transports keep for later, at most: what is asked at once."""


@pytest.fixture(scope="module")
def lab(needs: Callable[..., None]) -> Iterator[Lab]:
    needs("prometheus")
    with kept_lab() as kept:
        yield kept


@pytest.fixture(scope="module")
def bot(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bot]:
    folder = tmp_path_factory.mktemp("hung")
    terms = {
        "deadlines": {"verdict": VERDICT_SECONDS, "late": 0},
        "ssh": {"concurrency": SSH_POOL},
        "prometheus": {"concurrency": OTHER_POOLS - 2},
        "kubernetes": {"concurrency": 2},
    }
    with hung_hosts(folder / "hosts") as hosts:
        values = merged(merged(lab.settings, hosts), terms)
        with Bot(folder / "bot", values) as bot:
            yield bot.start()


def send(bot: Bot, content: bytes) -> str:
    """Post a body; the id of its incident."""
    answer = bot.post(content)
    assert answer.status == 200
    (id,) = answer.json["incidents"]
    return str(id)


def ask_the_hosts(bot: Bot, workload: str) -> str:
    """An incident whose runbook asks all hosts."""
    return send(bot, body(alert("HostsSlow", namespace=ASKED_IN, deployment=workload)))


def hosts_of(incident: dict[str, Any]) -> list[dict[str, Any]]:
    """The evidence of the hosts."""
    names = {name.replace("-", "") for name in NAMES}
    return [item for item in incident["evidence"] if item["name"] in names]


def outcomes(incident: dict[str, Any]) -> dict[str, str]:
    """What came of each evidence."""
    return {item["name"]: item["status"] for item in incident["evidence"]}


def slowest_read(incident: dict[str, Any]) -> float:
    """Seconds of the evidence that took longest."""
    return max(float(item["took_seconds"]) for item in incident["evidence"])


def until_hanging(bot: Bot, before: int) -> None:
    """Until every thread that SSH may use hangs in a key exchange (two threads each)."""
    until(lambda: bot.threads() >= before + 2 * SSH_POOL, "the hosts to be asked", 10)


def test_the_next_incident_is_on_time_and_threads_return(bot: Bot, lab: Lab) -> None:
    usual = bot.diagnosed(send(bot, alert_body(lab, "before")))
    before = bot.threads()

    hung = ask_the_hosts(bot, "first")
    until_hanging(bot, before)
    meanwhile = bot.diagnosed(send(bot, alert_body(lab, "meanwhile")), VERDICT_SECONDS)
    assert bot.incident(hung)["state"] == "investigating"
    assert meanwhile["primary"] == usual["primary"] == CAUSE
    assert outcomes(meanwhile) == outcomes(usual)
    assert slowest_read(meanwhile) < slowest_read(usual) + 1.0

    found = bot.diagnosed(hung, VERDICT_SECONDS + 5)
    asked = hosts_of(found)
    assert len(asked) == len(NAMES)
    assert {item["status"] for item in asked} == {"timeout", "skipped"}
    assert all(item["reason"] for item in asked)
    assert slowest_read(found) < VERDICT_SECONDS + 0.5
    until(lambda: bot.threads() <= before + SSH_POOL + OTHER_POOLS, "the threads to return", 5)


def test_who_hangs_again_and_again_is_left_alone(bot: Bot) -> None:
    before = bot.threads()
    left_alone: list[dict[str, Any]] = []
    for number in range(5):
        found = bot.diagnosed(ask_the_hosts(bot, f"again-{number}"), VERDICT_SECONDS + 5)
        left_alone = [
            item for item in hosts_of(found) if "reads in a row without an answer" in item["reason"]
        ]
        if len(left_alone) >= len(NAMES) // 2:
            break
    assert len(left_alone) >= len(NAMES) // 2
    assert {item["status"] for item in left_alone} == {"skipped"}
    until(lambda: bot.threads() <= before + OTHER_POOLS, "the threads to return", 20)
