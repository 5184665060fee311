"""A real API server that refuses nearly every read: how much it is asked, and what is said."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from tailhound import app
from tailhound.cli import alerts
from tailhound.durable.investigation import Investigator
from tailhound.durable.offline import Terms, investigate
from tailhound.model import Asked, Diagnosis, Verdict, gaps
from tailhound.model.unanswered import was_spared
from tailhound.settings import Settings, load
from tailhound.transports.kubernetes import KubernetesTransport
from tailhound.transports.prometheus import PrometheusTransport
from tests.lab import scenario
from tests.lab.apiserver import ApiServer
from tests.lab.conftest import Needs
from tests.lab.kube.overload import overloaded
from tests.lab.kube.real import RealApiServer
from tests.lab.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.timeout(120)]

SCENARIO = Path(__file__).parents[2] / "scenarios" / "cold-start-rollout-slow"


@dataclass(slots=True)
class Clock:
    """`ahead` seconds ahead of the real time."""

    ahead: float = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


class Desk:
    """Investigates the lab's alert, again and again, over the same ways to its backends."""

    def __init__(self, settings: Settings, body: bytes, clock: Clock) -> None:
        self.settings, self.body = settings, body
        self.kubernetes = KubernetesTransport(settings.kubernetes, clock)
        self.prometheus = PrometheusTransport(settings.prometheus)

    def investigated(self) -> tuple[Diagnosis, int]:
        """The diagnosis, and how many requests the API server got for it."""
        now, before = datetime.now(UTC), self.kubernetes.gate.calls
        group = alerts.group_of(self.body, "the scenario's alert")
        (incident,), _ = alerts.incidents_of(group, self.settings, now)
        ways = (self.prometheus, self.kubernetes)
        compiled = app.compiled(self.settings)
        investigator = Investigator(compiled, app.collectors(), ways, self.settings)
        done = asyncio.run(investigate(investigator, incident, Terms(as_of=now, seconds=30)))
        assert done.diagnosis is not None
        return done.diagnosis, self.kubernetes.gate.calls - before

    def close(self) -> None:
        self.kubernetes.close()
        self.prometheus.close()


def verdicts(diagnosis: Diagnosis) -> Mapping[str, Verdict]:
    return {cause.runbook: cause.verdict for cause in diagnosis.causes}


def kept_back(diagnosis: Diagnosis) -> Sequence[Asked]:
    return [one for item in diagnosis.evidence for one in item.asked if was_spared(one)]


def test_a_saturated_api_server_is_asked_less_and_everything_once_it_answers(
    apiserver: ApiServer, needs: Needs
) -> None:
    needs("prometheus", "etcd", "kube-apiserver")
    assert isinstance(apiserver, RealApiServer)
    clock = Clock()
    with Lab(scenario.load(SCENARIO), apiserver=apiserver) as lab:
        path = lab.folder / "tailhound.yaml"
        path.write_text(yaml.safe_dump(lab.settings), encoding="utf-8")
        desk = Desk(load(path, {}), lab.body, clock)
        try:
            calm, usual = desk.investigated()
            with overloaded(apiserver.plane):
                desk.investigated()
                seen, asked = desk.investigated()
            clock.ahead += 10
            after, full = desk.investigated()
        finally:
            desk.close()
    assert asked <= usual / 2, "what the API server's own diagnosis needs, and no more"
    assert kept_back(seen)
    left = gaps.left_open(seen)
    spared = [
        gap for gap in (*left.causes, *left.evidence) if "refuses most requests" in gap.reason
    ]
    assert spared
    assert {gap.fix for gap in spared} == {"it is asked again when it answers"}
    for runbook, verdict in verdicts(seen).items():
        assert verdict in (verdicts(calm)[runbook], Verdict.UNKNOWN), runbook
    assert not kept_back(after)
    assert verdicts(after) == verdicts(calm)
    assert full >= usual
