"""Evidence about the Kubernetes API servers, from Prometheus alone: nothing here asks them.

Requests are told apart by who waits for them. A LIST belongs to some client; the writes of leases
are the heartbeats of nodes and the leader elections, which everything else depends on. Flow control
queues them by priority level, so one level's long waits say nothing about another's.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from tailhound.flow import Reading, read
from tailhound.requests import Query
from tailhound.requests.prometheus import matchers
from tailhound_collectors.apiserver_clients import Clients, client_questions, clients_of
from tailhound_collectors.apiserver_facts import Apiserver, ApiserverParams, LevelRow
from tailhound_collectors.now_and_usual import Asked, in_cluster, now_and_usual
from tailhound_collectors.reading import ONSET_WINDOW, WINDOW, by, history, ratio

CRITICAL = ("system", "node-high", "leader-election", "workload-high")
"""Priority levels of Kubernetes' own defaults that nodes and controllers depend on: pod status,
heartbeats, elections, and what the controllers in kube-system ask."""

_LIST = ('verb="LIST"', 'group=""', 'resource="pods"', 'subresource=""')
"""LIST of pods by the API servers themselves: metrics-server lists pods too, in another group."""

_LEASES = ('group="coordination.k8s.io"', 'resource="leases"')
_SERVED = "apiserver_request_duration_seconds"
_WAITED = "apiserver_flowcontrol_request_wait_duration_seconds"
Matched = dict[str, str | tuple[str, ...]]


class ApiserverCollector:
    """`prometheus.apiserver`: latency, waits, rejections and clients of the API servers."""

    name = "prometheus.apiserver"
    params = ApiserverParams
    facts = Apiserver

    def collect(self, params: ApiserverParams) -> Reading[Apiserver]:
        """Which jobs are API servers; everything about now; the history of what grew most."""
        there = yield from read(Query(promql=_who(params.cluster)))
        servers = by(there, "cluster", "job")
        clusters = {cluster for cluster, _ in servers}
        if len(clusters) > 1 and not params.cluster:
            return Apiserver(clusters_count=len(clusters))
        here: Matched = {**in_cluster(params.cluster)}
        if named := {job for _, job in servers} - {""}:
            here["job"] = tuple(sorted(named))
        compared, plain = _questions(here)
        clients, jobs = client_questions(here, in_cluster(params.cluster))
        found = yield from now_and_usual(compared | clients, plain | jobs, params.usual)
        facts = _with_clients(
            replace(_served(found), clusters_count=len(clusters) or None), clients_of(found)
        )
        return (yield from _with_history(_flow(facts, found), here, params))


def _who(cluster: str) -> str:
    """Only the API servers of Kubernetes serve leases; an aggregated one has the other series."""
    leases = f"{_SERVED}_count{matchers(*_LEASES, **in_cluster(cluster))}"
    return f"count by (cluster, job) (last_over_time({leases}[30m]))"


def _p99(name: str, here: str, window: str, *labels: str) -> str:
    per = ", ".join(("le", *labels))
    return f"histogram_quantile(0.99, sum by ({per}) (rate({name}_bucket{here}[{window}])))"


def _questions(here: Matched) -> tuple[dict[str, str], dict[str, str]]:
    """What is compared with usual, and what is not."""
    lists, every = matchers(*_LIST, **here), matchers(**here)
    rejected = f"apiserver_flowcontrol_rejected_requests_total{every}"
    overload = matchers('code=~"429|504"', **here)
    ended = f"apiserver_request_terminations_total{overload}"
    etcd = "etcd_request_duration_seconds"
    compared = {
        "list": _p99(_SERVED, lists, WINDOW, "scope"),
        "heartbeat": _heartbeats(here, WINDOW),
        "wait": _p99(_WAITED, every, WINDOW, "priority_level"),
        "inflight": f"sum (apiserver_current_inflight_requests{every})",
        "etcd": f"sum (rate({etcd}_sum{every}[{WINDOW}]))"
        f" / sum (rate({etcd}_count{every}[{WINDOW}]))",
    }
    plain = {
        "bounds": f"sum by (le) (rate({_SERVED}_bucket{lists}[{WINDOW}]))",
        "rejected": f"sum by (priority_level) (rate({rejected}[{WINDOW}]))",
        "terminated": f"sum (rate({ended}[{WINDOW}]))",
    }
    if "job" in here:
        plain["servers"] = f"count_values('up', up{every})"
    return compared, plain


def _heartbeats(here: Matched, window: str) -> str:
    writes = matchers('verb=~"PUT|PATCH"', *_LEASES, **here)
    return _p99(_SERVED, writes, window)


def _bound(le: str) -> float | None:
    """The bound of a bucket; None for a label that is none."""
    try:
        bound = float(le)
    except ValueError:
        return None
    return None if bound != bound else bound  # noqa: PLR0124 - NaN is no bound


def _served(found: Mapping[str, Asked]) -> Apiserver:
    """LISTs, heartbeats, and the servers themselves."""
    scopes, usually = found["list"].by("scope"), found["list"].usually_by("scope")
    within = {
        bound: rate
        for (le,), rate in found["bounds"].by("le").items()
        if (bound := _bound(le)) is not None
    }
    total = within.pop(float("inf"), None)
    top = max(within, default=None)
    p99s = [scopes[row] for row in (("namespace",), ("cluster",)) if row in scopes]
    servers = found["servers"].by("up") if "servers" in found else {}
    return Apiserver(
        list_namespace_seconds=scopes.get(("namespace",)),
        list_namespace_seconds_usual=usually.get(("namespace",)),
        list_cluster_seconds=scopes.get(("cluster",)),
        list_cluster_seconds_usual=usually.get(("cluster",)),
        list_clipped=None if top is None or not p99s else max(p99s) >= top,
        list_beyond_ratio=1 - within[top] / total if top is not None and total else None,
        lists_per_second=total,
        heartbeat_seconds=found["heartbeat"].value,
        heartbeat_seconds_usual=found["heartbeat"].usual,
        inflight_count=found["inflight"].value,
        inflight_count_usual=found["inflight"].usual,
        terminated_per_second=found["terminated"].value,
        etcd_seconds=found["etcd"].value,
        etcd_seconds_usual=found["etcd"].usual,
        servers_up_count=servers.get(("1",), 0.0) if servers else None,
        servers_down_count=servers.get(("0",), 0.0) if servers else None,
    )


def _flow(facts: Apiserver, found: Mapping[str, Asked]) -> Apiserver:
    """What flow control made requests wait, and whom it turned away, by priority level."""
    waits, usually = found["wait"].by("priority_level"), found["wait"].usually_by("priority_level")
    rejected = found["rejected"].by("priority_level")
    rows = [
        LevelRow(
            level=level[0],
            wait_seconds=waits.get(level),
            wait_seconds_usual=usually.get(level),
            rejected_per_second=rejected.get(level),
        )
        for level in sorted({*waits, *rejected})
    ]
    worst = _longest([row for row in rows if row.level in CRITICAL])
    other = _longest([row for row in rows if row.level not in CRITICAL])
    turned = [rejected[row] for row in rejected if row[0] in CRITICAL]
    return replace(
        facts,
        levels=tuple(rows) or None,
        critical_level=worst.level if worst else None,
        critical_wait_seconds=worst.wait_seconds if worst else None,
        critical_wait_seconds_usual=worst.wait_seconds_usual if worst else None,
        other_level=other.level if other else None,
        other_wait_seconds=other.wait_seconds if other else None,
        other_wait_seconds_usual=other.wait_seconds_usual if other else None,
        critical_rejected_per_second=sum(turned) if turned else None,
        rejected_per_second=sum(rejected.values()) if rejected else None,
    )


def _longest(rows: list[LevelRow]) -> LevelRow | None:
    waiting = [(row.wait_seconds, row) for row in rows if row.wait_seconds is not None]
    return max(waiting, key=lambda pair: pair[0])[1] if waiting else None


def _with_clients(facts: Apiserver, clients: Clients) -> Apiserver:
    return replace(
        facts,
        requests_per_second=clients.requests_per_second,
        requests_per_second_usual=clients.requests_per_second_usual,
        requests_ratio=ratio(clients.requests_per_second, clients.requests_per_second_usual),
        heavy_flow=clients.flow,
        heavy_flow_per_second=clients.flow_per_second,
        heavy_flow_per_second_usual=clients.flow_per_second_usual,
        heavy_flow_ratio=ratio(clients.flow_per_second, clients.flow_per_second_usual),
        heavy_resource=clients.resource,
        heavy_resource_per_second=clients.resource_per_second,
        suspect=clients.suspect,
        suspects_count=clients.suspects_count,
    )


QUICK_SECONDS = 0.05
"""Below this a latency is the width of a bucket: growth is counted from here. Our own default."""


class _Grown(NamedTuple):
    """One latency as a candidate for the mechanism; `query` gives its series."""

    title: str
    now: float | None
    usual: float | None
    query: str


def _with_history(facts: Apiserver, here: Matched, params: ApiserverParams) -> Reading[Apiserver]:
    """The latency that grew most in proportion, and when."""
    measured = [grown for grown in _candidates(facts, here) if grown.now is not None]
    if not measured:
        return facts
    grown = max(measured, key=_growth)
    series, usual_series = yield from history(grown.query, params.usual)
    return replace(
        facts,
        mechanism=grown.title,
        mechanism_seconds=grown.now,
        mechanism_seconds_usual=grown.usual,
        mechanism_seconds_series=series,
        mechanism_seconds_usual_series=usual_series,
    )


def _growth(grown: _Grown) -> float:
    if grown.now is None or grown.usual is None:
        return 0.0
    return grown.now / max(grown.usual, QUICK_SECONDS)


def _candidates(facts: Apiserver, here: Matched) -> list[_Grown]:
    """Heartbeats first: where nothing has a usual value, theirs is the history to show."""

    def listed(scope: str, now: float | None, usual: float | None) -> _Grown:
        chosen = matchers(*_LIST, scope=scope, **here)
        return _Grown(
            f"LIST of pods, {scope} scope", now, usual, _p99(_SERVED, chosen, ONSET_WINDOW)
        )

    level = facts.critical_level or ""
    waits = _p99(_WAITED, matchers(priority_level=level, **here), ONSET_WINDOW)
    return [
        _Grown(
            "writes of heartbeats",
            facts.heartbeat_seconds,
            facts.heartbeat_seconds_usual,
            _heartbeats(here, ONSET_WINDOW),
        ),
        listed("namespace", facts.list_namespace_seconds, facts.list_namespace_seconds_usual),
        listed("cluster", facts.list_cluster_seconds, facts.list_cluster_seconds_usual),
        _Grown(
            f"waits of {level} requests",
            facts.critical_wait_seconds,
            facts.critical_wait_seconds_usual,
            waits,
        ),
    ]
