"""Which replicas are wanted and not in service, and how long they take to start."""

import re
from typing import Any

import promql_parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.flow import Read, Together
from tailhound.model import Missing, Reason
from tailhound.model.facts import Sample, Series
from tailhound.requests import Query, Ranged, RangeQuery
from tailhound_collectors.replica_history import history_of, waited_meanwhile
from tailhound_collectors.replica_queries import asleep, desired, in_service
from tailhound_collectors.replicas import Replicas, ReplicasCollector
from tailhound_collectors.workload_names import (
    WorkloadParams,
    past_pod_matcher,
    pod_matcher,
    workload_regex,
)
from tests.driving import EMPTY, TIMEOUT, by_text, drive, vector

OLD, NEW = "chat-6d9f7c5b8-4kq9z", "chat-6d9f7c5b8-b8xn5"
PARAMS = WorkloadParams(
    namespace="prod",
    workload="chat",
    workload_kind="deployment",
    pods=(OLD, NEW),
    container="vllm",
)
STEP = 15.0


def series(*values: float) -> Series:
    return tuple(Sample(at * STEP, value) for at, value in enumerate(values))


def ranged(*values: float) -> Any:
    return (Ranged((), series(*values)),)


def per_pod(**ages: float) -> Any:
    names = {"old": OLD, "new": NEW}
    return vector(*(({"pod": names[name]}, age) for name, age in ages.items()))


CREATED = "time() - max by (pod) (max by (pod) (kube_pod_created"
SCHEDULED = "time() - max by (pod) (kube_pod_status_scheduled"
STARTED = "time() - max by (pod) (kube_pod_container_state_started"
FIRST_READY = "time() - max by (pod) ((min_over_time(kube_pod_status_ready_time"
EVER_READY = "max_over_time(kube_pod_status_ready{"
READY = "max by (pod) (kube_pod_status_ready{"
USUAL_LOAD = "[7d:1h]) - min_over_time"
PLACES = "group by (pod, node) (kube_pod_info"
READINESS_TOLD = "group (kube_pod_status_ready"
STARTS_TOLD = "group (kube_pod_container_state_started"
THERE: Any = vector(({}, 1))

LOADING: dict[str, Any] = {
    ") - (": ranged(0, 0, 0, 0),
    "engine_sleep_state": EMPTY,
    "sum (vllm:num_requests_waiting": ranged(0, 0, 0, 12, 30, 7),
    "kube_deployment_status_replicas_available": ranged(1, 1, 1, 1, 1, 1),
    "kube_deployment_spec_replicas": ranged(1, 1, 2, 2, 2, 2),
    USUAL_LOAD: per_pod(old=120),
    "time() - min_over_time": per_pod(old=518400, new=500),
    CREATED: per_pod(old=518400, new=700),
    SCHEDULED: per_pod(old=518400, new=690),
    STARTED: per_pod(old=518300, new=500),
    FIRST_READY: per_pod(old=518180),
    EVER_READY: per_pod(old=1, new=0),
    READY: per_pod(old=1, new=0),
    PLACES: vector(({"pod": OLD, "node": "n1"}, 1), ({"pod": NEW, "node": "n2"}, 1)),
    READINESS_TOLD: THERE,
    STARTS_TOLD: THERE,
}


def collected(changed: dict[str, Any] | None = None, default: Any = EMPTY) -> Replicas:
    return drive(ReplicasCollector().collect(PARAMS), by_text(LOADING | (changed or {}), default))


def test_a_replica_that_loads_is_wanted_and_not_in_service() -> None:
    facts = collected()
    assert (facts.desired_count, facts.in_service_count, facts.missing_count) == (2, 1, 1)
    assert (facts.missing_peak_count, facts.missing_seconds) == (1, 4 * STEP)
    assert (facts.short_ago_seconds, facts.missing_count_usual) == (0, 0)
    assert (facts.asked_count, facts.lost_count, facts.from_zero_count) == (1, 0, 0)
    assert facts.waited_meanwhile_count == 30


def test_the_phase_that_took_longest_is_told_with_what_is_usual() -> None:
    facts = collected()
    assert (facts.started_count, facts.starting_count, facts.pod) == (1, 1, NEW)
    assert facts.node == "n2"
    assert (facts.created_to_scheduled_seconds, facts.scheduled_to_started_seconds) == (10, 190)
    assert (facts.phase, facts.phase_seconds) == ("loading and warming up", 500)
    assert facts.started_to_ready_seconds_usual == 120
    assert facts.load_slowdown_ratio == 500 / 120


def test_a_pod_without_a_node_waits_for_one() -> None:
    facts = collected(
        {
            SCHEDULED: per_pod(old=518400),
            STARTED: per_pod(old=518300),
            EVER_READY: per_pod(old=1),
            READY: per_pod(old=1),
            PLACES: vector(({"pod": OLD, "node": "n1"}, 1), ({"pod": NEW}, 1)),
        }
    )
    assert (facts.phase, facts.phase_seconds, facts.node) == ("waiting for a node", 700, None)
    assert facts.started_to_ready_seconds is None
    assert facts.load_slowdown_ratio is None


def test_a_container_that_is_not_there_yet_is_being_prepared() -> None:
    facts = collected({STARTED: per_pod(old=518300)})
    assert facts.phase is not None
    assert facts.phase.startswith("preparing the container")
    assert facts.phase_seconds == 690


def test_the_phase_that_goes_on_is_told_apart_from_the_one_that_took_longest() -> None:
    unplaced = {SCHEDULED: per_pod(old=518400), STARTED: per_pod(old=518300), READY: per_pod(old=1)}
    places = vector(({"pod": OLD, "node": "n1"}, 1), ({"pod": NEW}, 1))
    assert collected({**unplaced, PLACES: places}).phase_now == "waiting for a node"
    prepared = collected({STARTED: per_pod(old=518300)})
    assert prepared.phase_now == prepared.phase
    loads = collected({STARTED: per_pod(old=518300, new=20)})
    assert loads.phase == prepared.phase
    assert loads.phase_now == "loading and warming up"
    ready = {FIRST_READY: per_pod(old=518180, new=380), EVER_READY: per_pod(old=1, new=1)}
    assert collected({**ready, READY: per_pod(old=1, new=1)}).phase_now is None
    untold = {STARTED: EMPTY, STARTS_TOLD: EMPTY}
    assert collected(untold).phase_now is None


def test_a_young_pod_that_is_ready_took_from_its_start_to_its_first_ready() -> None:
    facts = collected(
        {
            FIRST_READY: per_pod(old=518180, new=380),
            EVER_READY: per_pod(old=1, new=1),
            READY: per_pod(old=1, new=1),
        }
    )
    assert (facts.started_count, facts.starting_count) == (1, 0)
    assert facts.started_to_ready_seconds == 120


def test_an_old_pod_that_turned_unready_does_not_start() -> None:
    facts = collected(
        {
            CREATED: per_pod(old=518400, new=90000),
            EVER_READY: per_pod(old=1, new=1),
        }
    )
    assert (facts.started_count, facts.starting_count) == (0, 0)
    assert facts.phase is None


def test_an_old_pod_that_was_never_ready_still_starts() -> None:
    facts = collected({CREATED: per_pod(old=518400, new=9000)})
    assert (facts.started_count, facts.starting_count) == (1, 1)


def test_the_earlier_pod_by_the_same_name_does_not_make_this_one_ready() -> None:
    facts = collected(
        {
            FIRST_READY: per_pod(old=518180, new=8000),
            EVER_READY: per_pod(old=1, new=1),
        }
    )
    assert (facts.starting_count, facts.started_to_ready_seconds) == (1, 500)


def test_readiness_flaps_do_not_make_a_load_usual() -> None:
    facts = collected({USUAL_LOAD: per_pod(old=86400)})
    assert facts.started_to_ready_seconds_usual is None
    assert facts.load_slowdown_ratio is None


def test_the_loads_of_this_incident_are_not_usual() -> None:
    facts = collected({USUAL_LOAD: per_pod(old=120, new=480)})
    assert facts.started_to_ready_seconds_usual == 120


@pytest.mark.parametrize("reason", ["CreateContainerError", "CrashLoopBackOff", "ImagePullBackOff"])
def test_a_start_that_fails_is_told_with_its_reason(reason: str) -> None:
    waits = vector(({"pod": NEW, "reason": reason}, 1), ({"pod": "other", "reason": reason}, 1))
    facts = collected({"kube_pod_container_status_waiting_reason": waits})
    assert (facts.failing_count, facts.failing_reason) == (1, reason)


def test_to_be_created_is_no_failure_and_an_old_pod_fails_no_start() -> None:
    waits = vector(
        ({"pod": NEW, "reason": "ContainerCreating"}, 1),
        ({"pod": OLD, "reason": "CrashLoopBackOff"}, 1),
    )
    facts = collected({"kube_pod_container_status_waiting_reason": waits})
    assert (facts.failing_count, facts.failing_reason) == (0, None)


def test_a_young_pod_that_restarted_fails() -> None:
    facts = collected({"kube_pod_container_status_restarts_total": per_pod(old=3, new=1.02)})
    assert (facts.failing_count, facts.failing_reason) == (1, "restarted")


def test_nobody_can_tell_a_failure_when_that_question_has_no_answer() -> None:
    assert collected({"kube_pod_container_status_waiting": TIMEOUT}).failing_count is None


def test_a_sleeping_engine_is_not_in_service() -> None:
    facts = collected(
        {
            "engine_sleep_state": ranged(0, 0, 0, 0, 1, 1),
            "kube_deployment_spec_replicas": ranged(2, 2, 2, 2, 2, 2),
            "kube_deployment_status_replicas_available": ranged(2, 2, 2, 2, 2, 2),
        }
    )
    assert facts.slept is True
    assert (facts.in_service_count, facts.missing_count, facts.asked_count) == (1, 1, 0)


def test_without_sleep_mode_nobody_slept_and_without_an_answer_nobody_knows() -> None:
    assert collected().slept is False
    assert collected({"engine_sleep_state": TIMEOUT}).slept is None


def test_without_an_answer_nothing_is_measured() -> None:
    facts = drive(ReplicasCollector().collect(PARAMS), by_text({}, default=TIMEOUT))
    assert facts == Replicas()


def test_without_state_metrics_no_replica_is_counted() -> None:
    facts = drive(ReplicasCollector().collect(PARAMS), by_text({}))
    assert (facts.desired_count, facts.missing_count, facts.asked_count) == (None, None, None)


def test_pods_whose_creation_nobody_counts_leave_open_whether_one_is_young() -> None:
    answers = {name: reply for name, reply in LOADING.items() if name != CREATED}
    facts = drive(ReplicasCollector().collect(PARAMS), by_text(answers))
    assert (facts.started_count, facts.failing_count) == (None, None)
    assert facts.missing_count == 1


def test_wanted_replicas_without_any_pod_are_no_young_pods_where_others_have_series() -> None:
    answers = {name: reply for name, reply in LOADING.items() if "kube_pod" not in name}
    others = answers | {READINESS_TOLD: THERE}
    facts = drive(ReplicasCollector().collect(PARAMS), by_text(others))
    assert (facts.started_count, facts.failing_count, facts.asked_count) == (0, 0, 1)
    facts = drive(ReplicasCollector().collect(PARAMS), by_text(answers))
    assert (facts.started_count, facts.failing_count, facts.asked_count) == (None, None, 1)


def test_it_takes_two_rounds() -> None:
    asked: list[Read[Any]] = []
    flow = ReplicasCollector().collect(PARAMS)
    request = next(flow)
    while True:
        asked.append(request)
        assert isinstance(request, Together)
        try:
            request = flow.send(tuple(EMPTY for _ in request.requests))
        except StopIteration:
            break
    assert len(asked) == 2


def test_a_scale_down_loses_nothing() -> None:
    history = history_of(series(3, 2, 2, 2), series(3, 3, 2, 2), None, STEP)
    assert history is not None
    assert (history.asked_count, history.lost_count, history.missing_seconds) == (0, 0, 0)


def test_a_drain_loses_what_it_takes() -> None:
    history = history_of(series(4, 4, 4, 4, 4), series(4, 3, 3, 4, 4), None, STEP)
    assert history is not None
    assert (history.asked_count, history.lost_count) == (0, 1)
    assert (history.missing_seconds, history.short_ago_seconds) == (2 * STEP, 2 * STEP)


def test_a_surge_misses_nothing() -> None:
    history = history_of(series(2, 2, 2, 2), series(2, 3, 3, 2), None, STEP)
    assert history is not None
    assert (history.missing_seconds, history.short_ago_seconds) == (0, None)


def test_each_start_from_zero_counts() -> None:
    history = history_of(series(0, 1, 1, 0, 0, 1), series(0, 0, 1, 0, 0, 0), None, STEP)
    assert history is not None
    assert (history.from_zero_count, history.asked_count, history.lost_count) == (2, 2, 0)


def test_moments_with_one_of_the_counts_only_are_left_out() -> None:
    assert history_of(series(1, 1, 1, 1), series(1, 1), None, STEP) is None
    assert history_of(None, series(1, 1, 1, 1), None, STEP) is None


def test_only_waiting_while_replicas_are_missing_counts() -> None:
    history = history_of(series(1, 2, 2, 2), series(1, 1, 1, 2), None, STEP)
    assert waited_meanwhile(history, series(90, 3, 5, 70)) == 5
    assert waited_meanwhile(history, None) is None
    assert waited_meanwhile(None, series(1, 2)) is None


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), min_size=4, max_size=40
    )
)
def test_counts_are_never_negative_and_missing_never_exceeds_what_is_wanted(
    moments: list[tuple[int, int, int]],
) -> None:
    wanted, served, resting = (series(*values) for values in zip(*moments, strict=True))
    history = history_of(wanted, served, resting, STEP)
    assert history is not None
    assert min(history.asked_count, history.lost_count, history.from_zero_count) >= 0
    assert all(
        0 <= gap.value <= max(want.value, serve.value)
        for gap, want, serve in zip(history.missing, wanted, served, strict=True)
    )
    assert (history.short_ago_seconds is None) == (history.missing_seconds == 0)


@pytest.mark.parametrize(
    ("pods", "names"),
    [
        (("chat-6d9f7c5b8-4kq9z", "chat-6d9f7c5b8-b8xn5"), "chat"),
        (("llm-70b-0", "llm-70b-1"), "llm-70b"),
        (("lws-0", "lws-0-1"), "lws|lws-0"),
        (("notebook",), ""),
    ],
)
def test_the_workload_is_found_by_the_names_of_its_pods(pods: tuple[str, ...], names: str) -> None:
    assert workload_regex(WorkloadParams(namespace="n", workload="svc", pods=pods)) == names


def test_a_known_workload_is_taken_at_its_word() -> None:
    params = WorkloadParams(
        namespace="n", workload="a.b", workload_kind="statefulset", pods=("x-0",)
    )
    assert workload_regex(params) == r"a\.b"
    assert 'deployment=~"^$none"' in desired(params)


def test_a_knative_service_is_found_by_its_label() -> None:
    params = WorkloadParams(namespace="ml", knative_service="embed")
    assert workload_regex(params) == "embed(-predictor)?(-[0-9]{5}-deployment)?"


def test_a_knative_service_says_more_than_pods_of_its_namespace() -> None:
    params = WorkloadParams(namespace="ml", knative_service="embed", pods=("other-0", "embed-x"))
    assert workload_regex(params).startswith("embed(")
    assert "other" not in pod_matcher(params)


def test_another_workload_whose_name_begins_alike_is_not_meant() -> None:
    params = WorkloadParams(namespace="n", workload="chat", workload_kind="deployment")
    assert pod_matcher(params) == past_pod_matcher(params)
    assert "(chat)-(" in pod_matcher(params)
    assert "-.+" not in pod_matcher(params)


LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
HOSTILE = ('a"} or vector(1) #', "a\\", "a\nb", ".*", "a|b", "$(reboot)", "a{b}")


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", ["deployment", "", "service"])
def test_no_name_gets_out_of_its_quotes(name: str, kind: str) -> None:
    params = WorkloadParams(
        namespace=name, workload=name, workload_kind=kind, pods=(), container=name
    )
    asked: list[str] = []

    def answer(request: Read[Any]) -> Missing:
        assert isinstance(request, Query | RangeQuery)
        asked.append(request.promql)
        return EMPTY

    drive(ReplicasCollector().collect(params), answer)
    for promql in asked:
        promql_parser.parse(promql)
        assert "vector(1)" not in LITERAL.sub("", promql)


def test_the_counts_of_pods_stand_in_where_no_workload_owns_them() -> None:
    bare = WorkloadParams(namespace="n", pods=("notebook",))
    assert 'deployment=~"^$none"' in desired(bare)
    assert 'kube_pod_info{namespace="n",pod=~"notebook"}' in desired(bare)
    assert 'kube_pod_status_ready{namespace="n",condition="true",pod=~"notebook"}' in in_service(
        bare
    )
    assert 'pod=~"notebook"' in asleep(bare)


def test_a_site_prefix_reaches_the_sleep_state() -> None:
    params = WorkloadParams(namespace="n", pods=("a",), metric_prefix="ray_vllm_")
    assert "ray_vllm_engine_sleep_state" in asleep(params)


def test_a_refused_question_is_no_zero() -> None:
    refused = Missing(Reason.FORBIDDEN, "403")
    facts = drive(ReplicasCollector().collect(PARAMS), by_text({}, default=refused))
    assert facts == Replicas()
