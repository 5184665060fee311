"""A healthy pod of another workload beside the ones that the alert is about."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from tests.accuracy.naming import retexted
from tests.lab.scenario import Scenario
from tests.lab.series import Phase, Series, parsed

NEIGHBOUR = "neighbour"
_REPLICASET = f"{NEIGHBOUR}-5c9d7f6b8"
_POD = f"{_REPLICASET}-x4k2p"
_MODEL_LABELS = ("model_name", "model", "model_id", "service", "app", "container_name")
_FAULTS = ("throttled", "preempt", "retract", "restart", "error", "fail", "dropped", "waiting")
_RECENT = -1800.0


def with_neighbour(given: Scenario) -> Scenario | None:
    """Another deployment's pod in the same namespace and on the same node, as it usually is."""
    like = _like(given)
    if like is None:
        return None
    copies = {copy.text: copy for one in given.series if (copy := _copied(one, like)) is not None}
    there = {one.text for one in given.series}
    added = tuple(copy for text, copy in copies.items() if text not in there)
    kubernetes = given.kubernetes
    if kubernetes and (pod := _pod_object(given, like)) is not None:
        objects = (*kubernetes.objects, *_objects(pod))
        kubernetes = kubernetes.model_copy(update={"objects": objects})
    return dataclasses.replace(given, series=(*given.series, *added), kubernetes=kubernetes)


def _like(given: Scenario) -> str | None:
    """The pod to copy: the first that has an engine's histogram, else the first of all."""
    first = None
    for series in given.series:
        pod = parsed(series.text)[1].get("pod")
        if pod and series.histogram:
            return pod
        first = first or pod
    return first


def _copied(series: Series, like: str) -> Series | None:
    name, labels = parsed(series.text)
    if like not in (labels.get("pod"), labels.get("exported_pod")):
        return None
    changed = {key: _value(key, value, like) for key, value in labels.items()}
    healthy = series.model_copy(update={"phases": (_usual(series, name),), "resets": ()})
    return retexted(healthy, name, changed)


def _value(key: str, value: str, like: str) -> str:
    if value == like:
        return _POD
    if key in _MODEL_LABELS:
        return NEIGHBOUR
    return f"{value}-{NEIGHBOUR}" if key in ("UUID", "uid", "id") else value


def _usual(series: Series, name: str) -> Phase:
    """What the series does before anything happens, for ever; and nothing that is a fault."""
    first = next((phase for phase in series.phases if not phase.absent), series.phases[0])
    update: dict[str, Any] = {"until": 0.0}
    if first.per_second is not None and any(word in name for word in _FAULTS):
        update["per_second"] = 0.0
    if first.moment is not None and first.moment > _RECENT:
        update["moment"] = _RECENT * 2
    return first.model_copy(update=update)


def _pod_object(given: Scenario, like: str) -> Mapping[str, Any] | None:
    objects = given.kubernetes.objects if given.kubernetes else ()
    pods = [item for item in objects if item["kind"] == "Pod" and item.get("status")]
    same = [item for item in pods if item["metadata"]["name"] == like]
    return next(iter([*same, *pods]), None)


def _objects(like: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """A deployment with its one pod, Ready since a day, of the same containers."""
    namespace = like["metadata"].get("namespace", "default")
    labels = {"app": NEIGHBOUR}
    hashed = {**labels, "pod-template-hash": _REPLICASET.rpartition("-")[2]}
    containers = like["spec"]["containers"]
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
    }
    status = {"observedGeneration": 1, "replicas": 1, "readyReplicas": 1, "availableReplicas": 1}
    return (
        _apps("Deployment", _meta(NEIGHBOUR, namespace, labels), spec, status),
        _apps(
            "ReplicaSet",
            {
                **_meta(_REPLICASET, namespace, hashed),
                "ownerReferences": [{"kind": "Deployment", "name": NEIGHBOUR}],
            },
            spec | {"selector": {"matchLabels": hashed}, "template": _template(hashed, containers)},
            status,
        ),
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                **_meta(_POD, namespace, hashed),
                "ownerReferences": [{"kind": "ReplicaSet", "name": _REPLICASET}],
            },
            "spec": {**like["spec"]},
            "status": _ready(containers),
        },
    )


def _meta(name: str, namespace: str, labels: Mapping[str, str]) -> dict[str, Any]:
    return {"name": name, "namespace": namespace, "labels": labels, "creationTimestamp": "-1d"}


def _template(labels: Mapping[str, str], containers: Any) -> dict[str, Any]:
    return {"metadata": {"labels": labels}, "spec": {"containers": containers}}


def _apps(kind: str, metadata: Any, spec: Any, status: Any) -> Mapping[str, Any]:
    whole = {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata}
    return {**whole, "spec": spec, "status": status}


def _ready(containers: Any) -> dict[str, Any]:
    return {
        "phase": "Running",
        "startTime": "-1d",
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "-1d"}],
        "containerStatuses": [
            {
                "name": container["name"],
                "ready": True,
                "started": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": "-1d"}},
            }
            for container in containers
        ],
    }
