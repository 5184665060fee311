"""Subject -> pods, nodes and container by what Prometheus knows: where the API gives no answer."""

import re
from collections.abc import Sequence
from dataclasses import replace

from tailhound.diagnosis.containers import serving_container
from tailhound.diagnosis.resolved import OWNERS, PODS_AT_MOST, SYSTEM, Resolved, noted, ordered
from tailhound.flow import Read, Reading, together
from tailhound.model import Missing, Reason, Subject, SubjectKind
from tailhound.requests import Query, Vector
from tailhound.requests.prometheus import literal_regex, matchers, quoted

_INFO = ("pod", "node", "created_by_kind", "created_by_name")
_OWNED = "namespace_workload_pod:kube_pod_owner:relabel"  # a rule of kubernetes-mixin

Told = Sequence[tuple[Vector | Missing, str]]
"""Answers to `pod_queries`, each with how it finds pods."""


def pod_queries(subject: Subject, found: Resolved) -> list[tuple[Query, str]]:
    """Which pods, by several ways, the surest first."""
    name, space = subject.workload, found.namespace
    if subject.kind is SubjectKind.NODE:
        return [(_pods(f"kube_pod_info{matchers(node=subject.node)}"), "the pods of the node")]
    if not name:
        return _of_namespace(found)
    ways = [(_pods(f"{_OWNED}{matchers(namespace=space, workload=name)}"), "pod owners")]
    if subject.workload_label == "model_name":
        prefix = found.metric_prefix or "vllm:"
        series = f"{prefix}num_requests_running{matchers(namespace=space, model_name=name)}"
        ways.append((_pods(series), "series of the model"))
    if subject.workload_label == "service":
        scraped = matchers('pod!=""', namespace=space, service=name)
        ways.append((_pods(f"up{scraped}"), "scrape targets of the service"))
    if space:
        like = quoted(f"{literal_regex(name)}-.+")
        infos = f"kube_pod_info{matchers(f'pod=~{like}', namespace=space)}"
        ways.append((_pods(infos), "pods whose names begin alike"))
    return ways


NAMES_AT_MOST = 60
_NO_NODE = frozenset({"alertname", "severity", "job", "cluster", "prometheus", "reason", "device"})
_APART, _PORT = re.compile(r"[\s,;|]+|<?->|_to_"), re.compile(r":\d{1,5}$")


def node_query(found: Resolved) -> Query | None:
    """Which of the names in the alert's labels are nodes, also of two that are joined by a dash
    (`pair="gpu-1-gpu-2"`); None when no label can hold one.
    """
    values = [value[:200] for name, value in found.labels.items() if name not in _NO_NODE]
    parts = [_PORT.sub("", part) for value in values for part in _APART.split(value) if part]
    halves = [
        half
        for part in parts
        for at, letter in enumerate(part)
        if letter == "-"
        for half in (part[:at], part[at + 1 :])
        if half
    ]
    names = tuple(dict.fromkeys([*parts, *halves]))[:NAMES_AT_MOST]
    if not names:
        return None
    return Query(promql=f"group by (nodename) (node_uname_info{matchers(nodename=names)})")


def with_named_nodes(found: Resolved, reply: Vector | Missing) -> Resolved:
    """The inputs with the nodes that the alert's labels name."""
    if isinstance(reply, Missing):
        return found if reply.reason is Reason.EMPTY else noted(found, reply)
    nodes = tuple(sorted({item.label("nodename") for item in reply} - {""}))
    return replace(found, nodes=nodes, found_by="nodes that the alert's labels name")


def _of_namespace(found: Resolved) -> list[tuple[Query, str]]:
    """Without a workload: the pods that serve the alert's model, else those of its namespace."""
    space, model = found.namespace, found.labels.get("model", "")
    ways = []
    if model:
        served = matchers('pod!=""', namespace=space, model=model)
        ways.append((_pods(f"nv_inference_request_success{served}"), "series of the model"))
    if space:
        scraped = matchers('pod!=""', namespace=space)
        ways.append((_pods(f"up{scraped}"), "scrape targets of the namespace"))
    return ways


def _pods(series: str) -> Query:
    return Query(promql=f"group by (namespace, pod) ({series})")


def by_metrics(subject: Subject, found: Resolved, told: Told) -> Reading[Resolved]:
    """The pods by the first way that names some in one namespace."""
    for reply, how in told:
        if isinstance(reply, Missing):
            found = found if reply.reason is Reason.EMPTY else noted(found, reply)
            continue
        spaces = {item.label("namespace") for item in reply} - {""}
        own = spaces - SYSTEM if subject.kind is SubjectKind.NODE else spaces
        if len(own) > 1:
            continue
        space = found.namespace or next(iter(own), "")
        pods = ordered(
            {item.label("pod") for item in reply if item.label("namespace") in ("", space)} - {""},
            found.pod,
        )
        if pods:
            named = replace(
                found,
                namespace=space,
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


def _nodes_by_metrics(found: Resolved) -> Reading[Resolved]:
    here = matchers(namespace=found.namespace, pod=found.pods)
    asked: tuple[Read[Vector], ...] = (
        Query(promql=f"group by ({', '.join(_INFO)}) (kube_pod_info{here})"),
        Query(promql=f"group by (container) (kube_pod_container_info{here})"),
    )
    infos, containers = yield from together(asked)
    told = () if isinstance(infos, Missing) else infos
    places = sorted({(one.label("pod"), one.label("node")) for one in told if one.label("node")})
    nodes = tuple(sorted({node for _, node in places}))
    names = (
        ()
        if isinstance(containers, Missing)
        else tuple(sorted({item.label("container") for item in containers} - {""}))
    )
    container = serving_container([{"name": name} for name in names], {}) or found.container
    return replace(
        found,
        nodes=found.nodes or nodes,
        pod_nodes=tuple(places),
        container=container,
        owned_by=_owner(told),
    )


def _owner(infos: Vector | tuple[()]) -> str:
    """`statefulset/gpu`, where all pods are of one; what a ReplicaSet's pods are of stands above
    that, and is not told here.
    """
    owners = {(one.label("created_by_kind").lower(), one.label("created_by_name")) for one in infos}
    kind, name = owners.pop() if len(owners) == 1 else ("", "")
    return f"{kind}/{name}" if kind in OWNERS and name else ""
