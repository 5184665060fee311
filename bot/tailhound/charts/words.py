"""What a series measures, in the words that stand above its panel.

A collector names its facts for conditions; people read what stands here. What is not listed, such
as the evidence of somebody else's collector, is told by the fact's own name.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tailhound.model import FactValue
from tailhound.model.facts import SUFFIX_UNITS, unit_of


@dataclass(frozen=True, slots=True)
class Words:
    """`text` with `{}` for what the text fact `told_by` says; `plain` where nobody measured it."""

    text: str
    told_by: str = ""
    plain: str = ""


WORDS: Mapping[str, Words] = {
    "prometheus.container_cpu/throttled_ratio": Words("CPU periods in which it was stopped"),
    "prometheus.kv_cache/usage_ratio": Words("KV cache in use"),
    "prometheus.kv_cache/preemptions_per_second": Words("requests thrown out of the KV cache"),
    "prometheus.engine/waiting_count": Words("requests that wait"),
    "prometheus.lengths/prompt_p95_tokens": Words("prompt length, p95"),
    "prometheus.batching/wait_seconds": Words("mean wait for a batch"),
    "prometheus.replicas/missing_count": Words("replicas that are wanted and missing"),
    "prometheus.disk_io/slow_seconds": Words(
        "mean wait of a disk {}", "slow_kind", "mean disk wait"
    ),
    "prometheus.apiserver/mechanism_seconds": Words("{}, p99", "mechanism", "API requests, p99"),
    "prometheus.rdma/leading_value": Words("RDMA port: {}", "leading", "RDMA port"),
}
"""By collector and fact."""


def words_of(collector: str, fact: str, facts: Mapping[str, FactValue]) -> str:
    """What a series measures: `CPU periods in which it was stopped`."""
    known = WORDS.get(f"{collector}/{fact}")
    if known is None:
        return _named(fact)
    if not known.told_by:
        return known.text
    told = facts.get(known.told_by)
    return known.text.format(told) if isinstance(told, str) and told else known.plain


def _named(fact: str) -> str:
    unit = unit_of(fact)
    suffix = next((end for end, named in SUFFIX_UNITS if named == unit and fact.endswith(end)), "")
    return (fact.removesuffix(suffix) or fact).replace("_", " ")
