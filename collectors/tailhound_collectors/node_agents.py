"""What runs on every node and may hold up all of it: the agent that its own CPU limit stops most.

A security agent, a log shipper or a network plug-in stands in the way of what its node does: system
calls, mounts, the start of containers. Stopped by its quota, it answers late, and what waits for it
gives up. The pods that suffer have nothing to do with it but the node. It is looked for only where
the node can't create the containers of several workloads.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tailhound.errors import Refused
from tailhound.flow import Reading, read, together
from tailhound.model import Missing
from tailhound.model.facts import Series
from tailhound.requests import GetObject, Query
from tailhound.requests.prometheus import matchers
from tailhound_collectors.node_starts import NodeSymptom, Starts, node_starts
from tailhound_collectors.now_and_usual import Asked, now_and_usual
from tailhound_collectors.object_times import items, mapping, metadata
from tailhound_collectors.reading import ONSET_WINDOW, WINDOW, by, history

PER_NODE = frozenset({"DaemonSet", "Node"})
"""Owners of pods that belong to a node: a DaemonSet, or the kubelet's own manifests."""

CANDIDATES, ASKED_AT_MOST = 5, 3
Row = tuple[str, ...]
"""(namespace, pod, container)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentParams:
    """Which nodes, by their Kubernetes names."""

    nodes: tuple[str, ...]
    usual: tuple[float, ...] = (3600.0, 86400.0, 604800.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAgents:
    """Whether the nodes still create containers, and who may keep them from it.

    `stuck_pods_count` are the pods of the nodes whose containers can't be created;
    `held_up_count` in how many workloads, 0 where it is but one: that is its own doing. The plain
    facts are those of the container that its quota costs most time, one that belongs to its node
    (`on_every_node`) before all others; they are asked only when several workloads are held up.
    `ready` is the state of its pod, `workload` is what owns that (`daemonset/agent`), `node` is
    where it runs, as long as only one node is asked about.
    """

    stuck_pods_count: int | None = None
    held_up_count: int | None = None
    create_errors_per_second: float | None = None
    create_errors_per_second_usual: float | None = None
    pod: str | None = None
    namespace: str | None = None
    node: str | None = None
    workload: str | None = None
    container: str | None = None
    throttled_ratio: float | None = None
    throttled_ratio_usual: float | None = None
    lost_seconds_per_second: float | None = None
    limit_cores: float | None = None
    on_every_node: bool | None = None
    ready: bool | None = None
    throttled_ratio_series: Series | None = None
    throttled_ratio_usual_series: Series | None = None
    symptoms: tuple[NodeSymptom, ...] | None = None


class NodeAgentsCollector:
    """`prometheus.node_agents`: containers that can't be created, and the agent that is stopped."""

    name = "prometheus.node_agents"
    params = AgentParams
    facts = NodeAgents

    def collect(self, params: AgentParams) -> Reading[NodeAgents]:
        """Whether containers start; only where those of several workloads don't, who is stopped."""
        starts = yield from node_starts(params.nodes, params.usual)
        facts = NodeAgents(
            stuck_pods_count=starts.stuck_pods,
            held_up_count=starts.held_up,
            create_errors_per_second=starts.errors,
            create_errors_per_second_usual=starts.errors_usual,
            symptoms=starts.symptoms or None,
        )
        if not starts.held_up:
            return facts
        return (yield from _with_agent(facts, starts, params))


def _with_agent(facts: NodeAgents, starts: Starts, params: AgentParams) -> Reading[NodeAgents]:
    lost = yield from _losers(params.nodes)
    rows = [row for row in lost if row[:2] not in starts.stuck]
    if not rows:
        return facts
    owners = yield from _owners(rows)
    own = (one for one in rows if one[:2] in owners and owners[one[:2]].kind in PER_NODE)
    row = next(own, rows[0])
    owner = owners.get(row[:2])
    found = yield from _measured(row, params.usual)
    here = matchers(namespace=row[0], pod=row[1], container=row[2])
    series, usual_series = yield from history(_share(here, ONSET_WINDOW), params.usual)
    return replace(
        facts,
        namespace=row[0],
        pod=row[1],
        node=params.nodes[0] if len(params.nodes) == 1 else None,
        workload=owner.workload if owner else None,
        container=row[2],
        throttled_ratio=found["share"].value,
        throttled_ratio_usual=found["share"].usual,
        lost_seconds_per_second=lost[row],
        limit_cores=found["limit"].value,
        on_every_node=owner.kind in PER_NODE if owner else None,
        ready=(yield from _ready(row, found["ready"].value)),
        throttled_ratio_series=series,
        throttled_ratio_usual_series=usual_series,
    )


def _losers(nodes: Sequence[str]) -> Reading[dict[Row, float]]:
    """The containers of the nodes that lose most time to their quota, the worst first."""
    here = matchers('container!=""', 'container!="POD"', node=nodes)
    rate = f"rate(container_cpu_cfs_throttled_seconds_total{here}[{WINDOW}])"
    promql = f"topk({CANDIDATES}, sum by (namespace, pod, container) ({rate}) > 0)"
    reply = yield from read(Query(promql=promql))
    found = by(reply, "namespace", "pod", "container")
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _owners(rows: Sequence[Row]) -> Reading[dict[Row, "_Owner"]]:
    """What owns each pod: by kube-state-metrics, else by the API."""
    pods = list(dict.fromkeys(row[:2] for row in rows))
    spaces = tuple(dict.fromkeys(space for space, _ in pods))
    here = matchers(namespace=spaces, pod=tuple(pod for _, pod in pods))
    labels = ("namespace", "pod", "created_by_kind", "created_by_name")
    reply = yield from read(Query(promql=f"group by ({', '.join(labels)}) (kube_pod_info{here})"))
    found = {row[:2]: _Owner(row[2], row[3]) for row in by(reply, *labels) if row[2]}
    unknown = [one for pod in pods if pod not in found and (one := _get(pod)) is not None]
    replies = yield from together(unknown[:ASKED_AT_MOST])
    for question, answer in zip(unknown, replies, strict=False):
        if not isinstance(answer, Missing):
            found[question.namespace, question.name] = _owner(answer)
    return found


def _get(pod: Row) -> GetObject | None:
    """The pod; None when its name can't be one."""
    try:
        return GetObject(api="v1", resource="pods", namespace=pod[0], name=pod[1])
    except Refused:
        return None


def _owner(pod: Mapping[str, Any]) -> "_Owner":
    """The object that owns a pod, as the API tells it; without a kind for a pod of its own."""
    owners: Iterable[Mapping[str, Any]] = items(metadata(mapping(pod)).get("ownerReferences"))
    told = (_Owner(str(one.get("kind") or ""), str(one.get("name") or "")) for one in owners)
    return next(told, _Owner("", ""))


@dataclass(frozen=True, slots=True)
class _Owner:
    """The kind and the name of what owns a pod."""

    kind: str
    name: str

    @property
    def workload(self) -> str | None:
        """`daemonset/agent`; None for a pod of its own or of the kubelet, and for one of a
        ReplicaSet: what is to be changed stands above that.
        """
        if self.kind not in ("DaemonSet", "StatefulSet") or not self.name:
            return None
        return f"{self.kind.lower()}/{self.name}"


def _measured(row: Row, usual: Sequence[float]) -> Reading[dict[str, Asked]]:
    space, pod, container = row
    here = matchers(namespace=space, pod=pod, container=container)
    limit = matchers('resource="cpu"', namespace=space, pod=pod, container=container)
    true = matchers('condition="true"', namespace=space, pod=pod)
    plain = {
        "limit": f"max (kube_pod_container_resource_limits{limit})",
        "ready": f"max (kube_pod_status_ready{true})",
    }
    found = yield from now_and_usual({"share": _share(here, WINDOW)}, plain, usual)
    return found


def _share(here: str, window: str) -> str:
    """The share of the periods in which it wanted to run and was stopped."""
    stopped = f"sum (rate(container_cpu_cfs_throttled_periods_total{here}[{window}]))"
    return f"{stopped} / (sum (rate(container_cpu_cfs_periods_total{here}[{window}])) > 0)"


def _ready(row: Row, counted: float | None) -> Reading[bool | None]:
    """By kube-state-metrics, else by the pod itself."""
    if counted is not None:
        return counted == 1
    asked = _get(row[:2])
    if asked is None:
        return None
    pod = yield from read(asked)
    conditions = {} if isinstance(pod, Missing) else mapping(mapping(pod).get("status"))
    states = [
        one.get("status")
        for one in items(conditions.get("conditions"))
        if one.get("type") == "Ready"
    ]
    return states[0] == "True" if states else None
