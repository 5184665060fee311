"""Who keeps the API servers busy: the flow that grew, the resource that is listed, who is new."""

from collections.abc import Mapping
from dataclasses import dataclass

from tailhound.model import Missing, Reason
from tailhound.requests.prometheus import matchers
from tailhound_collectors.now_and_usual import Asked, Row
from tailhound_collectors.reading import WINDOW

NEW = "30m"
"""A DaemonSet that kube-state-metrics did not know this long ago is new: our own default."""

SUSPECTS_AT_MOST = 3
_FLOW = ("flow_schema", "priority_level")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """Requests by what flow control calls a flow: `flow` is the one that grew most, a schema.

    `resource` is the one of which the most objects are read to answer LISTs. `suspect` is a
    DaemonSet that is new or a CronJob that runs: a place to look, no proof.
    """

    requests_per_second: float | None = None
    requests_per_second_usual: float | None = None
    flow: str | None = None
    flow_per_second: float | None = None
    flow_per_second_usual: float | None = None
    resource: str | None = None
    resource_per_second: float | None = None
    suspect: str | None = None
    suspects_count: int | None = None


def client_questions(
    servers: Mapping[str, str | tuple[str, ...]], cluster: Mapping[str, tuple[str, ...]]
) -> tuple[dict[str, str], dict[str, str]]:
    """What is compared with usual, and what is not. Requests that were turned away count too."""
    here = matchers(**servers)
    flows = " or ".join(
        f"label_replace(sum by (flow_schema, priority_level) (rate({name}{here}[{WINDOW}])),"
        f" 'kind', '{kind}', '', '')"
        for kind, name in (
            ("done", "apiserver_flowcontrol_dispatched_requests_total"),
            ("refused", "apiserver_flowcontrol_rejected_requests_total"),
        )
    )
    fetched = f"apiserver_storage_list_fetched_objects_total{here}"
    return (
        {"flows": f"sum by (flow_schema, priority_level) ({flows})"},
        {
            "fetched": f"topk(1, sum by (resource) (rate({fetched}[{WINDOW}])))",
            "daemonsets": _new_daemonsets(matchers(**cluster), cluster),
            "cronjobs": _running_cronjobs(matchers(**cluster), cluster),
        },
    )


def _new_daemonsets(here: str, cluster: Mapping[str, tuple[str, ...]]) -> str:
    """Those that were not there a while ago, though kube-state-metrics was."""
    wanted = f"kube_daemonset_status_desired_number_scheduled{here}"
    per = "by (namespace, daemonset)"
    ready = matchers('condition="Ready"', 'status="true"', **cluster)
    watched = f"count (kube_node_status_condition{ready} offset {NEW}) > 0"
    return (
        f"(max {per} ({wanted}) > 0"
        f" unless on (namespace, daemonset) group {per} ({wanted} offset {NEW}))"
        f" and on () ({watched})"
    )


def _running_cronjobs(here: str, cluster: Mapping[str, tuple[str, ...]]) -> str:
    scheduled = matchers('owner_kind="CronJob"', **cluster)
    return (
        f"max by (namespace, owner_name) ((max by (namespace, job_name)"
        f" (kube_job_status_active{here}) > 0) * on (namespace, job_name) group_left (owner_name)"
        f" max by (namespace, job_name, owner_name) (kube_job_owner{scheduled}))"
    )


def clients_of(found: Mapping[str, Asked]) -> Clients:
    """The answers, put together."""
    flows, usually = found["flows"].by(*_FLOW), found["flows"].usually_by(*_FLOW)
    flow = max(flows, key=lambda row: flows[row] - usually.get(row, 0.0), default=None)
    fetched = found["fetched"].by("resource")
    resource = next(iter(fetched), None)
    daemonsets = _named("DaemonSet", found["daemonsets"].by("namespace", "daemonset"))
    cronjobs = _named("CronJob", found["cronjobs"].by("namespace", "owner_name"))
    suspects = (daemonsets if len(daemonsets) <= SUSPECTS_AT_MOST else []) + cronjobs
    answered = _answered(found["daemonsets"]) and _answered(found["cronjobs"])
    return Clients(
        requests_per_second=sum(flows.values()) if flows else None,
        requests_per_second_usual=sum(usually.values()) if usually else None,
        flow=flow[0] if flow else None,
        flow_per_second=flows[flow] if flow else None,
        flow_per_second_usual=usually.get(flow) if flow else None,
        resource=resource[0] if resource else None,
        resource_per_second=fetched[resource] if resource else None,
        suspect=suspects[0] if suspects else None,
        suspects_count=len(suspects) if answered else None,
    )


def _named(kind: str, rows: Mapping[Row, float]) -> list[str]:
    return [f"{kind} {namespace}/{name}" for namespace, name in sorted(rows)]


def _answered(asked: Asked) -> bool:
    return not isinstance(asked.now, Missing) or asked.now.reason is Reason.EMPTY
