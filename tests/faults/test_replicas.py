"""Replicas on a real PostgreSQL: killed, stopped and continued, and the database itself restarted.

The replicas are children (`replica_child`); what was posted and acknowledged lies in a ledger.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tailhound.model import State
from tailhound.store.incidents import IncidentReader
from tests.databases import on_postgres, the_server, url_of
from tests.faults.engine_child import Ledger, Service
from tests.lab.postgres import Postgres

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.xdist_group("faults-replicas"),
    pytest.mark.timeout(120),
]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    server = the_server()
    url = server.copied()
    on_postgres(tmp_path, url)
    yield tmp_path
    server.drop(url)


class Site:
    """The replicas of one database, and what people saw of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ledger = Ledger(folder / "ledger")
        self.replicas: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, **part: object) -> subprocess.Popen[bytes]:
        """Start a replica, and wait until it runs."""
        argv = [sys.executable, "-m", "tests.faults.replica_child"]
        log = (self.folder / f"{name}.log").open("wb")
        with log:
            self.replicas[name] = subprocess.Popen(
                [*argv, str(self.folder), name, json.dumps(part)],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.until(lambda: [name] in self.ledger.lines("up"), f"{name} to run", 40)
        return self.replicas[name]

    def until(self, happened: Callable[[], bool], what: str, seconds: float = 30) -> None:
        """Look until it happened."""
        end = time.monotonic() + seconds
        while not happened():
            assert time.monotonic() < end, f"waited {seconds:g} s for {what}: {self.said()}"
            time.sleep(0.01)

    def said(self) -> str:
        """The ends of what the replicas printed, and of the ledger."""
        logs = [*sorted(self.folder.glob("*.log")), self.ledger.path]
        return "\n".join(f"{path.name}: {path.read_text()[-1500:]}" for path in logs)

    def has_passed(self, name: str, instant: str) -> bool:
        """Whether a replica has come to an instant."""
        return [name, instant] in self.ledger.lines("passed")

    def until_shown(self, count: int, seconds: float = 30) -> None:
        """Until the messages of so many incidents show their verdict."""
        self.until(lambda: len(self.shown()) >= count, f"{count} verdicts in the channel", seconds)

    def shown(self) -> list[str]:
        """The incidents whose message shows their verdict."""
        chat = Service(ledger=self.ledger)
        ids = {row[0] for row in self.ledger.lines("ack")}
        return [id for id in ids if chat.last_shown(id) == "diagnosed:cpu-throttling"]

    def check(self, count: int) -> None:
        """Every acknowledged alert has its incident, its verdict and one message."""
        reader = IncidentReader.open(url_of(self.folder))
        incidents = {incident.id: incident for incident in reader.list(limit=1000)}
        reader.close()
        assert {row[0] for row in self.ledger.lines("ack")} == set(incidents)
        assert len(incidents) == count
        assert {incident.state for incident in incidents.values()} == {State.DIAGNOSED}
        posts = Counter(row[0] for row in self.ledger.lines("post"))
        assert posts == dict.fromkeys(incidents, 1), self.said()

    def end(self) -> None:
        """End all of them, also those that are stopped."""
        for process in self.replicas.values():
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait(10)


@contextmanager
def site(folder: Path) -> Iterator[Site]:
    made = Site(folder)
    try:
        yield made
    finally:
        made.end()


def killed_in_the_middle(at: Site, **part: object) -> float:
    """Let a replica accept an alert, kill it while it asks, with another one beside it; when."""
    first = at.start("first", alerts=1, hangs_at="collect", **part)
    at.until(lambda: ["first", "collect"] in at.ledger.lines("step"), "the questions of the first")
    at.until(lambda: bool(at.ledger.lines("post")), "the first post")
    at.start("second", **part)
    first.kill()
    first.wait(10)
    return time.monotonic()


def test_what_a_killed_replica_investigated_another_one_ends_within_15_s(folder: Path) -> None:
    with site(folder) as at:
        killed_at = killed_in_the_middle(at, lease=10.0, beat=2.0)
        at.until_shown(1)
        assert time.monotonic() - killed_at < 15
        at.check(1)


def test_without_the_reaper_nobody_goes_on(folder: Path) -> None:
    """The negative control: what the test above sees is the reaper's doing."""
    with site(folder) as at:
        killed_in_the_middle(at, lease=1.0, beat=0.2, reaps=False)
        with pytest.raises(AssertionError, match="verdicts in the channel"):
            at.until_shown(1, seconds=5)


def test_what_a_stopped_replica_goes_on_to_send_was_sent_by_another_one(folder: Path) -> None:
    with site(folder) as at:
        stopped_with_a_claim(at)
        at.until(lambda: at.has_passed("first", "after_record"), "the first to go on")
        at.until_shown(1)
        at.check(1)


def test_without_the_fence_a_stopped_replica_posts_a_second_time(folder: Path) -> None:
    """The negative control of the test above."""
    with site(folder) as at:
        stopped_with_a_claim(at, is_fenced=False)
        at.until(lambda: len(at.ledger.lines("post")) == 2, "a second post")


def stopped_with_a_claim(at: Site, **part: object) -> None:
    """Stop a replica between its claim and its post; when another one has posted, continue it."""
    first = at_first_stop(at, "after_claim", **part)
    at.start("second")
    at.until(lambda: bool(at.ledger.lines("post")), "the post of the second")
    first.send_signal(signal.SIGCONT)


def at_first_stop(at: Site, instant: str, **part: object) -> subprocess.Popen[bytes]:
    """A replica with one alert, once it has stopped itself at an instant."""
    process = at.start("first", alerts=1, stops_at=instant, **part)
    at.until((at.folder / "stopped-first").exists, "the first to stop")
    return process


def test_what_a_stopped_replica_had_sent_is_found_and_not_sent_again(folder: Path) -> None:
    with site(folder) as at:
        first = at_first_stop(at, "after_send")
        at.start("second")
        at.until_shown(1)
        first.send_signal(signal.SIGCONT)
        at.until(lambda: at.has_passed("first", "after_record"), "the first to go on")
        at.check(1)


def test_a_replica_that_stops_politely_is_followed_at_once(folder: Path) -> None:
    with site(folder) as at:
        first = at.start("first", alerts=3, hangs_at="collect", lease=60.0)
        at.until(lambda: at.ledger.lines("step").count(["first", "collect"]) == 3, "all questions")
        at.start("second", lease=60.0)
        first.send_signal(signal.SIGTERM)
        first.wait(10)
        at.until_shown(3, seconds=10)
        at.check(3)


def test_a_database_that_crashes_in_the_middle_of_a_drain_loses_nothing(tmp_path: Path) -> None:
    the_server()  # says what is missing
    with Postgres() as server:
        on_postgres(tmp_path, server.create("tailhound"))
        with site(tmp_path) as at:
            at.start("second", step_seconds=0.1)
            at.start("first", alerts=40, step_seconds=0.1)
            at.until_shown(5)
            server.crash()
            assert len(at.shown()) < 40, "there is something left to lose"
            server.start()
            at.until(lambda: ["first"] in at.ledger.lines("sent"), "all to be accepted")
            at.until_shown(40, seconds=80)
            at.check(40)
