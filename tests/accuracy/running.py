"""One scenario through the product, in this process: real Prometheus and sshd, one API server."""

import asyncio
import dataclasses
import json
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from tailhound import app
from tailhound.cli import alerts
from tailhound.diagnosis.report import as_json
from tailhound.durable.answers import QUESTION_AT_MOST
from tailhound.durable.investigation import Investigator
from tailhound.durable.offline import Terms, investigate
from tailhound.durable.subject import SUBJECT
from tailhound.flow import Request
from tailhound.model import Diagnosis, Evidence, Incident
from tailhound.model.redaction import plain, redacted
from tailhound.model.symptomless import LATENCY
from tailhound.rules.loading import Compiled
from tailhound.settings import Settings, load
from tests.lab.apiserver import ApiServer, StandIn
from tests.lab.bot import merged
from tests.lab.lab import Lab
from tests.lab.scenario import Scenario

PATIENCE_SECONDS = 60.0
_LISTED = 200
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
    diagnosis: Diagnosis | None = None


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
        path.write_text(yaml.safe_dump(_patient(given, lab.settings)), encoding="utf-8")
        settings = load(path, {})
        return _diagnosed(settings, lab.body)


def _patient(given: Scenario, settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings with which a busy machine changes no answer: what is there is waited for."""
    if given.unreachable:
        return settings
    wishes: dict[str, Any] = {"deadlines": {"verdict": PATIENCE_SECONDS}}
    for backend in ("prometheus", "kubernetes", "ssh"):
        if backend in settings:
            wishes[backend] = {"timeout_seconds": PATIENCE_SECONDS / 2}
    return merged(settings, wishes)


def _diagnosed(settings: Settings, body: bytes) -> Ran:
    now = datetime.now(UTC)
    group = alerts.group_of(body, "the scenario's alert")
    found, _ = alerts.incidents_of(group, settings, now)
    compiled = _compiled(settings)
    transports = app.transports(settings)
    heard: set[str] = set()

    def hear(request: Request[Any], _reply: Any, _seconds: float) -> None:
        if request.backend == "prometheus":
            heard.add(plain(redacted(request.shown), QUESTION_AT_MOST))

    investigator = Investigator(compiled, app.collectors(), transports, settings)
    terms = Terms(as_of=now, seconds=settings.deadlines.verdict, record=hear)
    try:
        incident = asyncio.run(investigate(investigator, found[0], terms))
    finally:
        for transport in transports:
            transport.close()
    return _told(incident, compiled, heard)


_COMPILED: dict[str, Compiled] = {}


def _compiled(settings: Settings) -> Compiled:
    """What these settings compile to; each set of runbooks is compiled once in a process."""
    key = repr((settings.runbooks, settings.ssh.allow))
    whole = _COMPILED.get(key) or app.compiled(settings)
    _COMPILED[key] = whole
    return dataclasses.replace(whole, profiles=settings.profiles, slo=settings.slo)


def _told(incident: Incident, compiled: Compiled, heard: Collection[str]) -> Ran:
    result = as_json(incident)
    causes = result["causes"]
    evidence = incident.diagnosis.evidence if incident.diagnosis else ()
    return Ran(
        primary=result["primary"],
        verdicts={cause["runbook"]: cause["verdict"] for cause in causes},
        because={cause["runbook"]: _why(cause) for cause in causes},
        asked={
            book.id: _questions(
                evidence, {plan.collector.name for plan in book.evidence.values()}, heard
            )
            for book in compiled.runbooks
        },
        result=result,
        diagnosis=incident.diagnosis,
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


def _questions(
    evidence: Sequence[Evidence], collectors: set[str], heard: Collection[str]
) -> frozenset[str]:
    """What these collectors asked, with the subject's and the latency's questions.

    Evidence may hold questions shortened, or not all of them: what it does not list counts as
    asked by everybody.
    """
    wanted = collectors | {LATENCY}
    mine = _beginnings(i for i in evidence if i.collector in wanted or i.name == SUBJECT)
    listed = _beginnings(evidence)
    return frozenset(q for q in heard if _beginning(q) in mine or _beginning(q) not in listed)


def _beginnings(evidence: Iterable[Evidence]) -> set[str]:
    return {_beginning(asked.question) for item in evidence for asked in item.asked}


def _beginning(question: str) -> str:
    return question[:_LISTED]


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
