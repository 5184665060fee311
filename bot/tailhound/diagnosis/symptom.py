"""The symptom of an incident and the stages of a request, out of the latency evidence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from tailhound.diagnosis.course import Course
from tailhound.model import Also, Evidence, FactValue, Stage, Symptom
from tailhound.model.facts import number_of
from tailhound.model.symptomless import LATENCY, history_seconds

LOAD_UP, LOAD_DOWN = 1.25, 0.8
"""Arrivals this far from usual are "up" or "down". Our own default."""

_WINDOWS = {3600.0: "1 h", 86400.0: "1 d", 604800.0: "7 d"}


Rows = Sequence[Mapping[str, Any]]
"""The records of what left its usual band, as `moved` finds them."""


def symptom_of(rows: Rows, slo: Mapping[str, float], usual: Sequence[float]) -> Symptom | None:
    """The first of what left its usual band, beside the others; None when nothing is known to."""
    if not rows:
        return None
    first = rows[0]
    found = told(first, slo)
    halves = [half for row in rows if (half := Course(row).half_grown) is not None]
    return replace(
        found,
        usual_from=tuple(_WINDOWS.get(ago, f"{ago / 3600:g} h") for ago in usual),
        onset=Course(first).onset,
        half_grown=max(halves, default=None),
        series=series_of(first),
        also=tuple(_also(row) for row in rows[1:]),
    )


def series_of(row: Mapping[str, Any]) -> str:
    """By what name its series is found again among the evidence."""
    return str(row.get("source" if "ratio" in row else "title", ""))


def _also(row: Mapping[str, Any]) -> Also:
    found = told(row, {})
    name = f"error share at {row['source']}" if "ratio" in row else str(row["title"])
    return Also(
        name=name,
        value=found.value,
        unit=found.unit,
        usual=found.usual,
        at_least=found.at_least,
    )


def told(row: Mapping[str, Any], slo: Mapping[str, float]) -> Symptom:
    """The symptom that a row tells of, without its times."""
    key, unit = _measure(row)
    if key == "seconds" and _stays_up(row):
        return _latency_symptom(row, slo)
    name = f"error share at {row['source']}" if key == "ratio" else str(row["title"])
    # what comes and goes is told by its highest value: between two spikes it is as usual
    stays = _stays_up(row)
    return Symptom(
        name=f"{name} mean at its peaks" if key == "seconds" else name,
        value=float(row[key]) if stays else _highest(row),
        unit=unit,
        usual=number_of(row.get(f"usual_{key}")),
        slo=slo.get(f"{row['symptom']}_mean_seconds") if key == "seconds" else None,
    )


def _highest(row: Mapping[str, Any]) -> float:
    return max(float(sample["value"]) for sample in row["series"])


def _latency_symptom(row: Mapping[str, Any], slo: Mapping[str, float]) -> Symptom:
    value, before, quantile = row["seconds"], row["usual_seconds"], "mean"
    if number_of(row.get("quantile_seconds")) is not None:
        value, before = row["quantile_seconds"], row.get("quantile_usual_seconds")
        quantile = str(row.get("quantile") or "mean")
    return Symptom(
        name=f"{row['title']} {quantile}",
        value=float(value),
        unit="seconds",
        usual=number_of(before),
        slo=slo.get(f"{row['symptom']}_{quantile}_seconds"),
        at_least=row.get("clipped") is True and quantile != "mean",
        thin_requests=number_of(row.get("requests_count")) if quantile != "mean" else None,
        history_seconds=history_seconds(row.get("series")) if number_of(before) is None else None,
    )


def first_onset(rows: Rows) -> datetime | None:
    """When the first of them left its usual band, whichever leads; None when nobody can tell."""
    return min((at for row in rows if (at := Course(row).onset) is not None), default=None)


def stages_of(evidence: Iterable[Evidence]) -> tuple[Stage, ...]:
    """The mean seconds of each stage, now and usually."""
    return tuple(
        Stage(
            stage=str(row.get("stage")),
            seconds=number_of(row.get("seconds")),
            usual_seconds=number_of(row.get("usual_seconds")),
            remainder=str(row.get("remainder") or ""),
        )
        for row in _records(_latency(evidence).get("stages"))
    )


def shape_and_load(
    evidence: Iterable[Evidence], rows: Rows, symptom: Symptom | None
) -> tuple[str, str]:
    """How the symptom grew ("step", "ramp", "comb"), and what the load did ("flat", "up", "down").

    "" = nobody can tell.
    """
    shape = _shape(Course(rows[0])) if rows and symptom else ""
    load = number_of(_latency(evidence).get("requests_ratio"))
    if load is None:
        return shape, ""
    if load > LOAD_UP:
        return shape, "up"
    return shape, "down" if load < LOAD_DOWN else "flat"


def _shape(course: Course) -> str:
    return "comb" if course.comes_and_goes else course.shape


def moved(evidence: Iterable[Evidence]) -> list[Mapping[str, Any]]:
    """The latencies, then the shares of failures, that left their usual band upwards, else those
    that leave it again and again; where none does, the same of what is behind: waits of a drive,
    containers that a node can't start.
    """
    items = tuple(evidence)
    rows = latency_rows(items)
    behind = [
        row
        for item in items
        if item.collector != LATENCY
        for row in _records(item.facts.get("symptoms"))
    ]
    return _of_interest(rows) or _of_interest(behind)


def latency_rows(evidence: Iterable[Evidence]) -> list[Mapping[str, Any]]:
    """The latencies and shares of failures that are measured, whether they moved or not."""
    facts = _latency(evidence)
    return [*_records(facts.get("symptoms")), *_records(facts.get("errors"))]


_PER_TOKEN = ("itl", "pace")


def grew_seconds(rows: Rows, evidence: Iterable[Evidence]) -> float | None:
    """By how much the mean time grew that the stages are parts of: of what leads, and where that is
    a time per token, of whole requests. None where nobody knows it, or it did not grow.
    """
    leading = rows[0] if rows else {}
    if str(leading.get("symptom")) in _PER_TOKEN:
        whole = (row for row in latency_rows(evidence) if row.get("symptom") == "e2e")
        leading = next(whole, {})
    now, before = number_of(leading.get("seconds")), number_of(leading.get("usual_seconds"))
    return now - before if now is not None and before is not None and now > before else None


def _of_interest(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return list(filter(_stays_up, rows)) or list(filter(_comes_and_goes, rows))


def _stays_up(row: Mapping[str, Any]) -> bool:
    key, _ = _measure(row)
    now, before = number_of(row.get(key)), number_of(row.get(f"usual_{key}"))
    outside = Course(row).is_outside is True
    return outside and now is not None and before is not None and now > before


def _comes_and_goes(row: Mapping[str, Any]) -> bool:
    return Course(row).comes_and_goes


def _measure(row: Mapping[str, Any]) -> tuple[str, str]:
    """Under which name a row holds its value, and the unit of it."""
    if "unit" in row:
        return "value", str(row["unit"])
    return ("ratio", "ratio") if "ratio" in row else ("seconds", "seconds")


def _latency(evidence: Iterable[Evidence]) -> Mapping[str, FactValue]:
    return next((item.facts for item in evidence if item.collector == LATENCY), {})


def _records(value: FactValue) -> list[Mapping[str, Any]]:
    if not isinstance(value, tuple | list):
        return []
    return [row for row in value if isinstance(row, Mapping)]
