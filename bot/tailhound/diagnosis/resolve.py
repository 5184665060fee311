"""Subject -> inputs: which pods, workload, nodes and container an incident is really about.

The Kubernetes API and kube-state-metrics are asked; where both answer, the API is believed. Each
way says how it found what it found, so that a guess by name can be told from an owner reference.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tailhound.diagnosis.containers import serving_container
from tailhound.diagnosis.resolve_metrics import (
    by_metrics,
    node_query,
    pod_queries,
    with_named_nodes,
)
from tailhound.diagnosis.resolved import (
    PODS_AT_MOST,
    SYSTEM,
    Resolved,
    noted,
    ordered,
    unfound,
)
from tailhound.errors import Refused
from tailhound.flow import Read, Reading, read, together
from tailhound.model import Missing, Reason, Subject, SubjectKind
from tailhound.requests import GetObject, KubeObject, ListObjects

__all__ = ["PODS_AT_MOST", "Resolved", "resolve"]

_WORKLOADS = {
    "deployment": ("apps/v1", "deployments"),
    "statefulset": ("apps/v1", "statefulsets"),
    "service": ("v1", "services"),
    "inferencepool": ("inference.networking.k8s.io/v1", "inferencepools"),
}
_OWNERS = {
    "Deployment": ("apps/v1", "deployments"),
    "ReplicaSet": ("apps/v1", "replicasets"),
    "StatefulSet": ("apps/v1", "statefulsets"),
    "DaemonSet": ("apps/v1", "daemonsets"),
}


def resolve(subject: Subject, labels: Mapping[str, str], start: Resolved) -> Reading[Resolved]:
    """Find the subject's pods, workload, nodes and container. `start` carries the settings.

    Where no pods are found although somebody answered, the last of the notes says what the labels
    lack.
    """
    found = yield from _resolved(subject, labels, start)
    unasked = [note for note in found.notes if "is not configured" in note]
    silent = len(unasked) > 1 or len(unasked) < len(found.notes)
    if found.pods or silent or subject.kind is SubjectKind.NODE:
        return found
    return replace(found, notes=(*found.notes, unfound(subject, found)))


def _resolved(subject: Subject, labels: Mapping[str, str], start: Resolved) -> Reading[Resolved]:
    """By the API and by metrics.

    The first question to the API and those to Prometheus go out together: when one of the two does
    not answer, the other has, and half of the time is left for its next questions.
    """
    found = replace(
        start,
        cluster=subject.cluster,
        namespace=subject.namespace,
        pod=subject.pod,
        container=subject.container,
        node=subject.node,
        nodes=start.nodes or ((subject.node,) if subject.node else ()),
        model_name=labels.get("model_name", ""),
        labels=dict(labels),
    )
    first, refused = _first(subject, found)
    found = replace(found, notes=(*found.notes, refused)) if refused else found
    queries = pod_queries(subject, found)
    if not first and not queries and not found.pod:
        return (yield from _of_labels(found))
    asked: list[Read[Any]] = [*([first] if first else []), *(query for query, _ in queries)]
    replies = yield from together(asked, share=0.5)
    if first:
        found = yield from _by_api(subject, found, replies[0])
        replies = replies[1:]
    if found.pods:
        return found
    how = [why for _, why in queries]
    return (yield from by_metrics(subject, found, list(zip(replies, how, strict=True))))


def _of_labels(found: Resolved) -> Reading[Resolved]:
    """Neither a workload nor a node is named as such: the labels may hold the names of nodes."""
    query = node_query(found)
    if query is None:
        return replace(found, found_by="the alert's labels")
    reply = yield from read(query)
    return with_named_nodes(replace(found, found_by="the alert's labels"), reply)


def _first(subject: Subject, found: Resolved) -> tuple[Read[Any] | None, str]:
    """The first question to the API, or why it can't be asked ("" when there is none)."""
    try:
        if subject.kind is SubjectKind.NODE:
            selector = f"spec.nodeName={subject.node}"
            return ListObjects(api="v1", resource="pods", field_selector=selector), ""
        if not found.namespace:
            return None, ""
        if subject.workload_label in _WORKLOADS:
            api, resource = _WORKLOADS[subject.workload_label]
            name = subject.workload
        else:
            api, resource, name = "v1", "pods", subject.pod
        if not name:
            return None, ""
        return GetObject(api=api, resource=resource, namespace=found.namespace, name=name), ""
    except Refused as refusal:
        return None, str(refusal)


def _by_api(subject: Subject, found: Resolved, reply: Any) -> Reading[Resolved]:
    """By owner references and selectors, from the answer to the first question on."""
    if isinstance(reply, Missing):
        return found if reply.reason is Reason.EMPTY else noted(found, reply)
    if subject.kind is SubjectKind.NODE:
        return _on_node(found, reply)
    start = subject.workload_label if subject.workload_label in _WORKLOADS else "pod"
    kind, obj = yield from _owner(start, reply, found)
    selector = _selector(obj)
    if not selector:
        return _with_pods(found, (obj,), "the pod itself") if kind == "Pod" else found
    pods = yield from read(
        ListObjects(api="v1", resource="pods", namespace=found.namespace, label_selector=selector)
    )
    if isinstance(pods, Missing):
        return noted(found, pods)
    named = replace(found, workload=_name(obj), workload_kind=kind.lower(), selector=selector)
    if kind in ("Service", "InferencePool") and pods:
        named = yield from _behind(named, pods[0])
    return _with_pods(named, pods, f"the {kind}'s selector")


def _on_node(found: Resolved, pods: tuple[KubeObject, ...]) -> Resolved:
    """The pods of a node, when all that are no system's own lie in one namespace."""
    spaces = {str(pod.get("metadata", {}).get("namespace") or "") for pod in pods}
    own = spaces - SYSTEM
    if len(own) != 1:
        return replace(found, found_by="the alert's node")
    space = own.pop()
    here = tuple(pod for pod in pods if pod.get("metadata", {}).get("namespace") == space)
    return _with_pods(replace(found, namespace=space), here, "the pods of the node")


def _owner(start: str, obj: KubeObject, found: Resolved) -> Reading[tuple[str, KubeObject]]:
    """The object that selects the pods: climbs from a pod to its Deployment or StatefulSet."""
    if start != "pod":
        return str(obj.get("kind") or start.title()), obj
    kind = "Pod"
    for _ in range(3):
        above = _controller(obj)
        if above is None or above[0] not in _OWNERS:
            break
        api, resource = _OWNERS[above[0]]
        try:
            asking = GetObject(api=api, resource=resource, namespace=found.namespace, name=above[1])
        except Refused:
            break
        upper = yield from read(asking)
        if isinstance(upper, Missing):
            break
        kind, obj = above[0], upper
    return kind, obj


def _behind(found: Resolved, pod: KubeObject) -> Reading[Resolved]:
    """The Deployment or StatefulSet behind a Service, by the owners of one of its pods."""
    kind, obj = yield from _owner("pod", pod, found)
    if kind not in _OWNERS:
        return found
    return replace(found, workload=_name(obj), workload_kind=kind.lower())


def _with_pods(found: Resolved, pods: tuple[KubeObject, ...], how: str) -> Resolved:
    """The inputs with these pods; the alert's own pod first, the rest by name."""
    alive = [
        pod for pod in pods if pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")
    ]
    names = ordered({_name(pod) for pod in alive}, found.pod)
    places = {_name(pod): str(pod.get("spec", {}).get("nodeName") or "") for pod in alive}
    nodes = sorted(set(places.values()) - {""})
    first = next((pod for pod in alive if _name(pod) == found.pod), alive[0] if alive else {})
    container = serving_container(
        first.get("spec", {}).get("containers", []),
        first.get("metadata", {}).get("annotations") or {},
    )
    return replace(
        found,
        pods=names[:PODS_AT_MOST],
        pods_count=len(names),
        nodes=tuple(nodes),
        pod_nodes=tuple((name, places[name]) for name in names[:PODS_AT_MOST] if places[name]),
        container=container or found.container,
        found_by=how,
    )


def _name(obj: KubeObject) -> str:
    return str(obj.get("metadata", {}).get("name") or "")


def _controller(obj: KubeObject) -> tuple[str, str] | None:
    for owner in obj.get("metadata", {}).get("ownerReferences") or ():
        return str(owner.get("kind") or ""), str(owner.get("name") or "")
    return None


def _selector(obj: KubeObject) -> str:
    """The label selector text of a workload or Service; "" where it has none."""
    spec: Mapping[str, Any] = obj.get("spec") or {}
    selector = spec.get("selector")
    if not isinstance(selector, Mapping):
        return ""
    labels = selector.get("matchLabels", selector) or {}
    if not isinstance(labels, Mapping) or not all(isinstance(v, str) for v in labels.values()):
        return ""
    return ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
