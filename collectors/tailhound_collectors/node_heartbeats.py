"""Heartbeats of nodes as the API itself tells them: single objects, three nodes at most.

Asked only where Prometheus can't tell, because the API server may be the patient.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tailhound.errors import Refused
from tailhound.flow import Read, Reading, together
from tailhound.model import Missing
from tailhound.requests import GetObject, Query
from tailhound_collectors.reading import number

NODES_AT_MOST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatParams:
    """Whose heartbeats, by the nodes' names; the first three are asked."""

    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeats:
    """How old the nodes' leases are. `freshest_seconds` is told of two nodes or more only: one
    node may be dead, but not all of them at once.
    """

    nodes_count: int | None = None
    freshest_seconds: float | None = None
    oldest_seconds: float | None = None
    oldest_node: str | None = None
    unknown_nodes_count: int | None = None


class HeartbeatCollector:
    """`kubernetes.node_heartbeats`: the lease and the Ready condition of some nodes."""

    name = "kubernetes.node_heartbeats"
    params = HeartbeatParams
    facts = Heartbeats

    def collect(self, params: HeartbeatParams) -> Reading[Heartbeats]:
        """A lease and a node each, and the time at which the questions count."""
        names = params.nodes[:NODES_AT_MOST]
        pairs = [pair for name in names if (pair := _questions(name)) is not None]
        asked: list[Read[Any]] = [question for _, *both in pairs for question in both]
        clock, *replies = yield from together([Query(promql="vector(time())"), *asked])
        now = number(clock)
        leases, nodes = replies[0::2], replies[1::2]
        ages: dict[str, float] = {}
        for (name, _, _), lease in zip(pairs, leases, strict=True):
            renewed = _renewed(lease)
            if now is not None and renewed is not None:
                ages[name] = max(0.0, now - renewed)
        states = [state for node in nodes if (state := _ready(node))]
        oldest = max(ages, key=lambda name: ages[name], default=None)
        return Heartbeats(
            nodes_count=len(ages) or None,
            freshest_seconds=min(ages.values()) if len(ages) > 1 else None,
            oldest_seconds=ages[oldest] if oldest else None,
            oldest_node=oldest,
            unknown_nodes_count=states.count("Unknown") if states else None,
        )


def _questions(node: str) -> tuple[str, GetObject, GetObject] | None:
    """The lease and the node; None when the name can't be one."""
    try:
        lease = GetObject(
            api="coordination.k8s.io/v1", resource="leases", namespace="kube-node-lease", name=node
        )
        return node, lease, GetObject(api="v1", resource="nodes", name=node)
    except Refused:
        return None


def _renewed(lease: Any) -> float | None:
    """When the lease was renewed, in Unix seconds; None when it doesn't say."""
    if isinstance(lease, Missing) or not isinstance(lease, Mapping):
        return None
    text = (lease.get("spec") or {}).get("renewTime")
    try:
        return datetime.fromisoformat(text).timestamp() if isinstance(text, str) else None
    except ValueError:
        return None


def _ready(node: Any) -> str:
    """The status of the Ready condition: "True", "False", "Unknown"; "" when it isn't told."""
    if isinstance(node, Missing) or not isinstance(node, Mapping):
        return ""
    for condition in (node.get("status") or {}).get("conditions") or ():
        if isinstance(condition, Mapping) and condition.get("type") == "Ready":
            return str(condition.get("status") or "")
    return ""
