"""How long all runbooks take to judge evidence that lies before them: the bundled recording's."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, SimpleNamespace
from typing import Any

from pydantic import TypeAdapter

from benchmarks.rows import Row
from benchmarks.sizes import Sizes
from benchmarks.stats import percentile
from tailhound import app
from tailhound.cli import alerts
from tailhound.diagnosis.plan import Facts, plan
from tailhound.diagnosis.resolve import Resolved
from tailhound.durable.investigating import Plain
from tailhound.durable.investigation import ALWAYS, Investigator
from tailhound.flow import Turn
from tailhound.model import Evidence, Incident
from tailhound.rules.judge import judge
from tailhound.rules.loading import Compiled
from tailhound.rules.runbook import Runbook
from tailhound.settings import Settings
from tailhound.shipped import shipped
from tailhound.store.codec import evidence_from_plain
from tailhound.transports.recording import Recording
from tailhound.transports.replay import ReplayTransport

RECORDING = "cpu-throttling.json"
_FUNCTIONS: Mapping[str, Callable[[Any], object]] = {
    "count": lambda items: sum(bool(item) for item in items),
    "known": lambda value: value is not None,
}
_PROBE = "probe: the same comparisons as compiled Python expressions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What the rules look at: everything that was asked and answered."""

    investigator: Investigator
    incident: Incident
    resolved: Plain
    evidence: tuple[Evidence, ...]
    facts: Mapping[str, Facts]


def run(sizes: Sizes) -> Iterator[Row]:
    """All runbooks, the slowest of them, and the whole decision around them."""
    whole = app.compiled(Settings())
    runbooks = whole.runbooks
    had = collected(app.recorded(shipped("demo") / RECORDING), whole)
    took = {book.id: _median(sizes.judged, _judging(book, had)) for book in runbooks}
    bare = {book.id: _median(sizes.judged, plainly(book, had)) for book in runbooks}
    slowest = max(took, key=lambda id: took[id])
    decided = _median(sizes.judged, _deciding(had))
    yield _row(f"all {len(runbooks)} runbooks", sum(took.values()), sum(bare.values()), took)
    yield _row(f"the slowest: {slowest}", took[slowest], bare[slowest], {})
    yield _row("the whole decision", decided, sum(bare.values()), {})


def _row(name: str, value: float, probe: float, details: Mapping[str, float]) -> Row:
    around = ", with plan, onset, ranking and offers" if name == "the whole decision" else ""
    return Row(
        benchmark="rules",
        name=name,
        value=value,
        unit="ms",
        probe=probe,
        better="less",
        how=f"median CPU time, on the evidence of demo/{RECORDING}{around}; {_PROBE}",
        details=details,
    )


def collected(recording: Recording, whole: Compiled) -> Collected:
    """The evidence of a recording, as these runbooks see it."""
    settings = Settings()
    investigator = Investigator(whole, app.collectors(), (ReplayTransport(recording),), settings)
    group = alerts.group_of(json.dumps(recording.alert).encode(), RECORDING)
    (incident,), _ = alerts.incidents_of(group, settings, recording.as_of)
    resolved, evidence = asyncio.run(_asked(investigator, incident, recording))
    found = TypeAdapter(Resolved).validate_python(resolved["resolved"])
    planned = plan(whole.runbooks, found, [app.collectors()[name] for name in ALWAYS])
    facts = {book.id: planned.facts_of(book, evidence) for book in whole.runbooks}
    return Collected(
        investigator=investigator,
        incident=incident,
        resolved=resolved,
        evidence=evidence,
        facts=facts,
    )


async def _asked(
    investigator: Investigator, incident: Incident, recording: Recording
) -> tuple[Plain, tuple[Evidence, ...]]:
    turn = Turn(deadline=asyncio.get_running_loop().time() + 60, as_of=recording.as_of)
    resolved = await investigator.resolve(incident, turn, record=lambda *_: None)
    first = await investigator.collect(
        incident, resolved, turn, lambda *_: None, record=lambda *_: None
    )
    second = await investigator.deepen(incident, resolved, first, turn, record=lambda *_: None)
    return resolved, evidence_from_plain([*first["evidence"], *second["evidence"]])


def _judging(book: Runbook, had: Collected) -> Callable[[], object]:
    return lambda: judge(book, had.facts[book.id])


def _deciding(had: Collected) -> Callable[[], object]:
    return lambda: had.investigator.decide(
        had.incident,
        had.resolved,
        had.evidence,
        decided_at=had.incident.received_at,
        at_deadline=False,
        took_seconds=1.0,
    )


def plainly(book: Runbook, had: Collected) -> Callable[[], list[object]]:
    """Every claim of a runbook as Python would evaluate it; what is not measured is no answer."""
    known: dict[str, Any] = {name: _Names(facts) for name, facts in had.facts[book.id].items()}
    names: dict[str, Any] = {**book.values, **_FUNCTIONS, **known}
    codes = [compile(claim.condition.text, book.id, "eval") for _, claim in book.claims]
    return lambda: [_value(code, names) for code in codes]


def _value(code: CodeType, names: dict[str, Any]) -> object:
    try:
        return eval(code, names)  # noqa: S307 - conditions of the shipped runbooks
    except (TypeError, NameError):
        return None


class _Names(SimpleNamespace):
    """Facts by attribute; None for what is not there."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        super().__init__(**{name: _told(value) for name, value in facts.items()})

    def __getattr__(self, name: str) -> None:
        return None


def _told(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_Names(item) if isinstance(item, Mapping) else item for item in value]
    return value


def _median(times: int, work: Callable[[], object]) -> float:
    """CPU milliseconds of one call: nothing in it waits."""
    took = []
    for _ in range(times):
        begun = time.thread_time()
        work()
        took.append((time.thread_time() - begun) * 1000)
    return percentile(took, 0.5)
