"""One scenario through the product, in this process: real Prometheus and sshd, one API server."""

import asyncio
import dataclasses
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from tailhound import app
from tailhound.cli import alerts
from tailhound.diagnosis.report import as_json
from tailhound.diagnosis.symptom import LATENCY
from tailhound.durable.investigation import SUBJECT, Investigator
from tailhound.durable.offline import Terms, investigate
from tailhound.model import Evidence, Incident
from tailhound.rules.loading import Compiled
from tailhound.settings import Settings, load
from tests.lab.apiserver import ApiServer, StandIn
from tests.lab.lab import Lab
from tests.lab.scenario import Scenario

_NAME_PATTERN = re.compile(r'__name__=~"([^"]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came out. `verdicts` and `because` are by runbook.

    `asked` are the questions by runbook: all that its evidence asked, with what every investigation
    asks (subject, latency).
    """

    primary: str | None
    verdicts: Mapping[str, str]
    because: Mapping[str, str]
    asked: Mapping[str, frozenset[str]]
    result: Mapping[str, Any]


@contextmanager
def one_apiserver() -> Iterator[ApiServer]:
    """A stand-in of the API server for many scenarios, one after the other."""
    with tempfile.TemporaryDirectory(prefix="tailhound-accuracy-") as folder:
        standin = StandIn(Path(folder))
        try:
            yield standin
        finally:
            standin.stop()


def ran(given: Scenario, apiserver: ApiServer) -> Ran:
    """Start what the scenario names, and diagnose its alert."""
    with Lab(given, apiserver=apiserver) as lab:
        path = lab.folder / "tailhound.yaml"
        path.write_text(yaml.safe_dump(lab.settings), encoding="utf-8")
        settings = load(path, {})
        return _diagnosed(settings, lab.body)


def _diagnosed(settings: Settings, body: bytes) -> Ran:
    now = datetime.now(UTC)
    group = alerts.group_of(body, "the scenario's alert")
    found, _ = alerts.incidents_of(group, settings, now)
    compiled = _compiled(settings)
    transports = app.transports(settings)
    investigator = Investigator(compiled, app.collectors(), transports, settings)
    terms = Terms(as_of=now, seconds=settings.deadlines.verdict)
    try:
        incident = asyncio.run(investigate(investigator, found[0], terms))
    finally:
        for transport in transports:
            transport.close()
    return _told(incident, compiled)


_COMPILED: dict[str, Compiled] = {}


def _compiled(settings: Settings) -> Compiled:
    """What these settings compile to; each set of runbooks is compiled once in a process."""
    key = repr((settings.runbooks, settings.ssh.allow))
    whole = _COMPILED.get(key) or app.compiled(settings)
    _COMPILED[key] = whole
    return dataclasses.replace(whole, profiles=settings.profiles, slo=settings.slo)


def _told(incident: Incident, compiled: Compiled) -> Ran:
    result = as_json(incident)
    causes = result["causes"]
    evidence = incident.diagnosis.evidence if incident.diagnosis else ()
    return Ran(
        primary=result["primary"],
        verdicts={cause["runbook"]: cause["verdict"] for cause in causes},
        because={cause["runbook"]: _why(cause) for cause in causes},
        asked={
            book.id: _questions(evidence, {plan.collector.name for plan in book.evidence.values()})
            for book in compiled.runbooks
        },
        result=result,
    )


def _why(cause: Mapping[str, Any]) -> str:
    """The lines that decided, with the values seen."""
    checks = [
        f"{check['claim']} = {check['truth']}"
        + (f" {json.dumps(check['seen'], ensure_ascii=False)}" if check["seen"] else "")
        + (f" missing {', '.join(check['missing'])}" if check["missing"] else "")
        for check in cause["checks"]
    ]
    return "; ".join([cause["because"] or "no reason given", *checks])


def _questions(evidence: tuple[Evidence, ...], collectors: set[str]) -> frozenset[str]:
    return frozenset(
        asked.question
        for item in evidence
        if item.collector in collectors or item.collector == LATENCY or item.name == SUBJECT
        for asked in item.asked
        if asked.backend == "prometheus"
    )


def asks_for(question: str, family: str) -> bool:
    """Whether a PromQL question names a metric family: as text, or by a pattern of names."""
    if family in question:
        return True
    spellings = [family, *(f"{family}_{part}" for part in ("bucket", "sum", "count"))]
    return any(
        re.fullmatch(pattern.replace("\\\\", "\\"), spelling)
        for pattern in _NAME_PATTERN.findall(question)
        for spelling in spellings
    )
