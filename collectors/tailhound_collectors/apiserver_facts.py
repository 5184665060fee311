"""What is told about the Kubernetes API servers."""

from dataclasses import dataclass

from tailhound.model.facts import Series, fact


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiserverParams:
    """Which cluster ("" = the only one of this Prometheus)."""

    cluster: str = ""
    usual: tuple[float, ...] = (3600.0, 86400.0, 604800.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelRow:
    """One priority level of flow control. `wait_seconds` is a p99."""

    level: str
    wait_seconds: float | None = None
    wait_seconds_usual: float | None = None
    rejected_per_second: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Apiserver:
    """How long the API servers take, for whom, and who keeps them busy.

    All `_seconds` are p99 except `etcd_seconds`, which is a mean. `list_clipped`: a LIST's p99 sits
    at the histogram's last finite bound (60 s, which is the request timeout too) and means at least
    that; `list_beyond_ratio` is the share of LISTs beyond that bound. `heartbeat_seconds` are
    writes of leases: heartbeats of nodes, and elections. `critical_*` is the worst of the levels
    that nodes and controllers depend on, `other_*` the worst of the rest. `mechanism_seconds` is
    whichever of these grew most, with its history. When the series are those of several clusters
    and the incident names none, only `clusters_count` is told.
    """

    clusters_count: int | None = None
    list_namespace_seconds: float | None = None
    list_namespace_seconds_usual: float | None = None
    list_cluster_seconds: float | None = None
    list_cluster_seconds_usual: float | None = None
    list_clipped: bool | None = None
    list_beyond_ratio: float | None = None
    lists_per_second: float | None = None
    heartbeat_seconds: float | None = None
    heartbeat_seconds_usual: float | None = None
    critical_level: str | None = None
    critical_wait_seconds: float | None = None
    critical_wait_seconds_usual: float | None = None
    other_level: str | None = None
    other_wait_seconds: float | None = None
    other_wait_seconds_usual: float | None = None
    levels: tuple[LevelRow, ...] | None = None
    critical_rejected_per_second: float | None = None
    rejected_per_second: float | None = None
    terminated_per_second: float | None = None
    inflight_count: float | None = None
    inflight_count_usual: float | None = None
    requests_per_second: float | None = None
    requests_per_second_usual: float | None = None
    requests_ratio: float | None = fact("times")
    heavy_flow: str | None = None
    heavy_flow_per_second: float | None = None
    heavy_flow_per_second_usual: float | None = None
    heavy_flow_ratio: float | None = fact("times")
    heavy_resource: str | None = None
    heavy_resource_per_second: float | None = None
    suspect: str | None = None
    suspects_count: int | None = None
    etcd_seconds: float | None = None
    etcd_seconds_usual: float | None = None
    servers_up_count: float | None = None
    servers_down_count: float | None = None
    mechanism: str | None = None
    mechanism_seconds: float | None = None
    mechanism_seconds_usual: float | None = None
    mechanism_seconds_series: Series | None = None
    mechanism_seconds_usual_series: Series | None = None
