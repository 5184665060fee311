"""An incident told from end to end, for its exports: how long, how bad, what happened and when."""

from datetime import datetime

from tailhound.model import Incident, telling
from tailhound.model.gaps import left_open
from tailhound.model.names import capital
from tailhound.model.story import story
from tailhound.model.wording import NOT_MEASURED, day_clock, duration
from tailhound.web.headline import name, seen

__all__ = ["blind_spots", "span_of", "story", "symptom_of"]


def span_of(incident: Incident, now: datetime) -> str:
    """`From 03:00 UTC to 03:38 UTC (38 min)`, `Since 03:00 UTC, still open`."""
    since, until = incident.since, incident.resolved_at
    if until is None:
        return f"Since {day_clock(since, now)}, still open"
    if incident.unheard:
        heard = f"{telling.ended(incident)} {day_clock(until, now)}"
        return f"From {day_clock(since, now)}, {heard}: its end is not known"
    lasted = duration(max(0.0, (until - since).total_seconds()))
    return f"From {day_clock(since, now)} to {day_clock(until, now)} ({lasted})"


def symptom_of(incident: Incident) -> str:
    """`inter-token p50 80 ms, usually 8 ms (x10), 3 of 3 pods`; or why there is none."""
    diagnosis = incident.diagnosis
    symptom = diagnosis.symptom if diagnosis else None
    if diagnosis is None:
        return f"symptom: {NOT_MEASURED}"
    if symptom is None:
        return f"symptom: {seen(telling.no_symptom(diagnosis), 300)}"
    value = seen(telling.valued(symptom), 300)
    parts = (f"{seen(symptom.name, 60)} {value}", seen(diagnosis.scope, 60),
             telling.shape(diagnosis))  # fmt: skip
    return ", ".join(part for part in parts if part)


def blind_spots(incident: Incident) -> tuple[str, ...]:
    """What was not decided and why: a line for each reason."""
    if incident.diagnosis is None:
        return ()
    gaps = left_open(incident.diagnosis)
    found = [
        f"{', '.join(names)}: {gap.reason}{f'. Fix: {gap.fix}' if gap.fix else ''}"
        for missing in (gaps.causes, gaps.evidence)
        for gap, names in missing.items()
    ]
    undecided = [f"{name(cause.runbook)}: {telling.because(cause)}" for cause in gaps.undecided]
    return tuple(capital(line) for line in (*found, *undecided))
