"""A runbook that makes an incident ask a given number of questions, and how they go out."""

import asyncio
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from benchmarks.bodies import LOADS
from benchmarks.slow import Slow
from tailhound import app
from tailhound.cli import alerts
from tailhound.durable.investigation import Investigator
from tailhound.durable.offline import Terms, investigate
from tailhound.settings import Settings

READS = 20
"""How many questions an incident asks in the benchmarks."""

READ_SECONDS = 0.05
"""How long each answer takes there."""


def reads_runbook(folder: Path) -> str:
    """Put a runbook into a folder that makes an incident ask READS questions; the folder's name."""
    return _written(folder, READS - _by_itself())


@cache
def waves() -> tuple[int, ...]:
    """How many of those questions go out together, one group after the other."""
    return _asked(READS - _by_itself())


@cache
def _by_itself() -> int:
    """How many questions the bot asks whatever the runbooks want: the pods by several ways."""
    return sum(_asked(1)) - 1


def _asked(facts: int) -> tuple[int, ...]:
    slow = Slow(READ_SECONDS)
    with TemporaryDirectory(prefix="tailhound-benchmark-") as name:
        settings = Settings(runbooks=(_written(Path(name), facts),))
        investigator = Investigator(app.compiled(settings), app.collectors(), (slow,), settings)
    now = datetime.now(UTC)
    group = alerts.group_of(LOADS["each its own incident"].body(0), "the benchmark's alert")
    (incident,), _ = alerts.incidents_of(group, settings, now)
    asyncio.run(investigate(investigator, incident, Terms(as_of=now, seconds=60)))
    return _grouped(slow.asked)


def _grouped(moments: list[float]) -> tuple[int, ...]:
    """Questions that are closer than half an answer's time went out together."""
    counts: list[int] = []
    last = float("-inf")
    for moment in moments:
        if moment - last > READ_SECONDS / 2:
            counts.append(0)
        counts[-1] += 1
        last = moment
    return tuple(counts)


def _written(folder: Path, facts: int) -> str:
    queries = {
        f"reading_{at}": {
            "query": f'sum(rate(benchmark_{at}_total{{namespace="$namespace"}}[5m]))',
            "unit": "per_second",
        }
        for at in range(max(1, facts))
    }
    runbook = {
        "runbook": "benchmark-reads",
        "cause": "Many questions are asked",
        "owner": "benchmarks",
        "docs": "docs/operators/performance.md",
        "summary": "Asks as many questions as an incident with several causes would.",
        "inputs": {"namespace": "the namespace"},
        "thresholds": {
            "some": {"value": 0.5, "unit": "per_second", "source": "the stand-in answers 1"}
        },
        "evidence": {"readings": {"promql": queries}},
        "confirm": [{"Something is read": "readings.reading_0 > some"}],
        "refute": [{"Nothing is read": "readings.reading_0 < some"}],
        "status": "active",
    }
    folder.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(runbook, sort_keys=False)
    (folder / "benchmark-reads.yaml").write_text(text, encoding="utf-8")
    return str(folder)
