"""What an engine is doing: which one it is, how many requests run and wait, and how many come."""

from collections.abc import Sequence
from dataclasses import dataclass

from tailhound.flow import Reading
from tailhound.model.facts import Series, fact
from tailhound_collectors.discovery import Found, find
from tailhound_collectors.reading import (
    WINDOW,
    by,
    history,
    named,
    ratio,
    side_by_side,
    summed,
    usually,
)
from tailhound_collectors.symptoms import arrivals

HEARTBEAT_WINDOW = "2m"
"""An engine that runs requests steps many times a second: two minutes without one is a
standstill. Our own default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineParams:
    """Whose engine. `metric_prefix` as for latency."""

    namespace: str
    pods: tuple[str, ...]
    usual: tuple[float, ...] = (3600.0, 86400.0, 604800.0)
    metric_prefix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnginePodRow:
    """One pod: requests that run and wait, and steps per second of its loop."""

    pod: str
    running_count: float | None = None
    waiting_count: float | None = None
    steps_per_second: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """The engine of a workload, over all its pods.

    `has_paged_kv`: whether it holds a paged KV cache.
    `waiting_for_capacity_count` and `deferred_count` split the waiting where the engine says why:
    deferred ones wait for an adapter slot or a transfer, not for room. `arrivals_per_second` are
    first tokens (or answers) plus the growth of the queue: an engine counts no arrivals itself.
    `waiting_skew_ratio` is the longest queue over the mean of all pods. `stalled_pods_count` are
    pods that run requests and make no step.
    """

    kind: str | None = None
    has_paged_kv: bool | None = None
    model: str | None = None
    running_count: float | None = None
    running_count_usual: float | None = None
    waiting_count: float | None = None
    waiting_count_usual: float | None = None
    waiting_for_capacity_count: float | None = None
    deferred_count: float | None = None
    waiting_skew_ratio: float | None = fact("times")
    arrivals_per_second: float | None = None
    arrivals_per_second_usual: float | None = None
    arrivals_ratio: float | None = fact("times")
    finished_per_second: float | None = None
    finished_per_second_usual: float | None = None
    finished_ratio: float | None = fact("times")
    generated_tokens_per_second: float | None = None
    generated_tokens_per_second_usual: float | None = None
    generated_ratio: float | None = fact("times")
    stalled_pods_count: int | None = None
    pods_count: int | None = None
    pods: tuple[EnginePodRow, ...] | None = None
    waiting_count_series: Series | None = None
    waiting_count_usual_series: Series | None = None


class EngineCollector:
    """`prometheus.engine`: which engine it is, its queue and its load."""

    name = "prometheus.engine"
    params = EngineParams
    facts = Engine

    def collect(self, params: EngineParams) -> Reading[Engine]:
        """Find the family, then ask for everything at once."""
        found = yield from find(params.namespace, params.pods, params.metric_prefix)
        if found is None:
            return Engine()
        totals = yield from side_by_side(usually(promql, params.usual) for promql in _totals(found))
        reasons, pods = yield from _details(found)
        series, usual_series = yield from history(gauge(found, "waiting"), params.usual)
        running, waiting, load, finished, generated = totals
        waits = [row.waiting_count for row in pods if row.waiting_count is not None]
        return Engine(
            kind=found.family.engine,
            has_paged_kv=found.paged_kv,
            model=found.model or None,
            running_count=running[0],
            running_count_usual=running[1],
            waiting_count=waiting[0],
            waiting_count_usual=waiting[1],
            waiting_for_capacity_count=reasons.get(("capacity",)),
            deferred_count=reasons.get(("deferred",)),
            waiting_skew_ratio=_skew(waits),
            arrivals_per_second=load[0],
            arrivals_per_second_usual=load[1],
            arrivals_ratio=ratio(*load),
            finished_per_second=finished[0],
            finished_per_second_usual=finished[1],
            finished_ratio=ratio(*finished),
            generated_tokens_per_second=generated[0],
            generated_tokens_per_second_usual=generated[1],
            generated_ratio=ratio(*generated),
            stalled_pods_count=_stalled(pods),
            pods_count=len(pods) or None,
            pods=pods or None,
            waiting_count_series=series,
            waiting_count_usual_series=usual_series,
        )


def gauge(found: Found, meaning: str, per: str = "") -> str:
    """A gauge added up over pods, or over the ranks of each pod.

    Ranks that repeat each other's numbers (tensor parallel) count once, and a total is not counted
    again by priority.
    """
    here = f'{found.here[:-1]},priority=""}}'
    group = f"sum by ({per})" if per else "sum"
    return " or ".join(
        f"{group} (max by (pod, engine, dp_rank, model_name, model) ({name}{here}))"
        for name in found.family.of(meaning)
    )


def _totals(found: Found) -> tuple[str, ...]:
    """What runs, waits, comes, ends and is generated, over all pods."""
    return (
        gauge(found, "running"),
        gauge(found, "waiting"),
        _arrivals(found),
        summed(found.family.of("finished"), found.here, window=WINDOW),
        summed(found.family.of("generated"), found.here, window=WINDOW),
    )


def _arrivals(found: Found) -> str:
    """What came: what went through, plus what the queue grew by."""
    family, here = found.family, found.here
    if family.of("arrived"):
        return summed(family.of("arrived"), here, window=WINDOW)
    through = arrivals(family, here)
    growth = " or ".join(f"sum (deriv({name}{here}[{WINDOW}]))" for name in family.of("waiting"))
    if not growth or not through:
        return through
    return f"clamp_min(({through}) + ({growth}), 0) or {through}"


def _details(
    found: Found,
) -> Reading[tuple[dict[tuple[str, ...], float], tuple[EnginePodRow, ...]]]:
    """Why requests wait, and each pod's numbers."""
    family, here = found.family, found.here
    replies = yield from named(
        {
            "reason": summed(family.of("waiting_by_reason"), here, "reason"),
            "running": gauge(found, "running", "pod"),
            "waiting": gauge(found, "waiting", "pod"),
            "steps": summed(family.of("steps"), here, "pod", HEARTBEAT_WINDOW),
        }
    )
    reasons = by(replies["reason"], "reason")
    values = {name: by(replies[name], "pod") for name in ("running", "waiting", "steps")}
    pods = sorted({pod for one in values.values() for pod in one})
    return reasons, tuple(
        EnginePodRow(
            pod=pod[0],
            running_count=values["running"].get(pod),
            waiting_count=values["waiting"].get(pod),
            steps_per_second=values["steps"].get(pod),
        )
        for pod in pods
    )


def _skew(waits: Sequence[float]) -> float | None:
    """The longest queue over the mean; None for one pod, or where nobody waits."""
    total = sum(waits)
    if len(waits) < 2 or total == 0:
        return None
    return max(waits) * len(waits) / total


def _stalled(pods: Sequence[EnginePodRow]) -> int | None:
    """Pods that run requests and make no step; None when no pod tells its steps."""
    known = [row for row in pods if row.steps_per_second is not None]
    if not known:
        return None
    return sum(row.steps_per_second == 0 and (row.running_count or 0) > 0 for row in known)
