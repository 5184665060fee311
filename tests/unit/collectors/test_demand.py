"""Who waits for capacity, and what the autoscaler asked for."""

from typing import Any

import promql_parser

from tailhound.flow import Read
from tailhound.model import Missing
from tailhound.model.facts import Sample
from tailhound.requests import Query, Ranged, RangeQuery
from tailhound_collectors.autoscaler import Autoscaler, AutoscalerCollector
from tailhound_collectors.demand import Demand, DemandCollector, waiting
from tailhound_collectors.workload_names import WorkloadParams
from tests.driving import EMPTY, TIMEOUT, by_text, drive, vector

PARAMS = WorkloadParams(
    namespace="prod", workload="chat", workload_kind="deployment", pods=("chat-6d9f7c5b8-4kq9z",)
)
WAITING, EDGE = "num_requests_waiting", "activator_request_latencies_sum"


def demand(answers: dict[str, Any], default: Any = EMPTY) -> Demand:
    return drive(DemandCollector().collect(PARAMS), by_text(answers, default))


def autoscaler(answers: dict[str, Any], default: Any = EMPTY) -> Autoscaler:
    return drive(AutoscalerCollector().collect(PARAMS), by_text(answers, default))


def test_queue_and_edge_are_told_with_their_usual_values() -> None:
    facts = demand(
        {
            WAITING: {"now": vector(({}, 46)), "past": vector(({}, 2))},
            EDGE: {"now": vector(({}, 9.0)), "past": vector(({}, 0.75))},
        }
    )
    assert (facts.waiting_count, facts.waiting_count_usual) == (46, 2)
    assert (facts.edge_seconds, facts.edge_ratio) == (9.0, 12)


def test_absent_queues_are_not_empty_queues() -> None:
    assert demand({}) == Demand()
    assert demand({}, default=TIMEOUT) == Demand()


def test_every_spelling_of_a_queue_is_asked_in_one_query() -> None:
    asked = waiting(PARAMS, "5m")
    promql_parser.parse(asked)
    for gauge in ("vllm:num_requests_waiting", "sglang:num_queue_reqs", "tgi_queue_size"):
        assert f"sum (avg_over_time({gauge}{{" in asked
    assert 'priority=""' in asked
    assert "avg_over_time" not in waiting(PARAMS)


def test_every_query_of_both_is_promql() -> None:
    asked: list[str] = []

    def answer(request: Read[Any]) -> Missing:
        assert isinstance(request, Query | RangeQuery)
        asked.append(request.promql)
        return EMPTY

    for params in (PARAMS, WorkloadParams(namespace="ml", knative_service='e"x')):
        drive(DemandCollector().collect(params), answer)
        drive(AutoscalerCollector().collect(params), answer)
    for promql in asked:
        promql_parser.parse(promql)


def test_what_the_autoscaler_asked_for_is_the_sum_of_its_rises() -> None:
    wishes = (
        Ranged((), tuple(Sample(at * 15.0, value) for at, value in enumerate((2, 4, 3, 4, 6)))),
    )
    facts = autoscaler(
        {
            "# from": wishes,
            "status_desired_replicas": vector(({}, 6)),
            "spec_max_replicas": vector(({}, 6)),
        }
    )
    assert (facts.exists, facts.desired_count, facts.at_maximum, facts.asked_count) == (
        True,
        6,
        True,
        5,
    )


def test_no_autoscaler_is_an_answer_and_no_answer_is_none() -> None:
    assert autoscaler({}).exists is False
    assert autoscaler({}, default=TIMEOUT) == Autoscaler()
