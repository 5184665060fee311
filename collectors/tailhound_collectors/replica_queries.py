"""PromQL for replica counts: wanted, in service, asleep.

A replica is in service when it is Ready and its engine is awake. Deployments and StatefulSets are
counted by their own numbers (that covers what LeaderWorkerSets, InferenceServices and Knative
revisions are made of), Knative revisions else by Knative's, and pods without such an owner by
themselves. A way that would count only a part of them gives no number.
"""

from tailhound.requests.prometheus import matchers, quoted
from tailhound_collectors.workload_names import (
    WorkloadParams,
    pod_matcher,
    revision_matcher,
    workload_regex,
)

UNKNOWN = "-1e9"
"""What is not known counts in a sum as so many that it falls below zero, where it is no number: not
every backend keeps a NaN in a sum."""


def desired(params: WorkloadParams) -> str:
    """How many replicas are wanted."""
    here = matchers(pod_matcher(params), namespace=params.namespace)
    pods = ("kube_pod_info", "kube_pod_created", "kube_pod_status_ready")
    there = " or ".join(f"group by (pod) ({name}{here})" for name in pods)
    return " or ".join(
        [
            f"sum ({_wanted(params)})",
            *_knative(params, ("autoscaler_desired_pods", "kn_revision_pods_desired")),
            f"count ({there})",
        ]
    )


def in_service(params: WorkloadParams) -> str:
    """How many of them are in service. StatefulSets of old clusters count none as available."""
    deployments, sets = _owned(params)
    counted_by = (
        f"max by (deployment) (kube_deployment_status_replicas_available{deployments})",
        f"max by (deployment) (kube_deployment_status_replicas_ready{deployments})",
        f"max by (statefulset) (kube_statefulset_status_replicas_ready{sets})",
        f"max by (statefulset) (kube_statefulset_status_replicas_available{sets})",
    )
    served = " or ".join(counted_by)
    return " or ".join(
        [
            f"sum ({served} or {UNKNOWN} * (1 + ({_wanted(params)}))) >= 0",
            *_knative(params, ("autoscaler_actual_pods", "kn_revision_pods_count")),
            _ready_pods(params),
        ]
    )


def _wanted(params: WorkloadParams) -> str:
    """The wanted replicas of each Deployment and StatefulSet."""
    deployments, sets = _owned(params)
    return (
        f"max by (deployment) (kube_deployment_spec_replicas{deployments})"
        f" or max by (statefulset) (kube_statefulset_replicas{sets})"
    )


def _ready_pods(params: WorkloadParams) -> str:
    """Ready pods; no number where nobody tells the readiness of a pod with a node.

    A pod without a node has no Ready condition yet, so that it has no such series. Without a series
    a pod counts as not ready where it has no node, or where others of its namespace have one.
    """
    here = matchers(pod_matcher(params), namespace=params.namespace)
    true = matchers('condition="true"', pod_matcher(params), namespace=params.namespace)
    placed = matchers('node!=""', pod_matcher(params), namespace=params.namespace)
    told = matchers('condition="true"', namespace=params.namespace)
    untold = f"(1 - scalar (group (kube_pod_status_ready{told}) or vector (0)))"
    ways = (
        f"max by (pod) (kube_pod_status_ready{true})",
        f"{UNKNOWN} * {untold} * group by (pod) (kube_pod_info{placed})",
        f"0 * group by (pod) (kube_pod_info{here})",
        f"{UNKNOWN} * {untold} * group by (pod) (kube_pod_created{here})",
    )
    return f"sum ({' or '.join(ways)}) >= 0"


def _owned(params: WorkloadParams) -> tuple[str, str]:
    """The matchers of the workload's Deployments and StatefulSets."""
    names = quoted(workload_regex(params) or "^$none")
    kind = params.workload_kind
    none = quoted("^$none")
    deployment = none if kind == "statefulset" else names
    stateful = none if kind == "deployment" else names
    return (
        matchers(f"deployment=~{deployment}", namespace=params.namespace),
        matchers(f"statefulset=~{stateful}", namespace=params.namespace),
    )


def _knative(params: WorkloadParams, names: tuple[str, str]) -> list[str]:
    """Knative's own counts, in the spelling up to 1.18 and in the one from 1.19 on."""
    old, new = names
    here = matchers(revision_matcher(params), namespace_name=params.namespace)
    later = matchers(revision_matcher(params), k8s_namespace_name=params.namespace)
    return [f"sum (max by (revision_name) ({name}))" for name in (old + here, new + later)]


def asleep(params: WorkloadParams) -> str:
    """How many pods have an engine in sleep mode: Ready, but without its weights on the GPU."""
    prefix = params.metric_prefix or "vllm:"
    here = matchers('sleep_state="awake"', pod_matcher(params), namespace=params.namespace)
    return f"sum ((max by (pod) ({prefix}engine_sleep_state{here})) == bool 0)"
