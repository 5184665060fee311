"""kill -9 at every instant that matters: nothing accepted is lost, nothing is posted twice.

The process under test is a child (`engine_child`); what it posted and acknowledged lies in a ledger
that outlives it.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tailhound.model import State
from tailhound.store.incidents import IncidentReader
from tests.faults.engine_child import Ledger

ROOT = Path(__file__).parents[2]

INSTANTS = (
    "after_accept",
    "after_claim",
    "after_send",
    "after_record",
    "after_resolve",
    "after_collect",
    "before_decide",
    "after_decide",
)


def start(
    folder: Path, *, alerts: int = 1, kill_at: str = "-", service: str = "finds"
) -> subprocess.Popen[bytes]:
    """Start a life of the system under test."""
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.faults.engine_child",
            str(folder),
            str(alerts),
            kill_at,
            service,
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def finish(life: subprocess.Popen[bytes]) -> None:
    """Wait for a life that is not killed."""
    _, said = life.communicate(timeout=55)
    assert life.returncode == 0, said.decode()


def check(folder: Path, alerts: int, *, posts_at_most: int = 1) -> Counter[str]:
    """Every acknowledged alert has its incident, verdict and message; how often each was posted."""
    ledger = Ledger(folder / "ledger")
    acked = {row[0] for row in ledger.lines("ack")}
    reader = IncidentReader.open(f"sqlite:///{folder / 'bot.db'}")
    incidents = {incident.id: incident for incident in reader.list(limit=1000)}
    reader.close()
    assert acked == set(incidents)
    assert len(incidents) == alerts
    for incident in incidents.values():
        assert incident.state is State.DIAGNOSED
        assert incident.diagnosis is not None
        assert incident.n == 1
    posts = Counter(row[0] for row in ledger.lines("post"))
    assert set(posts) == set(incidents)
    assert max(posts.values()) <= posts_at_most
    return posts


@pytest.mark.parametrize("instant", INSTANTS)
def test_a_kill_at_a_named_instant_loses_nothing_and_posts_once(
    tmp_path: Path, instant: str
) -> None:
    killed = start(tmp_path, kill_at=instant)
    killed.communicate(timeout=55)
    assert killed.returncode == -signal.SIGKILL
    finish(start(tmp_path, kill_at=instant))
    check(tmp_path, 1)


def test_when_the_answer_of_the_post_is_lost_and_nobody_can_look_there_are_two_at_most(
    tmp_path: Path,
) -> None:
    killed = start(tmp_path, kill_at="after_send", service="blind")
    killed.communicate(timeout=55)
    assert killed.returncode == -signal.SIGKILL
    for _ in range(2):
        finish(start(tmp_path, service="blind"))
    assert set(check(tmp_path, 1, posts_at_most=2).values()) == {2}


def kills(folder: Path, count: int, seed: int) -> None:
    """Kill `count` lives at random moments, counted from when each is up; then let one finish."""
    moments = random.Random(seed)  # noqa: S311 (repeatable, no secret)
    ledger = Ledger(folder / "ledger")
    for _ in range(count):
        ups = len(ledger.lines("up"))
        life = start(folder, alerts=8)
        while len(ledger.lines("up")) == ups and life.poll() is None:
            time.sleep(0.005)
        time.sleep(moments.random() * 0.7)
        life.send_signal(signal.SIGKILL)
        life.communicate(timeout=10)
    finish(start(folder, alerts=8))
    check(folder, 8)


def test_kills_at_random_moments_lose_nothing_and_post_once(tmp_path: Path) -> None:
    kills(tmp_path, 4, seed=1)


@pytest.mark.nightly
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", range(2, 7))
def test_many_kills_at_random_moments_lose_nothing_and_post_once(tmp_path: Path, seed: int) -> None:
    kills(tmp_path, 5, seed)


def test_a_polite_stop_ends_within_five_seconds_although_a_step_hangs(tmp_path: Path) -> None:
    life = start(tmp_path, alerts=50, kill_at="hang")
    ledger = Ledger(tmp_path / "ledger")
    while not ledger.lines("hanging"):
        assert life.poll() is None
        time.sleep(0.02)
    began = time.monotonic()
    life.send_signal(signal.SIGTERM)
    finish(life)
    assert time.monotonic() - began < 5
