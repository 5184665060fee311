"""What stands in front of a workload and counts its requests: the ingress, the mesh."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tailhound.flow import Reading
from tailhound.requests.prometheus import matchers
from tailhound_collectors.families import MILLISECOND, Timing, histogram
from tailhound_collectors.reading import WINDOW, now_of, side_by_side, usual_of
from tailhound_collectors.symptoms import SymptomRow, mean, row_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One place in front: its matchers, its counter of requests, the label that holds the status,
    and how long it waited for the workload.
    """

    source: str
    here: str
    requests: str
    status: str
    timings: tuple[Timing, ...]


_NGINX = (
    histogram("nginx_ingress_controller_response_duration_seconds"),
    histogram("nginx_ingress_controller_request_duration_seconds"),
)
"""Newest first: the wait for the upstream, else the whole request, slow clients included. The
values are seconds, though the help text of some versions says milliseconds."""


def edges_of(namespace: str, workload: str) -> tuple[Edge, ...]:
    """The edges that would count a workload: its Service has its name, as a rule.

    The ingress writes the namespace and the Service of the backend under "exported_" where the
    scrape does not honour its labels.
    """
    if not namespace or not workload:
        return ()
    ingress = [
        Edge(
            source="the ingress",
            here=matchers(**{f"{prefix}namespace": namespace, f"{prefix}service": workload}),
            requests="nginx_ingress_controller_requests",
            status="status",
            timings=_NGINX,
        )
        for prefix in ("exported_", "")
    ]
    mesh = Edge(
        source="the mesh",
        here=matchers(
            'reporter="destination"',
            destination_workload_namespace=namespace,
            destination_workload=workload,
        ),
        requests="istio_requests_total",
        status="response_code",
        timings=(histogram("istio_request_duration_milliseconds", MILLISECOND),),
    )
    return (*ingress, mesh)


def edge_symptoms(
    namespace: str, workload: str, usual: Sequence[float]
) -> Reading[tuple[SymptomRow, ...]]:
    """How long each edge that counts this workload waited for it."""
    rows = yield from side_by_side(_symptom(edge, usual) for edge in edges_of(namespace, workload))
    return tuple(row for row in rows if row.seconds is not None)


def _symptom(edge: Edge, usual: Sequence[float]) -> Reading[SymptomRow]:
    """Most sites don't have it: what is absent costs one question."""
    promql = mean(edge.timings, edge.here, WINDOW)
    row = SymptomRow(symptom="edge", title=f"request at {edge.source}")
    now = yield from now_of(promql)
    if now is None:
        return row
    flows: list[Reading[Any]] = [
        usual_of(promql, usual),
        row_of(replace(row, seconds=now), edge.timings, edge.here, usual),
    ]
    before, whole = yield from side_by_side(flows)
    told: SymptomRow = replace(whole, usual_seconds=before)
    return told
