"""A whole investigation on a plain event loop, without a database: for `tailhound diagnose`."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from tailhound.durable.deadlines import RESOLVE_SHARE
from tailhound.durable.investigating import Investigating, OnProgress, Plain, Record
from tailhound.flow import Request, Turn
from tailhound.model import Evidence, EvidenceStatus, Incident, State
from tailhound.store.codec import evidence_from_plain

MARGIN = 0.5
"""Seconds before the deadline from which on a verdict is "at the deadline"."""


def _nobody(_request: Request[Any], _reply: Any, _seconds: float) -> None:
    """Answers are not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """`as_of` is the moment that is looked at, `seconds` the time until the verdict.

    `given` is what is known of the subject beforehand, by the names of `Resolved`: it stands in
    for what is found.
    """

    as_of: datetime
    seconds: float
    on_progress: OnProgress = lambda _counts, _sketch: None
    record: Record = _nobody
    given: Mapping[str, Any] = field(default_factory=dict)


async def investigate(investigator: Investigating, incident: Incident, terms: Terms) -> Incident:
    """The incident with its diagnosis: the same waves as the durable workflow, in one go."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    soon = Turn(deadline=started + RESOLVE_SHARE * terms.seconds, as_of=terms.as_of)
    turn = Turn(deadline=started + terms.seconds, as_of=terms.as_of)
    found: Plain = await investigator.resolve(incident, soon, record=terms.record)
    resolved = {**found, "resolved": {**found["resolved"], **terms.given}}
    collected = await investigator.collect(
        incident, resolved, turn, terms.on_progress, record=terms.record
    )
    deeper = await investigator.deepen(incident, resolved, collected, turn, record=terms.record)
    evidence = evidence_from_plain([*collected["evidence"], *deeper["evidence"]])
    took = loop.time() - started
    diagnosis = investigator.decide(
        incident,
        resolved,
        evidence,
        decided_at=terms.as_of + timedelta(seconds=took),
        at_deadline=_late(evidence) and loop.time() >= turn.deadline - MARGIN,
        took_seconds=took,
    )
    return replace(incident, state=State.DIAGNOSED, diagnosis=diagnosis)


def _late(evidence: tuple[Evidence, ...]) -> bool:
    """Whether a question was still open at the deadline."""
    return any(asked.status is EvidenceStatus.TIMEOUT for item in evidence for asked in item.asked)
