"""Changes of a scenario that must change no verdict: Scenario -> Scenario.

None means that the change has nothing to take hold of in this scenario.
"""

import dataclasses
from collections.abc import Callable, Collection, Mapping
from typing import Any

from tests.accuracy import naming, shifting
from tests.accuracy.neighbours import with_neighbour
from tests.lab.scenario import Scenario
from tests.lab.series import Series, parsed

Perturbation = Callable[[Scenario], Scenario | None]

_NOT_TRAFFIC = (
    "container_ node_ process_ kube_ kubelet_ machine_ DCGM_ go_ python_ "
    "apiserver_ etcd_ workqueue_ rest_client_ coredns_"
)
"""What is counted per second of the machine or per call of the control plane, not per request."""

_TO_V0: Mapping[str, str] = {
    "vllm:kv_cache_usage_perc": "vllm:gpu_cache_usage_perc",
    "vllm:inter_token_latency_seconds": "vllm:time_per_output_token_seconds",
}
_NOT_IN_V0 = (
    "vllm:prefix_cache_queries",
    "vllm:prefix_cache_hits",
    "vllm:request_prefill_kv_computed_tokens",
    "vllm:request_time_per_output_token_seconds",
)
FULL = 0.8
_PARTS = ("input", "infer", "output")


def family(series: Series) -> str:
    """The name of the metric."""
    return parsed(series.text)[0]


def rates(factor: float) -> Perturbation:
    """All that is counted per request, `factor` times as often; latencies and gauges untouched."""

    def change(given: Scenario) -> Scenario | None:
        if factor < 1 and _fills_its_time(given):
            return None
        changed = tuple(
            one if _is_gauge_or_machine(one) else _faster(one, factor) for one in given.series
        )
        return None if changed == given.series else dataclasses.replace(given, series=changed)

    return change


def _fills_its_time(given: Scenario) -> bool:
    """Whether batches fill the time of a server at the end: with half of the traffic it would be
    half idle, and nobody would wait as long as the histories say.
    """
    rates: dict[str, dict[str, float]] = {}
    for one in given.series:
        name, labels = parsed(one.text)
        if one.counter and name.startswith("nv_inference_"):
            rates.setdefault(str(labels), {})[name] = one.phases[-1].per_second or 0.0
    return any(_busy(server) >= FULL for server in rates.values())


def _busy(rates: Mapping[str, float]) -> float:
    """Seconds of executing a second: each request of a batch counts the whole batch's time."""
    executing = sum(rates.get(f"nv_inference_compute_{part}_duration_us", 0.0) for part in _PARTS)
    requests = rates.get("nv_inference_count", 0.0)
    batches = rates.get("nv_inference_exec_count", 0.0)
    return executing / 1e6 * batches / requests if requests else 0.0


def _is_gauge_or_machine(series: Series) -> bool:
    return bool(series.gauge) or family(series).startswith(tuple(_NOT_TRAFFIC.split()))


def _faster(series: Series, factor: float) -> Series:
    phases = tuple(
        phase
        if phase.per_second is None
        else phase.model_copy(update={"per_second": phase.per_second * factor})
        for phase in series.phases
    )
    return series.model_copy(update={"phases": phases})


def without(names: Collection[str]) -> Perturbation:
    """These metric families are scraped no more."""

    def change(given: Scenario) -> Scenario | None:
        left = tuple(one for one in given.series if family(one) not in names)
        return None if left == given.series else dataclasses.replace(given, series=left)

    return change


def old_vllm(given: Scenario) -> Scenario | None:
    """The names of vLLM before V1: no label `engine`, and what did not exist then is not there."""
    if not any(family(one) in _TO_V0 for one in given.series):
        return None
    changed = [_older(one) for one in given.series if not family(one).startswith(_NOT_IN_V0)]
    texts = [one.text for one in changed]
    if len(texts) != len(set(texts)):
        return None  # several engines in a pod can't be told apart without the label
    return dataclasses.replace(given, series=tuple(changed))


def _older(series: Series) -> Series:
    name, labels = parsed(series.text)
    if not name.startswith("vllm:"):
        return series
    kept = {key: value for key, value in labels.items() if key != "engine"}
    return naming.retexted(series, _TO_V0.get(name, name), kept)


def straight(given: Scenario) -> Scenario:
    """Without the chain through a real Alertmanager, whose rule is not a matter of the history."""
    return dataclasses.replace(given, full_chain=False)


PERTURBATIONS: Mapping[str, Perturbation] = {
    "half the traffic": rates(0.5),
    "twice the traffic": rates(2.0),
    "other names": naming.renamed,
    "a healthy neighbour": with_neighbour,
    "five minutes earlier": shifting.earlier,
    "a little later": shifting.later,
    "vLLM V0": old_vllm,
}


def variant(name: str, given: Scenario) -> Scenario | None:
    """The scenario, changed so; None when that changes nothing in it."""
    changed = PERTURBATIONS[name](straight(given))
    return (
        changed if changed is None else dataclasses.replace(changed, name=f"{given.name}, {name}")
    )


def droppable(
    given: Scenario, asked: Collection[str], asks: Callable[[str, str], bool]
) -> list[str]:
    """The families of the scenario that none of the questions asks for, in order."""
    names: dict[str, Any] = dict.fromkeys(family(one) for one in given.series)
    return [name for name in names if not any(asks(question, name) for question in asked)]
