"""How long pods take from their creation to Ready, phase by phase, by kube-state-metrics.

All times are ages in seconds (`time() - x`), so that nothing here needs a clock. A phase that is
still going on counts up to now. The kubelet's own start metrics end at "container started" and so
leave out the load of the model; these do not.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from tailhound.model import Missing
from tailhound.requests import Query, Vector
from tailhound.requests.prometheus import matchers
from tailhound_collectors.reading import HISTORY_SECONDS, by, counted, middle
from tailhound_collectors.workload_names import WorkloadParams, past_pod_matcher, pod_matcher

EVER = "3h"
"""How far back a pod is looked at for having been Ready before: our own default."""

LONGEST_START_SECONDS = 7200.0
"""A longer time between start and Ready is a readiness flap of a pod that long served, for the
ready time moves with each flap. Our own default."""

FAILING = (
    "CrashLoopBackOff",
    "CreateContainerError",
    "CreateContainerConfigError",
    "RunContainerError",
    "StartError",
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "RegistryUnavailable",
    "PostStartHookError",
)
"""Waiting reasons of a start that fails. It is not slow, it never ends."""

SCHEDULING = "waiting for a node"
PREPARING = "preparing the container (image, volumes, init containers)"
LOADING = "loading and warming up"

Ages = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodStart:
    """The start of one pod. A phase that it has not reached yet is None; one going on grows."""

    pod: str
    ready: bool | None = None
    starting: bool = False
    created_to_scheduled_seconds: float | None = None
    scheduled_to_started_seconds: float | None = None
    started_to_ready_seconds: float | None = None
    phase: str | None = None
    phase_seconds: float | None = None

    @property
    def total(self) -> float:
        """All phases together, in seconds."""
        return sum(seconds for _, seconds in phases(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Starts:
    """The young pods, and what their containers wait for. None = nobody could tell."""

    young: tuple[PodStart, ...] | None
    failing: Mapping[str, str] | None
    usual_load_seconds: float | None

    @property
    def slowest(self) -> PodStart | None:
        """The pod that stands for all: one that still starts before one that is ready."""
        return max(self.young or (), key=lambda one: (one.starting, one.total), default=None)


def phases(start: PodStart) -> list[tuple[str, float]]:
    """The phases that are known, in their order."""
    named = (
        (SCHEDULING, start.created_to_scheduled_seconds),
        (PREPARING, start.scheduled_to_started_seconds),
        (LOADING, start.started_to_ready_seconds),
    )
    return [(name, seconds) for name, seconds in named if seconds is not None]


def questions(params: WorkloadParams) -> list[Query]:
    """Twelve questions about the pods, in the order that `starts_of` reads them."""
    here = matchers(pod_matcher(params), namespace=params.namespace)
    true = matchers('condition="true"', pod_matcher(params), namespace=params.namespace)
    serving = matchers(pod_matcher(params), namespace=params.namespace, container=params.container)
    same = f" and on (pod, uid) kube_pod_created{here}"  # a StatefulSet gives a name again
    window = f"{HISTORY_SECONDS:g}s"
    begun = ("kube_pod_created", "kube_pod_start_time", "kube_pod_status_scheduled_time")
    ages = (
        " or ".join(f"max by (pod) ({name}{here})" for name in begun),
        f"kube_pod_status_scheduled_time{here}",
        f"kube_pod_container_state_started{serving}",
        f"(min_over_time(kube_pod_status_ready_time{here}[{EVER}]){same})",
    )
    asked = [
        *(f"time() - max by (pod) ({series})" for series in ages),
        f"max by (pod) (kube_pod_status_ready{true})",
        f"max by (pod) (max_over_time(kube_pod_status_ready{true}[{EVER}]){same})",
        f"max by (pod, reason) (kube_pod_container_status_waiting_reason{here} > 0)",
        f"max by (pod, reason) (kube_pod_init_container_status_waiting_reason{here} > 0)",
        f"max by (pod) (increase(kube_pod_container_status_restarts_total{serving}[{window}]))",
        *_usually(params),
    ]
    return [Query(promql=promql) for promql in asked]


def _usually(params: WorkloadParams) -> list[str]:
    """The loads of the workload's pods over a week: how long they took, and how long ago.

    The first start and the first ready time that were seen; hourly looks, so that a week is cheap.
    """
    match = past_pod_matcher(params)
    here = matchers(match, namespace=params.namespace)
    serving = matchers(match, namespace=params.namespace, container=params.container)
    started = f"min_over_time((max by (pod) (kube_pod_container_state_started{serving}))[7d:1h])"
    ready = f"min_over_time((max by (pod) (kube_pod_status_ready_time{here}))[7d:1h])"
    return [f"{ready} - {started}", f"time() - {started}"]


def starts_of(replies: tuple[Vector | Missing, ...]) -> Starts:
    """What the answers say. Without any series of such a pod, there is none.

    A pod whose creation nobody knows leaves open whether it is young.
    """
    created, scheduled, started, ready_ago, ready, ever = (_ages(one) for one in replies[:6])
    of = _Pods(created, scheduled, started, ready_ago, ready, ever)
    young = [_start(pod, of) for pod in sorted(created) if _is_young(pod, of)]
    told = bool(created) or all(counted(one) is False for one in (replies[0], replies[4]))
    return Starts(
        young=tuple(young) if told else None,
        failing=_failing(replies[6:9], {one.pod for one in young}) if told else None,
        usual_load_seconds=_usual_load(*replies[9:11]),
    )


@dataclass(frozen=True, slots=True)
class _Pods:
    """The ages of all pods by name. `ready_ago` is the age of the first ready time that was seen,
    `ever` is 1 for a pod that was Ready at some moment.
    """

    created: Ages
    scheduled: Ages
    started: Ages
    ready_ago: Ages
    ready: Ages
    ever: Ages


def _is_young(pod: str, of: _Pods) -> bool:
    """Created within the incident, or never Ready as far as we look."""
    return of.created[pod] <= HISTORY_SECONDS or _never_ready(pod, of)


def _never_ready(pod: str, of: _Pods) -> bool:
    """A pod without a node has no Ready condition yet, so it has no such series."""
    if pod not in of.ready:
        return pod not in of.scheduled and pod not in of.started
    if of.ready_ago.get(pod, 0.0) > of.created[pod]:  # of an earlier pod by the same name
        return of.ready[pod] == 0
    return of.ever.get(pod, of.ready[pod]) == 0


def _start(pod: str, of: _Pods) -> PodStart:
    created, scheduled, started = (ages.get(pod) for ages in (of.created, of.scheduled, of.started))
    starting = _never_ready(pod, of)
    waits = starting and pod not in of.ready
    loaded = started if starting else _between(started, of.ready_ago.get(pod))
    start = PodStart(
        pod=pod,
        ready=of.ready[pod] > 0 if pod in of.ready else False if waits else None,
        starting=starting,
        created_to_scheduled_seconds=created if waits else _between(created, scheduled),
        scheduled_to_started_seconds=_going_on(scheduled, started),
        started_to_ready_seconds=loaded,
    )
    return _with_phase(start)


def _with_phase(start: PodStart) -> PodStart:
    """The phase that took longest."""
    if not phases(start):
        return start
    name, seconds = max(phases(start), key=lambda one: one[1])
    return replace(start, phase=name, phase_seconds=seconds)


def _between(earlier: float | None, later: float | None) -> float | None:
    """Seconds from one moment to a later one, both as ages; None for what can't be."""
    if earlier is None or later is None or later > earlier:
        return None
    return earlier - later


def _going_on(begun: float | None, ended: float | None) -> float | None:
    return begun if ended is None else _between(begun, ended)


def _failing(
    replies: tuple[Vector | Missing, ...], young: Collection[str]
) -> Mapping[str, str] | None:
    """Young pods whose start fails, with the reason; None when nobody could tell.

    The exporter that counts these pods has a series for a reason only while a container waits with
    it: an answer without such a series means that none does.
    """
    *waiting, restarts = replies
    if any(counted(reply) is None for reply in replies):
        return None
    found = {pod: reason for reply in waiting for pod, reason in by(reply, "pod", "reason")}
    failing = {pod: reason for pod, reason in found.items() if reason in FAILING}
    again = {pod: "restarted" for pod, times in _ages(restarts).items() if times >= HALF}
    return {pod: why for pod, why in (again | failing).items() if pod in young}


HALF = 0.5
"""An increase is extrapolated and no whole number: from a half on it is one restart."""


def _usual_load(durations: Vector | Missing, ages: Vector | Missing) -> float | None:
    """The median of the loads that began before the incident."""
    old = {pod for pod, age in _ages(ages).items() if age > HISTORY_SECONDS}
    return middle(
        seconds
        for pod, seconds in _ages(durations).items()
        if pod in old and 0 <= seconds <= LONGEST_START_SECONDS
    )


def _ages(reply: Vector | Missing) -> dict[str, float]:
    return {pod: value for (pod,), value in by(reply, "pod").items()}
