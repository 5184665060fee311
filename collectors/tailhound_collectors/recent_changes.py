"""What changed around a workload: rollouts, scaling, ConfigMaps, nodes; each with its time.

It judges nothing and knows no clock: who reads it takes what lies before the onset. The reads are
few, and bounded by a namespace or a name: the workload, its ReplicaSets and pods, what an HPA said
where one scaled, three ConfigMaps that the pods use, and four nodes. Events live for an hour and
are rate-limited, so that the objects' own times are asked wherever they tell.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tailhound.errors import Refused
from tailhound.flow import Read, Reading, together
from tailhound.model import Missing, Reason
from tailhound.requests import GetObject, KubeObject, ListObjects, Query
from tailhound.requests.prometheus import matchers
from tailhound_collectors.node_changes import node_changes
from tailhound_collectors.object_times import items, mapping, owners
from tailhound_collectors.reading import by
from tailhound_collectors.workload_changes import (
    ChangeRow,
    Revisions,
    above,
    configmaps_of,
    of_configmap,
    of_hpa,
    of_revisions,
    of_workload,
    scaled_by_controller,
)
from tailhound_collectors.workload_names import WorkloadParams, past_pod_matcher

NODES_AT_MOST = 4
CONFIGMAPS_AT_MOST = 3
HPAS_AT_MOST = 2
ROWS_AT_MOST = 30
"""The newest are kept: our own bound."""

_WORKLOADS = {
    "deployment": ("apps/v1", "deployments"),
    "statefulset": ("apps/v1", "statefulsets"),
    "daemonset": ("apps/v1", "daemonsets"),
}
RESCALED = "involvedObject.kind=HorizontalPodAutoscaler,reason=SuccessfulRescale"
NODES_LOOK_BACK = "1h"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesParams:
    """Around which workload; what is unknown is not asked about."""

    namespace: str = ""
    workload: str = ""
    workload_kind: str = ""
    selector: str = ""
    pods: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentChanges:
    """What changed, the newest last, each in Unix seconds: `kind` is rollout, workload, scaling,
    configmap or node; `by` is the manager that Kubernetes names, where it names one.

    None = nothing could be asked; an empty set = nothing is known to have changed. No change may
    acquit anybody: what is overwritten or gone leaves no trace. A node
    that is closed to new pods is told without a time where it has none.
    """

    changes: tuple[ChangeRow, ...] | None = None


def _time(row: ChangeRow) -> float:
    """What has no time holds still: it counts as the newest."""
    return math.inf if row.at is None else row.at


class RecentChangesCollector:
    """`kubernetes.recent_changes`: rollouts, scaling, ConfigMaps and nodes, each with its time."""

    name = "kubernetes.recent_changes"
    params = ChangesParams
    facts = RecentChanges

    def collect(self, params: ChangesParams) -> Reading[RecentChanges]:
        """The workload and what it did, then what it names, side by side."""
        first = yield from _first(params)
        if not first.heard and not params.nodes:
            return RecentChanges()
        then = yield from _then(params, first)
        if not first.heard and not then.heard:
            return RecentChanges()
        scalers = yield from _scalers(params.namespace, then.rescaled)
        told = [
            *of_revisions(_own(first, params)),
            *of_hpa(then.rescaled, scalers, params.workload),
        ]
        rows = [
            *told,
            *of_workload(_object(first.of("workload")), told),
            *(row for one in then.configmaps for row in of_configmap(one)),
            *(row for one in then.nodes for row in node_changes(one)),
        ]
        return RecentChanges(changes=tuple(sorted(rows, key=_time)[-ROWS_AT_MOST:]))


@dataclass(frozen=True, slots=True)
class _Told:
    """Replies by the names of their questions."""

    replies: Mapping[str, Any] = field(default_factory=dict)

    def of(self, key: str) -> Any:
        """The reply; None for what was not asked or has no answer."""
        reply = self.replies.get(key)
        return None if isinstance(reply, Missing) else reply

    @property
    def heard(self) -> bool:
        """Whether Kubernetes said anything, be it that there is no such thing."""
        return any(
            not isinstance(reply, Missing) or reply.reason is Reason.EMPTY
            for key, reply in self.replies.items()
            if key != "past_nodes"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Then:
    """What the workload names, as far as it was found; `rescaled` are an HPA's events."""

    rescaled: tuple[KubeObject, ...]
    configmaps: tuple[KubeObject, ...]
    nodes: tuple[KubeObject, ...]
    heard: bool


def _own(first: _Told, params: ChangesParams) -> Revisions:
    """The workload with what belongs to it: a Service may select the pods of several."""
    sets, pods = _objects(first.of("replica_sets")), _objects(first.of("pods"))
    return Revisions(
        workload=_object(first.of("workload")),
        replica_sets=tuple(one for one in sets if params.workload in owners(one)),
        pods=tuple(one for one in pods if params.workload in above(one)),
    )


def _first(params: ChangesParams) -> Reading[_Told]:
    asked = {key: read for key, read in _questions(params).items() if read is not None}
    replies = yield from together(asked.values())
    return _Told(dict(zip(asked, replies, strict=True)))


def _questions(params: ChangesParams) -> dict[str, Read[Any] | None]:
    space, selector = params.namespace, params.selector
    if not space:
        return {}
    api, resource = _WORKLOADS.get(params.workload_kind, ("", ""))
    deployed = params.workload_kind == "deployment" and selector
    past = past_pod_matcher(
        WorkloadParams(
            namespace=space,
            workload=params.workload,
            workload_kind=params.workload_kind,
            pods=params.pods,
        )
    )
    ran = f"last_over_time(kube_pod_info{matchers(past, namespace=space)}[{NODES_LOOK_BACK}])"
    return {
        "workload": _get(api, resource, space, params.workload)
        if api and params.workload
        else None,
        "replica_sets": _list("apps/v1", "replicasets", space, labels=selector)
        if deployed
        else None,
        "pods": _list("v1", "pods", space, labels=selector) if selector else None,
        "past_nodes": Query(promql=f"group by (node) ({ran})")
        if params.workload or params.pods
        else None,
    }


def _then(params: ChangesParams, first: _Told) -> Reading[_Then]:
    """What an HPA said, the ConfigMaps that the pods use, and the nodes they run or ran on."""
    space, workload = params.namespace, _object(first.of("workload"))
    maps = configmaps_of(workload, _objects(first.of("pods")))
    past = {node for (node,) in by(first.replies.get("past_nodes") or _UNASKED, "node")} - {""}
    gone = sorted(past - set(params.nodes))
    nodes = [*gone[: NODES_AT_MOST // 2], *params.nodes][:NODES_AT_MOST]
    # events are not served from a cache: asked for only where a controller did scale
    groups = (
        [_list("v1", "events", space, fields=RESCALED)] if scaled_by_controller(workload) else [],
        [_get("v1", "configmaps", space, one) for one in maps[:CONFIGMAPS_AT_MOST]],
        [_get("v1", "nodes", "", one) for one in nodes],
    )
    known = [[one for one in group if one is not None] for group in groups]
    replies = yield from together([one for group in known for one in group])
    told = iter(replies)
    found = [[next(told) for _ in group] for group in known]
    events, configmaps, known_nodes = (
        tuple(one for one in group if not isinstance(one, Missing)) for group in found
    )
    heard = any(not isinstance(one, Missing) or one.reason is Reason.EMPTY for one in replies)
    return _Then(
        rescaled=tuple(one for reply in events for one in _objects(reply)),
        configmaps=configmaps,
        nodes=known_nodes,
        heard=heard,
    )


def _scalers(space: str, events: Sequence[KubeObject]) -> Reading[tuple[KubeObject, ...]]:
    """The HPAs that these events are about, to see whose they are."""
    names = (str(mapping(one.get("involvedObject")).get("name") or "") for one in events)
    wanted = list(dict.fromkeys(one for one in names if one))[:HPAS_AT_MOST]
    asked = [_get("autoscaling/v2", "horizontalpodautoscalers", space, one) for one in wanted]
    known = [one for one in asked if one is not None]
    if not known:
        return ()
    replies = yield from together(known)
    return tuple(one for one in replies if not isinstance(one, Missing))


_UNASKED = Missing(Reason.NOT_APPLICABLE, "nobody knows of any pods")


def _get(api: str, resource: str, space: str, called: str) -> Read[Any] | None:
    """One object; None when the name can't be one."""
    try:
        return GetObject(api=api, resource=resource, namespace=space, name=called)
    except Refused:
        return None


def _list(
    api: str, resource: str, space: str, *, labels: str = "", fields: str = ""
) -> Read[Any] | None:
    try:
        return ListObjects(
            api=api,
            resource=resource,
            namespace=space,
            label_selector=labels,
            field_selector=fields,
        )
    except Refused:
        return None


def _object(reply: Any) -> KubeObject:
    return mapping(reply)


def _objects(reply: Any) -> Sequence[KubeObject]:
    return tuple(items(reply))
