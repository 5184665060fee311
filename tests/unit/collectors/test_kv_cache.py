"""How full the KV cache is, and whom it threw out."""

from typing import Any

import pytest

from tailhound.model import Missing, Reason
from tailhound.requests import RangeQuery
from tailhound_collectors.engine import EngineParams
from tailhound_collectors.kv_cache import KvCache, KvCacheCollector
from tests.driving import EMPTY, TIMEOUT, by_text, drive, vector

PARAMS = EngineParams(namespace="llm", pods=("a", "b"))
FOUND = "count by (__name__)"


def series(*names: str) -> Any:
    return vector(*(({"__name__": name}, 1) for name in names))


def pods(**values: float) -> Any:
    return vector(*(({"pod": pod}, value) for pod, value in values.items()))


def answering(answers: dict[str, Any]) -> Any:
    """By the first key that a query contains; no history."""
    instant = by_text(answers, EMPTY)
    return lambda request: EMPTY if isinstance(request, RangeQuery) else instant(request)


def collected(answers: dict[str, Any]) -> KvCache:
    return drive(KvCacheCollector().collect(PARAMS), answering(answers))


VLLM = {
    FOUND: series("vllm:num_requests_running"),
    "max (sum by (pod) (rate(vllm:num_preemptions": {
        "now": vector(({}, 0.5)),
        "past": vector(({}, 0.01)),
    },
    "max (max by (pod) (max_over_time": {"now": vector(({}, 0.99)), "past": vector(({}, 0.6))},
    "num_preemptions_total": pods(a=0.5, b=0.0),
    "kv_cache_usage_perc": pods(a=0.97, b=0.99),
    "request_success_total": pods(a=2.0, b=2.0),
    "num_requests_waiting": pods(a=9, b=0),
    "max by (pod) (vllm:num_requests_running": pods(a=40, b=30),
    "cache_config_info": vector(
        ({"pod": "a", "num_gpu_blocks": "1000", "block_size": "16"}, 1),
        ({"pod": "b", "num_gpu_blocks": "many", "block_size": "16"}, 1),
    ),
}


LENGTHS = {
    "sum (rate(vllm:request_prompt_tokens_sum": {
        "now": vector(({}, 45000.0)),
        "past": vector(({}, 900.0)),
    },
    "sum (rate(vllm:request_generation_tokens_sum": {
        "now": vector(({}, 120.0)),
        "past": vector(({}, 100.0)),
    },
}


def test_how_long_prompts_and_outputs_are_is_told_against_their_usual_lengths() -> None:
    facts = collected({**LENGTHS, **VLLM})
    assert (facts.prompt_tokens, facts.prompt_tokens_usual) == (45000, 900)
    assert facts.prompt_times == pytest.approx(50)
    assert (facts.output_tokens, facts.output_tokens_usual) == (120, 100)
    assert facts.output_times == pytest.approx(1.2)


@pytest.mark.parametrize("missing", [EMPTY, TIMEOUT])
def test_lengths_that_nobody_told_are_neither_long_nor_as_usual(missing: Missing) -> None:
    facts = collected({**VLLM, **dict.fromkeys(LENGTHS, missing)})
    assert facts.preemptions_count == pytest.approx(150)
    assert (facts.prompt_tokens, facts.prompt_tokens_usual, facts.prompt_times) == (None,) * 3
    assert (facts.output_tokens, facts.output_tokens_usual, facts.output_times) == (None,) * 3


def test_a_length_without_history_has_no_usual_one() -> None:
    new = {key: {"now": value["now"], "past": EMPTY} for key, value in LENGTHS.items()}
    facts = collected({**new, **VLLM})
    assert (facts.prompt_tokens, facts.prompt_tokens_usual, facts.prompt_times) == (
        45000,
        None,
        None,
    )


def test_the_facts_are_those_of_the_pod_that_preempts_most_though_another_is_fuller() -> None:
    facts = collected(VLLM)
    assert (facts.pod, facts.usage_ratio, facts.waiting_count) == ("a", 0.97, 9)
    assert facts.running_count == 40
    assert facts.preemptions_per_request == pytest.approx(0.25)
    assert facts.preemptions_count == pytest.approx(150)
    assert facts.finished_count == pytest.approx(600)
    assert facts.preemptions_per_second_usual == 0.01
    assert (facts.full_pods_count, facts.preempting_pods_count, facts.pods_count) == (2, 1, 2)
    assert (facts.others_preempting_count, facts.calm_pods_count) == (0, 1)
    assert facts.preemptions_counted is True


def test_a_second_pod_that_preempts_is_counted_beside_the_worst() -> None:
    facts = collected({**VLLM, "num_preemptions_total": pods(a=0.5, b=0.4)})
    assert (facts.pod, facts.preempting_pods_count) == ("a", 2)
    assert (facts.others_preempting_count, facts.calm_pods_count) == (1, 0)


def test_a_pod_that_counts_nothing_is_not_calm() -> None:
    facts = collected({**VLLM, "num_preemptions_total": pods(a=0.5)})
    assert (facts.preempting_pods_count, facts.others_preempting_count) == (1, 0)
    assert facts.calm_pods_count is None


def test_without_preemptions_the_fullest_pod_is_shown() -> None:
    facts = collected({**VLLM, "num_preemptions_total": pods(a=0.0, b=0.0)})
    assert (facts.pod, facts.preemptions_count, facts.preemptions_per_request) == ("b", 0, 0)


def test_where_nothing_finished_it_is_as_if_one_had() -> None:
    facts = collected({**VLLM, "request_success_total": pods(a=0.0, b=0.0)})
    assert facts.preemptions_per_request == pytest.approx(150)


def test_finished_requests_that_are_not_counted_leave_the_share_unknown() -> None:
    facts = collected({**VLLM, "request_success_total": EMPTY})
    assert facts.preemptions_per_request is None
    assert facts.preemptions_count == pytest.approx(150)


def test_a_counter_that_is_missing_is_no_zero() -> None:
    facts = collected({**VLLM, "num_preemptions_total": EMPTY})
    assert facts.preemptions_counted is False
    assert facts.preemptions_count is None
    assert facts.usage_ratio == 0.99


def test_a_counter_that_gave_no_answer_is_unknown() -> None:
    facts = collected({**VLLM, "num_preemptions_total": TIMEOUT})
    assert facts.preemptions_counted is None
    assert facts.preemptions_count is None


def test_the_smallest_pool_is_told_and_labels_that_are_no_numbers_are_left_out() -> None:
    assert collected(VLLM).pool_tokens == 16000
    hostile = vector(({"num_gpu_blocks": "inf", "block_size": "16"}, 1))
    assert collected({**VLLM, "cache_config_info": hostile}).pool_tokens is None


@pytest.mark.parametrize("usage", ["kv_cache_usage_perc", "gpu_cache_usage_perc"])
def test_both_spellings_of_the_usage_are_asked(usage: str) -> None:
    asked: list[str] = []

    def answer(request: Any) -> Any:
        asked.append(request.shown)
        return answering(VLLM)(request)

    drive(KvCacheCollector().collect(PARAMS), answer)
    assert any(f"max_over_time(vllm:{usage}{{" in shown for shown in asked)


def test_the_hit_rate_of_the_prefix_cache_is_never_asked() -> None:
    asked: list[str] = []

    def answer(request: Any) -> Any:
        asked.append(request.shown)
        return answering(VLLM)(request)

    drive(KvCacheCollector().collect(PARAMS), answer)
    assert not [shown for shown in asked if "prefix_cache" in shown or "hit" in shown]


def test_sglang_counts_retractions_and_before_the_first_one_its_gauge_says_none() -> None:
    asked: list[str] = []
    answers = {
        FOUND: series("sglang:num_running_reqs"),
        "max (": vector(({}, 0.0)),
        "num_retracted_requests_total": pods(a=0.0),
        "token_usage": pods(a=0.99),
        "num_requests_total": pods(a=2.0),
        "max_total_num_tokens": pods(a=420000.0),
    }

    def answer(request: Any) -> Any:
        asked.append(request.shown)
        return answering(answers)(request)

    facts = drive(KvCacheCollector().collect(PARAMS), answer)
    assert (facts.engine, facts.preemptions_count, facts.pool_tokens) == ("sglang", 0, 420000)
    assert any("(rate(sglang:prompt_tokens_histogram_sum{" in shown for shown in asked)
    assert any("(rate(sglang:generation_tokens_histogram_sum{" in shown for shown in asked)
    first = next(shown for shown in asked if "num_retracted_requests_total" in shown)
    assert " or (sum by (pod) (max_over_time(sglang:num_retracted_reqs{" in first
    assert first.endswith(" == 0)")


def test_tgi_holds_a_paged_cache_and_tells_nothing_about_it() -> None:
    facts = collected({FOUND: series("tgi_request_duration_count")})
    assert facts == KvCache(engine="tgi", has_paged_kv=True)


@pytest.mark.parametrize(
    ("more", "paged"), [((), False), (("nv_trt_llm_kv_cache_block_metrics",), True)]
)
def test_triton_holds_one_where_it_reports_one(more: tuple[str, ...], paged: bool) -> None:
    facts = collected({FOUND: series("nv_inference_request_success", *more)})
    assert (facts.engine, facts.has_paged_kv, facts.usage_ratio) == ("triton", paged, None)


def test_a_plain_server_holds_none() -> None:
    facts = collected({FOUND: series("http_request_duration_seconds_count")})
    assert facts.has_paged_kv is False


@pytest.mark.parametrize("missing", [EMPTY, TIMEOUT, Missing(Reason.FORBIDDEN, "401")])
def test_without_series_nobody_knows(missing: Missing) -> None:
    assert drive(KvCacheCollector().collect(PARAMS), lambda _: missing) == KvCache()


def test_an_engine_whose_pods_tell_nothing_is_known_but_not_measured() -> None:
    facts = collected({FOUND: VLLM[FOUND]})
    assert (facts.engine, facts.has_paged_kv, facts.pod) == ("vllm", True, None)
    assert facts.preemptions_counted is False
