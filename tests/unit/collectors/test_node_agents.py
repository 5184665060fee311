"""Whether a node still creates containers, and which agent of it is stopped by its limit."""

from typing import Any

import pytest

from tailhound.flow import Read
from tailhound.model.facts import Sample
from tailhound.requests import GetObject, ListObjects, Ranged, RangeQuery
from tailhound_collectors.node_agents import AgentParams, NodeAgents, NodeAgentsCollector
from tests.driving import EMPTY, TIMEOUT, by_text, drive, vector

PARAMS = AgentParams(nodes=("ci-3",))
SERIES = (Ranged((), (Sample(1.0, 0.0), Sample(16.0, 0.2))),)


def both(now: Any, past: Any) -> dict[str, Any]:
    return {"now": now, "past": past}


def pods(*names: str, space: str = "ci") -> Any:
    return vector(*(({"namespace": space, "pod": name}, 1.0) for name in names))


def containers(**lost: float) -> Any:
    rows = [
        ({"namespace": "security", "pod": pod.replace("_", "-"), "container": "main"}, value)
        for pod, value in lost.items()
    ]
    return vector(*rows)


def owned(pod: str, kind: str, name: str) -> tuple[dict[str, str], float]:
    labels = {"namespace": "security", "pod": pod, "created_by_kind": kind}
    return {**labels, "created_by_name": name}, 1.0


HELD_UP = {
    "group by (namespace, pod) ((kube_pod_container": pods("build-1", "lint-7"),
    "kubelet_runtime_operations_errors_total": both(vector(({}, 0.2)), vector(({}, 0.0))),
    "topk(5": containers(agent_x7k2p=0.17, other_1=0.1),
    "created_by_kind": vector(
        owned("agent-x7k2p", "DaemonSet", "agent"),
        owned("other-1", "ReplicaSet", "other-5d4c"),
    ),
    "container_cpu_cfs_periods_total": both(vector(({}, 0.95)), vector(({}, 0.01))),
    "kube_pod_container_resource_limits": vector(({}, 1.0)),
    "kube_pod_status_ready": vector(({}, 0.0)),
    "count (kube_pod_info": vector(({}, 4.0)),
}


def collected(answers: dict[str, Any], objects: dict[str, Any] | None = None) -> NodeAgents:
    known = by_text(answers)

    def answer(request: Read[Any]) -> Any:
        if isinstance(request, RangeQuery):
            return SERIES
        if isinstance(request, GetObject):
            return (objects or {}).get(request.name, EMPTY)
        if isinstance(request, ListObjects):
            assert request.bounded
            return (objects or {}).get(request.field_selector, TIMEOUT)
        return known(request)

    return drive(NodeAgentsCollector().collect(PARAMS), answer)


def test_the_agent_that_loses_most_is_measured_where_others_are_held_up() -> None:
    found = collected(HELD_UP)
    assert (found.stuck_pods_count, found.held_up_count) == (2, 2)
    assert (found.namespace, found.pod, found.container) == ("security", "agent-x7k2p", "main")
    assert (found.throttled_ratio, found.throttled_ratio_usual) == (0.95, 0.01)
    assert (found.lost_seconds_per_second, found.limit_cores) == (0.17, 1.0)
    assert (found.on_every_node, found.ready) == (True, False)
    assert found.workload == "daemonset/agent"
    assert (found.create_errors_per_second, found.create_errors_per_second_usual) == (0.2, 0.0)


def test_an_agent_of_the_node_comes_before_a_workload_that_loses_more() -> None:
    found = collected({**HELD_UP, "topk(5": containers(other_1=0.9, agent_x7k2p=0.17)})
    assert found.pod == "agent-x7k2p"


def test_without_an_agent_the_one_that_loses_most_is_told_as_what_it_is() -> None:
    kinds = vector(owned("other-1", "Job", "other"))
    found = collected({**HELD_UP, "topk(5": containers(other_1=0.9), "created_by_kind": kinds})
    assert (found.pod, found.on_every_node, found.workload) == ("other-1", False, None)


def test_the_api_tells_the_owner_where_kube_state_metrics_does_not() -> None:
    answers = {**HELD_UP, "created_by_kind": EMPTY}
    agent = {"metadata": {"ownerReferences": [{"kind": "DaemonSet", "name": "agent"}]}}
    found = collected(answers, {"agent-x7k2p": agent})
    assert (found.on_every_node, found.workload) == (True, "daemonset/agent")
    static = {"metadata": {"ownerReferences": [{"kind": "Node", "name": "ci-3"}]}}
    kubelets = collected(answers, {"agent-x7k2p": static})
    assert (kubelets.on_every_node, kubelets.workload) == (True, None)
    alone = collected(answers, {"agent-x7k2p": {"metadata": {}}, "other-1": {"metadata": {}}})
    assert alone.on_every_node is False
    assert collected(answers).on_every_node is None


def test_the_api_tells_whether_it_is_ready_where_kube_state_metrics_does_not() -> None:
    answers = {**HELD_UP, "kube_pod_status_ready": EMPTY}
    state = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    assert collected(answers, {"agent-x7k2p": state}).ready is False
    assert collected(answers, {"agent-x7k2p": {"status": {}}}).ready is None
    assert collected(answers).ready is None


def test_nobody_is_looked_for_where_every_container_starts() -> None:
    found = collected({"count (kube_pod_info": vector(({}, 4.0))})
    assert (found.stuck_pods_count, found.held_up_count, found.pod) == (0, 0, None)
    assert found.symptoms is None


def test_pods_of_one_workload_hold_up_nobody_but_themselves() -> None:
    one = pods("chat-6d9f7c5b8-4kq9z", "chat-6d9f7c5b8-t7w2m")
    found = collected({**HELD_UP, "group by (namespace, pod) ((kube_pod_container": one})
    assert (found.stuck_pods_count, found.held_up_count, found.pod) == (2, 0, None)


def test_the_pods_that_suffer_are_never_the_one_that_holds_them_up() -> None:
    answers = {
        **HELD_UP,
        "group by (namespace, pod) ((kube_pod_container": vector(
            ({"namespace": "security", "pod": "other-1"}, 1.0),
            ({"namespace": "ci", "pod": "lint-7"}, 1.0),
        ),
        "topk(5": containers(other_1=0.9),
    }
    assert collected(answers).pod is None


def waiting(name: str, reason: str) -> dict[str, Any]:
    statuses = [{"state": {"waiting": {"reason": reason}}}]
    return {
        "metadata": {"name": name, "namespace": "ci"},
        "status": {"containerStatuses": statuses},
    }


def test_without_kube_state_metrics_the_pods_of_the_node_tell() -> None:
    on_node = (
        waiting("build-1", "CreateContainerError"),
        waiting("lint-7", "RunContainerError"),
        waiting("pull-1", "ImagePullBackOff"),
        waiting("new-1", "ContainerCreating"),
        {"metadata": {"name": "fine-1", "namespace": "ci"}},
    )
    found = collected({}, {"spec.nodeName=ci-3": on_node})
    assert (found.stuck_pods_count, found.held_up_count) == (2, 2)


def test_when_prometheus_does_not_say_which_pods_are_stuck_the_node_is_asked() -> None:
    silent = {**HELD_UP, "group by (namespace, pod) ((kube_pod_container": TIMEOUT}
    quiet = {**silent, "kubelet_runtime_operations_errors_total": EMPTY}
    on_node = (waiting("build-1", "CreateContainerError"), waiting("lint-7", "RunContainerError"))
    for answers in (silent, quiet):
        assert collected(answers).stuck_pods_count is None
        assert collected(answers, {"spec.nodeName=ci-3": on_node}).stuck_pods_count == 2


def test_what_nobody_can_tell_is_unknown() -> None:
    found = collected({})
    assert (found.stuck_pods_count, found.held_up_count) == (None, None)
    assert (found.create_errors_per_second, found.symptoms) == (None, None)


def test_errors_that_kubelets_count_are_the_symptom() -> None:
    (row,) = collected(HELD_UP).symptoms or ()
    assert (row.unit, row.value, row.usual_value) == ("per_second", 0.2, 0.0)
    assert row.series == SERIES[0].samples


def test_without_errors_the_pods_that_are_stuck_are_the_symptom() -> None:
    quiet = {key: value for key, value in HELD_UP.items() if "kubelet" not in key}
    (row,) = collected(quiet).symptoms or ()
    assert (row.unit, row.value, row.usual_value) == ("count", 2.0, 0.0)


def test_no_errors_are_no_symptom() -> None:
    none = {**HELD_UP, "kubelet_runtime_operations_errors_total": vector(({}, 0.0))}
    assert collected(none).symptoms is None


@pytest.mark.parametrize("name", ["Bad Name", "x" * 300])
def test_a_pod_whose_name_can_be_none_is_not_asked_for(name: str) -> None:
    rows = vector(({"namespace": "security", "pod": name, "container": "main"}, 0.5))
    answers = {**HELD_UP, "topk(5": rows, "created_by_kind": EMPTY, "kube_pod_status_ready": EMPTY}
    found = collected(answers)
    assert (found.pod, found.on_every_node, found.ready) == (name, None, None)
