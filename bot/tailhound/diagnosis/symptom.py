"""The symptom of an incident and the stages of a request, out of the latency evidence."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tailhound.diagnosis.onset import left_band, onset_of, shape_of
from tailhound.model import Evidence, FactValue, Stage, Symptom

LATENCY = "prometheus.request_latency"
"""The collector whose evidence every latency incident gets, whatever the runbooks ask."""

LOAD_UP, LOAD_DOWN = 1.25, 0.8
"""Arrivals this far from usual are "up" or "down". Our own default."""

_WINDOWS = {3600.0: "1 h", 86400.0: "1 d", 604800.0: "7 d"}


def symptom_of(
    evidence: Iterable[Evidence], slo: Mapping[str, float], usual: Sequence[float]
) -> Symptom | None:
    """The first latency that left its usual band upwards; None when none is known to."""
    row = _row(evidence)
    if row is None:
        return None
    value, before, quantile = row["seconds"], row["usual_seconds"], "mean"
    if _is_number(row.get("quantile_seconds")):
        value, before = row["quantile_seconds"], row.get("quantile_usual_seconds")
        quantile = str(row.get("quantile") or "mean")
    return Symptom(
        name=f"{row['title']} {quantile}",
        value=float(value),
        unit="seconds",
        usual=float(before) if _is_number(before) else None,
        usual_from=tuple(_WINDOWS.get(ago, f"{ago / 3600:g} h") for ago in usual),
        slo=slo.get(f"{row['symptom']}_{quantile}_seconds"),
        onset=onset_of(row.get("series"), row.get("usual_series")),
        at_least=row.get("clipped") is True and quantile != "mean",
    )


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
    row = _row(evidence)
    shape = shape_of(row.get("series"), symptom.onset) if row and symptom else ""
    load = _number(_latency(evidence).get("requests_ratio"))
    if load is None:
        return shape, ""
    if load > LOAD_UP:
        return shape, "up"
    return shape, "down" if load < LOAD_DOWN else "flat"


def _row(evidence: Iterable[Evidence]) -> Mapping[str, Any] | None:
    for row in _records(_latency(evidence).get("symptoms")):
        now, before = _number(row.get("seconds")), _number(row.get("usual_seconds"))
        outside = left_band(row.get("series"), row.get("usual_series")) is True
        if outside and now is not None and before is not None and now > before:
            return row
    return None


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
