"""How long a whole incident takes beside its slowest question, when one backend is slow.

A scenario of the lab, on a real Prometheus, API server and sshd: everything that is asked goes out
at the same time, so the slowest question should be all that one waits for.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from benchmarks.processes import BenchmarkFailed
from benchmarks.rows import Row
from benchmarks.site import site
from benchmarks.sizes import Sizes
from tailhound import app
from tailhound.cli import alerts
from tailhound.durable.investigating import Plain
from tailhound.durable.investigation import Investigator
from tailhound.flow import Request, Turn
from tailhound.model import Evidence
from tailhound.settings import Settings, Ssh, load
from tailhound.store.codec import evidence_from_plain
from tests.lab import scenario
from tests.lab.lab import Lab
from tests.lab.scenario import Scenario

SCENARIOS = Path(__file__).parents[1] / "tests" / "scenarios"
BY_HOST, HOST, TOOL = "ssd-clear-positive", "gpu-node-1", "nvme"
BY_QUERY, SLOW_QUERY = "cpu-clear-positive", "kube_pod_container_status_waiting_reason"
SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """Seconds: from the alert to the last evidence, of its part that collects, of the slowest
    question, and of the slowest collector.
    """

    whole: float
    evidence: float
    question: float
    collector: float
    questions: int


def run(sizes: Sizes) -> Iterator[Row]:
    """Two rows for each slow backend."""
    for slow, name, found in (
        ("a slow host", BY_HOST, _slow_host(sizes)),
        ("a slow query", BY_QUERY, _slow_query(sizes)),
    ):
        how = (
            f"{name} of the lab, {found.questions} questions to real backends, {slow}: "
            f"{sizes.slow:g} s more an answer"
        )
        yield _row(f"all evidence, {slow}", found.evidence, found.question, how, "question")
        yield _row(f"diagnosis, {slow}", found.whole, found.collector, how, "collector")


def _row(name: str, value: float, probe: float, how: str, of: str) -> Row:
    return Row(
        benchmark="evidence",
        name=name,
        value=value,
        unit="s",
        probe=probe,
        better="less",
        how=f"{how}; probe: its slowest {of} alone",
        details={"ratio": value / probe},
    )


def _slow_host(sizes: Sizes) -> Took:
    """Its drives are read twice, and each reading is slow."""
    with Lab(_with_slow_tool(scenario.load(SCENARIOS / BY_HOST), sizes.slow)) as lab:
        own = {"timeout_seconds": Ssh().timeout_seconds, "gap_seconds": sizes.gap}
        return _taken(lab, sizes.slow, {"ssh": {**lab.settings["ssh"], **own}})


def _slow_query(sizes: Sizes) -> Took:
    """One question of several hundred is answered late."""
    with Lab(scenario.load(SCENARIOS / BY_QUERY)) as lab, site() as made:
        prometheus = lab.settings["prometheus"]
        arguments = (prometheus["url"], "--when", SLOW_QUERY, "--delay", str(sizes.slow))
        with made.child("-m", "benchmarks.delaying", *arguments) as proxy:
            own = {"url": proxy.address(), "timeout_seconds": SECONDS}
            return _taken(lab, sizes.slow, {"prometheus": {**prometheus, **own}})


def _with_slow_tool(given: Scenario, seconds: float) -> Scenario:
    """The scenario in which a tool of its host takes longer, whatever it is asked."""
    host = given.hosts[HOST]
    slow = tuple(one.model_copy(update={"delay": seconds}) for one in host.tools[TOOL])
    tools = {**host.tools, TOOL: slow}
    return replace(given, hosts={**given.hosts, HOST: host.model_copy(update={"tools": tools})})


def _taken(lab: Lab, slow: float, changes: Mapping[str, Any]) -> Took:
    wanted = {**lab.settings, "deadlines": {"verdict": SECONDS, "late": 0}, **changes}
    with TemporaryDirectory(prefix="tailhound-benchmark-") as folder:
        config = Path(folder) / "tailhound.yaml"
        config.write_text(yaml.safe_dump(wanted), encoding="utf-8")
        took = asyncio.run(_investigated(load(config), lab.body))
    if took.question < slow:
        raise BenchmarkFailed(f"nothing was slow: the slowest question took {took.question:.2f} s")
    return took


async def _investigated(settings: Settings, body: bytes) -> Took:
    transports = app.transports(settings)
    investigator = Investigator(app.compiled(settings), app.collectors(), transports, settings)
    now = datetime.now(UTC)
    (incident,), _ = alerts.incidents_of(alerts.group_of(body, "the scenario"), settings, now)
    seconds: list[float] = []

    def record(_request: Request[Any], _reply: Any, took: float) -> None:
        seconds.append(took)

    begun = time.monotonic()
    turn = Turn(begun + SECONDS, now)
    try:
        resolved: Plain = await investigator.resolve(incident, turn, record=record)
        asked = time.monotonic()
        first = await investigator.collect(incident, resolved, turn, lambda *_: None, record=record)
        second = await investigator.deepen(incident, resolved, first, turn, record=record)
        ended = time.monotonic()
    finally:
        for transport in transports:
            transport.close()
    evidence = evidence_from_plain([*first["evidence"], *second["evidence"]])
    _check(evidence)
    return Took(
        whole=ended - begun,
        evidence=ended - asked,
        question=max(seconds),
        collector=max(one.took_seconds for one in evidence),
        questions=len(seconds),
    )


def _check(evidence: tuple[Evidence, ...]) -> None:
    """All was answered: what was given up would be no measure."""
    late = [one.name for one in evidence if one.status.value in ("timeout", "unreachable")]
    if late:
        raise BenchmarkFailed(f"the evidence {late[0]} was not collected")
