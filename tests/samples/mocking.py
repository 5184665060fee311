"""Builds the incidents that the mock-ups tell of, in few words."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from tailhound.model import (
    Alert,
    AlertStatus,
    Bound,
    Cause,
    Check,
    Confidence,
    Evidence,
    EvidenceStatus,
    Incident,
    Offer,
    Part,
    Seen,
    State,
    Subject,
    SubjectKind,
    Symptom,
    Verdict,
)
from tailhound.truth import Truth
from tests.samples.story import SINCE, asked

DAY = SINCE.replace(hour=0, minute=0)


def clock(text: str) -> datetime:
    """`02:51` or `02:53:30` of the day."""
    hours, minutes, seconds = (*map(int, text.split(":")), 0)[:3]
    return DAY + timedelta(hours=hours, minutes=minutes, seconds=seconds)


def incident(id: str, where: str, alert: tuple[str, str, str], since: str, **more: Any) -> Incident:
    """An incident with `count` alerts of this name, severity and summary; `received` and `by` are
    clocks.
    """
    name, severity, summary = alert
    namespace, _, workload = where.partition("/")
    labels = {"severity": severity, "namespace": namespace}
    alerts = tuple(
        Alert(
            fingerprint=f"{id}{n}",
            name=name,
            labels=labels,
            annotations={"summary": summary},
            status=AlertStatus.FIRING,
            starts_at=clock(since),
        )
        for n in range(more.pop("count", 1))
    )
    by = more.pop("by", "")
    kind = SubjectKind.WORKLOAD if workload else SubjectKind.GROUP
    given = {
        "state": State.DIAGNOSED if "diagnosis" in more else State.INVESTIGATING,
        "received_at": clock(more.pop("received")),
        "verdict_by": clock(by) if by else None,
        "mode": "one-click",
        "causes_checked": 14,
    }
    return Incident(
        id=id,
        key=where,
        subject=Subject(kind=kind, namespace=namespace, workload=workload),
        alerts=alerts,
        **(given | more),
    )


# --- causes and claims


def claim(
    text: str,
    value: Any,
    unit: str = "none",
    *bounds: tuple[str, float],
    name: str = "a.fact_count",
    part: Part = Part.CONFIRM,
) -> Check:
    """A claim that holds by one value; nobody measured it where that is None."""
    found = (Seen(name=name, value=value, unit=unit),) if value is not None else ()
    return Check(
        claim=text,
        condition=name,
        part=part,
        truth=Truth.TRUE if found else Truth.UNKNOWN,
        seen=found,
        missing=() if found else (name,),
        needs=tuple(
            Bound(fact=name, comparison=sign, value=bound, unit=unit) for sign, bound in bounds
        ),
    )


def against(count: int) -> tuple[Check, ...]:
    """Claims against it, none of which holds."""
    one = claim("It is not so", 0, part=Part.REFUTE)
    return (replace(one, truth=Truth.FALSE),) * count


def cause(
    runbook: str, title: str, says: str, onset: str | None, *checks: Check, **more: Any
) -> Cause:
    """A cause that is confirmed."""
    return Cause(
        runbook=runbook,
        title=title,
        verdict=Verdict.CONFIRMED,
        because="All of it holds.",
        says=says,
        onset=clock(onset) if onset else None,
        checks=checks,
        **({"confidence": Confidence.HIGH} | more),
    )


def out(*named: tuple[str, str], of: int) -> tuple[Cause, ...]:
    """Causes that are ruled out: some with their reason, others to make up the number."""
    names = (*named, *((f"other-{n}", "as usual") for n in range(of - len(named))))
    return tuple(
        Cause(runbook=name, title=name, verdict=Verdict.REFUTED, because=why) for name, why in names
    )


def unknown(runbook: str, *checks: Check) -> Cause:
    """A cause that was not decided, with evidence of its own."""
    return Cause(
        runbook=runbook,
        title=runbook,
        verdict=Verdict.UNKNOWN,
        because="Evidence is missing.",
        checks=checks,
        evidence=(runbook,),
    )


def offer(title: str, risk: str = "", **more: Any) -> Offer:
    """A suggestion."""
    return Offer(
        id=title, title=title, mode="suggested", offered=True, why_not=None, risk=risk, **more
    )


# --- evidence


def questions(answered: int) -> Evidence:
    """So many questions that were answered."""
    return Evidence(
        name="answers", collector="prometheus.answers", status=EvidenceStatus.COLLECTED,
        asked=(asked("up"),) * answered,
    )  # fmt: skip


def silent(
    name: str, backend: str, status: EvidenceStatus, detail: str, count: int = 1
) -> Evidence:
    """Evidence whose questions had no answer."""
    return Evidence(
        name=name, collector=f"prometheus.{name}", status=status, reason=detail,
        asked=(asked("q", backend, status, detail),) * count,
    )  # fmt: skip


def seconds(name: str, value: float, usual: float, onset: str, slo: float | None) -> Symptom:
    """A time that got longer."""
    return Symptom(name=name, value=value, unit="seconds", usual=usual, slo=slo, onset=clock(onset))
