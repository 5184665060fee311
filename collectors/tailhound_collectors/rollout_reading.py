"""What pods, events and ReplicaSets say about a start, as plain values. Pure.

There is no clock here: what counts is the order of the times that one object holds.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tailhound.requests import KubeObject
from tailhound_collectors.pod_starts import FAILING, LOADING, PREPARING, SCHEDULING

SETTLED_SECONDS = 5.0
"""A Ready condition that last changed more than this after the container started was true before:
the kubelet writes the first "not ready" before it starts containers. Our own default."""

SAME_ROLLOUT_SECONDS = 900.0
"""A pod created within a quarter of an hour after its ReplicaSet came with it: our own default."""

_PULLED = re.compile(
    r"Successfully pulled image .{0,500}? in ((?:\d{1,9}(?:\.\d{1,9})?(?:h|ms|us|µs|ns|m|s)){1,5})"
)
_PART = re.compile(r"(\d+(?:\.\d+)?)(h|ms|us|µs|ns|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
TEXT_AT_MOST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PodState:
    """How far a pod is. `starting` = never Ready so far; `reason` is the API server's own word."""

    pod: str
    ready: bool | None = None
    starting: bool = False
    failing: bool = False
    disrupted: bool = False
    phase: str | None = None
    reason: str | None = None


def pod_state(pod: KubeObject) -> PodState:
    """What one pod's status says."""
    status: Mapping[str, Any] = pod.get("status") or {}
    conditions = _conditions(status)
    ready = conditions.get("Ready", {})
    statuses = [
        *(status.get("initContainerStatuses") or ()),
        *(status.get("containerStatuses") or ()),
    ]
    reason = _waiting(statuses)
    starting = ready.get("status") != "True" and not _was_ready(ready, statuses)
    return PodState(
        pod=_name(pod),
        ready=None if not conditions else ready.get("status") == "True",
        starting=starting,
        failing=reason in FAILING or any(_restarts(one) for one in statuses),
        disrupted=_disrupted(pod, conditions),
        phase=_phase(conditions, status.get("containerStatuses") or ()) if starting else None,
        reason=(_unscheduled(conditions) or reason) if starting else None,
    )


def _conditions(status: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {str(one.get("type")): one for one in status.get("conditions") or ()}


def _was_ready(ready: Mapping[str, Any], statuses: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a pod that is not Ready now was so before: the condition changed after the start."""
    changed = moment(ready.get("lastTransitionTime"))
    starts = [moment(_state(one, "running").get("startedAt")) for one in statuses]
    started = max((one for one in starts if one), default=None)
    if changed is None or started is None:
        return False
    return (changed - started).total_seconds() > SETTLED_SECONDS


def _phase(conditions: Mapping[str, Mapping[str, Any]], statuses: Sequence[Any]) -> str:
    if conditions.get("PodScheduled", {}).get("status") != "True" and not statuses:
        return SCHEDULING
    running = [one for one in statuses if _state(one, "running")]
    return LOADING if running else PREPARING


def _waiting(statuses: Iterable[Mapping[str, Any]]) -> str | None:
    """The first reason that a container waits for, a failing one before all others."""
    reasons = [str(_state(one, "waiting").get("reason") or "") for one in statuses]
    known = [reason for reason in reasons if reason and reason != "PodInitializing"]
    return next((one for one in known if one in FAILING), known[0] if known else None)


def _unscheduled(conditions: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Why the scheduler found no node, in its own words."""
    scheduled = conditions.get("PodScheduled", {})
    if scheduled.get("status") != "False":
        return None
    told = str(scheduled.get("message") or scheduled.get("reason") or "Unschedulable")
    return told[:TEXT_AT_MOST]


def _restarts(status: Mapping[str, Any]) -> bool:
    """Whether the container ended with an error before and began again."""
    count = status.get("restartCount")
    return isinstance(count, int) and count > 0 and bool(_ended(status))


def _ended(status: Mapping[str, Any]) -> Mapping[str, Any]:
    last = (status.get("lastState") or {}).get("terminated") or {}
    return last if last.get("exitCode") != 0 else {}


def _disrupted(pod: KubeObject, conditions: Mapping[str, Mapping[str, Any]]) -> bool:
    target = conditions.get("DisruptionTarget", {})
    leaving = bool((pod.get("metadata") or {}).get("deletionTimestamp"))
    return leaving or target.get("status") == "True"


def _state(status: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    state: Mapping[str, Any] = (status.get("state") or {}).get(kind) or {}
    return state


def rolling_out(
    workload: KubeObject | None,
    pods: Sequence[KubeObject] = (),
    replica_sets: Sequence[KubeObject] | None = None,
) -> bool | None:
    """Whether the pods of an older template are being replaced; None when nobody could tell."""
    if replica_sets is not None and _of_new_template(pods, replica_sets):
        return True
    if workload is None:
        return None
    status: Mapping[str, Any] = workload.get("status") or {}
    if "updateRevision" in status:
        return bool(status.get("currentRevision") != status["updateRevision"])
    if not status.get("observedGeneration"):
        return None
    return _count(status.get("updatedReplicas"), 0) < _count(status.get("replicas"), 0)


def _of_new_template(pods: Sequence[KubeObject], replica_sets: Sequence[KubeObject]) -> bool:
    """Whether a pod that starts came with its ReplicaSet, and an older ReplicaSet exists.

    A pod that a scale-up adds is younger than its ReplicaSet by far.
    """
    created = {_name(one): _created(one) for one in replica_sets}
    for pod in pods:
        own = next((at for name in _owners(pod) if (at := created.get(name))), None)
        born = _created(pod)
        if own is None or born is None or not pod_state(pod).starting:
            continue
        older = any(at is not None and at < own for at in created.values())
        if older and (born - own).total_seconds() <= SAME_ROLLOUT_SECONDS:
            return True
    return False


def _owners(pod: KubeObject) -> list[str]:
    owners = (pod.get("metadata") or {}).get("ownerReferences") or ()
    return [str(one.get("name")) for one in owners if one.get("kind") == "ReplicaSet"]


def _created(obj: KubeObject) -> datetime | None:
    return moment((obj.get("metadata") or {}).get("creationTimestamp"))


def pull_seconds(events: Iterable[KubeObject]) -> float | None:
    """The longest image pull that the kubelet tells of."""
    found = [_PULLED.search(str(event.get("message") or "")[:1000]) for event in events]
    return max((duration(match[1]) for match in found if match), default=None)


def duration(text: str) -> float:
    """A Go duration in seconds: `1m2.5s`, `850ms`."""
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))


def told(events: Iterable[KubeObject], *reasons: str) -> tuple[str, int]:
    """The last message of these reasons, and how often it was said."""
    found = [event for event in events if event.get("reason") in reasons]
    if not found:
        return "", 0
    times = [_said(event) for event in found]
    latest = max(found, key=lambda event: str(_when(event)))
    return str(latest.get("message") or latest.get("reason"))[:TEXT_AT_MOST], sum(times)


def _said(event: KubeObject) -> int:
    """How often an event was said: it is counted in either of two places."""
    series = (event.get("series") or {}).get("count")
    count = series if isinstance(series, int) else event.get("count")
    return count if isinstance(count, int) and count > 0 else 1


def _when(event: KubeObject) -> str:
    last = (event.get("series") or {}).get("lastObservedTime")
    return str(last or event.get("lastTimestamp") or event.get("eventTime") or "")


def startup_budget(pods: Iterable[KubeObject], container: str) -> float | None:
    """Seconds that the startup probe gives the serving container; None without such a probe."""
    for pod in pods:
        for one in (pod.get("spec") or {}).get("containers") or ():
            probe = one.get("startupProbe")
            if probe and (not container or one.get("name") == container):
                delay = _count(probe.get("initialDelaySeconds"), 0)
                period = _count(probe.get("periodSeconds"), 10)
                return float(delay + period * _count(probe.get("failureThreshold"), 3))
    return None


def _count(value: object, default: int) -> int:
    """A whole number of an object; the API server's default where it holds none."""
    return value if isinstance(value, int) else default


def moment(text: object) -> datetime | None:
    """A Kubernetes time; None when there is none, or it can't be read."""
    try:
        return datetime.fromisoformat(str(text).replace("Z", "+00:00")) if text else None
    except ValueError:
        return None


def _name(obj: KubeObject) -> str:
    return str((obj.get("metadata") or {}).get("name") or "")
