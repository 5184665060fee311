"""Values of facts as people say them: `28 s for a heartbeat`, `none failing`, `x12 its usual time`.

A fact's name is for rules. Where several values stand side by side, or a number alone does not
tell of what it is, the phrase does. `{}` is the value; "none" stands for an amount of zero, and
"no" where a noun follows it (`{} slow drive(s)`). A fact without a phrase is told by its name, as
are all facts of evidence that a runbook defines itself.
"""

from collections.abc import Mapping
from typing import Final

from tailhound.model.names import fact_name
from tailhound.model.verdict import Seen
from tailhound.model.wording import number, share

SHARE_BELOW: Final = 0.9
"""Times below which a value is told as a share of the usual one: `64 % of the usual traffic`."""

_AMOUNTS: Final = frozenset({"count", "per_second"})
_TOLD: Final = _AMOUNTS | {"times", "none"}
_COMPARED: Final = ("the usual ", "its usual ", "their usual ")

PHRASES: Final[Mapping[str, Mapping[str, str]]] = {
    "prometheus.apiserver": {
        "list_cluster_seconds": "{} to LIST the cluster's pods",
        "list_namespace_seconds": "{} to LIST a namespace's pods",
        "heartbeat_seconds": "{} for a heartbeat",
        "critical_wait_seconds": "{} in the queue",
        "heavy_flow_ratio": "{} its usual requests",
    },
    "prometheus.control_plane_effects": {
        "late_nodes_count": "{} of the living nodes lost",
        "own_late_nodes_count": "{} of its own nodes lost",
        "unready_pods_count": "{} of its pods not ready",
        "leaving_pods_count": "{} of its pods leaving",
        "probe_failures_count": "{} failed probe(s)",
    },
    "kubernetes.node_heartbeats": {
        "freshest_seconds": "the freshest {} old",
    },
    "prometheus.batching": {
        "wait_seconds": "{} of waiting",
        "wait_ratio": "{} its usual wait",
        "wait_share_ratio": "{} of its time",
        "turn_seconds": "{} for a free instance",
        "load_swing_ratio": "the load swings by {}",
        "reaction_ratio": "{} the wait at more load",
        "average_batch_count": "{} in a batch",
        "pending_count": "{} waiting",
        "busy_count": "{} busy on average",
    },
    "kubernetes.batching_config": {
        "window_seconds": "a window of {}",
        "max_batch_count": "at most {}",
        "window_batch_count": "{} within a window",
        "instances_count": "{} instance(s)",
    },
    "prometheus.replicas": {
        "missing_seconds": "missing for {}",
        "missing_count": "{} missing",
        "missing_count_usual": "usually {} missing",
        "missing_peak_count": "{} missing at most",
        "short_ago_seconds": "all in service for {}",
        "waited_meanwhile_count": "{} waited meanwhile",
        "from_zero_count": "{} start(s) from zero",
        "asked_count": "{} asked for",
        "started_count": "{} started",
        "failing_count": "{} failing",
        "lost_count": "{} taken away",
        "in_service_count": "{} in service",
        "load_slowdown_ratio": "{} its usual time to load",
    },
    "prometheus.autoscaler": {
        "asked_count": "{} asked for",
    },
    "kubernetes.rollout": {
        "starting_count": "{} starting",
        "failing_count": "{} failing",
    },
    "prometheus.demand": {
        "waiting_count": "{} waiting",
        "edge_ratio": "{} its usual time at the edge",
    },
    "prometheus.engine": {
        "running_count": "{} running",
        "waiting_count": "{} waiting",
    },
    "prometheus.kv_cache": {
        "waiting_count": "{} waiting",
        "preemptions_per_request": "{} for each finished request",
        "preemptions_count": "{} preempted",
        "preemptions_per_second": "{} preempted",
        "usage_ratio": "{} full",
        "running_count": "{} running",
        "prompt_tokens": "{} a prompt on average",
        "output_tokens": "{} an answer on average",
        "prompt_times": "{} the usual length of prompts",
        "output_times": "{} the usual length of answers",
    },
    "prometheus.request_latency": {
        "slowdown_ratio": "{} its usual time",
        "error_ratio": "{} of requests fail",
        "cpu_stage_ratio": "{} its usual time",
    },
    "prometheus.container_cpu": {
        "throttled_ratio": "{} of periods",
        "lost_seconds_per_second": "loses {}",
    },
    "prometheus.node_agents": {
        "throttled_ratio": "{} of periods",
        "lost_seconds_per_second": "loses {}",
        "held_up_count": "{} workload(s) held up",
    },
    "prometheus.node_cpu": {
        "idle_ratio": "{} idle",
    },
    "kubernetes.engine_args": {
        "max_sequences_count": "{} may run",
    },
    "prometheus.rdma": {
        "lost_speed": "{} of the speed lost",
        "lossy_ratio": "losses in {} of the samples",
        "losses_times": "{} the usual losses",
        "burst_count": "{} lost at once",
        "errors_times": "{} the usual link errors",
        "cnp_times": "{} the usual congestion notices",
        "wait_times": "{} the usual waiting to send",
        "down_ports_count": "{} port(s) down",
        "traffic_times": "{} the usual traffic",
        "waiting_traffic_times": "{} the usual traffic",
        "traffic_bytes_per_second": "{} of traffic",
    },
    "ssh.rdma_ports": {
        "losses_count": "{} lost packet(s)",
    },
    "prometheus.pause_frames": {
        "held_times": "{} the usual pauses",
    },
    "prometheus.kv_transfer": {
        "per_byte_times": "{} the usual time for a byte",
        "slower_times": "{} the usual time for a transfer",
        "post_times": "{} the usual time to hand over",
        "failed_per_second": "{} failing",
    },
    "prometheus.disk_io": {
        "read_seconds_ratio": "{} the usual time to read",
        "write_seconds_ratio": "{} the usual time to write",
        "slow_seconds_ratio": "{} its usual time",
        "requests_ratio": "{} the usual requests",
        "bytes_ratio": "{} the usual data",
        "written_bytes_ratio": "{} the usual writes",
        "written_bytes_per_second": "{} written",
        "queue_ratio": "{} the usual queue",
        "queue_count": "{} in the queue",
        "slow_drives_count": "{} slow drive(s)",
        "filesystem_used_ratio": "{} full",
        "discards_count": "{} trim(s)",
        "temperature_limit_celsius": "its limit is {}",
        "trim_seconds_per_second": "{} of trimming",
        "sensor_read_seconds": "{} to read it",
    },
    "ssh.drive_health": {
        "filesystem_used_ratio": "{} full",
        "allocated_ratio": "{} allocated",
        "discards_count": "{} trim(s)",
        "rewritten_times": "written over {}",
        "warning_temperature_celsius": "it warns at {}",
        "throttle_growth_count": "{} slow-down(s) by heat",
        "kernel_faults_count": "{} fault(s)",
        "media_errors_growth_count": "{} new media error(s)",
    },
}
"""By the collector and its fact: elsewhere the same name may mean something else."""

ALONE: Final[Mapping[tuple[str, str], str]] = {
    ("prometheus.batching", "load_swing_ratio"): "the load swings by {}",
    ("prometheus.control_plane_effects", "late_nodes_count"): "{} of the living nodes lost",
    ("prometheus.control_plane_effects", "own_late_nodes_count"): "{} of its own nodes lost",
    ("prometheus.control_plane_effects", "unready_pods_count"): "{} of its pods not ready",
    ("kubernetes.node_heartbeats", "freshest_seconds"): "the freshest heartbeat is {} old",
    ("prometheus.replicas", "missing_seconds"): "replicas missing for {}",
    ("prometheus.replicas", "missing_count"): "{} replica(s) missing",
    ("prometheus.replicas", "short_ago_seconds"): "all replicas in service for {}",
    ("prometheus.replicas", "asked_count"): "{} replica(s) asked for",
    ("prometheus.replicas", "started_count"): "{} replica(s) started",
    ("prometheus.replicas", "lost_count"): "{} replica(s) taken away",
    ("prometheus.replicas", "load_slowdown_ratio"): "loading takes {} its usual time",
    ("kubernetes.rollout", "starting_count"): "{} pod(s) starting",
    ("prometheus.demand", "waiting_count"): "{} request(s) waiting",
    ("prometheus.request_latency", "cpu_stage_ratio"): "a stage on the CPU takes {} its usual time",
    ("prometheus.node_agents", "held_up_count"): "{} workload(s) can't start on its node",
    ("prometheus.rdma", "lost_speed"): "{} of the link's speed lost",
    ("prometheus.rdma", "lossy_ratio"): "losses in {} of the samples",
    ("prometheus.rdma", "burst_count"): "{} packet(s) lost at once",
    ("prometheus.rdma", "cnp_times"): "held up: {} the usual congestion notices",
    ("prometheus.rdma", "wait_times"): "held up: {} the usual waiting to send",
    ("prometheus.rdma", "traffic_bytes_per_second"): "{} of traffic",
    ("prometheus.pause_frames", "held_times"): "held up: {} the usual pauses",
    ("prometheus.kv_transfer", "per_byte_times"): "held up: {} the usual time for a byte",
    ("prometheus.disk_io", "queue_count"): "{} request(s) in its queue",
    ("prometheus.disk_io", "filesystem_used_ratio"): "its file system is {} full",
    ("ssh.drive_health", "filesystem_used_ratio"): "its file system is {} full",
    ("ssh.drive_health", "allocated_ratio"): "{} of the drive allocated",
}
"""What stands in place of a claim with an `or`, where its phrase would need that to be understood.
"""

CASES: Final = frozenset({("prometheus.node_agents", "held_up_count")})
"""Facts that tell which case a claim is looked at in: whether a node's agent is meant. They answer
only a claim that names it.
"""


def phrase(seen: Seen, value: float, *, named: bool) -> str:
    """A value with what it is of. `named` False: alone behind its claim, which says that; then only
    an amount, and a number beside its usual one, have words.
    """
    template = template_of(seen)
    if template and (named or seen.unit in _TOLD):
        return _filled(template, value, seen.unit)
    label = fact_name(seen.name) if named else ""
    if label:
        return f"{label} {number(value, seen.unit)}"
    return "none" if value == 0 and seen.unit == "count" else number(value, seen.unit)


def alone(seen: Seen, value: float) -> str:
    """A value in words that need no claim beside them; "" where a fact has none."""
    template = ALONE.get(own(seen), "")
    if not template:
        template = template_of(seen)
        is_whole = template.startswith("{} the usual ") or "(s)" in template
        template = template if is_whole else ""
    return _filled(template, value, seen.unit) if template else ""


def own(seen: Seen) -> tuple[str, str]:
    """A collector and its fact."""
    return seen.collector, seen.name.partition(".")[2]


def template_of(seen: Seen) -> str:
    """The words for a fact, with a hole for its value; "" where there are none."""
    return PHRASES.get(seen.collector, {}).get(seen.name.partition(".")[2], "")


def _filled(template: str, value: float, unit: str) -> str:
    if value == 0 and unit in _AMOUNTS:
        return template.replace("(s)", "s").format("no" if "(s)" in template else "none")
    if (
        unit == "times"
        and 0 <= value < SHARE_BELOW
        and template.startswith(tuple(f"{{}} {words}" for words in _COMPARED))
    ):
        return template.format(f"{share(value)} of")
    return template.replace("(s)", "" if value == 1 else "s").format(number(value, unit))
