"""Latency evidence: which stage of a request grew, since when, and how many requests failed.

The server's family is found by asking for its series, never by a version (`families`). Means
attribute, for they add up; quantiles detect.
"""

from dataclasses import dataclass, replace

from tailhound.flow import Reading
from tailhound.model.facts import fact
from tailhound_collectors.discovery import Found, find
from tailhound_collectors.edges import edge_symptoms
from tailhound_collectors.errors import ErrorRow, aborted, error_rows
from tailhound_collectors.families import Family, Part
from tailhound_collectors.pod_paces import pod_paces, with_paces
from tailhound_collectors.reading import ratio, side_by_side, usually
from tailhound_collectors.symptoms import (
    Means,
    SymptomRow,
    arrivals,
    means,
    part,
    remainder_of,
    slowest,
    symptoms,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyParams:
    """Whose latency. `metric_prefix` replaces "vllm:" where the site scrapes through Ray.

    `workload` names the Service or workload as the edge counts it, "" when nobody knows.
    """

    namespace: str
    pods: tuple[str, ...]
    usual: tuple[float, ...] = (3600.0, 86400.0, 604800.0)
    metric_prefix: str = ""
    workload: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRow:
    """One stage: mean seconds now and usually.

    `remainder` says of a stage that nobody measures what it is: "first token less queue and
    prefill".
    """

    stage: str
    seconds: float | None = None
    usual_seconds: float | None = None
    remainder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Stages, symptoms and failures.

    `cpu_stage_ratio` is the growth of the stage that runs on the CPU and grew most: inter-token
    (the engine's loop), preprocessing (frontend, tokenising), copies, or HTTP handling.
    `slowdown_ratio` is the growth of the symptom that grew most, waits left out. `error_ratio` is
    the share of requests that failed or were turned away, where it is highest (`error_source`);
    `aborted_ratio` the share that clients gave up. `model` is set where a process serves several.
    """

    engine: str | None = None
    model: str | None = None
    cpu_stage: str | None = None
    cpu_stage_seconds: float | None = None
    cpu_stage_seconds_usual: float | None = None
    cpu_stage_ratio: float | None = fact("times")
    slowdown_ratio: float | None = None
    slowdown_symptom: str | None = None
    requests_per_second: float | None = None
    requests_ratio: float | None = fact("times")
    error_ratio: float | None = None
    error_ratio_usual: float | None = None
    error_source: str | None = None
    aborted_ratio: float | None = None
    aborted_ratio_usual: float | None = None
    stages: tuple[StageRow, ...] | None = None
    symptoms: tuple[SymptomRow, ...] | None = None
    errors: tuple[ErrorRow, ...] | None = None


class LatencyCollector:
    """`prometheus.request_latency`: stage means, symptoms, failures and load of a workload."""

    name = "prometheus.request_latency"
    params = LatencyParams
    facts = Latency

    def collect(self, params: LatencyParams) -> Reading[Latency]:
        """The server's own latencies and failures, and meanwhile those in front of it."""
        (timed, counted), (edges, _) = yield from side_by_side([_server(params), _edges(params)])
        rows = (*(timed.symptoms or ()), *(edges.symptoms or ()))
        return replace(
            timed,
            requests_per_second=counted.requests_per_second,
            requests_ratio=counted.requests_ratio,
            error_ratio=counted.error_ratio,
            error_ratio_usual=counted.error_ratio_usual,
            error_source=counted.error_source,
            aborted_ratio=counted.aborted_ratio,
            aborted_ratio_usual=counted.aborted_ratio_usual,
            errors=counted.errors,
            symptoms=rows or None,
        )


def _server(params: LatencyParams) -> Reading[tuple[Latency, Latency]]:
    """Find the family, then ask for means, load and failures, then for the histories."""
    found = yield from find(params.namespace, params.pods, params.metric_prefix)
    timed, counted = yield from side_by_side([_timed(found, params), _counted(found, params)])
    return timed, counted


def _edges(params: LatencyParams) -> Reading[tuple[Latency, Latency]]:
    """What the ingress and the mesh wait for, whatever serves."""
    rows = yield from edge_symptoms(params.namespace, params.workload, params.usual)
    return Latency(symptoms=rows or None), Latency()


def _timed(found: Found | None, params: LatencyParams) -> Reading[Latency]:
    """Means, stages and symptoms."""
    if found is None:
        return Latency()
    family = found.family
    measured = yield from means(family, found.here, params.usual)
    rows = yield from _rows(family, measured, found.here, params)
    growth, symptom = slowest(rows)
    stages = tuple(_stage(one, measured) for one in family.stages)
    latency = Latency(
        engine=family.engine,
        model=found.model or None,
        slowdown_ratio=growth,
        slowdown_symptom=symptom,
        stages=stages,
        symptoms=rows or None,
    )
    return _cpu_stage(latency, measured, family.on_cpu)


def _rows(
    family: Family, measured: Means, here: str, params: LatencyParams
) -> Reading[tuple[SymptomRow, ...]]:
    """The latencies, with their pods where there are several."""
    rows = yield from symptoms(family, measured, here, params.usual)
    if len(params.pods) < 2:
        return rows
    paces = yield from pod_paces(family, measured, here, params.usual)
    return with_paces(rows, paces)


def _counted(found: Found | None, params: LatencyParams) -> Reading[Latency]:
    """Load and failures."""
    load, gone = yield from side_by_side(
        [
            usually(arrivals(found.family, found.here) if found else "", params.usual),
            aborted(found, params.usual),
        ]
    )
    rows = yield from error_rows(found, params.namespace, params.workload, params.usual)
    worst = rows[0] if rows else ErrorRow(source="")
    return Latency(
        requests_per_second=load[0],
        requests_ratio=ratio(*load),
        error_ratio=worst.ratio,
        error_ratio_usual=worst.usual_ratio,
        error_source=worst.source or None,
        aborted_ratio=gone[0],
        aborted_ratio_usual=gone[1],
        errors=rows or None,
    )


def _stage(one: Part, found: Means) -> StageRow:
    """One stage of the additive split; a remainder is what the others leave."""
    now, usual = part(found, one.of, one.less)
    if now is None and one.otherwise is not None:
        return _stage(one.otherwise, found)
    return StageRow(
        stage=one.stage, seconds=now, usual_seconds=usual, remainder=remainder_of(one) or None
    )


def _cpu_stage(latency: Latency, found: Means, parts: tuple[Part, ...]) -> Latency:
    """The stage that runs on the CPU and grew most, in proportion; noise counts as no growth."""
    grown: list[tuple[float, str, float, float]] = []
    for one in parts:
        now, usual = part(found, one.of, one.less)
        share = ratio(now, usual)
        if share is None or now is None or usual is None:
            continue
        quiet = abs(now - usual) < one.noise_seconds
        grown.append((min(share, 1.0) if quiet else share, one.stage, now, usual))
    if not grown:
        return latency
    share, name, now, usual = max(grown)
    return replace(
        latency,
        cpu_stage=name,
        cpu_stage_seconds=now,
        cpu_stage_seconds_usual=usual,
        cpu_stage_ratio=share,
    )
