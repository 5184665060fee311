"""What a series measures, in the words that stand above its panel.

A collector names its facts for conditions; people read what stands here. What is not listed, such
as the evidence of somebody else's collector, is told by the fact's own name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tailhound.model import FactValue
from tailhound.model.facts import SUFFIX_UNITS, unit_of
from tailhound.model.names import capital


@dataclass(frozen=True, slots=True)
class Words:
    """`text` with `{}` for what the text fact `told_by` says; `plain` where nobody measured it.

    `renamed` holds better words for what the fact may say. `whose` is the text fact that names what
    the one series belongs to, "" where it is of the entire subject. `says` is the title's sentence,
    with `{}` for the value; without it the words and the value stand beside each other.
    """

    text: str
    whose: str = ""
    told_by: str = ""
    plain: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)
    says: str = ""


_PORT = {
    "the link is down": "state of the link, 4 is active",
    "lost packets": "packets lost per second",
    "link errors": "link errors per second",
    "congestion notices": "congestion notices per second",
    "waiting to send": "ticks of waiting to send, per second",
}
WORDS: Mapping[str, Words] = {
    "prometheus.container_cpu/throttled_ratio": Words(
        "CPU periods in which it was stopped",
        whose="pod",
        says="Stopped in {} of its CPU periods",
    ),
    "prometheus.node_agents/throttled_ratio": Words(
        "CPU periods in which the agent was stopped",
        whose="pod",
        says="The node's agent is stopped in {} of its CPU periods",
    ),
    "prometheus.kv_cache/usage_ratio": Words(
        "KV cache in use", whose="pod", says="{} of the KV cache is in use"
    ),
    "prometheus.kv_cache/preemptions_per_second": Words(
        "requests thrown out of the KV cache", whose="pod"
    ),
    "prometheus.engine/waiting_count": Words("requests that wait", says="{} requests wait"),
    "prometheus.lengths/prompt_p95_tokens": Words("prompt length, p95"),
    "prometheus.batching/wait_seconds": Words(
        "mean wait for a batch", says="Requests wait {} for a batch"
    ),
    "prometheus.replicas/missing_count": Words(
        "replicas that are wanted and missing", says="Replicas wanted and missing: {}"
    ),
    "prometheus.disk_io/slow_seconds": Words(
        "mean wait of a {}", whose="device", told_by="slow_kind", plain="mean disk wait"
    ),
    "prometheus.apiserver/mechanism_seconds": Words(
        "{}, p99", told_by="mechanism", plain="API requests, p99"
    ),
    "prometheus.rdma/leading_value": Words(
        "{}", whose="port", told_by="leading", plain="packets lost per second", renamed=_PORT
    ),
    "prometheus.pause_frames/held_times": Words(
        "pauses, beside their usual", whose="port", says="Paused {} its usual"
    ),
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
    if not isinstance(told, str) or not told:
        return known.plain
    return known.text.format(known.renamed.get(told, told))


def title_of(words: str, value: str, collector: str, fact: str) -> str | None:
    """The sentence of a title; None where nobody wrote one, and a claim says more."""
    known = WORDS.get(f"{collector}/{fact}")
    if known is None:
        return None
    now, mark, usual = value.partition(", ")
    return f"{known.says.format(now)}{mark}{usual}" if known.says else f"{capital(words)}: {value}"


def whose(collector: str, fact: str, facts: Mapping[str, FactValue]) -> str:
    """The pod, drive or port that a single series belongs to; "" where it is of the subject."""
    known = WORDS.get(f"{collector}/{fact}")
    name = facts.get(known.whose) if known else None
    return name if isinstance(name, str) else ""


def _named(fact: str) -> str:
    unit = unit_of(fact)
    suffix = next((end for end, named in SUFFIX_UNITS if named == unit and fact.endswith(end)), "")
    return (fact.removesuffix(suffix) or fact).replace("_", " ")
