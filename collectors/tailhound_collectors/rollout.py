"""Why a replica is not in service yet, in the API server's words: conditions, events, rollout.

Reads are few and bounded: the pods by the workload's selector (the same list that others ask for),
the workload, and the events of at most two pods.
"""

from dataclasses import dataclass
from typing import Any

from tailhound.errors import Refused
from tailhound.flow import Read, Reading, read, together
from tailhound.model import Missing
from tailhound.requests import GetObject, KubeObject, ListObjects
from tailhound_collectors.rollout_reading import (
    PodState,
    pod_state,
    pull_seconds,
    rolling_out,
    startup_budget,
    told,
)

EVENTS_OF_AT_MOST = 2
"""Pods whose events are read: the API server looks through the namespace's events for each."""

_WORKLOADS = {
    "deployment": ("apps/v1", "deployments"),
    "statefulset": ("apps/v1", "statefulsets"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutParams:
    """Which workload and which of its pods; nothing is asked about what is unknown."""

    namespace: str
    workload: str = ""
    workload_kind: str = ""
    selector: str = ""
    pods: tuple[str, ...] = ()
    container: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """How far the pods are. `rolling_out` = a template change replaces them; `disrupted` = a pod is
    being deleted, drained or evicted. `reason` is why the first starting pod is not Ready yet,
    `phase` how far it is. Events live for an hour: their absence says nothing, so counts of events
    are None, never 0, where there is none.
    """

    pods_count: int | None = None
    ready_count: int | None = None
    starting_count: int | None = None
    failing_count: int | None = None
    rolling_out: bool | None = None
    disrupted: bool | None = None
    pod: str | None = None
    phase: str | None = None
    reason: str | None = None
    pull_seconds: float | None = None
    failed_scheduling_count: int | None = None
    probe_failures_count: int | None = None
    event: str | None = None
    startup_budget_seconds: float | None = None
    pods: tuple[PodState, ...] | None = None


class RolloutCollector:
    """`kubernetes.rollout`: conditions and events of the pods that start, and the rollout."""

    name = "kubernetes.rollout"
    params = RolloutParams
    facts = Rollout

    def collect(self, params: RolloutParams) -> Reading[Rollout]:
        """The pods and the workload, then the events of those that start."""
        objects = yield from _objects(params)
        replacing = rolling_out(objects.workload, objects.pods or (), objects.replica_sets)
        if objects.pods is None:
            return Rollout(rolling_out=replacing)
        states = tuple(pod_state(pod) for pod in objects.pods)
        starting = [state for state in states if state.starting]
        events = yield from _events(params.namespace, starting)
        refusal, refused = told(events, "FailedScheduling")
        unhealthy, failed = told(events, "Unhealthy")
        trouble, _ = told(events, "FailedMount", "FailedAttachVolume", "Failed", "FailedCreate")
        first = starting[0] if starting else PodState(pod="")
        return Rollout(
            pods_count=len(states),
            ready_count=sum(state.ready is True for state in states),
            starting_count=len(starting),
            failing_count=sum(state.failing for state in starting),
            rolling_out=replacing,
            disrupted=any(state.disrupted for state in states),
            pod=first.pod or None,
            phase=first.phase,
            reason=first.reason,
            pull_seconds=pull_seconds(events),
            failed_scheduling_count=refused or None,
            probe_failures_count=failed or None,
            event=trouble or refusal or unhealthy or None,
            startup_budget_seconds=startup_budget(objects.pods, params.container),
            pods=states or None,
        )


@dataclass(frozen=True, slots=True)
class _Objects:
    """What was read; None for what nobody could tell."""

    workload: KubeObject | None = None
    pods: tuple[KubeObject, ...] | None = None
    replica_sets: tuple[KubeObject, ...] | None = None


def _objects(params: RolloutParams) -> Reading[_Objects]:
    """The workload, its pods and its ReplicaSets, asked at the same time."""
    asked = {
        "workload": _workload(params),
        "pods": _pods(params),
        "replica_sets": _replica_sets(params),
    }
    known = {name: request for name, request in asked.items() if request is not None}
    replies = yield from together(known.values())
    found: dict[str, Any] = dict(zip(known, replies, strict=True))
    told = {name: one for name, one in found.items() if not isinstance(one, Missing)}
    pods = told.get("pods")
    return _Objects(
        workload=told.get("workload"),
        pods=pods if pods is None or isinstance(pods, tuple) else (pods,),
        replica_sets=told.get("replica_sets"),
    )


def _replica_sets(params: RolloutParams) -> Read[Any] | None:
    if params.workload_kind != "deployment" or not params.selector:
        return None
    try:
        return ListObjects(
            api="apps/v1",
            resource="replicasets",
            namespace=params.namespace,
            label_selector=params.selector,
        )
    except Refused:
        return None


def _workload(params: RolloutParams) -> Read[Any] | None:
    if params.workload_kind not in _WORKLOADS or not params.workload:
        return None
    api, resource = _WORKLOADS[params.workload_kind]
    try:
        return GetObject(
            api=api, resource=resource, namespace=params.namespace, name=params.workload
        )
    except Refused:
        return None


def _pods(params: RolloutParams) -> Read[Any] | None:
    """The list by the selector; without one, the one pod that is known."""
    try:
        if params.selector:
            return ListObjects(
                api="v1",
                resource="pods",
                namespace=params.namespace,
                label_selector=params.selector,
            )
        if params.pods:
            return GetObject(
                api="v1", resource="pods", namespace=params.namespace, name=params.pods[0]
            )
    except Refused:
        return None
    return None


def _events(namespace: str, starting: list[PodState]) -> Reading[list[KubeObject]]:
    found: list[KubeObject] = []
    for state in starting[:EVENTS_OF_AT_MOST]:
        reply = yield from read(
            ListObjects(
                api="v1",
                resource="events",
                namespace=namespace,
                field_selector=f"involvedObject.kind=Pod,involvedObject.name={state.pod}",
            )
        )
        found.extend(() if isinstance(reply, Missing) else reply)
    return found
