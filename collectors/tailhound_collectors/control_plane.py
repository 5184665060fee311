"""Whether trouble of the control plane reaches what serves: heartbeats, statuses, endpoints, pods.

All from Prometheus. A node that its own kubelet or exporter still reports on, while Kubernetes no
longer hears from it, has late heartbeats; a node that nobody hears from is dead. Probes are run by
the kubelet and never pass the API server, so their failures are told apart, not counted here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tailhound.flow import Reading
from tailhound.model.facts import fact
from tailhound.requests.prometheus import matchers
from tailhound_collectors.now_and_usual import Asked, in_cluster, now_and_usual
from tailhound_collectors.reading import WINDOW, ratio

LOOK_BACK = "5m"
"""A node that Kubernetes lost within this time counts: heartbeats come back and are lost again."""

PROBES = "10m"
NAMES_AT_MOST = 3

_SYNC = "kubelet_pod_status_sync_duration_seconds"
DELAYS = {
    "status writes": _SYNC,
    "endpoints": "kubeproxy_network_programming_duration_seconds",
    "autoscaling": "horizontal_pod_autoscaler_controller_reconciliation_duration_seconds",
}
"""Ways from the control plane to the workloads. The kubelet may go on counting a pod's status from
its first change, so that a long-lived pod shows hours: only growth over usual tells."""

Labels = Mapping[str, str | tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectsParams:
    """Of which cluster; the pods and nodes are the incident's own, where it has any."""

    cluster: str = ""
    namespace: str = ""
    pods: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    usual: tuple[float, ...] = (3600.0, 86400.0, 604800.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayRow:
    """One way from the control plane to the workloads: p99 now, and beside its usual value."""

    what: str
    seconds: float | None = None
    seconds_usual: float | None = None
    ratio: float | None = fact("times")


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What of the control plane's trouble arrives.

    `late_nodes_count`: nodes that are alive, but whose heartbeats did not arrive within the last
    five minutes (Ready is Unknown); `dead_nodes_count`: nodes that nobody hears from either.
    `own_late_nodes_count` are those that the workload runs on. `delays` holds what is measured of:
    status writes (from a change of a pod's status to its write), endpoints (from a change of a
    Service's pods to the rules on the nodes), autoscaling (one reconciliation of an HPA).
    `unready_pods_count` are pods of the workload that run and are not ready,
    `leaving_pods_count` those that somebody deleted.
    """

    nodes_count: float | None = None
    late_nodes: str | None = None
    late_nodes_count: float | None = None
    dead_nodes_count: float | None = None
    own_late_nodes_count: float | None = None
    status_seconds: float | None = None
    status_seconds_usual: float | None = None
    delays: tuple[DelayRow, ...] | None = None
    pods_count: float | None = None
    unready_pods_count: float | None = None
    leaving_pods_count: float | None = None
    probe_failures_count: float | None = None
    probe_failing_namespaces_count: float | None = None


class EffectsCollector:
    """`prometheus.control_plane_effects`: heartbeats, status writes, endpoints, ready pods."""

    name = "prometheus.control_plane_effects"
    params = EffectsParams
    facts = Effects

    def collect(self, params: EffectsParams) -> Reading[Effects]:
        """One round trip."""
        cluster = in_cluster(params.cluster)
        every = matchers(**cluster)
        compared = {what: _p99(name, every) for what, name in DELAYS.items()}
        plain = _of_nodes(cluster, params.nodes) | _of_probes(cluster)
        if params.pods:
            plain |= _of_pods({**cluster, "namespace": params.namespace, "pod": params.pods})
        found = yield from now_and_usual(compared, plain, params.usual)
        if len(found["nodes"].by("cluster")) > 1 and not params.cluster:
            return Effects()
        return _with_pods(_with_nodes(_delays(found), found, params), found)


def _p99(name: str, here: str) -> str:
    return f"histogram_quantile(0.99, sum by (le) (rate({name}_bucket{here}[{WINDOW}])))"


def _of_nodes(cluster: Labels, own: tuple[str, ...]) -> dict[str, str]:
    ready = matchers('condition="Ready"', 'status="true"', **cluster)
    alive = f"({_alive(cluster)} and on (node) {_alive(cluster, LOOK_BACK)})"
    late = f"({_unheard(cluster)} and on (node) {alive})"
    asked = {
        "nodes": f"count by (cluster) (group by (cluster, node)"
        f" (kube_node_status_condition{ready}))",
        "alive": f"count ({_alive(cluster)})",
        "unheard": f"count ({_unheard(cluster)})",
        "late": f"count ({late})",
        "names": f"topk({NAMES_AT_MOST}, {late})",
    }
    if own:
        asked["own"] = f"count ({_unheard({**cluster, 'node': own})} and on (node) {alive})"
    return asked


def _unheard(labels: Labels) -> str:
    """Nodes that Kubernetes did not hear from; one that says itself that it's not ready is not."""
    unknown = matchers('condition="Ready"', 'status="unknown"', **labels)
    seen = f"max_over_time(kube_node_status_condition{unknown}[{LOOK_BACK}])"
    return f"(max by (node) ({seen}) == 1)"


def _alive(labels: Labels, ago: str = "") -> str:
    """Nodes that Prometheus itself still hears from: the kubelet, or the node's exporter."""
    here = matchers('node!=""', **labels) + (f" offset {ago}" if ago else "")
    named = matchers(**labels) + (f" offset {ago}" if ago else "")
    exporter = f'label_replace(node_uname_info{named}, "node", "$1", "nodename", "(.+)")'
    return (
        f"group by (node) (kubelet_running_pods{here} or {_SYNC}_count{here}"
        f" or kubelet_node_name{here} or {exporter})"
    )


def _of_probes(cluster: Labels) -> dict[str, str]:
    failed = matchers('result="failed"', **cluster)
    failing = f"sum by (namespace) (increase(prober_probe_total{failed}[{PROBES}]))"
    return {
        "probes": f"count (prober_probe_total{matchers(**cluster)})",
        "failing": f"count ({failing} > 0)",
    }


def _of_pods(labels: Labels) -> dict[str, str]:
    true = matchers('condition="true"', **labels)
    ready = f"max by (pod) (kube_pod_status_ready{true})"
    over = matchers('phase=~"Succeeded|Failed"', **labels)
    running = f"({ready} unless on (pod) (kube_pod_status_phase{over} == 1))"
    here = matchers(**labels)
    return {
        "pods": f"count ({running})",
        "unready": f"count ({running} == 0)",
        "leaving": f"count (group by (pod) (kube_pod_deletion_timestamp{here}))",
        "own_probes": f"sum by (result) (increase(prober_probe_total{here}[{PROBES}]))",
    }


def _delays(found: Mapping[str, Asked]) -> Effects:
    rows = tuple(
        DelayRow(
            what=what,
            seconds=found[what].value,
            seconds_usual=found[what].usual,
            ratio=ratio(found[what].value, found[what].usual),
        )
        for what in DELAYS
        if found[what].value is not None
    )
    known = found["probes"].value is not None
    return Effects(
        status_seconds=found["status writes"].value,
        status_seconds_usual=found["status writes"].usual,
        delays=rows or None,
        probe_failing_namespaces_count=found["failing"].value_or_zero if known else None,
    )


def _with_nodes(facts: Effects, found: Mapping[str, Asked], params: EffectsParams) -> Effects:
    """Without the nodes' conditions, or with nothing that tells who is alive: not measured."""
    nodes = sum(found["nodes"].by("cluster").values()) or None
    if nodes is None or found["alive"].value is None:
        return replace(facts, nodes_count=nodes)
    late, unheard = found["late"].value_or_zero, found["unheard"].value_or_zero
    names = sorted(node for (node,) in found["names"].by("node"))
    return replace(
        facts,
        nodes_count=nodes,
        late_nodes=", ".join(names) or None,
        late_nodes_count=late,
        dead_nodes_count=None if late is None or unheard is None else unheard - late,
        own_late_nodes_count=found["own"].value_or_zero if params.nodes else None,
    )


def _with_pods(facts: Effects, found: Mapping[str, Asked]) -> Effects:
    """The workload's own pods; nothing without any."""
    if "pods" not in found:
        return facts
    pods = found["pods"].value
    results = found["own_probes"].by("result")
    return replace(
        facts,
        pods_count=pods,
        unready_pods_count=found["unready"].value_or_zero if pods is not None else None,
        leaving_pods_count=found["leaving"].value_or_zero if pods is not None else None,
        probe_failures_count=results.get(("failed",), 0.0) if results else None,
    )
