"""How long pods take from their creation to Ready, phase by phase, by kube-state-metrics.

All times are ages in seconds (`time() - x`), so that nothing here needs a clock. A phase that is
still going on counts up to now. The kubelet's own start metrics end at "container started" and so
leave out the load of the model; these do not.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from tailhound.model import Missing
from tailhound.requests import Vector
from tailhound_collectors.reading import HISTORY_SECONDS, by, counted, middle

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
    """The start of one pod. A phase that it has not reached yet is None; one going on grows.

    `starting` = it was never Ready so far; None = nobody tells. `phase` took longest, `phase_now`
    is the one that goes on.
    """

    pod: str
    node: str | None = None
    ready: bool | None = None
    starting: bool | None = None
    created_to_scheduled_seconds: float | None = None
    scheduled_to_started_seconds: float | None = None
    started_to_ready_seconds: float | None = None
    phase: str | None = None
    phase_now: str | None = None
    phase_seconds: float | None = None

    @property
    def total(self) -> float:
        """All phases together, in seconds."""
        return sum(seconds for _, seconds in phases(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Starts:
    """The young pods, and what their containers wait for. None = nobody could tell.

    `unsure` = whether there are more young pods than these is not known.
    """

    young: tuple[PodStart, ...] | None
    failing: Mapping[str, str] | None
    usual_load_seconds: float | None
    unsure: bool = False

    @property
    def started_count(self) -> int | None:
        """How many pods are young."""
        return None if self.young is None or self.unsure else len(self.young)

    @property
    def starting_count(self) -> int | None:
        """How many of them were never Ready so far."""
        if self.young is None or self.unsure or any(one.starting is None for one in self.young):
            return None
        return sum(one.starting is True for one in self.young)

    @property
    def slowest(self) -> PodStart | None:
        """The pod that stands for all: one that still starts before one that is ready."""
        order = {True: 2, None: 1, False: 0}
        young = self.young or ()
        return max(young, key=lambda one: (order[one.starting], one.total), default=None)


def phases(start: PodStart) -> list[tuple[str, float]]:
    """The phases that are known, in their order."""
    named = (
        (SCHEDULING, start.created_to_scheduled_seconds),
        (PREPARING, start.scheduled_to_started_seconds),
        (LOADING, start.started_to_ready_seconds),
    )
    return [(name, seconds) for name, seconds in named if seconds is not None]


def starts_of(replies: Mapping[str, Vector | Missing]) -> Starts:
    """What the answers to `questions` say.

    Without any series of such a pod there is none, provided that pods of the namespace have series.
    A pod whose creation or readiness nobody knows leaves open whether it is young.
    """
    of = _pods(replies)
    states = {pod: _is_young(pod, of) for pod in sorted(of.known)}
    young = tuple(_start(pod, of) for pod, is_young in states.items() if is_young)
    unsure = {pod for pod, is_young in states.items() if is_young is None}
    told = bool(of.created) or (not unsure and of.none_there)
    failing = _failing(replies, {one.pod for one in young}, unsure) if told else None
    return Starts(
        young=young if told else None,
        failing=failing,
        usual_load_seconds=_usual_load(replies["loads"], replies["load_ages"]),
        unsure=bool(unsure),
    )


@dataclass(frozen=True, slots=True)
class _Pods:
    """The ages of all pods by name. `ready_ago` is the age of the first ready time that was seen,
    `ever` is 1 for a pod that was Ready at some moment. `placeless` have no node, `waiting` have a
    container that waits. `readiness_told` and `starts_told` say whether pods of the namespace have
    such series at all: only then the lack of one says something of a pod.
    """

    created: Ages
    scheduled: Ages
    started: Ages
    ready_ago: Ages
    ready: Ages
    ever: Ages
    known: Collection[str]
    nodes: Mapping[str, str]
    placeless: Collection[str]
    waiting: Collection[str]
    readiness_told: bool
    starts_told: bool
    none_there: bool


def _pods(replies: Mapping[str, Vector | Missing]) -> _Pods:
    names = ("created", "scheduled", "started", "ready_ago", "ready", "ever")
    created, scheduled, started, ready_ago, ready, ever = (_ages(replies[name]) for name in names)
    places = by(replies["places"], "pod", "node")
    nodes = {pod: node for pod, node in places if node}
    seen = {pod for pod, _ in places}
    answered = all(counted(replies[name]) is not None for name in ("created", "ready", "places"))
    told = counted(replies["readiness_told"]) is True
    return _Pods(
        created=created,
        scheduled=scheduled,
        started=started,
        ready_ago=ready_ago,
        ready=ready,
        ever=ever,
        known=created.keys() | ready.keys() | seen,
        nodes=nodes,
        placeless=seen - nodes.keys() - scheduled.keys() - started.keys(),
        waiting={pod for pod, _ in by(replies["waiting"], "pod", "reason")},
        readiness_told=told and counted(replies["ready"]) is not None,
        starts_told=counted(replies["starts_told"]) is True
        and counted(replies["started"]) is not None,
        none_there=answered and told,
    )


def _is_young(pod: str, of: _Pods) -> bool | None:
    """Created within the incident, or never Ready as far as we look; None = nobody tells."""
    if pod not in of.created:
        return None
    return of.created[pod] <= HISTORY_SECONDS or _never_ready(pod, of)


def _never_ready(pod: str, of: _Pods) -> bool | None:
    """A pod without a node has no Ready condition yet, so it has no such series.

    Nor has one that its kubelet has not seen yet, but then others of the namespace have theirs.
    """
    if pod not in of.ready:
        return True if pod in of.placeless or of.readiness_told else None
    if of.ready[pod] > 0:
        return False
    if of.ready_ago.get(pod, 0.0) > of.created.get(pod, math.inf):  # of an earlier pod by that name
        return True
    return of.ever[pod] == 0 if pod in of.ever else None


def _start(pod: str, of: _Pods) -> PodStart:
    created, scheduled, started = (ages.get(pod) for ages in (of.created, of.scheduled, of.started))
    starting = _never_ready(pod, of)
    waits = starting is True and pod in of.placeless and pod not in of.ready
    prepared = starting is True and (of.starts_told or pod in of.waiting)
    start = PodStart(
        pod=pod,
        node=of.nodes.get(pod),
        ready=of.ready[pod] > 0 if pod in of.ready else False if starting else None,
        starting=starting,
        created_to_scheduled_seconds=created if waits else _between(created, scheduled),
        scheduled_to_started_seconds=scheduled
        if started is None and prepared
        else _between(scheduled, started),
        started_to_ready_seconds=_load(pod, starting, of),
        phase_now=_phase_now(
            waits, started is None and prepared, starting is True and started is not None
        ),
    )
    return _with_phase(start)


def _phase_now(waits: bool, prepared: bool, loads: bool) -> str | None:
    """The phase that a pod is in; None where it is past all of them, or nobody can tell."""
    if waits:
        return SCHEDULING
    return PREPARING if prepared else LOADING if loads else None


def _load(pod: str, starting: bool | None, of: _Pods) -> float | None:
    """From the container's start to Ready; up to now where that goes on."""
    started = of.started.get(pod)
    if starting is None:
        return None
    return started if starting else _between(started, of.ready_ago.get(pod))


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


def _failing(
    replies: Mapping[str, Vector | Missing], young: Collection[str], unsure: Collection[str]
) -> Mapping[str, str] | None:
    """Young pods whose start fails, with the reason; None when nobody could tell.

    The exporter that counts these pods has a series for a reason only while a container waits with
    it: an answer without such a series means that none does. What fails and may be young leaves it
    open.
    """
    names = ("waiting", "init_waiting", "restarts")
    if any(counted(replies[name]) is None for name in names):
        return None
    waits = [one for name in names[:2] for one in by(replies[name], "pod", "reason")]
    failing = {pod: reason for pod, reason in waits if reason in FAILING}
    again = {pod: "restarted" for pod, times in _ages(replies["restarts"]).items() if times >= HALF}
    either = again | failing
    if any(pod in unsure for pod in either):
        return None
    return {pod: why for pod, why in either.items() if pod in young}


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
