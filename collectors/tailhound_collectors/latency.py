"""Latency evidence: which stage of a request grew, and since when.

The engine's family is found by asking for its series, never by a version: vLLM from V0 on, under
its own or Ray's prefix, else a plain HTTP server. Means attribute (they add up), quantiles detect.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tailhound.flow import Reading, together
from tailhound.model import Missing
from tailhound.model.facts import Series, fact
from tailhound.requests import Query, Vector
from tailhound.requests.prometheus import matchers
from tailhound_collectors.families import Family, family_of
from tailhound_collectors.reading import (
    ONSET_WINDOW,
    WINDOW,
    history,
    middle,
    number,
    ratio,
    usually,
)

GROWTH_SECONDS = 0.05
"""The frontend remainder is a difference of means that are recorded at different moments: growth
below 50 ms is noise. Our own default."""

THIN_REQUESTS = 100
"""Below this many requests in the window a p99 is one or two requests; then p90 is read."""


SYMPTOMS = (
    ("ttft", "first token"),
    ("itl", "inter-token"),
    ("e2e", "end to end"),
    ("queue", "queue wait"),
    ("handling", "request"),
)
"""The order in which a symptom is looked for."""

STAGES = (("preprocessing", ""), ("queue", "queue"), ("prefill", "prefill"), ("decode", "decode"))

Pair: TypeAlias = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyParams:
    """Whose latency. `metric_prefix` replaces "vllm:" where the site scrapes through Ray."""

    namespace: str
    pods: tuple[str, ...]
    usual: tuple[float, ...] = (3600.0, 86400.0, 604800.0)
    metric_prefix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRow:
    """One stage: mean seconds now and usually."""

    stage: str
    seconds: float | None = None
    usual_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SymptomRow:
    """One latency: its mean now and usually, and the samples that its onset is read from."""

    symptom: str
    title: str
    seconds: float | None = None
    usual_seconds: float | None = None
    quantile_seconds: float | None = None
    quantile_usual_seconds: float | None = None
    quantile: str = ""
    clipped: bool = False
    series: Series | None = None
    usual_series: Series | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Stages and symptoms. `cpu_stage_ratio` is the growth of the stage that runs on the CPU and
    grew most: inter-token (the engine's loop), preprocessing (frontend), or HTTP handling.
    """

    engine: str | None = None
    cpu_stage: str | None = None
    cpu_stage_seconds: float | None = None
    cpu_stage_seconds_usual: float | None = None
    cpu_stage_ratio: float | None = fact("times")
    requests_per_second: float | None = None
    requests_ratio: float | None = fact("times")
    stages: tuple[StageRow, ...] | None = None
    symptoms: tuple[SymptomRow, ...] | None = None


class LatencyCollector:
    """`prometheus.request_latency`: stage means, symptoms and load of a workload."""

    name = "prometheus.request_latency"
    params = LatencyParams
    facts = Latency

    def collect(self, params: LatencyParams) -> Reading[Latency]:
        """Find the family, then ask for all its means, then for the histories."""
        here = matchers(namespace=params.namespace, pod=params.pods)
        family = yield from family_of(here, params.metric_prefix or "vllm:")
        if family is None:
            return Latency()
        names = {kind: getattr(family, kind) for kind, _ in SYMPTOMS} | {
            "prefill": family.prefill,
            "decode": family.decode,
        }
        means = yield from _means(names, here, params.usual)
        load, usual_load = yield from usually(_arrivals(family, here), params.usual)
        symptoms = yield from _symptoms(family, means, here, params.usual)
        stages = _stages(family, means)
        return _cpu_stage(
            Latency(
                engine=family.engine,
                requests_per_second=load,
                requests_ratio=ratio(load, usual_load),
                stages=stages or None,
                symptoms=symptoms or None,
            ),
            means,
            stages,
        )


def _mean(names: Sequence[str], here: str, window: str) -> str:
    """The mean of the first spelling that exists."""
    return " or ".join(
        f"(sum (rate({name}_sum{here}[{window}])) / sum (rate({name}_count{here}[{window}])))"
        for name in names
    )


def _arrivals(family: Family, here: str) -> str:
    names = family.ttft or family.handling
    return " or ".join(f"sum (rate({name}_count{here}[{WINDOW}]))" for name in names)


def _means(
    names: Mapping[str, tuple[str, ...]], here: str, usual: Sequence[float]
) -> Reading[dict[str, Pair]]:
    """Mean seconds now and usually of each kind that the family has, asked at once."""
    kinds = [kind for kind, spelled in names.items() if spelled]
    asked = [
        Query(promql=_mean(names[kind], here, WINDOW), ago=ago)
        for kind in kinds
        for ago in (0.0, *usual)
    ]
    replies = yield from together(asked)
    values = [number(reply) for reply in replies]
    wide = 1 + len(usual)
    return {
        kind: (values[at * wide], middle(values[at * wide + 1 : (at + 1) * wide]))
        for at, kind in enumerate(kinds)
    }


def _stages(family: Family, means: Mapping[str, Pair]) -> tuple[StageRow, ...]:
    """The additive split. What queue and prefill leave of the first token is the frontend."""
    if family.handling:
        now, usual = means["handling"]
        return (StageRow(stage="handling", seconds=now, usual_seconds=usual),)
    rows = []
    for stage, kind in STAGES:
        now, usual = means[kind] if kind else _remainder(means)
        rows.append(StageRow(stage=stage, seconds=now, usual_seconds=usual))
    return tuple(rows)


def _remainder(means: Mapping[str, Pair]) -> Pair:
    return _rest(means, 0), _rest(means, 1)


def _rest(means: Mapping[str, Pair], at: int) -> float | None:
    ttft, queue, prefill = (means[kind][at] for kind in ("ttft", "queue", "prefill"))
    if ttft is None or queue is None or prefill is None:
        return None
    rest = ttft - queue - prefill
    return rest if rest >= 0 else None


def _cpu_stage(latency: Latency, means: Mapping[str, Pair], stages: Sequence[StageRow]) -> Latency:
    """The stage that runs on the CPU and grew most, in proportion."""
    grown: list[tuple[float, str, float, float]] = []
    for name, (now, usual) in _cpu_stages(means, stages):
        share = ratio(now, usual)
        if share is not None and now is not None and usual is not None:
            grown.append((share, name, now, usual))
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


def _cpu_stages(means: Mapping[str, Pair], stages: Sequence[StageRow]) -> list[tuple[str, Pair]]:
    found = [("inter-token", means["itl"])] if "itl" in means else []
    if "handling" in means:
        found.append(("handling", means["handling"]))
    for row in stages:
        grew = row.seconds is not None and row.usual_seconds is not None
        if row.stage == "preprocessing" and grew:
            now, usual = row.seconds or 0.0, row.usual_seconds or 0.0
            if abs(now - usual) >= GROWTH_SECONDS:
                found.append(("preprocessing", (now, usual)))
    return found


def _symptoms(
    family: Family, means: Mapping[str, Pair], here: str, usual: Sequence[float]
) -> Reading[tuple[SymptomRow, ...]]:
    """Each latency that the family has, with its quantile and its history."""
    rows = []
    for kind, title in SYMPTOMS:
        names: tuple[str, ...] = getattr(family, kind)
        if not names or means[kind][0] is None:
            continue
        row = SymptomRow(
            symptom=kind, title=title, seconds=means[kind][0], usual_seconds=means[kind][1]
        )
        row = yield from _quantile(row, names, here, usual)
        series, usual_series = yield from history(_mean(names, here, ONSET_WINDOW), usual)
        rows.append(replace(row, series=series, usual_series=usual_series))
    return tuple(rows)


def _quantile(
    row: SymptomRow, names: Sequence[str], here: str, usual: Sequence[float]
) -> Reading[SymptomRow]:
    """p99, or p90 of thin traffic, now and usually; clipped where it is the top finite bucket."""
    count = " or ".join(f"sum (increase({name}_count{here}[{WINDOW}]))" for name in names)
    tops = " or ".join(f"max (rate({name}_bucket{here}[{WINDOW}]))" for name in names)
    replies = yield from together([Query(promql=count), Query(promql=tops)])
    requests = number(replies[0])
    if requests is None or number(replies[1]) is None:
        return row
    q = 0.99 if requests >= THIN_REQUESTS else 0.9
    promql = " or ".join(
        f"histogram_quantile({q:g}, sum by (le) (rate({name}_bucket{here}[{WINDOW}])))"
        for name in names
    )
    now, before = yield from usually(promql, usual)
    clipped = yield from _clipped(now, names, here)
    return replace(
        row,
        quantile=f"p{q * 100:g}",
        quantile_seconds=now,
        quantile_usual_seconds=before,
        clipped=clipped,
    )


def _clipped(now: float | None, names: Sequence[str], here: str) -> Reading[bool]:
    """Whether a quantile sits at the highest finite bucket: then it is "at least" that."""
    if now is None:
        return False
    query = " or ".join(f"count by (le) (rate({name}_bucket{here}[{WINDOW}]))" for name in names)
    reply: Vector | Missing = (yield from together([Query(promql=query)]))[0]
    if isinstance(reply, Missing):
        return False
    bounds = [float(item.label("le")) for item in reply if item.label("le") not in ("+Inf", "")]
    return bool(bounds) and now >= max(bounds)
