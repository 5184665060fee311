"""Who waits for capacity: requests in queues, and what takes longer in front of the engines.

Asked by the series that exist: the queue gauges of all engines, of the router's pool, and of
Knative's activator, which holds requests while a revision has no pod.
"""

from dataclasses import dataclass

from tailhound.flow import Reading
from tailhound.model.facts import fact
from tailhound.requests.prometheus import matchers
from tailhound_collectors.reading import WINDOW, ratio, usually
from tailhound_collectors.workload_names import WorkloadParams, past_pod_matcher, revision_matcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Requests that wait, and the mean time that requests take as seen in front of the engines.

    `waiting_count` is the mean over five minutes of all queues together. `edge_ratio` compares the
    edge's mean with its usual one.
    """

    waiting_count: float | None = None
    waiting_count_usual: float | None = None
    edge_seconds: float | None = None
    edge_seconds_usual: float | None = None
    edge_ratio: float | None = fact("times")


class DemandCollector:
    """`prometheus.demand`: waiting requests, and latency at the edge."""

    name = "prometheus.demand"
    params = WorkloadParams
    facts = Demand

    def collect(self, params: WorkloadParams) -> Reading[Demand]:
        """Two questions, each now and at the usual moments."""
        queued, queued_usual = yield from usually(waiting(params, WINDOW), params.usual)
        edge, edge_usual = yield from usually(_edge(params), params.usual)
        return Demand(
            waiting_count=queued,
            waiting_count_usual=queued_usual,
            edge_seconds=edge,
            edge_seconds_usual=edge_usual,
            edge_ratio=ratio(edge, edge_usual),
        )


def waiting(params: WorkloadParams, window: str = "") -> str:
    """The queues of the engines, else of the activator; the first that exist.

    With a window its mean, else what they are at one moment.
    """
    here = matchers(past_pod_matcher(params), namespace=params.namespace)
    whole = matchers('priority=""', past_pod_matcher(params), namespace=params.namespace)
    prefix = params.metric_prefix or "vllm:"
    gauges = (
        f"{prefix}num_requests_waiting{here}",
        f"ray_vllm_num_requests_waiting{here}",
        f"sglang:num_queue_reqs{whole}",
        f"tgi_queue_size{here}",
        f"nv_inference_pending_request_count{here}",
        f"ray_serve_deployment_queued_queries{here}",
    )
    old, new = _revision(params)
    activator = (f"activator_request_concurrency{old}", f"kn_revision_request_concurrency{new}")
    series = (*gauges, *activator)
    if window:
        return " or ".join(f"sum (avg_over_time({gauge}[{window}]))" for gauge in series)
    return " or ".join(f"sum ({gauge})" for gauge in series)


def _edge(params: WorkloadParams) -> str:
    """Mean seconds in front of the engines: Knative's activator, the mesh, the ingress."""
    old, new = _revision(params)
    name = params.workload or params.knative_service or "^$none"
    mesh = matchers(
        'reporter="source"',
        destination_workload_namespace=params.namespace,
        destination_workload=name,
    )
    ways = [
        _mean("activator_request_latencies", old, 1e-3),
        _mean("kn_serving_invocation_duration_seconds", new, 1.0),
        _mean("istio_request_duration_milliseconds", mesh, 1e-3),
    ]
    for labels in (
        matchers(exported_namespace=params.namespace, exported_service=name),
        matchers(namespace=params.namespace, service=name),
    ):
        ways.append(_mean("nginx_ingress_controller_response_duration_seconds", labels, 1.0))
    return " or ".join(ways)


def _mean(name: str, here: str, unit: float) -> str:
    total, count = (f"sum (rate({name}_{part}{here}[{WINDOW}]))" for part in ("sum", "count"))
    return f"({unit:g} * {total} / ({count} > 0))"


def _revision(params: WorkloadParams) -> tuple[str, str]:
    """Matchers for Knative's series, in the spelling up to 1.18 and in the one from 1.19 on."""
    known = revision_matcher(params)
    return (
        matchers(known, namespace_name=params.namespace),
        matchers(known, k8s_namespace_name=params.namespace),
    )
