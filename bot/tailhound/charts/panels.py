"""The panels of a chart: the mechanism of a cause above, the symptom below. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tailhound.charts.chart import Limit, Onset, Open, Panel, Role, Run
from tailhound.charts.mechanism import Mechanism
from tailhound.charts.series import (
    Span,
    band_of,
    drawn,
    gaps_of,
    merged,
    points_of,
    step_of,
    within,
)
from tailhound.charts.words import whose, words_of
from tailhound.diagnosis.symptom import moved, series_of
from tailhound.model import Bound, Diagnosis, FactValue, Symptom, needs
from tailhound.model.redaction import plain, redacted
from tailhound.model.wording import cut, number

ASKED_SECONDS = 2700.0
"""Collectors ask for the last 45 minutes: what is missing before that was never asked."""

CLIPPED_SECONDS = 300.0
"""The rate window of a quantile: what a clipped one says holds for at least this long."""

Named = Sequence[tuple[str, Run]]


def safe(text: str, limit: int) -> str:
    """Text from outside on one line: no secrets, no control characters, at most `limit` long."""
    line = " ".join(plain(redacted(text[: 8 * limit]), 4 * limit).split())
    return cut(line, limit)


def mechanism_panel(found: Mechanism, mark: str, span: Span) -> Panel | None:
    """The panel of a cause; None when no sample lies in the span."""
    facts = found.item.facts
    owner = whose(found.item.collector, found.fact, facts)
    named = _by_pod(facts, found.fact) or [(owner, found.points)]
    words = safe(words_of(found.item.collector, found.fact, facts), 60)
    panel = _panel(named, span, role=Role.MECHANISM, words=words, unit=found.unit)
    if panel is None:
        return None
    return replace(
        panel,
        usual=band_of(points_of(found.usual_series)),
        limits=_limits(found),
        open=_clipped(panel, found.value, "") if found.clipped else None,
        onset=_onset(found, mark, span),
    )


def symptom_panel(diagnosis: Diagnosis, mark: str, span: Span) -> Panel | None:
    """The panel of the symptom; None when there is none, or no sample of it."""
    symptom, row = diagnosis.symptom, symptom_row(diagnosis)
    if symptom is None or row is None:
        return None
    pods = row.get("pods")
    named = _records(pods, "pod") or [("", points_of(row.get("series")))]
    panel = _panel(
        named, span, role=Role.SYMPTOM, words=safe(_measured(row), 60), unit=symptom.unit
    )
    if panel is None:
        return None
    at = symptom.onset.timestamp() if symptom.onset else None
    known = at is not None and span[0] <= at <= span[1]
    return replace(
        panel,
        usual=band_of(points_of(row.get("usual_series"))),
        limits=_objective(symptom),
        open=_clipped(panel, symptom.value, _quantile(symptom)) if symptom.at_least else None,
        onset=Onset(at=at, mark=mark) if at is not None and known else None,
    )


def symptom_row(diagnosis: Diagnosis) -> Mapping[str, Any] | None:
    """The evidence that the symptom was read from; None without a symptom."""
    symptom = diagnosis.symptom
    rows = moved(diagnosis.evidence) if symptom else []
    led = [row for row in rows if symptom and series_of(row) == symptom.series]
    return next(iter((*led, *rows)), None)


def mean_of(diagnosis: Diagnosis) -> tuple[float, float | None] | None:
    """The mean and its usual value, where the symptom is told by a quantile; None elsewhere."""
    symptom, row = diagnosis.symptom, symptom_row(diagnosis)
    if symptom is None or row is None or not _quantile(symptom):
        return None
    now, usual = row.get("seconds"), row.get("usual_seconds")
    if not isinstance(now, int | float):
        return None
    return float(now), float(usual) if isinstance(usual, int | float) else None


def _measured(row: Mapping[str, Any]) -> str:
    """What the series of a symptom holds: means, whatever quantile the headline tells."""
    if "ratio" in row:
        return f"requests that failed, at {row.get('source', '')}"
    title = str(row.get("title", ""))
    return title if "per_second" in row else f"{title}, mean"


def _panel(named: Named, span: Span, *, role: Role, words: str, unit: str) -> Panel | None:
    """The lines of a panel, with the spans in which none of them has a sample."""
    inside = [(safe(name, 40), within(points, span)) for name, points in named]
    points = merged(one for _, one in inside)
    if not points:
        return None
    step = max(step_of(one) for _, one in inside)
    lines, envelope = drawn(inside, step)
    asked = (max(span[0], min(span[1] - ASKED_SECONDS, points[0][0])), span[1])
    return Panel(
        role=role,
        words=words,
        unit=unit,
        lines=lines,
        envelope=envelope,
        gaps=gaps_of(points, step, asked),
    )


def _by_pod(facts: Mapping[str, FactValue], fact: str) -> Named:
    """The series of each pod, where the evidence has them: `<fact>_by_pod`, {pod, series} each."""
    return _records(facts.get(f"{fact}_by_pod"), "pod")


def _records(value: FactValue, key: str) -> Named:
    if not isinstance(value, tuple | list):
        return ()
    found = [
        (str(record.get(key, "")), points_of(record.get("series")))
        for record in value
        if isinstance(record, Mapping)
    ]
    return [one for one in found if one[1]]


def _limits(found: Mechanism) -> tuple[Limit, ...]:
    """What the claims for the cause need of this very series; at most two, each once."""
    limits: dict[float, Limit] = {}
    for check in found.checks:
        for bound in check.needs:
            if _is_of(bound, found) and bound.value not in limits:
                label = needs.needed([bound], check.part)
                limits[bound.value] = Limit(label=label, value=bound.value)
    return tuple(limits.values())[:2]


def _is_of(bound: Bound, found: Mechanism) -> bool:
    same = bound.fact.partition(".")[2] == found.fact
    return same and bound.unit == found.unit and bound.value != 0


def _objective(symptom: Symptom) -> tuple[Limit, ...]:
    if symptom.slo is None:
        return ()
    of = f" for {quantile}" if (quantile := _quantile(symptom)) else ""
    label = f"SLO {number(symptom.slo, symptom.unit)}{of}"
    return (Limit(label=label, value=symptom.slo, objective=True),)


def _quantile(symptom: Symptom) -> str:
    """`p99` of `first token p99`; "" of a mean."""
    last = symptom.name.rpartition(" ")[2]
    return last if last[:1] == "p" and last[1:].replace(".", "").isdigit() else ""


def _clipped(panel: Panel, low: float, of: str) -> Open:
    """The open band of a clipped quantile: since the samples reached it, else the last window."""
    points = [point for line in panel.lines for run in line.runs for point in run]
    end = max(at for at, _ in points)
    reached = [at for at, value in points if value >= 0.99 * low]
    start = min(min(reached, default=end), end - CLIPPED_SECONDS)
    label = f"{of} at least {number(low, panel.unit)}".strip()
    return Open(low=low, start=start, label=label)


def _onset(found: Mechanism, mark: str, span: Span) -> Onset | None:
    at = found.course.onset
    if at is None or not span[0] <= at.timestamp() <= span[1]:
        return None
    return Onset(at=at.timestamp(), mark=mark)
