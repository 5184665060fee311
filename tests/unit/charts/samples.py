"""Incidents with series, and charts, made for the tests of what is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tailhound.charts.chart import Chart, Envelope, Limit, Line, Onset, Open, Panel, Role
from tailhound.model import (
    Bound,
    Cause,
    Check,
    Confidence,
    Diagnosis,
    Evidence,
    EvidenceStatus,
    Incident,
    Outlook,
    Part,
    Seen,
    State,
    Subject,
    SubjectKind,
    Symptom,
    Verdict,
)
from tailhound.store.codec import incident_from_json
from tailhound.truth import Truth

NOW = datetime(2026, 11, 30, 3, 4, 0, tzinfo=UTC)
END = NOW.timestamp()
LATER = datetime(2027, 1, 1, tzinfo=UTC)
"""After every recorded incident."""

STEP = 15.0
RECORDED = Path(__file__).parents[2] / "recorded" / "charts"
GOLDEN = Path(__file__).parents[2] / "golden" / "charts"

Samples = tuple[dict[str, float], ...]


def recorded(name: str) -> Incident:
    """An incident as a lab run with real components left it, cut to what charts need."""
    return incident_from_json((RECORDED / f"{name}.json").read_text(encoding="utf-8"))


def samples(before: float, after: float, *, began: float = 300.0, missing: Any = ()) -> Samples:
    """45 minutes that step from one level to another `began` seconds before now.

    `missing` holds spans of seconds before now without samples.
    """
    found = []
    for at in range(181):
        ago = 2700.0 - STEP * at
        if not any(last <= ago <= first for first, last in missing):
            found.append({"at": END - ago, "value": before if ago > began else after})
    return tuple(found)


def usual(value: float) -> Samples:
    """Ten minutes around the same moment yesterday."""
    return tuple({"at": END - 86400 - STEP * at, "value": value} for at in range(40))


def evidence(name: str, collector: str, facts: Mapping[str, Any]) -> Evidence:
    """Evidence that was collected."""
    return Evidence(
        name=name, collector=collector, status=EvidenceStatus.COLLECTED, facts=dict(facts)
    )


def cpu(**facts: Any) -> Evidence:
    """The evidence of CPU throttling: stopped in all periods since five minutes."""
    return evidence(
        "cpu",
        "prometheus.container_cpu",
        {
            "pod": "chat-json-2",
            "throttled_ratio": 1.0,
            "throttled_ratio_usual": 0.02,
            "throttled_ratio_series": samples(0.02, 1.0),
            "throttled_ratio_usual_series": usual(0.02),
            **facts,
        },
    )


def latency(**row: Any) -> Evidence:
    """The latency evidence: inter-token times rose four minutes ago."""
    first = {
        "symptom": "itl",
        "title": "inter-token",
        "seconds": 0.08,
        "usual_seconds": 0.008,
        "series": samples(0.008, 0.08, began=240),
        "usual_series": usual(0.008),
        **row,
    }
    return evidence("latency", "prometheus.request_latency", {"symptoms": (first,)})


def check(fact: str, claim: str, value: float, bound: float, unit: str = "ratio") -> Check:
    """A claim for a cause that holds."""
    return Check(
        claim=claim,
        condition=f"{fact} > limit",
        part=Part.CONFIRM,
        truth=Truth.TRUE,
        seen=(Seen(name=fact, value=value, unit=unit),),
        needs=(Bound(fact=fact, comparison=">", value=bound, unit=unit),),
    )


STOPPED = check("cpu.throttled_ratio", "Stopped in more than a quarter of its periods", 1.0, 0.25)
THROTTLING = Cause(
    runbook="cpu-throttling",
    title="The CPU limit stops the engine",
    verdict=Verdict.CONFIRMED,
    because="every claim holds",
    confidence=Confidence.HIGH,
    onset=datetime.fromtimestamp(END - 300, UTC),
    checks=(STOPPED,),
    evidence=("cpu", "latency"),
)
SYMPTOM = Symptom(
    name="inter-token p50",
    value=0.08,
    unit="seconds",
    usual=0.008,
    slo=0.02,
    onset=datetime.fromtimestamp(END - 240, UTC),
)
DIAGNOSIS = Diagnosis(
    outlook=Outlook.CAUSE_FOUND,
    primary="cpu-throttling",
    chain=("cpu-throttling",),
    confidence=Confidence.HIGH,
    causes=(THROTTLING,),
    evidence=(cpu(), latency()),
    symptom=SYMPTOM,
    decided_at=NOW,
)


def incident(diagnosis: Diagnosis | None = DIAGNOSIS, **changes: Any) -> Incident:
    """An incident with a diagnosis, its fields changed as given."""
    subject = Subject(kind=SubjectKind.WORKLOAD, namespace="llm", workload="chat-json")
    return Incident(
        id="8R5W",
        key="workload:/llm/chat-json",
        subject=subject,
        state=State.DIAGNOSED,
        alerts=(),
        received_at=NOW,
        diagnosis=replace(diagnosis, **changes) if diagnosis else None,
    )


def run(values: Sequence[float], step: float = STEP) -> tuple[tuple[float, float], ...]:
    """Values as samples that end now."""
    return tuple((END - step * (len(values) - 1 - at), value) for at, value in enumerate(values))


def panel(role: Role = Role.MECHANISM, **changes: Any) -> Panel:
    """A panel with everything on it."""
    full = Panel(
        role=role,
        words="CPU periods in which it was stopped",
        unit="ratio",
        lines=(Line(name="chat-json-2", runs=(run([0.02] * 160 + [1.0] * 21),)),),
        usual=(0.01, 0.04),
        limits=(Limit(label="needs 25 %", value=0.25),),
        onset=Onset(at=END - 300, mark="2"),
    )
    return replace(full, **changes)


def symptom_panel(**changes: Any) -> Panel:
    """A panel of a symptom with an objective."""
    return panel(
        Role.SYMPTOM,
        **{
            "words": "inter-token, mean",
            "unit": "seconds",
            "lines": (Line(name="", runs=(run([0.008] * 165 + [0.08] * 16),)),),
            "usual": (0.007, 0.009),
            "limits": (Limit(label="SLO 20 ms for p50", value=0.02, objective=True),),
            "onset": Onset(at=END - 240, mark="3"),
            **changes,
        },
    )


def chart(*panels: Panel, **changes: Any) -> Chart:
    """A chart of 45 minutes."""
    full = Chart(
        id="cpu-throttling",
        title="Stopped in 100 % of its CPU periods, usually 2 %",
        alt="Line chart, 02:20 to 03:04 UTC.",
        panels=panels or (panel(), symptom_panel()),
        start=END - 2760,
        end=END,
    )
    return replace(full, **changes)


TWELVE = panel(
    lines=tuple(
        Line(name=f"chat-json-{at}", runs=(run([0.02] * 160 + [1.0 - 0.1 * at] * 21),))
        for at in range(5)
    ),
    envelope=Envelope(
        name="7 others",
        runs=(tuple((END - 15.0 * at, 0.01, 0.05) for at in reversed(range(181))),),
    ),
)
GAP = panel(
    lines=(Line(name="", runs=(run([0.02] * 60), ((END - 60, 0.9), (END - 45, 1.0)))),),
    gaps=((END - 1500, END - 900),),
)
CLIPPED = panel(
    words="LIST of pods, p99",
    unit="seconds",
    lines=(Line(name="", runs=(run([0.4] * 160 + [60.0] * 21),)),),
    usual=(0.3, 0.5),
    limits=(),
    open=Open(low=60.0, start=END - 300, label="at least 60 s"),
)
EVERY = {
    "full": chart(),
    "pods": chart(TWELVE, symptom_panel()),
    "gap": chart(GAP, symptom_panel()),
    "clipped": chart(CLIPPED, symptom_panel()),
    "one panel": chart(symptom_panel()),
    "bare": chart(panel(usual=None, limits=(), onset=None)),
}
