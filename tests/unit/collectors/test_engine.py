"""What an engine is doing: its queue, its load, its heartbeat; how long requests are."""

from typing import Any

import pytest

from tailhound.model.facts import Sample
from tailhound.requests import Ranged, RangeQuery
from tailhound_collectors.engine import Engine, EngineCollector, EngineParams
from tailhound_collectors.lengths import Lengths, LengthsCollector
from tests.driving import EMPTY, TIMEOUT, by_text, drive, vector

PARAMS = EngineParams(namespace="llm", pods=("a", "b"))
FOUND = "count by (__name__)"
HISTORY = (Ranged((), (Sample(1.0, 2.0),)),)


def series(*names: str) -> Any:
    return vector(*(({"__name__": name}, 1) for name in names))


def grew(now: float, past: float) -> Any:
    return {"now": vector(({}, now)), "past": vector(({}, past))}


def pods(**values: float) -> Any:
    return vector(*(({"pod": pod}, value) for pod, value in values.items()))


def answering(answers: dict[str, Any]) -> Any:
    instant = by_text(answers, EMPTY)
    return lambda request: HISTORY if isinstance(request, RangeQuery) else instant(request)


def collected(answers: dict[str, Any]) -> Engine:
    return drive(EngineCollector().collect(PARAMS), answering(answers))


MAX = "max by (pod, engine, dp_rank, model_name, model)"
VLLM = {
    FOUND: series("vllm:num_requests_running"),
    f"sum by (pod) ({MAX} (vllm:num_requests_running": pods(a=40, b=40),
    f"sum by (pod) ({MAX} (vllm:num_requests_waiting": pods(a=30, b=10),
    f"sum ({MAX} (vllm:num_requests_running": grew(80, 20),
    f"sum ({MAX} (vllm:num_requests_waiting": grew(40, 0),
    "clamp_min(": grew(6, 2),
    "waiting_by_reason": vector(({"reason": "capacity"}, 39), ({"reason": "deferred"}, 1)),
    "iteration_tokens_total_count": pods(a=40.0, b=0.0),
    "request_success_total": grew(1, 2),
    "generation_tokens_total": grew(500, 1000),
}


def test_queue_and_load_are_told_beside_their_usual_values() -> None:
    facts = collected(VLLM)
    assert (facts.kind, facts.has_paged_kv) == ("vllm", True)
    assert (facts.running_count, facts.waiting_count, facts.waiting_count_usual) == (80, 40, 0)
    assert (facts.arrivals_per_second, facts.arrivals_ratio) == (6, 3)
    assert (facts.finished_ratio, facts.generated_ratio) == (0.5, 0.5)
    assert facts.waiting_count_series == HISTORY[0].samples


def test_why_requests_wait_is_told_where_the_engine_says_so() -> None:
    facts = collected(VLLM)
    assert (facts.waiting_for_capacity_count, facts.deferred_count) == (39, 1)
    silent = collected({**VLLM, "waiting_by_reason": EMPTY})
    assert silent.waiting_for_capacity_count is None


def test_one_long_queue_among_short_ones_is_a_skew() -> None:
    assert collected(VLLM).waiting_skew_ratio == pytest.approx(1.5)
    even = {**VLLM, f"sum by (pod) ({MAX} (vllm:num_requests_waiting": pods(a=0, b=0)}
    assert collected(even).waiting_skew_ratio is None


def test_a_pod_that_runs_requests_and_makes_no_step_stands_still() -> None:
    assert collected(VLLM).stalled_pods_count == 1
    idle = {**VLLM, f"sum by (pod) ({MAX} (vllm:num_requests_running": pods(a=40, b=0)}
    assert collected(idle).stalled_pods_count == 0
    untold = {**VLLM, "iteration_tokens_total_count": EMPTY}
    assert collected(untold).stalled_pods_count is None


def test_ranks_count_once_and_priorities_are_no_further_requests() -> None:
    asked: list[str] = []

    def answer(request: Any) -> Any:
        asked.append(request.shown)
        return answering({FOUND: series("sglang:num_running_reqs")})(request)

    facts = drive(EngineCollector().collect(PARAMS), answer)
    assert facts.kind == "sglang"
    gauges = [shown for shown in asked if "sglang:num_queue_reqs{" in shown and "sum" in shown]
    assert gauges
    assert all('priority=""' in shown for shown in gauges if "max by" in shown)


def test_tgi_counts_what_arrives() -> None:
    facts = collected(
        {
            FOUND: series("tgi_batch_current_size"),
            "tgi_request_count": grew(4, 2),
            "tgi_queue_size": vector(({}, 3)),
        }
    )
    assert (facts.kind, facts.arrivals_ratio) == ("tgi", 2)


def test_a_plain_http_server_has_load_and_no_queue() -> None:
    facts = collected(
        {
            FOUND: series("http_request_duration_seconds_count"),
            "http_request_duration_seconds_count": grew(4, 2),
        }
    )
    assert (facts.kind, facts.has_paged_kv, facts.arrivals_ratio) == ("http", False, 2)
    assert facts.waiting_count is None
    assert facts.waiting_count_series is None


def test_without_series_or_answers_nobody_knows() -> None:
    assert drive(EngineCollector().collect(PARAMS), lambda _: EMPTY) == Engine()
    assert drive(EngineCollector().collect(PARAMS), lambda _: TIMEOUT) == Engine()
    assert drive(LengthsCollector().collect(PARAMS), lambda _: TIMEOUT) == Lengths()


def lengths(answers: dict[str, Any]) -> Lengths:
    return drive(LengthsCollector().collect(PARAMS), answering(answers))


LONG = {
    FOUND: series("vllm:num_requests_running"),
    "quantile(0.5, sum by (le) (rate(vllm:request_prompt_tokens": grew(60000, 500),
    "quantile(0.95, sum by (le) (rate(vllm:request_prompt_tokens": grew(90000, 3000),
    "quantile(0.95, sum by (le) (rate(vllm:request_generation_tokens": grew(800, 800),
    "request_prefill_time_seconds_sum": grew(0.00016, 0.00016),
    "request_prefill_kv_computed_tokens_sum": grew(58000, 400),
    "sum (rate(vllm:prompt_tokens_total": grew(6000, 1000),
    "increase(": grew(36, 600),
}


def test_lengths_are_told_beside_their_usual_values() -> None:
    facts = lengths(LONG)
    assert (facts.prompt_p95_tokens, facts.prompt_p95_ratio) == (90000, 30)
    assert facts.prompt_p50_ratio == 120
    assert (facts.output_p95_ratio, facts.prefill_pace_ratio) == (1, 1)
    assert facts.computed_ratio == 145
    assert (facts.prompt_rate_ratio, facts.requests_count) == (6, 36)
    assert facts.prompt_p95_tokens_series == HISTORY[0].samples


def test_an_engine_that_does_not_tell_computed_tokens_leaves_them_unknown() -> None:
    facts = lengths(
        {
            FOUND: series("tgi_request_duration_count"),
            "quantile(0.95, sum by (le) (rate(tgi_request_input_length": grew(9000, 3000),
        }
    )
    assert facts.prompt_p95_ratio == 3
    assert (facts.computed_mean_tokens, facts.prefill_seconds_per_token) == (None, None)
