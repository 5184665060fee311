"""A whole investigation on a plain event loop, without a database: for `tailhound diagnose`."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from tailhound.durable.deadlines import COLLECT_SHARE, RESOLVE_SHARE, ran_out
from tailhound.durable.investigating import Investigating, OnProgress, Plain, Record
from tailhound.flow import Request, Turn
from tailhound.model import Incident, State
from tailhound.store.codec import evidence_from_plain


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

    def turn(share: float) -> Turn:
        return Turn(deadline=started + share * terms.seconds, as_of=terms.as_of)

    soon, most, last = turn(RESOLVE_SHARE), turn(COLLECT_SHARE), turn(1.0)
    found: Plain = await investigator.resolve(incident, soon, record=terms.record)
    resolved = {**found, "resolved": {**found["resolved"], **terms.given}}
    collected = await investigator.collect(
        incident, resolved, most, terms.on_progress, record=terms.record
    )
    is_cut = ran_out(most)
    deeper = await investigator.deepen(incident, resolved, collected, last, record=terms.record)
    evidence = evidence_from_plain([*collected["evidence"], *deeper["evidence"]])
    took = loop.time() - started
    diagnosis = investigator.decide(
        incident,
        resolved,
        evidence,
        decided_at=terms.as_of + timedelta(seconds=took),
        at_deadline=is_cut or ran_out(last),
        took_seconds=took,
    )
    return replace(incident, state=State.DIAGNOSED, diagnosis=diagnosis)
