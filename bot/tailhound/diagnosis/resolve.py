"""Subject -> inputs: which pods, workload, nodes and container an incident is really about.

The Kubernetes API is asked first; where it gives no answer, kube-state-metrics is. Each step says
how it found what it found, so that a guess by name can be told from an owner reference.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tailhound.diagnosis.containers import serving_container
from tailhound.errors import Refused
from tailhound.flow import Read, Reading, read, together
from tailhound.model import Missing, Reason, Subject, SubjectKind
from tailhound.requests import GetObject, KubeObject, ListObjects, Query, Vector
from tailhound.requests.prometheus import literal_regex, matchers, quoted

USUAL = (3600.0, 86400.0, 604800.0)
"""Seconds before now at which the same query tells what is usual: an hour, a day, a week."""

PODS_AT_MOST = 100
"""Pods of one workload that the queries name: our own bound, so that a regular expression stays
within what Prometheus accepts. The incident says when there are more."""

_OWNED = "namespace_workload_pod:kube_pod_owner:relabel"  # a rule of kubernetes-mixin
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What the collectors' parameters are filled from. Empty = nobody could tell.

    `pods` are at most PODS_AT_MOST of `pods_count`. `selector` is the label selector of the
    workload's pods. `found_by` says how. `usual` are the usable "usual" offsets in seconds.
    """

    cluster: str = ""
    namespace: str = ""
    workload: str = ""
    workload_kind: str = ""
    model_name: str = ""
    pod: str = ""
    pods: tuple[str, ...] = ()
    pods_count: int = 0
    container: str = ""
    node: str = ""
    nodes: tuple[str, ...] = ()
    selector: str = ""
    usual: tuple[float, ...] = USUAL
    metric_prefix: str = ""
    found_by: str = ""
    notes: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


def resolve(subject: Subject, labels: Mapping[str, str], start: Resolved) -> Reading[Resolved]:
    """Find the subject's pods, workload, nodes and container. `start` carries the settings."""
    found = replace(
        start,
        cluster=subject.cluster,
        namespace=subject.namespace,
        pod=subject.pod,
        container=subject.container,
        node=subject.node,
        nodes=(subject.node,) if subject.node else (),
        model_name=labels.get("model_name", ""),
        labels=dict(labels),
    )
    if subject.kind in (SubjectKind.NODE, SubjectKind.GROUP):
        return replace(found, found_by="the alert's labels")
    by_api = yield from _by_api(subject, found)
    if by_api.pods:
        return by_api
    by_metrics = yield from _by_metrics(subject, replace(found, notes=by_api.notes))
    return by_metrics


def _by_api(subject: Subject, found: Resolved) -> Reading[Resolved]:
    """By owner references and selectors."""
    if not found.namespace:
        return found
    try:
        kind, name = _start(subject)
        owner = yield from _owner(kind, name, found)
        if isinstance(owner, Missing):
            return _noted(found, owner)
        kind, obj = owner
        selector = _selector(obj)
        if not selector:
            return _with_pods(found, (obj,), "the pod itself") if kind == "Pod" else found
        pods = yield from read(
            ListObjects(
                api="v1", resource="pods", namespace=found.namespace, label_selector=selector
            )
        )
    except Refused as refusal:
        return replace(found, notes=(*found.notes, str(refusal)))
    if isinstance(pods, Missing):
        return _noted(found, pods)
    named = replace(found, workload=_name(obj), workload_kind=kind.lower(), selector=selector)
    if kind in ("Service", "InferencePool") and pods:
        named = yield from _behind(named, pods[0])
    return _with_pods(named, pods, f"the {kind}'s selector")


def _start(subject: Subject) -> tuple[str, str]:
    if subject.workload_label in _WORKLOADS:
        return subject.workload_label, subject.workload
    return "pod", subject.pod


def _owner(kind: str, name: str, found: Resolved) -> Reading[tuple[str, KubeObject] | Missing]:
    """The object that selects the pods: climbs from a pod to its Deployment or StatefulSet."""
    if not name:
        return "", {}
    if kind != "pod":
        api, resource = _WORKLOADS[kind]
        obj = yield from read(
            GetObject(api=api, resource=resource, namespace=found.namespace, name=name)
        )
        return obj if isinstance(obj, Missing) else (str(obj.get("kind") or kind.title()), obj)
    obj = yield from read(
        GetObject(api="v1", resource="pods", namespace=found.namespace, name=name)
    )
    if isinstance(obj, Missing):
        return obj
    kind = "Pod"
    for _ in range(3):
        above = _controller(obj)
        if above is None or above[0] not in _OWNERS:
            break
        api, resource = _OWNERS[above[0]]
        upper = yield from read(
            GetObject(api=api, resource=resource, namespace=found.namespace, name=above[1])
        )
        if isinstance(upper, Missing):
            break
        kind, obj = above[0], upper
    return kind, obj


def _behind(found: Resolved, pod: KubeObject) -> Reading[Resolved]:
    """The Deployment or StatefulSet behind a Service, by the owners of one of its pods."""
    owner = yield from _owner("pod", _name(pod), found)
    if isinstance(owner, Missing) or owner[0] not in _OWNERS:
        return found
    kind, obj = owner
    return replace(found, workload=_name(obj), workload_kind=kind.lower())


def _by_metrics(subject: Subject, found: Resolved) -> Reading[Resolved]:
    """By what kube-state-metrics and the engines' own series say."""
    for query, how in _pod_queries(subject, found):
        reply = yield from read(query)
        if isinstance(reply, Missing):
            found = found if reply.reason is Reason.EMPTY else _noted(found, reply)
            continue
        pods = _ordered({item.label("pod") for item in reply} - {""}, found.pod)
        spaces = {item.label("namespace") for item in reply} - {""}
        if pods and len(spaces) <= 1:
            named = replace(
                found,
                namespace=found.namespace or next(iter(spaces), ""),
                workload=found.workload or subject.workload,
                pods=pods[:PODS_AT_MOST],
                pods_count=len(pods),
                found_by=how,
            )
            return (yield from _nodes_by_metrics(named))
    if found.pod:
        alone = replace(found, pods=(found.pod,), pods_count=1, found_by="the alert's pod label")
        return (yield from _nodes_by_metrics(replace(alone, workload=subject.workload)))
    return replace(found, workload=subject.workload, found_by="the alert's labels")


def _pod_queries(subject: Subject, found: Resolved) -> Iterable[tuple[Query, str]]:
    name, space = subject.workload, found.namespace
    owned = f"{_OWNED}{matchers(namespace=space, workload=name)}"
    yield Query(promql=f"group by (namespace, pod) ({owned})"), "kube-state-metrics: pod owners"
    if subject.workload_label == "model_name":
        prefix = found.metric_prefix or "vllm:"
        series = f"{prefix}num_requests_running{matchers(namespace=space, model_name=name)}"
        yield Query(promql=f"group by (namespace, pod) ({series})"), "series of the model"
    if subject.workload_label == "service":
        scraped = matchers('pod!=""', namespace=space, service=name)
        yield Query(promql=f"group by (namespace, pod) (up{scraped})"), "scrape targets"
    if name and space:
        like = quoted(f"{literal_regex(name)}-.+")
        infos = f"kube_pod_info{matchers(f'pod=~{like}', namespace=space)}"
        yield Query(promql=f"group by (namespace, pod) ({infos})"), "pods whose names begin alike"


def _nodes_by_metrics(found: Resolved) -> Reading[Resolved]:
    here = matchers(namespace=found.namespace, pod=found.pods)
    asked: tuple[Read[Vector], ...] = (
        Query(promql=f"group by (pod, node) (kube_pod_info{here})"),
        Query(promql=f"group by (container) (kube_pod_container_info{here})"),
    )
    infos, containers = yield from together(asked)
    nodes = (
        ()
        if isinstance(infos, Missing)
        else tuple(sorted({item.label("node") for item in infos} - {""}))
    )
    names = (
        ()
        if isinstance(containers, Missing)
        else tuple(sorted({item.label("container") for item in containers} - {""}))
    )
    container = serving_container([{"name": name} for name in names], {}) or found.container
    return replace(found, nodes=nodes, container=container)


def _with_pods(found: Resolved, pods: tuple[KubeObject, ...], how: str) -> Resolved:
    """The inputs with these pods; the alert's own pod first, the rest by name."""
    alive = [
        pod for pod in pods if pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")
    ]
    names = _ordered({_name(pod) for pod in alive}, found.pod)
    nodes = sorted({str(pod.get("spec", {}).get("nodeName") or "") for pod in alive} - {""})
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
        container=container or found.container,
        found_by=how,
    )


def _noted(found: Resolved, missing: Missing) -> Resolved:
    """The inputs with the reason why a question had no answer."""
    if missing.detail in found.notes:
        return found
    return replace(found, notes=(*found.notes, missing.detail))


def _ordered(names: set[str], first: str) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: (name != first, name)))


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
