"""CPU evidence from Prometheus: the quota of a container, and how busy its nodes are."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tailhound.flow import Reading, together
from tailhound.model.facts import Series, fact
from tailhound.requests import Query
from tailhound.requests.prometheus import matchers
from tailhound_collectors.reading import (
    ONSET_WINDOW,
    WINDOW,
    by,
    counted,
    history,
    ratio,
    usually,
)

_PER = "sum by (pod, container)"
Row = tuple[str, ...]
"""(pod, container)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerParams:
    """Which containers: those of `pods`; `container` is the one that serves ("" = all)."""

    namespace: str
    pods: tuple[str, ...]
    container: str = ""
    usual: tuple[float, ...] = (3600.0, 86400.0, 604800.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerRow:
    """One container of one pod."""

    pod: str
    container: str
    throttled_ratio: float | None = None
    lost_seconds_per_second: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerCpu:
    """How much CPU the serving container used, and how often its quota stopped it.

    The plain facts are those of the `container` and `pod` that lose the most time.
    `throttled_ratio` counts periods, not time: an idle burster can show 0.9 and lose nothing.
    `lost_seconds_per_second` adds up over run queues, so it may exceed 1 and is no share of the
    wall clock. `quota_counted` says whether the kernel counts periods at all: it does only while a
    quota is in force. `throttled_pods_count` are the pods that lose time by it, and
    `others_throttled_count` those beside `pod`.
    """

    pod: str | None = None
    container: str | None = None
    throttled_ratio: float | None = None
    throttled_ratio_usual: float | None = None
    lost_seconds_per_second: float | None = None
    used_cores: float | None = None
    limit_cores: float | None = None
    used_of_limit_ratio: float | None = None
    quota_counted: bool | None = None
    usage_counted: bool | None = None
    throttled_pods_count: int | None = None
    others_throttled_count: int | None = None
    pods_count: int | None = None
    containers: tuple[ContainerRow, ...] | None = None
    throttled_ratio_series: Series | None = None
    throttled_ratio_usual_series: Series | None = None


class ContainerCpuCollector:
    """`prometheus.container_cpu`: cAdvisor's CFS counters and CPU usage."""

    name = "prometheus.container_cpu"
    params = ContainerParams
    facts = ContainerCpu

    def collect(self, params: ContainerParams) -> Reading[ContainerCpu]:
        """Five questions about now, then the history of the worst pod."""
        here = matchers(
            'container!=""',
            'container!="POD"',
            namespace=params.namespace,
            pod=params.pods,
            container=params.container,
        )
        replies = yield from together(_questions(here, params))
        stopped, periods, lost, used, limits = (by(reply, "pod", "container") for reply in replies)
        rows = {row: _share(stopped.get(row), total) for row, total in periods.items()}
        worst = max(rows, key=lambda row: (lost.get(row, 0.0), rows[row] or 0.0), default=None)
        facts = ContainerCpu(
            quota_counted=counted(replies[1]),
            usage_counted=counted(replies[3]),
            pods_count=len({pod for pod, _ in used}) or None,
            containers=_rows(rows, lost) or None,
        )
        nobody_knows_which = len(rows) > 1 and not stopped and not lost
        if worst is None or nobody_knows_which:
            return facts
        return (yield from self._of(worst, facts, (rows, lost, used, limits), params))

    def _of(
        self,
        worst: Row,
        facts: ContainerCpu,
        numbers: tuple[Mapping[Row, float | None], ...],
        params: ContainerParams,
    ) -> Reading[ContainerCpu]:
        """The facts of the worst container, with its usual share and its history."""
        share, lost, used, limits = (values.get(worst) for values in numbers)
        containers = facts.containers or ()
        here = matchers(namespace=params.namespace, pod=worst[0], container=worst[1])
        now, usual = yield from usually(_throttled(here, WINDOW), params.usual)
        series, usual_series = yield from history(_throttled(here, ONSET_WINDOW), params.usual)
        return ContainerCpu(
            pod=worst[0],
            container=worst[1] or None,
            throttled_ratio=now if now is not None else share,
            throttled_ratio_usual=usual,
            lost_seconds_per_second=lost,
            used_cores=used,
            limit_cores=limits,
            used_of_limit_ratio=ratio(used, limits),
            quota_counted=facts.quota_counted,
            usage_counted=facts.usage_counted,
            throttled_pods_count=_held_up(containers),
            others_throttled_count=_held_up([row for row in containers if row.pod != worst[0]]),
            pods_count=facts.pods_count,
            containers=facts.containers,
            throttled_ratio_series=series,
            throttled_ratio_usual_series=usual_series,
        )


SUSPECT_SHARE = 0.10
"""A pod counts as throttled above a tenth of its periods, for "2 of 3 pods": document 003."""

IDLE_LOSS = 0.05
"""Seconds lost in each second up to which a pod is an idle burster, and none of those: our own
default, the one of the runbook.
"""


def _questions(here: str, params: ContainerParams) -> list[Query]:
    limited = matchers(
        'resource="cpu"',
        namespace=params.namespace,
        pod=params.pods,
        container=params.container,
    )
    counters = (
        "container_cpu_cfs_throttled_periods_total",
        "container_cpu_cfs_periods_total",
        "container_cpu_cfs_throttled_seconds_total",
        "container_cpu_usage_seconds_total",
    )
    asked = [Query(promql=f"{_PER} (rate({name}{here}[{WINDOW}]))") for name in counters]
    return [*asked, Query(promql=f"{_PER} (kube_pod_container_resource_limits{limited})")]


def _throttled(here: str, window: str) -> str:
    return (
        f"sum (rate(container_cpu_cfs_throttled_periods_total{here}[{window}]))"
        f" / sum (rate(container_cpu_cfs_periods_total{here}[{window}]))"
    )


def _share(stopped: float | None, total: float) -> float | None:
    """Stopped periods of all; 0 when nothing was runnable, for then nothing was stopped."""
    if stopped is None:
        return None
    if total == 0:
        return 0.0 if stopped == 0 else None
    return stopped / total


def _held_up(rows: Iterable[ContainerRow]) -> int | None:
    """How many pods are above the suspect share and lose time by it; None when some share was not
    measured.
    """
    pods = set()
    for row in rows:
        if row.throttled_ratio is None:
            return None
        lost = row.lost_seconds_per_second
        if row.throttled_ratio > SUSPECT_SHARE and (lost is None or lost > IDLE_LOSS):
            pods.add(row.pod)
    return len(pods)


def _rows(rows: dict[Row, float | None], lost: dict[Row, float]) -> tuple[ContainerRow, ...]:
    return tuple(
        ContainerRow(
            pod=row[0],
            container=row[1],
            throttled_ratio=share,
            lost_seconds_per_second=lost.get(row),
        )
        for row, share in sorted(rows.items())
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeParams:
    """Which nodes, by their Kubernetes names."""

    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCpu:
    """How busy the busiest of the nodes is. `node_pressure` is PSI "some", seconds per second."""

    node: str | None = None
    busy_ratio: float | None = None
    idle_ratio: float | None = None
    pressure: float | None = fact("seconds_per_second")


class NodeCpuCollector:
    """`prometheus.node_cpu`: node_exporter's CPU counters, joined by node name."""

    name = "prometheus.node_cpu"
    params = NodeParams
    facts = NodeCpu

    def collect(self, params: NodeParams) -> Reading[NodeCpu]:
        """Two questions; the busiest node's facts."""
        names = f"node_uname_info{matchers(nodename=params.nodes)}"
        join = f"* on (instance) group_left (nodename) {names}"
        idle = f'rate(node_cpu_seconds_total{{mode="idle"}}[{WINDOW}])'
        waiting = f"rate(node_pressure_cpu_waiting_seconds_total[{WINDOW}])"
        replies = yield from together(
            [
                Query(promql=f"1 - avg by (nodename) ({idle} {join})"),
                Query(promql=f"max by (nodename) ({waiting} {join})"),
            ]
        )
        busy = by(replies[0], "nodename")
        pressure = by(replies[1], "nodename")
        if not busy:
            return NodeCpu()
        worst = max(busy, key=lambda node: busy[node])
        return NodeCpu(
            node=worst[0],
            busy_ratio=busy[worst],
            idle_ratio=1.0 - busy[worst],
            pressure=pressure.get(worst),
        )
