"""Starts of pods where the exporter, or Prometheus, tells only a part of them."""

from typing import Any

import pytest

from tailhound_collectors.replicas import Replicas
from tests.driving import EMPTY, TIMEOUT, vector
from tests.unit.collectors.test_replicas import (
    CREATED,
    EVER_READY,
    FIRST_READY,
    NEW,
    OLD,
    PLACES,
    READINESS_TOLD,
    READY,
    SCHEDULED,
    STARTED,
    STARTS_TOLD,
    collected,
    per_pod,
)

WAITING = "max by (pod, reason) (kube_pod_container_status_waiting_reason"
NO_READINESS: dict[str, Any] = {
    READY: EMPTY,
    EVER_READY: EMPTY,
    FIRST_READY: EMPTY,
    READINESS_TOLD: EMPTY,
}
ONLY_OF_THE_OLD: dict[str, Any] = {
    SCHEDULED: per_pod(old=518400),
    STARTED: per_pod(old=518300),
    EVER_READY: per_pod(old=1),
    READY: per_pod(old=1),
}
UNPLACED = vector(({"pod": OLD, "node": "n1"}, 1), ({"pod": NEW}, 1))


def counts(facts: Replicas) -> tuple[int | None, int | None]:
    return facts.started_count, facts.starting_count


def test_pods_whose_readiness_is_left_out_do_not_start() -> None:
    facts = collected(NO_READINESS)
    assert counts(facts) == (None, None)
    assert (facts.pod, facts.started_to_ready_seconds, facts.load_slowdown_ratio) == (
        NEW,
        None,
        None,
    )


def test_without_any_time_of_its_start_an_old_pod_does_not_wait_for_a_node() -> None:
    facts = collected(
        NO_READINESS
        | {SCHEDULED: EMPTY, STARTED: EMPTY, STARTS_TOLD: EMPTY, CREATED: per_pod(old=9000)}
    )
    assert counts(facts) == (None, None)
    assert (facts.phase, facts.starts) == (None, None)


def test_that_all_pods_are_new_is_known_without_their_readiness() -> None:
    facts = collected(NO_READINESS | {CREATED: per_pod(old=900, new=700)})
    assert counts(facts) == (2, None)


@pytest.mark.parametrize("silent", [READY, EVER_READY])
def test_without_an_answer_about_readiness_no_pod_starts(silent: str) -> None:
    facts = collected({silent: TIMEOUT, CREATED: per_pod(old=518400, new=9000)})
    assert counts(facts) == (None, None)
    assert facts.started_to_ready_seconds is None


def test_a_pod_without_a_node_starts_even_where_no_readiness_is_told() -> None:
    facts = collected(
        NO_READINESS
        | {
            SCHEDULED: EMPTY,
            STARTED: EMPTY,
            CREATED: per_pod(new=9000),
            PLACES: vector(({"pod": NEW}, 1)),
        }
    )
    assert counts(facts) == (1, 1)
    assert (facts.phase, facts.phase_seconds) == ("waiting for a node", 9000)


def test_a_pod_with_a_node_that_its_kubelet_has_not_seen_waits_for_none() -> None:
    facts = collected(ONLY_OF_THE_OLD)
    assert counts(facts) == (1, 1)
    assert (facts.phase, facts.created_to_scheduled_seconds) == (None, None)


def test_where_nobody_tells_the_nodes_nobody_knows_that_a_pod_waits_for_one() -> None:
    assert collected(ONLY_OF_THE_OLD | {PLACES: UNPLACED}).phase == "waiting for a node"
    assert collected(ONLY_OF_THE_OLD | {PLACES: TIMEOUT}).phase is None


def test_a_container_without_a_start_is_prepared_only_where_starts_are_told() -> None:
    gone = {STARTED: EMPTY, STARTS_TOLD: EMPTY}
    assert collected(gone).scheduled_to_started_seconds is None
    assert collected({STARTED: TIMEOUT}).scheduled_to_started_seconds is None
    pulling = {WAITING: vector(({"pod": NEW, "reason": "ContainerCreating"}, 1))}
    assert collected(gone | pulling).scheduled_to_started_seconds == 690


def test_a_pod_that_is_ready_is_no_longer_prepared() -> None:
    facts = collected(
        {
            STARTED: per_pod(old=518300),
            EVER_READY: per_pod(old=1, new=1),
            READY: per_pod(old=1, new=1),
        }
    )
    assert counts(facts) == (1, 0)
    assert facts.scheduled_to_started_seconds is None


def test_pods_of_which_only_the_node_is_told_are_not_none() -> None:
    facts = collected(NO_READINESS | {CREATED: EMPTY})
    assert counts(facts) == (None, None)
    assert facts.failing_count is None


def test_one_pod_whose_creation_is_not_told_leaves_the_count_open() -> None:
    facts = collected({CREATED: per_pod(new=700)})
    assert counts(facts) == (None, None)
    assert facts.pod == NEW


def test_what_fails_and_may_be_new_leaves_open_whether_a_start_fails() -> None:
    looping = {WAITING: vector(({"pod": OLD, "reason": "CrashLoopBackOff"}, 1))}
    assert collected(looping).failing_count == 0
    assert collected(NO_READINESS | looping).failing_count is None
    assert collected(NO_READINESS).failing_count == 0
