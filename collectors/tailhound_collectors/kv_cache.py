"""KV cache evidence: how full the block pool is, and whether running requests are thrown out.

The pool is a fixed preallocation: the GPU's memory does not move when it fills up. A full pool is
healthy; what hurts is preemption (vLLM) or retraction (SGLang): a running request loses its blocks
and its prompt and the tokens so far are computed again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from tailhound.flow import Reading
from tailhound.model import Missing
from tailhound.model.facts import Series, fact
from tailhound.requests import Vector
from tailhound_collectors.discovery import Found, find
from tailhound_collectors.engine import EngineParams, gauge
from tailhound_collectors.lengths import mean_of
from tailhound_collectors.reading import (
    WINDOW,
    by,
    counted,
    history,
    named,
    ratio,
    side_by_side,
    summed,
    usually,
)

WINDOW_SECONDS = 300.0
FULL_RATIO = 0.95
"""A pool counts as full from here on, for "2 of 3 pods": llm-d's critical alert."""

Values = dict[tuple[str, ...], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class KvPodRow:
    """One pod: the fullest moment of its pool in five minutes, and what it threw out."""

    pod: str
    usage_ratio: float | None = None
    preemptions_per_second: float | None = None
    preemptions_per_request: float | None = fact("none")


@dataclass(frozen=True, slots=True, kw_only=True)
class KvCache:
    """The KV cache of the pod that preempts most, else of the fullest.

    `preemptions_counted`: whether the engine counts preemptions at all; TGI and Triton don't.
    `preemptions_per_request` is per finished request of the last five minutes; when nothing
    finished, as if one had. `preemptions_per_second_usual` and `usage_ratio_usual` are the worst
    pod's, whichever that was. `running_count` is the busiest rank's, which a limit on concurrent
    sequences is about. `others_preempting_count` are the pods that preempt beside it,
    `calm_pods_count` those that don't; None where a pod does not tell. `pool_tokens` is the
    smallest pool. `prompt_tokens` and `output_tokens` are the mean lengths of what finished on all
    pods in the last five minutes: what fills the pool.
    """

    engine: str | None = None
    has_paged_kv: bool | None = None
    pod: str | None = None
    usage_ratio: float | None = None
    usage_ratio_usual: float | None = None
    preemptions_counted: bool | None = None
    preemptions_count: float | None = None
    preemptions_per_request: float | None = fact("none")
    preemptions_per_second: float | None = None
    preemptions_per_second_usual: float | None = None
    finished_count: float | None = None
    waiting_count: float | None = None
    running_count: float | None = None
    swapped_count: float | None = None
    full_pods_count: int | None = None
    preempting_pods_count: int | None = None
    others_preempting_count: int | None = None
    calm_pods_count: int | None = None
    pods_count: int | None = None
    pool_tokens: float | None = None
    prompt_tokens: float | None = None
    prompt_tokens_usual: float | None = None
    prompt_times: float | None = None
    output_tokens: float | None = None
    output_tokens_usual: float | None = None
    output_times: float | None = None
    pods: tuple[KvPodRow, ...] | None = None
    usage_ratio_series: Series | None = None
    usage_ratio_usual_series: Series | None = None
    preemptions_per_second_series: Series | None = None
    preemptions_per_second_usual_series: Series | None = None


class KvCacheCollector:
    """`prometheus.kv_cache`: usage and preemptions of a paged KV cache."""

    name = "prometheus.kv_cache"
    params = EngineParams
    facts = KvCache

    def collect(self, params: EngineParams) -> Reading[KvCache]:
        """Find the family, ask each pod's numbers, then what is usual and since when."""
        found = yield from find(params.namespace, params.pods, params.metric_prefix)
        if found is None:
            return KvCache()
        facts = KvCache(engine=found.family.engine, has_paged_kv=found.paged_kv)
        if not found.family.of("kv_usage") and not found.family.of("preempted"):
            return facts
        return (yield from _of(found, facts, params.usual))


def _of(found: Found, facts: KvCache, usual: Sequence[float]) -> Reading[KvCache]:
    """The numbers of each pod, then what is usual and since when."""
    preempted, usage = preempted_by_pod(found), _usage_by_pod(found)
    replies = yield from named(
        {
            "preempted": preempted,
            "usage": usage,
            "finished": summed(found.family.of("finished"), found.here, "pod", WINDOW),
            "waiting": gauge(found, "waiting", "pod"),
            "running": _busiest_rank(found),
            "swapped": gauge(found, "swapped", "pod"),
            "pool": _pool(found),
        }
    )
    per_pod = {name: by(reply, "pod") for name, reply in replies.items()}
    rows = _rows(per_pod["preempted"], per_pod["usage"], per_pod["finished"])
    facts = replace(facts, preemptions_counted=counted(replies["preempted"]), pods=rows or None)
    if not rows:
        return facts
    facts = _worst(facts, per_pod)
    facts = replace(facts, pool_tokens=_pool_tokens(replies["pool"]))
    return (yield from _since_when(found, facts, (f"max ({preempted})", f"max ({usage})"), usual))


def preempted_by_pod(found: Found) -> str:
    """Preemptions per second of each pod.

    SGLang creates its counter at the first retraction: until then its gauge, which is 0, says so.
    """
    rates = summed(found.family.of("preempted"), found.here, "pod", WINDOW)
    for gauge_name in found.family.of("preempting"):
        seen = f"max_over_time({gauge_name}{found.here}[{WINDOW}])"
        rates += f" or (sum by (pod) ({seen}) == 0)"
    return rates


def _usage_by_pod(found: Found) -> str:
    """The fullest moment of each pod's pool in the window."""
    each = " or ".join(
        f"max_over_time({name}{found.here}[{WINDOW}])" for name in found.family.of("kv_usage")
    )
    return f"max by (pod) ({each})"


def _busiest_rank(found: Found) -> str:
    """Requests that run on the busiest rank of each pod: limits hold for each rank."""
    return " or ".join(f"max by (pod) ({name}{found.here})" for name in found.family.of("running"))


def _pool(found: Found) -> str:
    """The size of the pool: vLLM tells it in labels, SGLang as a value."""
    labels = "pod, num_gpu_blocks, block_size"
    return " or ".join(
        f"min by ({labels}) ({name}{found.here})" for name in found.family.of("pool")
    )


def _rows(rates: Values, usage: Values, finished: Values) -> tuple[KvPodRow, ...]:
    return tuple(
        KvPodRow(
            pod=pod[0],
            usage_ratio=usage.get(pod),
            preemptions_per_second=rates.get(pod),
            preemptions_per_request=_per_request(rates.get(pod), finished.get(pod)),
        )
        for pod in sorted({*rates, *usage})
    )


def _per_request(preempted: float | None, finished: float | None) -> float | None:
    """Preemptions for each finished request of the window; as if one had where none did."""
    if preempted is None or finished is None:
        return None
    return preempted * WINDOW_SECONDS / max(finished * WINDOW_SECONDS, 1.0)


def _worst(facts: KvCache, per_pod: Mapping[str, Values]) -> KvCache:
    """The facts of the pod that preempts most, else of the fullest."""
    rows = facts.pods or ()
    worst = max(rows, key=lambda row: (row.preemptions_per_second or 0.0, row.usage_ratio or 0.0))
    pod, rates = (worst.pod,), per_pod["preempted"]
    preempting = sum(rate > 0 for rate in rates.values()) if rates else None
    return replace(
        facts,
        pod=worst.pod,
        usage_ratio=worst.usage_ratio,
        preemptions_count=_in_window(worst.preemptions_per_second),
        preemptions_per_request=worst.preemptions_per_request,
        preemptions_per_second=worst.preemptions_per_second,
        finished_count=_in_window(per_pod["finished"].get(pod)),
        waiting_count=per_pod["waiting"].get(pod),
        running_count=per_pod["running"].get(pod),
        swapped_count=per_pod["swapped"].get(pod),
        full_pods_count=sum(share >= FULL_RATIO for share in per_pod["usage"].values()),
        preempting_pods_count=preempting,
        others_preempting_count=None if preempting is None else max(preempting - 1, 0),
        calm_pods_count=sum(rate == 0 for rate in rates.values())
        if len(rates) == len(rows)
        else None,
        pods_count=len(rows),
    )


def _since_when(
    found: Found, facts: KvCache, queries: tuple[str, str], usual: Sequence[float]
) -> Reading[KvCache]:
    """What is usual for the worst pod, how long requests are against usual, and the samples that
    onsets are read from.
    """
    preempted, usage = queries
    lengths = [
        mean_of(found.family.of(meaning), found.here)
        for meaning in ("prompt_length", "output_length")
    ]
    pairs = yield from side_by_side(usually(promql, usual) for promql in (*queries, *lengths))
    _, _, prompt, output = pairs
    series = yield from side_by_side([history(preempted, usual), history(usage, usual)])
    return replace(
        facts,
        preemptions_per_second_usual=pairs[0][1],
        usage_ratio_usual=pairs[1][1],
        prompt_tokens=prompt[0],
        prompt_tokens_usual=prompt[1],
        prompt_times=ratio(*prompt),
        output_tokens=output[0],
        output_tokens_usual=output[1],
        output_times=ratio(*output),
        preemptions_per_second_series=series[0][0],
        preemptions_per_second_usual_series=series[0][1],
        usage_ratio_series=series[1][0],
        usage_ratio_usual_series=series[1][1],
    )


def _in_window(per_second: float | None) -> float | None:
    return None if per_second is None else per_second * WINDOW_SECONDS


def _pool_tokens(reply: Vector | Missing) -> float | None:
    """Tokens of the smallest pool. Labels come from outside: what is no number is left out."""
    if isinstance(reply, Missing):
        return None
    sizes = []
    for item in reply:
        if not item.label("num_gpu_blocks"):
            sizes.append(item.value)
            continue
        try:
            sizes.append(float(item.label("num_gpu_blocks")) * float(item.label("block_size")))
        except ValueError:
            continue
    known = [size for size in sizes if isfinite(size) and size > 1]
    return min(known, default=None)
