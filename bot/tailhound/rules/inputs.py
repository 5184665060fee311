"""The inputs of a runbook: the few names that everything else may use."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrase:
    """An input that resolution finds: `attribute` of what was resolved; `is_set` for several."""

    attribute: str
    is_set: bool = False


PHRASES: Mapping[str, Phrase] = {
    "all pods of the workload": Phrase("pods", is_set=True),
    "the nodes they run on": Phrase("nodes", is_set=True),
    "the workload": Phrase("workload"),
    "the namespace": Phrase("namespace"),
    "the serving container": Phrase("container"),
    "the pod": Phrase("pod"),
    "the node": Phrase("node"),
    "the cluster": Phrase("cluster"),
    "the model": Phrase("model_name"),
}
"""What may stand behind an input's name instead of `{from_label: ...}`."""

ALWAYS = frozenset({"usual", "metric_prefix", "selector", "workload_kind"})
"""Parameters of collectors that are filled for every investigation, without an input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input: bound from a label (`from_label`, with a default), or found (`phrase`)."""

    name: str
    from_label: str = ""
    default: str | None = None
    phrase: str = ""

    @property
    def is_set(self) -> bool:
        """Whether it holds several values."""
        return bool(self.phrase) and PHRASES[self.phrase].is_set

    @property
    def attribute(self) -> str:
        """Which resolved name fills it; "" when a label does."""
        return PHRASES[self.phrase].attribute if self.phrase else ""
