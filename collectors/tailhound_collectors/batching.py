"""Batching evidence: how long requests are held back so that others can join their batch.

It is about servers that put whole requests together (Triton, TorchServe, TensorFlow Serving).
A batch that nothing fills waits out its window, and the fewer requests come, the more of the window
each of them waits: W (1 + n/2) / (1 + n), where n come within the window. So such a wait falls when
the load rises, while the wait for a busy instance rises.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from tailhound.flow import Reading, together
from tailhound.model import Missing, Reason
from tailhound.model.facts import Series, fact
from tailhound.requests import Query, RangeQuery, Vector
from tailhound_collectors.discovery import Found, find
from tailhound_collectors.engine import EngineParams
from tailhound_collectors.families import TRITON_KV, Family
from tailhound_collectors.reading import (
    HISTORY_SECONDS,
    ONSET_WINDOW,
    STEP_SECONDS,
    WINDOW,
    by,
    history,
    named,
    number,
    ratio,
    side_by_side,
    usually,
)
from tailhound_collectors.symptoms import mean

PRESENT_RATIO = 0.5
"""The present waits: since when the wait has been, without a break, at least half of what it is."""

SETTLING_SECONDS = 120.0
"""The rate window: so long after a change, rates are still a mixture."""

SAMPLES_AT_LEAST = 12
"""Fewer samples tell nothing about how the wait reacts: three minutes. Our own default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batching:
    """Batches and waits of a workload, or of the model that `model` names.

    `continuous`: requests join a running batch at any step, so that none waits for one to fill.
    `wait_seconds` and `request_seconds` are means of all requests, `wait_share_ratio` is one by the
    other. `pods_count` is how many pods count requests.
    `average_batch_count` is not measured where the server counts no executions.
    `pending_count` is how many wait on the pod where most do; where the server has no such gauge,
    arrivals times the mean wait, which is the same. `busy_count` is how many executions run at once
    on the busiest pod, at most: where executions are not counted, as if each request were one.
    `execution_seconds` is how long one takes, `turn_seconds` their product: no wait for a free
    instance is longer on average while one is free more than half of the time.
    `reaction_ratio` compares the wait at the highest third of the load with that at the lowest,
    since the wait is what it is; `load_swing_ratio` compares the loads.
    """

    engine: str | None = None
    model: str | None = None
    continuous: bool | None = None
    wait_seconds: float | None = None
    wait_seconds_usual: float | None = None
    wait_ratio: float | None = fact("times")
    request_seconds: float | None = None
    request_seconds_usual: float | None = None
    request_ratio: float | None = fact("times")
    wait_share_ratio: float | None = None
    requests_per_second: float | None = None
    pods_count: int | None = None
    average_batch_count: float | None = fact("none")
    pending_count: float | None = None
    busy_count: float | None = None
    execution_seconds: float | None = None
    turn_seconds: float | None = None
    load_swing_ratio: float | None = fact("times")
    reaction_ratio: float | None = fact("times")
    wait_seconds_series: Series | None = None
    wait_seconds_usual_series: Series | None = None


class BatchingCollector:
    """`prometheus.batching`: batch sizes, waits for batches, and how these react to load."""

    name = "prometheus.batching"
    params = EngineParams
    facts = Batching

    def collect(self, params: EngineParams) -> Reading[Batching]:
        """Find the family, ask for everything at once, then for the histories."""
        found = yield from find(params.namespace, params.pods, params.metric_prefix)
        if found is None:
            return Batching()
        facts = Batching(
            engine=found.family.engine,
            model=found.model or None,
            continuous=(yield from _continuous(found)),
        )
        if facts.continuous or "queue" not in found.family.timings:
            return facts
        facts = yield from _measured(found, facts, params.usual)
        return (yield from _reaction(found, facts, params.usual))


def _continuous(found: Found) -> Reading[bool | None]:
    """What the family says; Triton's TensorRT-LLM models batch for themselves, its others don't."""
    own = found.family.continuous
    if own is not None or found.family.engine != "triton":
        return own
    if TRITON_KV not in found.exist:
        return False
    reply = (yield from together([Query(promql=f"count ({TRITON_KV}{found.here})")]))[0]
    if isinstance(reply, Missing):
        return False if reply.reason is Reason.EMPTY else None
    return True


def _measured(found: Found, facts: Batching, usual: Sequence[float]) -> Reading[Batching]:
    """What is measured now, and the usual waits."""
    family, here = found.family, found.here
    wait, request = yield from side_by_side(
        usually(mean(family.timings[kind], here, WINDOW), usual) for kind in ("queue", "e2e")
    )
    counts = [timing.count for timing in family.timings["e2e"]]
    replies = yield from named(
        {
            "requests": _each_pod(counts, here),
            "executions": _each_pod(family.of("executions"), here),
            "batch": _average_batch(family, here),
            "execution": _execution(family, here),
            "pending": " or ".join(
                f"sum by (pod) (avg_over_time({name}{here}[{WINDOW}]))"
                for name in family.of("waiting")
            ),
        }
    )
    rates = _values(replies["requests"])
    executions = _values(replies["executions"]) or (rates if not family.of("executions") else ())
    busiest, each = max(executions, default=None), number(replies["execution"])
    busy = None if busiest is None or each is None else busiest * each
    return replace(
        facts,
        wait_seconds=wait[0],
        wait_seconds_usual=wait[1],
        wait_ratio=ratio(*wait),
        request_seconds=request[0],
        request_seconds_usual=request[1],
        request_ratio=ratio(*request),
        wait_share_ratio=ratio(wait[0], request[0]),
        requests_per_second=sum(rates) if rates else None,
        pods_count=len(rates) or None,
        average_batch_count=number(replies["batch"]),
        pending_count=_pending(_values(replies["pending"]), rates, wait[0]),
        busy_count=busy,
        execution_seconds=each,
        turn_seconds=None if busy is None or each is None else busy * each,
    )


def _each_pod(names: Sequence[str], here: str) -> str:
    return " or ".join(f"sum by (pod) (rate({name}{here}[{WINDOW}]))" for name in names)


def _average_batch(family: Family, here: str) -> str:
    """Inferences for each execution."""
    return " or ".join(
        f"sum (rate({inferences}{here}[{WINDOW}])) / sum (rate({executions}{here}[{WINDOW}]))"
        for inferences, executions in zip(
            family.of("inferences"), family.of("executions"), strict=True
        )
    )


def _execution(family: Family, here: str) -> str:
    """The mean time in which a batch occupies an instance."""
    parts = [
        " - ".join(f"({mean(family.timings[kind], here, WINDOW)})" for kind in (one.of, *one.less))
        for one in family.executing
    ]
    return " + ".join(f"({part})" for part in parts)


def _values(reply: Vector | Missing) -> tuple[float, ...]:
    return tuple(by(reply, "pod").values())


def _pending(gauges: Sequence[float], rates: Sequence[float], wait: float | None) -> float | None:
    """How many wait where most do: the gauge, else arrivals times their wait (Little's law)."""
    if gauges:
        return max(gauges)
    return None if wait is None or not rates else max(rates) * wait


def _reaction(found: Found, facts: Batching, usual: Sequence[float]) -> Reading[Batching]:
    """The history of the wait, and how the wait reacted to load."""
    family, here = found.family, found.here
    wait = mean(family.timings["queue"], here, ONSET_WINDOW)
    series, usual_series = yield from history(wait, usual)
    load = " or ".join(
        f"sum (rate({timing.count}{here}[{ONSET_WINDOW}]))" for timing in family.timings["e2e"]
    )
    asked = [RangeQuery(promql=load, start_ago=HISTORY_SECONDS, step=STEP_SECONDS)]
    reply = (yield from together(asked))[0]
    loads = reply[0].samples if not isinstance(reply, Missing) and len(reply) == 1 else ()
    swing, reaction = reacted(series or (), loads, facts.wait_seconds)
    return replace(
        facts,
        load_swing_ratio=swing,
        reaction_ratio=reaction,
        wait_seconds_series=series,
        wait_seconds_usual_series=usual_series,
    )


def reacted(waits: Series, loads: Series, now: float | None) -> tuple[float | None, float | None]:
    """How far the load swung since the wait is what it is, and what the wait did then.

    Both compare the median at the highest third of the load with that at the lowest.
    """
    loaded = {sample.at: sample.value for sample in loads}
    pairs = [
        (loaded[sample.at], sample.value)
        for sample in _present(waits, now)
        if loaded.get(sample.at, 0.0) > 0
    ]
    if len(pairs) < SAMPLES_AT_LEAST:
        return None, None
    pairs.sort()
    third = len(pairs) // 3
    low, high = pairs[:third], pairs[-third:]
    swing = ratio(median(load for load, _ in high), median(load for load, _ in low))
    return swing, ratio(median(wait for _, wait in high), median(wait for _, wait in low))


def _present(waits: Series, now: float | None) -> Series:
    """The samples since the wait is what it is now, without those that are still a mixture."""
    if now is None:
        return ()
    first = len(waits)
    while first > 0 and waits[first - 1].value >= PRESENT_RATIO * now:
        first -= 1
    kept = waits[first:]
    if first == 0 or not kept:
        return kept
    return tuple(sample for sample in kept if sample.at >= kept[0].at + SETTLING_SECONDS)
