"""Whether nodes still create containers: pods that are stuck at it, errors that kubelets count."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tailhound.flow import Reading, together
from tailhound.model import Missing
from tailhound.model.facts import Series
from tailhound.requests import KubeObject, ListObjects
from tailhound.requests.prometheus import matchers
from tailhound_collectors.now_and_usual import now_and_usual
from tailhound_collectors.object_times import items, mapping, metadata, name
from tailhound_collectors.reading import ONSET_WINDOW, WINDOW, counted, history
from tailhound_collectors.workload_names import workload_of

REASONS = "CreateContainerError|RunContainerError"
"""Why a container waits that its runtime could not create or run. What the pod's own settings keep
back has other reasons, and an image that is pulled has no error at all."""

NODES_AT_MOST = 2
Pod = tuple[str, ...]
"""(namespace, pod)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSymptom:
    """Containers that nodes fail to create, now and usually, with the history."""

    symptom: str
    title: str
    unit: str
    value: float | None = None
    usual_value: float | None = None
    series: Series | None = None
    usual_series: Series | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Starts:
    """`stuck` are (namespace, pod) whose containers can't be created; `held_up` counts their
    workloads, 0 for a single one. None = nobody counts pods.
    """

    stuck: frozenset[Pod] = frozenset()
    stuck_pods: int | None = None
    held_up: int | None = None
    errors: float | None = None
    errors_usual: float | None = None
    symptoms: tuple[NodeSymptom, ...] = ()


def node_starts(nodes: Sequence[str], usual: Sequence[float]) -> Reading[Starts]:
    """One round trip, and a second one for the history where something is wrong."""
    there = f"count (kube_pod_info{matchers(node=nodes)})"
    stuck = f"group by (namespace, pod) ({_stuck(nodes)})"
    found = yield from now_and_usual(
        {"errors": _errors(nodes, WINDOW)},
        {"pods": there, "names": stuck},
        usual,
    )
    pods: frozenset[Pod] | None = frozenset(found["names"].by("namespace", "pod"))
    told = found["pods"].value is not None and counted(found["names"].now) is not None
    if not told or (not pods and found["errors"].value):
        pods = yield from _stuck_by_api(nodes)
    starts = Starts(
        stuck=pods or frozenset(),
        stuck_pods=None if pods is None else len(pods),
        held_up=None if pods is None else _held_up(pods),
        errors=found["errors"].value,
        errors_usual=found["errors"].usual,
    )
    symptoms = yield from _symptoms(starts, nodes, usual)
    return replace(starts, symptoms=symptoms)


def _symptoms(
    starts: Starts, nodes: Sequence[str], usual: Sequence[float]
) -> Reading[tuple[NodeSymptom, ...]]:
    """Errors per second where kubelets are scraped, else the number of pods that are stuck."""
    if starts.errors:
        series = yield from history(_errors(nodes, ONSET_WINDOW), usual)
        row = NodeSymptom(
            symptom="node_starts",
            title="container creation errors",
            unit="per_second",
            value=starts.errors,
            usual_value=starts.errors_usual,
        )
    elif starts.errors is None and starts.stuck_pods:
        none = f"0 * count (kube_pod_info{matchers(node=nodes)})"
        promql = f"count (group by (namespace, pod) ({_stuck(nodes)})) or {none}"
        series = yield from history(promql, usual)
        row = NodeSymptom(
            symptom="node_starts",
            title="pods whose containers can't be created",
            unit="count",
            value=float(starts.stuck_pods),
            usual_value=0.0,
        )
    else:
        return ()
    return (replace(row, series=series[0], usual_series=series[1]),)


def _errors(nodes: Sequence[str], window: str) -> str:
    here = matchers('operation_type="create_container"', node=nodes)
    total = f"sum (rate(kubelet_runtime_operations_total{here}[{window}]))"
    # a kubelet counts errors from the first one on
    return f"sum (rate(kubelet_runtime_operations_errors_total{here}[{window}])) or 0 * {total}"


def _stuck(nodes: Sequence[str]) -> str:
    """The containers of the nodes' pods that wait for such a reason."""
    waiting = matchers(f'reason=~"{REASONS}"')
    names = (
        "kube_pod_container_status_waiting_reason",
        "kube_pod_init_container_status_waiting_reason",
    )
    either = " or ".join(f"{name}{waiting} == 1" for name in names)
    return f"({either}) and on (namespace, pod) kube_pod_info{matchers(node=nodes)}"


def _stuck_by_api(nodes: Sequence[str]) -> Reading[frozenset[Pod] | None]:
    """The same by the API, where kube-state-metrics does not tell: the pods of two nodes at most.

    None when it does not answer for one of them.
    """
    asked = [
        ListObjects(api="v1", resource="pods", field_selector=f"spec.nodeName={node}")
        for node in nodes[:NODES_AT_MOST]
    ]
    replies = yield from together(asked)
    if not asked or any(isinstance(reply, Missing) for reply in replies):
        return None
    pods = [pod for reply in replies for pod in items(reply)]
    return frozenset((_space(pod), name(pod)) for pod in pods if _is_stuck(pod))


def _space(pod: KubeObject) -> str:
    return str(metadata(pod).get("namespace") or "")


def _is_stuck(pod: KubeObject) -> bool:
    status = mapping(pod.get("status"))
    each = (*items(status.get("initContainerStatuses")), *items(status.get("containerStatuses")))
    waits = (mapping(mapping(one.get("state")).get("waiting")).get("reason") for one in each)
    return any(reason in REASONS.split("|") for reason in waits)


def _held_up(pods: Iterable[Pod]) -> int:
    """How many workloads these pods belong to; 0 when it is but one: that is its own doing."""
    workloads = {(space, workload_of(pod)) for space, pod in pods}
    return len(workloads) if len(workloads) > 1 else 0
