"""Capacity that was asked for and is not in service, and how long its start takes."""

from dataclasses import dataclass, replace

from tailhound.flow import Reading, together
from tailhound.model import Missing, Reason
from tailhound.model.facts import Series, fact
from tailhound.requests import RangeQuery, Ranges
from tailhound_collectors.demand import waiting
from tailhound_collectors.pod_start_queries import questions
from tailhound_collectors.pod_starts import PodStart, Starts, starts_of
from tailhound_collectors.reading import (
    HISTORY_SECONDS,
    STEP_SECONDS,
    USUAL_SPAN_SECONDS,
    middle,
    named,
    ratio,
)
from tailhound_collectors.replica_history import (
    ReplicaHistory,
    history_of,
    last,
    peak,
    waited_meanwhile,
)
from tailhound_collectors.replica_queries import asleep, desired, in_service
from tailhound_collectors.workload_names import WorkloadParams


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicas:
    """Replicas over the last 45 minutes, and how long the young pods take to start.

    `missing_count` = asked for and not in service, now; `_peak` at most; `missing_count_usual` =
    the median at the usual moments. `short_ago_seconds` = since when all are in service, 0 while
    some are missing, None when none ever was. `waited_meanwhile_count` = the most requests that
    waited at a moment when some were missing. `asked_count`, `lost_count` and `from_zero_count`:
    see ReplicaHistory. `started_count` = pods created within the incident or never Ready;
    `starting_count` = of these, never Ready so far; `failing_count` = of these, with a start that
    fails (`failing_reason`). `slept` = an engine in sleep mode within the incident. The phase facts
    are of the pod that takes longest (`pod`, on `node`): `phase` took most of its start,
    `phase_now` goes on, None where the pod is Ready, or nobody can tell; `load_slowdown_ratio`
    compares its last phase, from started to Ready, with the median of the workload's own earlier
    starts.
    """

    desired_count: int | None = None
    in_service_count: int | None = None
    missing_count: int | None = None
    missing_count_usual: float | None = None
    missing_peak_count: int | None = None
    missing_seconds: float | None = None
    short_ago_seconds: float | None = None
    waited_meanwhile_count: float | None = None
    asked_count: int | None = None
    lost_count: int | None = None
    from_zero_count: int | None = None
    started_count: int | None = None
    starting_count: int | None = None
    failing_count: int | None = None
    failing_reason: str | None = None
    slept: bool | None = None
    pod: str | None = None
    node: str | None = None
    phase: str | None = None
    phase_now: str | None = None
    phase_seconds: float | None = None
    created_to_scheduled_seconds: float | None = None
    scheduled_to_started_seconds: float | None = None
    started_to_ready_seconds: float | None = None
    started_to_ready_seconds_usual: float | None = None
    load_slowdown_ratio: float | None = fact("times")
    starts: tuple[PodStart, ...] | None = None
    missing_count_series: Series | None = None
    missing_count_usual_series: Series | None = None


class ReplicasCollector:
    """`prometheus.replicas`: desired, in service, and the starts of young pods."""

    name = "prometheus.replicas"
    params = WorkloadParams
    facts = Replicas

    def collect(self, params: WorkloadParams) -> Reading[Replicas]:
        """Two rounds: ranges of the counts now and at the usual moments, then the pods' times."""
        wanted, served = desired(params), in_service(params)
        asked = [
            *(_range(promql) for promql in (wanted, served, asleep(params), waiting(params))),
            *(_range(f"({wanted}) - ({served})", ago) for ago in params.usual),
        ]
        ranges = yield from together(asked)
        pods = yield from named(questions(params))
        series = [_series(reply) for reply in ranges]
        counts = history_of(series[0], series[1], series[2], STEP_SECONDS)
        usual = [sample for one in series[4:] for sample in one or ()]
        facts = _facts(counts, tuple(usual) or None, starts_of(pods), _slept(ranges[2]))
        return replace(facts, waited_meanwhile_count=waited_meanwhile(counts, series[3]))


def _facts(
    counts: ReplicaHistory | None,
    usual: Series | None,
    starts: Starts,
    slept: bool | None,
) -> Replicas:
    slowest = starts.slowest or PodStart(pod="")
    young, failing = starts.young, starts.failing
    missing = counts.missing if counts else None
    wanted, short = last(counts.desired if counts else None), last(missing)
    return Replicas(
        desired_count=wanted,
        in_service_count=_in_service(wanted, short),
        missing_count=short,
        missing_count_usual=middle(sample.value for sample in usual or ()),
        missing_peak_count=peak(missing),
        missing_seconds=counts.missing_seconds if counts else None,
        short_ago_seconds=counts.short_ago_seconds if counts else None,
        asked_count=counts.asked_count if counts else None,
        lost_count=counts.lost_count if counts else None,
        from_zero_count=counts.from_zero_count if counts else None,
        started_count=starts.started_count,
        starting_count=starts.starting_count,
        failing_count=None if failing is None else len(failing),
        failing_reason=next(iter(failing.values()), None) if failing else None,
        slept=slept,
        pod=slowest.pod or None,
        node=slowest.node,
        phase=slowest.phase,
        phase_now=slowest.phase_now,
        phase_seconds=slowest.phase_seconds,
        created_to_scheduled_seconds=slowest.created_to_scheduled_seconds,
        scheduled_to_started_seconds=slowest.scheduled_to_started_seconds,
        started_to_ready_seconds=slowest.started_to_ready_seconds,
        started_to_ready_seconds_usual=starts.usual_load_seconds,
        load_slowdown_ratio=ratio(slowest.started_to_ready_seconds, starts.usual_load_seconds),
        starts=young or None,
        missing_count_series=missing,
        missing_count_usual_series=usual,
    )


def _in_service(wanted: int | None, short: int | None) -> int | None:
    """How many of the wanted replicas serve; a surge above them counts for nothing."""
    return None if wanted is None or short is None else max(wanted - short, 0)


def _range(promql: str, ago: float | None = None) -> RangeQuery:
    """The incident's 45 minutes, or ten minutes up to a usual moment."""
    if ago is None:
        return RangeQuery(promql=promql, start_ago=HISTORY_SECONDS, step=STEP_SECONDS)
    return RangeQuery(
        promql=promql, start_ago=ago + USUAL_SPAN_SECONDS, end_ago=ago, step=STEP_SECONDS
    )


def _series(reply: Ranges | Missing) -> Series | None:
    if isinstance(reply, Missing) or len(reply) != 1:
        return None
    return reply[0].samples


def _slept(reply: Ranges | Missing) -> bool | None:
    """Whether an engine slept at some moment; without sleep mode there is no such series."""
    if isinstance(reply, Missing):
        return False if reply.reason is Reason.EMPTY else None
    return any(sample.value > 0 for one in reply for sample in one.samples)
