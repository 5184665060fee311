"""From a subject to its pods, nodes and container."""

from typing import Any

import promql_parser
import pytest

from tailhound.diagnosis.resolve import PODS_AT_MOST, Resolved, resolve
from tailhound.diagnosis.resolved import blamed
from tailhound.flow import Read
from tailhound.model import Missing, Reason, Subject, SubjectKind
from tailhound.requests import GetObject, ListObjects
from tests.driving import EMPTY, TIMEOUT, Answering, by_text, drive, vector

FORBIDDEN = Missing(Reason.FORBIDDEN, "may not get pods in llm")


def pod(name: str, node: str = "n1", phase: str = "Running", owner: str = "web-1a") -> Any:
    return {
        "kind": "Pod",
        "metadata": {"name": name, "ownerReferences": [{"kind": "ReplicaSet", "name": owner}]},
        "spec": {
            "nodeName": node,
            "containers": [
                {"name": "istio-proxy"},
                {"name": "vllm", "resources": {"limits": {"nvidia.com/gpu": "1"}}},
            ],
        },
        "status": {"phase": phase},
    }


DEPLOYMENT = {
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {"selector": {"matchLabels": {"app": "web", "tier": "x"}}},
}
REPLICA_SET = {
    "kind": "ReplicaSet",
    "metadata": {"name": "web-1a", "ownerReferences": [{"kind": "Deployment", "name": "web"}]},
}
SERVICE = {"kind": "Service", "metadata": {"name": "chat"}, "spec": {"selector": {"app": "web"}}}


def cluster(pods: list[Any], **objects: Any) -> Answering:
    """An API server that holds these objects; Prometheus knows nothing."""
    held = {
        "deployments/web": DEPLOYMENT,
        "replicasets/web-1a": REPLICA_SET,
        "services/chat": SERVICE,
        **{f"pods/{item['metadata']['name']}": item for item in pods},
        **objects,
    }

    def answer(request: Read[Any]) -> Any:
        if isinstance(request, GetObject):
            return held.get(f"{request.resource}/{request.name}", EMPTY)
        if isinstance(request, ListObjects):
            return tuple(pods)
        return EMPTY

    return answer


def subject(**names: str) -> Subject:
    kind = SubjectKind.WORKLOAD if names.get("workload") else SubjectKind.POD
    return Subject(kind=kind, namespace="llm", **names)


def test_a_pod_leads_to_its_deployment_and_all_its_pods() -> None:
    found = drive(
        resolve(subject(pod="web-1a-x"), {}, Resolved()),
        cluster([pod("web-1a-y", "n2"), pod("web-1a-x")]),
    )
    assert (found.workload_kind, found.workload) == ("deployment", "web")
    assert found.pods == ("web-1a-x", "web-1a-y")
    assert found.nodes == ("n1", "n2")
    assert found.container == "vllm"
    assert found.selector == "app=web,tier=x"


def test_a_service_leads_to_the_workload_behind_it() -> None:
    found = drive(
        resolve(subject(workload="chat", workload_label="service"), {}, Resolved()),
        cluster([pod("web-1a-x")]),
    )
    assert (found.workload_kind, found.workload, found.pods) == ("deployment", "web", ("web-1a-x",))


def test_finished_pods_do_not_count() -> None:
    found = drive(
        resolve(subject(workload="web", workload_label="deployment"), {}, Resolved()),
        cluster([pod("web-1a-x"), pod("web-1a-old", phase="Succeeded")]),
    )
    assert found.pods == ("web-1a-x",)


def test_a_huge_workload_is_capped_and_its_size_is_kept() -> None:
    found = drive(
        resolve(subject(workload="web", workload_label="deployment"), {}, Resolved()),
        cluster([pod(f"web-1a-{n:05}") for n in range(10_000)]),
    )
    assert len(found.pods) == PODS_AT_MOST
    assert found.pods_count == 10_000


def test_without_the_api_kube_state_metrics_tells_the_pods() -> None:
    metrics = {
        "kube_pod_owner:relabel": vector(
            ({"namespace": "llm", "pod": "web-1"}, 1), ({"namespace": "llm", "pod": "web-2"}, 1)
        ),
        "group by (pod, node": vector(({"pod": "web-1", "node": "n9"}, 1)),
        "kube_pod_container_info": vector(
            ({"container": "queue-proxy"}, 1), ({"container": "vllm"}, 1)
        ),
        "GET": FORBIDDEN,
    }
    found = drive(
        resolve(subject(workload="web", workload_label="deployment"), {}, Resolved()),
        by_text(metrics),
    )
    assert found.pods == ("web-1", "web-2")
    assert (found.nodes, found.container) == (("n9",), "vllm")
    assert found.notes == ("may not get pods in llm",)
    assert found.found_by == "pod owners"


@pytest.mark.parametrize(
    ("owners", "owner"),
    [
        ([("StatefulSet", "web"), ("StatefulSet", "web")], "statefulset/web"),
        ([("DaemonSet", "web"), ("DaemonSet", "web")], "daemonset/web"),
        ([("ReplicaSet", "web-5d4c"), ("ReplicaSet", "web-5d4c")], ""),
        ([("StatefulSet", "web"), ("StatefulSet", "other")], ""),
        ([("", ""), ("", "")], ""),
    ],
)
def test_without_the_api_kube_state_metrics_tells_what_owns_all_pods(
    owners: list[tuple[str, str]], owner: str
) -> None:
    infos = (
        ({"pod": pod, "node": "n9", "created_by_kind": kind, "created_by_name": name}, 1)
        for pod, (kind, name) in zip(("web-1", "web-2"), owners, strict=True)
    )
    pods = vector(*(({"namespace": "llm", "pod": pod}, 1) for pod in ("web-1", "web-2")))
    metrics = {
        "kube_pod_owner:relabel": pods,
        "group by (pod, node": vector(*infos),
        "GET": FORBIDDEN,
    }
    asked = subject(workload="web", workload_label="service")
    assert drive(resolve(asked, {}, Resolved()), by_text(metrics, EMPTY)).owner == owner


def test_a_deployment_that_the_api_knows_owns_its_pods() -> None:
    found = drive(resolve(subject(pod="web-1a-x"), {}, Resolved()), cluster([pod("web-1a-x")]))
    assert found.owner == "deployment/web"


def test_pods_of_two_namespaces_are_not_taken_for_one_workload() -> None:
    metrics = {
        "num_requests_running": vector(
            ({"namespace": "a", "pod": "m-0"}, 1), ({"namespace": "b", "pod": "m-0"}, 1)
        )
    }
    asked = Subject(kind=SubjectKind.WORKLOAD, workload="m", workload_label="model_name")
    assert drive(resolve(asked, {"model_name": "m"}, Resolved()), by_text(metrics)).pods == ()


def test_when_nobody_answers_the_labels_are_all_there_is() -> None:
    found = drive(resolve(subject(pod="web-0"), {}, Resolved()), by_text({}, default=TIMEOUT))
    assert found.pods == ("web-0",)
    assert found.nodes == ()


NODE = Subject(kind=SubjectKind.NODE, node="db-1")


def test_a_node_leads_to_its_pods_when_they_are_of_one_namespace() -> None:
    own = {**pod("kv-0", "db-1"), "metadata": {"name": "kv-0", "namespace": "storage"}}
    system = {**pod("cni-x", "db-1"), "metadata": {"name": "cni-x", "namespace": "kube-system"}}
    found = drive(resolve(NODE, {}, Resolved()), cluster([own, system]))
    assert (found.namespace, found.pods, found.nodes) == ("storage", ("kv-0",), ("db-1",))


def test_a_node_that_serves_several_namespaces_stays_a_node() -> None:
    metrics = {
        "kube_pod_info": vector(
            ({"namespace": "a", "pod": "x"}, 1), ({"namespace": "b", "pod": "y"}, 1)
        )
    }
    found = drive(resolve(NODE, {}, Resolved()), by_text(metrics))
    assert (found.pods, found.nodes) == ((), ("db-1",))


def test_without_a_workload_the_series_of_the_model_tell_the_pods() -> None:
    metrics = {"nv_inference_request_success": vector(({"namespace": "rec", "pod": "t-0"}, 1))}
    asked = Subject(kind=SubjectKind.GROUP, namespace="rec")
    found = drive(resolve(asked, {"model": "bert"}, Resolved()), by_text(metrics))
    assert (found.pods, found.found_by) == (("t-0",), "series of the model")


def test_a_silent_api_does_not_keep_prometheus_from_being_asked() -> None:
    metrics = {
        "GET": TIMEOUT,
        "kube_pod_owner:relabel": vector(({"namespace": "llm", "pod": "web-1"}, 1)),
    }
    asked = subject(workload="web", workload_label="deployment")
    found = drive(resolve(asked, {}, Resolved()), by_text(metrics))
    assert (found.pods, found.notes) == (("web-1",), (TIMEOUT.detail,))


def test_a_hostile_pod_name_is_never_part_of_a_path() -> None:
    found = drive(resolve(subject(pod="../../secrets"), {}, Resolved()), by_text({}, default=EMPTY))
    assert "can't be part of a Kubernetes API path" in found.notes[0]


def test_a_hostile_name_is_quoted_in_every_query() -> None:
    asked: list[str] = []

    def answer(request: Read[Any]) -> Any:
        asked.append(request.shown)
        return EMPTY

    name = 'x"} or vector(1) #\n'
    drive(resolve(subject(workload=name, workload_label="service"), {}, Resolved()), answer)
    queries = [shown for shown in asked if not shown.startswith("GET")]
    assert queries
    assert all('x"}' not in shown for shown in queries)
    assert all("\n" not in shown for shown in queries)


def test_several_nodes_of_one_group_are_all_looked_at() -> None:
    start = Resolved(nodes=("db-1", "db-2"), nodes_count=132)
    found = drive(resolve(NODE, {}, start), by_text({}))
    assert (found.nodes, found.nodes_count) == (("db-1", "db-2"), 132)


# nodes that no label names as such


def of_labels(nodes: tuple[str, ...], **labels: str) -> tuple[Resolved, list[str]]:
    """What is found where these are the nodes, and what was asked."""
    asked: list[str] = []

    def answer(request: Read[Any]) -> Any:
        asked.append(request.shown)
        known = [name for name in nodes if f'"{name}"' in names(request.shown)]
        return vector(*(({"nodename": name}, 1.0) for name in known)) if known else EMPTY

    subject = Subject(kind=SubjectKind.GROUP)
    return drive(resolve(subject, labels, Resolved()), answer), asked


def names(shown: str) -> str:
    """The alternatives of a query, each in quotes."""
    return shown.replace("|", '"|"').replace("\\", "")


def test_a_pair_of_nodes_in_a_label_is_found_however_it_is_joined() -> None:
    for pair in (
        "gpu-1-gpu-2",
        "gpu-1,gpu-2",
        "gpu-1 -> gpu-2",
        "gpu-1_to_gpu-2",
        "gpu-2:9100 gpu-1",
    ):
        found, _ = of_labels(("gpu-1", "gpu-2", "gpu-3"), job="tp16", pair=pair)
        assert found.nodes == ("gpu-1", "gpu-2"), pair
        assert found.found_by == "nodes that the alert's labels name"


def test_labels_that_name_no_node_find_none_and_what_can_be_none_is_not_asked() -> None:
    found, asked = of_labels(("gpu-1",), team="search")
    assert (found.nodes, found.pods, len(asked)) == ((), (), 1)
    found, asked = of_labels(("gpu-1",), alertname="KubeAPIDown", severity="critical")
    assert (found.nodes, asked) == ((), [])


def test_a_hostile_label_stays_a_literal_and_the_question_short() -> None:
    _, (asked,) = of_labels((), x='a"} or vector(1) #', y="-".join("ab" * 400))
    assert isinstance(promql_parser.parse(asked), promql_parser.AggregateExpr)
    assert len(asked) < 10_000


def test_without_an_answer_the_reason_is_noted() -> None:
    subject = Subject(kind=SubjectKind.GROUP)
    found = drive(resolve(subject, {"pair": "a-b"}, Resolved()), lambda _: TIMEOUT)
    assert found.notes == (TIMEOUT.detail,)


NOT_CONFIGURED = Missing(Reason.SKIPPED, "not asked: Kubernetes is not configured: set x")


def noted_reason(subject: Subject, kubernetes: Any, prometheus: Any) -> str:
    """What stands for "nobody could tell the pods"."""

    def answer(request: Read[Any]) -> Any:
        return kubernetes if request.backend == "kubernetes" else prometheus

    found = drive(resolve(subject, {"app": "web"}, Resolved()), answer)
    assert not found.pods
    return blamed(found.notes)


WBE = Subject(
    kind=SubjectKind.WORKLOAD, namespace="shop", workload="wbe", workload_label="deployment"
)


def test_a_workload_that_nobody_knows_is_told_and_no_backend_is_blamed() -> None:
    told = "no pods are known: nothing knows pods of deployment wbe in shop. Fix: check the labels"
    assert noted_reason(WBE, NOT_CONFIGURED, EMPTY).startswith(told)
    assert noted_reason(WBE, EMPTY, EMPTY).startswith(told)


def test_labels_that_name_no_workload_are_told_with_the_setting() -> None:
    told = noted_reason(Subject(kind=SubjectKind.GROUP, namespace="shop"), EMPTY, EMPTY)
    assert told.startswith("no pods are known: no label of the alert names a workload")
    assert "incidents.workload_labels" in told


def test_who_gave_no_answer_is_blamed_before_who_was_not_configured() -> None:
    assert noted_reason(WBE, NOT_CONFIGURED, TIMEOUT) == TIMEOUT.detail
    forbidden = Missing(Reason.FORBIDDEN, "may not get deployments in shop")
    assert noted_reason(WBE, forbidden, EMPTY) == forbidden.detail
    assert noted_reason(WBE, forbidden, TIMEOUT) == f"{forbidden.detail}; {TIMEOUT.detail}"
    nothing = Missing(Reason.SKIPPED, "not asked: Prometheus is not configured: set y")
    assert noted_reason(WBE, NOT_CONFIGURED, nothing) == (
        "Kubernetes is not configured: set x; Prometheus is not configured: set y"
    )
