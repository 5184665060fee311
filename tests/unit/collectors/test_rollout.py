"""Why a replica is not in service yet, in the API server's words."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.flow import Read
from tailhound.requests import GetObject, ListObjects
from tailhound_collectors.rollout import Rollout, RolloutCollector, RolloutParams
from tailhound_collectors.rollout_reading import (
    duration,
    pod_state,
    pull_seconds,
    rolling_out,
    told,
)
from tests.driving import EMPTY, TIMEOUT, drive

PARAMS = RolloutParams(
    namespace="prod",
    workload="chat",
    workload_kind="deployment",
    selector="app=chat",
    pods=("chat-a",),
    container="vllm",
)


def at(minute: int, second: int = 0) -> str:
    return f"2026-09-01T10:{minute:02d}:{second:02d}Z"


def pod(name: str = "chat-a", **status: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "name": name,
            "creationTimestamp": at(0),
            "ownerReferences": [{"kind": "ReplicaSet", "name": "chat-1"}],
        },
        "spec": {"containers": [{"name": "vllm", "startupProbe": {"failureThreshold": 60}}]},
        "status": status,
    }


def condition(kind: str, status: str, when: str, **more: str) -> dict[str, str]:
    return {"type": kind, "status": status, "lastTransitionTime": when, **more}


def running(started: str, **more: Any) -> dict[str, Any]:
    return {"name": "vllm", "state": {"running": {"startedAt": started}}, **more}


SCHEDULED = condition("PodScheduled", "True", at(0, 1))
LOADING = pod(
    conditions=[SCHEDULED, condition("Ready", "False", at(0, 2))],
    containerStatuses=[running(at(1))],
)
SERVING = pod(
    "chat-b",
    conditions=[SCHEDULED, condition("Ready", "True", at(3))],
    containerStatuses=[running(at(1))],
)


def collected(objects: dict[str, Any], params: RolloutParams = PARAMS) -> Rollout:
    def answer(request: Read[Any]) -> Any:
        assert isinstance(request, GetObject | ListObjects)
        return objects.get(request.resource, EMPTY)

    return drive(RolloutCollector().collect(params), answer)


def test_a_pod_that_runs_and_was_never_ready_loads() -> None:
    state = pod_state(LOADING)
    assert (state.starting, state.ready, state.failing) == (True, False, False)
    assert state.phase == "loading and warming up"


def test_a_pod_that_turned_unready_after_its_start_does_not_start() -> None:
    flapped = pod(
        conditions=[SCHEDULED, condition("Ready", "False", at(30))],
        containerStatuses=[running(at(1))],
    )
    assert pod_state(flapped).starting is False


def test_a_container_that_waits_is_prepared() -> None:
    waits = {"name": "vllm", "state": {"waiting": {"reason": "ContainerCreating"}}}
    state = pod_state(
        pod(
            conditions=[SCHEDULED, condition("Ready", "False", at(0, 2))], containerStatuses=[waits]
        )
    )
    assert state.phase is not None
    assert state.phase.startswith("preparing")
    assert (state.reason, state.failing) == ("ContainerCreating", False)


def test_a_pod_without_a_node_tells_why() -> None:
    message = "0/4 nodes are available: 4 Insufficient nvidia.com/gpu."
    state = pod_state(pod(conditions=[condition("PodScheduled", "False", at(0), message=message)]))
    assert (state.phase, state.reason) == ("waiting for a node", message)


def test_what_waits_behind_an_init_container_that_fails_fails() -> None:
    init = {"name": "download", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    main = {"name": "vllm", "state": {"waiting": {"reason": "PodInitializing"}}}
    state = pod_state(
        pod(conditions=[SCHEDULED], initContainerStatuses=[init], containerStatuses=[main])
    )
    assert (state.failing, state.reason) == (True, "CrashLoopBackOff")


def test_a_restart_after_an_error_is_a_failure_and_a_finished_init_container_is_none() -> None:
    again = running(at(2), restartCount=1, lastState={"terminated": {"exitCode": 1}})
    done = running(at(2), restartCount=1, lastState={"terminated": {"exitCode": 0}})
    for status, failing in ((again, True), (done, False)):
        state = pod_state(pod(conditions=[SCHEDULED], containerStatuses=[status]))
        assert state.failing is failing


def test_a_drained_pod_is_disrupted() -> None:
    drained = pod(conditions=[SCHEDULED, condition("DisruptionTarget", "True", at(5))])
    leaving = pod()
    leaving["metadata"]["deletionTimestamp"] = at(5)
    assert pod_state(drained).disrupted is True
    assert pod_state(leaving).disrupted is True
    assert pod_state(LOADING).disrupted is False


def replica_set(name: str, created: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "creationTimestamp": created}}


DEPLOYMENT = {
    "kind": "Deployment",
    "status": {"observedGeneration": 2, "replicas": 2, "updatedReplicas": 2},
}


def test_a_pod_as_young_as_its_replica_set_belongs_to_a_rollout() -> None:
    sets = (replica_set("chat-0", "2026-08-01T00:00:00Z"), replica_set("chat-1", at(0)))
    assert rolling_out(DEPLOYMENT, (LOADING,), sets) is True


def test_the_first_replica_set_of_a_workload_replaces_nothing() -> None:
    assert rolling_out(DEPLOYMENT, (LOADING,), (replica_set("chat-1", at(0)),)) is False


def test_a_pod_much_younger_than_its_replica_set_was_added() -> None:
    sets = (
        replica_set("chat-0", "2026-08-01T00:00:00Z"),
        replica_set("chat-1", "2026-08-20T00:00:00Z"),
    )
    assert rolling_out(DEPLOYMENT, (LOADING,), sets) is False


def test_replicas_of_an_older_template_mean_a_rollout() -> None:
    status = {"observedGeneration": 3, "replicas": 3, "updatedReplicas": 1}
    assert rolling_out({"kind": "Deployment", "status": status}) is True
    stateful = {"currentRevision": "a", "updateRevision": "b"}
    assert rolling_out({"kind": "StatefulSet", "status": stateful}) is True
    assert (
        rolling_out({"kind": "StatefulSet", "status": stateful | {"updateRevision": "a"}}) is False
    )


def test_without_the_workload_nobody_knows_of_a_rollout() -> None:
    assert rolling_out(None) is None
    assert rolling_out({"kind": "Deployment", "status": {}}) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("45.3s", 45.3), ("1m2.5s", 62.5), ("850ms", 0.85), ("1h0m1s", 3601.0), ("1..2s", 2.0)],
)
def test_durations_are_read_as_go_writes_them(text: str, seconds: float) -> None:
    assert duration(text) == pytest.approx(seconds)


def test_the_longest_pull_is_told() -> None:
    events = [
        {"message": 'Successfully pulled image "a" in 2.1s (2.1s including waiting).'},
        {"message": 'Successfully pulled image "b" in 1m5s (2m including waiting).'},
        {"message": 'Container image "c" already present on machine'},
    ]
    assert pull_seconds(events) == 65
    assert pull_seconds([]) is None


def test_events_are_counted_in_either_of_two_places() -> None:
    events: list[dict[str, Any]] = [
        {"reason": "FailedScheduling", "count": 4, "message": "old", "lastTimestamp": at(1)},
        {
            "reason": "FailedScheduling",
            "series": {"count": 7, "lastObservedTime": at(9)},
            "message": "new",
        },
        {"reason": "Pulled", "count": 1},
    ]
    assert told(events, "FailedScheduling") == ("new", 11)
    assert told(events, "FailedMount") == ("", 0)


def test_the_pods_the_workload_and_events_of_what_starts_are_told() -> None:
    facts = collected(
        {
            "deployments": DEPLOYMENT,
            "pods": (LOADING, SERVING),
            "replicasets": (replica_set("chat-1", at(0)),),
            "events": (
                {"reason": "Unhealthy", "count": 9, "message": "Startup probe failed"},
                {"message": 'Successfully pulled image "a" in 31s (31s including waiting).'},
            ),
        }
    )
    assert (facts.pods_count, facts.ready_count, facts.starting_count) == (2, 1, 1)
    assert (facts.pod, facts.rolling_out, facts.disrupted) == ("chat-a", False, False)
    assert (facts.pull_seconds, facts.probe_failures_count) == (31, 9)
    assert (facts.event, facts.startup_budget_seconds) == ("Startup probe failed", 600)


def test_no_event_is_no_zero() -> None:
    facts = collected({"deployments": DEPLOYMENT, "pods": (LOADING,), "events": ()})
    assert (facts.failed_scheduling_count, facts.probe_failures_count) == (None, None)
    assert (facts.event, facts.pull_seconds) == (None, None)


def test_events_of_two_pods_are_read_and_not_of_all() -> None:
    asked: list[str] = []
    many = tuple({**LOADING, "metadata": {"name": f"chat-{at}"}} for at in range(40))

    def answer(request: Read[Any]) -> Any:
        asked.append(request.shown)
        return {"pods": many}.get(getattr(request, "resource", ""), EMPTY)

    drive(RolloutCollector().collect(PARAMS), answer)
    assert sum("/events?" in shown for shown in asked) == 2
    assert all("/namespaces/prod/" in shown for shown in asked)


def test_without_a_selector_the_one_pod_is_asked() -> None:
    params = RolloutParams(namespace="prod", pods=("chat-a",))
    assert collected({"pods": LOADING}, params).starting_count == 1


def test_nothing_known_asks_nothing() -> None:
    def answer(request: Read[Any]) -> Any:
        raise AssertionError(request.shown)

    assert drive(RolloutCollector().collect(RolloutParams(namespace="prod")), answer) == Rollout()


def test_a_name_that_is_no_kubernetes_name_is_not_asked() -> None:
    params = RolloutParams(
        namespace="prod", workload="../secrets", workload_kind="deployment", pods=("../x",)
    )
    assert collected({}, params) == Rollout()


def test_an_api_server_that_does_not_answer_says_nothing() -> None:
    facts = drive(RolloutCollector().collect(PARAMS), lambda _: TIMEOUT)
    assert facts == Rollout()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)


@given(
    message=st.text(max_size=300),
    count=ANYTHING,
    when=ANYTHING,
)
def test_whatever_an_event_holds_is_read(message: str, count: object, when: object) -> None:
    event = {"reason": "Failed", "message": message, "count": count, "lastTimestamp": when}
    text, times = told([event], "Failed")
    assert len(text) <= 200
    assert times >= 1
    assert (pull_seconds([event]) or 0) >= 0
