"""PromQL for the starts of pods: ages of each phase, readiness, what containers wait for."""

from tailhound.requests.prometheus import matchers
from tailhound_collectors.reading import HISTORY_SECONDS
from tailhound_collectors.workload_names import WorkloadParams, past_pod_matcher, pod_matcher

EVER = "3h"
"""How far back a pod is looked at for having been Ready before: our own default."""


def questions(params: WorkloadParams) -> dict[str, str]:
    """The questions about the pods, by the names that `starts_of` reads them by."""
    here = matchers(pod_matcher(params), namespace=params.namespace)
    true = matchers('condition="true"', pod_matcher(params), namespace=params.namespace)
    serving = matchers(pod_matcher(params), namespace=params.namespace, container=params.container)
    same = f" and on (pod, uid) kube_pod_created{here}"  # a StatefulSet gives a name again
    window = f"{HISTORY_SECONDS:g}s"
    begun = ("kube_pod_created", "kube_pod_start_time", "kube_pod_status_scheduled_time")
    ages = {
        "created": " or ".join(f"max by (pod) ({name}{here})" for name in begun),
        "scheduled": f"kube_pod_status_scheduled_time{here}",
        "started": f"kube_pod_container_state_started{serving}",
        "ready_ago": f"(min_over_time(kube_pod_status_ready_time{here}[{EVER}]){same})",
    }
    reasons = "container_status_waiting_reason"
    return {
        **{name: f"time() - max by (pod) ({series})" for name, series in ages.items()},
        "ready": f"max by (pod) (kube_pod_status_ready{true})",
        "ever": f"max by (pod) (max_over_time(kube_pod_status_ready{true}[{EVER}]){same})",
        "waiting": f"max by (pod, reason) (kube_pod_{reasons}{here} > 0)",
        "init_waiting": f"max by (pod, reason) (kube_pod_init_{reasons}{here} > 0)",
        "restarts": "max by (pod) "
        f"(increase(kube_pod_container_status_restarts_total{serving}[{window}]))",
        "places": f"group by (pod, node) (kube_pod_info{here})",
        **_told(params.namespace),
        **_usually(params),
    }


def _told(namespace: str) -> dict[str, str]:
    """Whether such series exist at all: an exporter may be set to leave some of them out."""
    true = matchers('condition="true"', namespace=namespace)
    here = matchers(namespace=namespace)
    return {
        "readiness_told": f"group (kube_pod_status_ready{true})",
        "starts_told": f"group (kube_pod_container_state_started{here})",
    }


def _usually(params: WorkloadParams) -> dict[str, str]:
    """The loads of the workload's pods over a week: how long they took, and how long ago.

    The first start and the first ready time that were seen; hourly looks, so that a week is cheap.
    """
    match = past_pod_matcher(params)
    here = matchers(match, namespace=params.namespace)
    serving = matchers(match, namespace=params.namespace, container=params.container)
    started = f"min_over_time((max by (pod) (kube_pod_container_state_started{serving}))[7d:1h])"
    ready = f"min_over_time((max by (pod) (kube_pod_status_ready_time{here}))[7d:1h])"
    return {"loads": f"{ready} - {started}", "load_ages": f"time() - {started}"}
