"""The symptom of an incident and the stages of a request, out of the latency evidence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from tailhound.diagnosis.onset import half_grown, left_band, onset_of, shape_of
from tailhound.model import Evidence, FactValue, Stage, Symptom

LATENCY = "prometheus.request_latency"
"""The collector whose evidence every latency incident gets, whatever the runbooks ask."""

LOAD_UP, LOAD_DOWN = 1.25, 0.8
"""Arrivals this far from usual are "up" or "down". Our own default."""

_WINDOWS = {3600.0: "1 h", 86400.0: "1 d", 604800.0: "7 d"}


def symptom_of(
    evidence: Iterable[Evidence], slo: Mapping[str, float], usual: Sequence[float]
) -> Symptom | None:
    """The first latency, else the first share of failures, else the first wait for what is behind
    (a drive), that left its usual band upwards; None when none is known to.
    """
    rows = _moved(evidence)
    if not rows:
        return None
    first = rows[0]
    found = _failures(first) if "ratio" in first else _latency_symptom(first, slo)
    halves = [
        half
        for row in rows
        if (half := half_grown(row.get("series"), row.get("usual_series"))) is not None
    ]
    return replace(
        found,
        usual_from=tuple(_WINDOWS.get(ago, f"{ago / 3600:g} h") for ago in usual),
        onset=_onset(first),
        half_grown=max(halves, default=None),
    )


def _latency_symptom(row: Mapping[str, Any], slo: Mapping[str, float]) -> Symptom:
    value, before, quantile = row["seconds"], row["usual_seconds"], "mean"
    if _is_number(row.get("quantile_seconds")):
        value, before = row["quantile_seconds"], row.get("quantile_usual_seconds")
        quantile = str(row.get("quantile") or "mean")
    return Symptom(
        name=f"{row['title']} {quantile}",
        value=float(value),
        unit="seconds",
        usual=_number(before),
        slo=slo.get(f"{row['symptom']}_{quantile}_seconds"),
        at_least=row.get("clipped") is True and quantile != "mean",
    )


def _failures(row: Mapping[str, Any]) -> Symptom:
    return Symptom(
        name=f"error share at {row['source']}",
        value=float(row["ratio"]),
        unit="ratio",
        usual=_number(row.get("usual_ratio")),
    )


def _onset(row: Mapping[str, Any]) -> datetime | None:
    return onset_of(row.get("series"), row.get("usual_series"))


def stages_of(evidence: Iterable[Evidence]) -> tuple[Stage, ...]:
    """The mean seconds of each stage, now and usually."""
    return tuple(
        Stage(
            stage=str(row.get("stage")),
            seconds=_number(row.get("seconds")),
            usual_seconds=_number(row.get("usual_seconds")),
        )
        for row in _records(_latency(evidence).get("stages"))
    )


def shape_and_load(evidence: Sequence[Evidence], symptom: Symptom | None) -> tuple[str, str]:
    """How the symptom grew ("step", "ramp"), and what the load did ("flat", "up", "down")."""
    rows = _moved(evidence)
    shape = shape_of(rows[0].get("series"), symptom.onset) if rows and symptom else ""
    load = _number(_latency(evidence).get("requests_ratio"))
    if load is None:
        return shape, ""
    if load > LOAD_UP:
        return shape, "up"
    return shape, "down" if load < LOAD_DOWN else "flat"


def _moved(evidence: Iterable[Evidence]) -> list[Mapping[str, Any]]:
    """The latencies, then the shares of failures, that left their usual band upwards; where none
    did, the symptoms of any other evidence that did.
    """
    items = tuple(evidence)
    facts = _latency(items)
    rows = [*_records(facts.get("symptoms")), *_records(facts.get("errors"))]
    behind = (_records(item.facts.get("symptoms")) for item in items if item.collector != LATENCY)
    moved = [row for row in rows if _left_upwards(row)]
    return moved or [row for part in behind for row in part if _left_upwards(row)]


def _left_upwards(row: Mapping[str, Any]) -> bool:
    kind = "ratio" if "ratio" in row else "seconds"
    now, before = _number(row.get(kind)), _number(row.get(f"usual_{kind}"))
    outside = left_band(row.get("series"), row.get("usual_series")) is True
    return outside and now is not None and before is not None and now > before


def _latency(evidence: Iterable[Evidence]) -> Mapping[str, FactValue]:
    return next((item.facts for item in evidence if item.collector == LATENCY), {})


def _records(value: FactValue) -> list[Mapping[str, Any]]:
    if not isinstance(value, tuple | list):
        return []
    return [row for row in value if isinstance(row, Mapping)]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any) -> float | None:
    return float(value) if _is_number(value) else None
