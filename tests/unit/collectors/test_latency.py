"""Which stage of a request grew."""

from typing import Any

import pytest

from tailhound.requests import RangeQuery
from tailhound_collectors.latency import Latency, LatencyCollector, LatencyParams
from tests.driving import EMPTY, TIMEOUT, by_text, drive, vector

PARAMS = LatencyParams(namespace="llm", pods=("a",))


def grew(now: float, past: float) -> Any:
    return {"now": vector(({}, now)), "past": vector(({}, past))}


def series(*names: str) -> Any:
    return vector(*(({"__name__": name}, 1) for name in names))


def answering(answers: dict[str, Any]) -> Any:
    """By the first key that a query contains; no history."""
    instant = by_text(answers, EMPTY)
    return lambda request: EMPTY if isinstance(request, RangeQuery) else instant(request)


def collected(answers: dict[str, Any], params: LatencyParams = PARAMS) -> Latency:
    return drive(LatencyCollector().collect(params), answering(answers))


BOUNDS = vector(({"le": "0.5"}, 1), ({"le": "80.0"}, 1), ({"le": "+Inf"}, 1))
VLLM = {
    "count by (__name__)": series("vllm:time_to_first_token_seconds_count"),
    "histogram_quantile(0.99": grew(0.25, 0.025),
    "count by (le)": BOUNDS,
    "increase(": vector(({}, 500)),
    "(sum (rate(vllm:time_to_first_token_seconds_sum": grew(1.6, 0.4),
    "(sum (rate(vllm:inter_token_latency_seconds_sum": grew(0.08, 0.008),
    "(sum (rate(vllm:e2e": grew(20, 2),
    "(sum (rate(vllm:request_queue": grew(0.01, 0.01),
    "(sum (rate(vllm:request_prefill": grew(0.6, 0.3),
    "(sum (rate(vllm:request_decode": grew(18, 1.6),
    'finished_reason="error"': grew(0.2, 0.0),
    'finished_reason="abort"': grew(0.1, 0.05),
    "sum (rate(vllm:": grew(4, 4),
}


def test_stages_add_up_and_the_frontend_is_what_is_left() -> None:
    stages = {row.stage: row for row in collected(VLLM).stages or ()}
    assert list(stages) == ["preprocessing", "queue", "prefill", "decode"]
    assert stages["preprocessing"].seconds == pytest.approx(0.99)
    assert stages["preprocessing"].usual_seconds == pytest.approx(0.09)


def test_a_decode_that_nobody_measures_is_what_follows_the_first_token() -> None:
    unmeasured = {**VLLM, "(sum (rate(vllm:request_decode": EMPTY}
    (decode,) = (row for row in collected(unmeasured).stages or () if row.stage == "decode")
    assert decode.seconds == pytest.approx(18.4)
    assert decode.usual_seconds == pytest.approx(1.6)
    assert decode.remainder == "end to end less first token"
    measured = {row.stage: row for row in collected(VLLM).stages or ()}["decode"]
    assert measured.seconds == pytest.approx(18)
    assert measured.remainder is None


def test_the_cpu_stage_that_grew_most_is_named() -> None:
    facts = collected(VLLM)
    assert facts.cpu_stage == "preprocessing"
    assert facts.cpu_stage_ratio == pytest.approx(11)


def test_a_frontend_that_grew_by_less_than_the_noise_is_as_usual() -> None:
    quiet = {**VLLM, "(sum (rate(vllm:time_to_first_token_seconds_sum": grew(0.64, 0.32)}
    facts = collected(quiet)
    assert facts.cpu_stage == "inter-token"
    assert facts.cpu_stage_ratio == pytest.approx(10)


def test_a_negative_remainder_is_unknown() -> None:
    odd = {**VLLM, "(sum (rate(vllm:time_to_first_token_seconds_sum": grew(0.1, 0.1)}
    stages = {row.stage: row for row in collected(odd).stages or ()}
    assert stages["preprocessing"].seconds is None


def test_means_of_different_requests_are_not_subtracted() -> None:
    # first tokens of few requests, stages of many that began long before
    lagging = {
        **{key: reply for key, reply in VLLM.items() if key != "sum (rate(vllm:"},
        "sum (rate(vllm:time_to_first_token_seconds_count": grew(1, 4),
        "sum (rate(vllm:": grew(4, 4),
    }
    facts = collected(lagging)
    stages = {row.stage: row for row in facts.stages or ()}
    assert stages["preprocessing"].seconds is None
    assert stages["preprocessing"].usual_seconds == pytest.approx(0.09)
    assert facts.cpu_stage == "inter-token"


def test_thin_traffic_reads_p90() -> None:
    thin = {**VLLM, "increase(": vector(({}, 43)), "histogram_quantile(0.9,": grew(0.2, 0.02)}
    rows = {row.symptom: row for row in collected(thin).symptoms or ()}
    assert rows["itl"].quantile == "p90"
    assert rows["itl"].requests_count == 43
    assert {row.requests_count for row in collected(VLLM).symptoms or ()} == {None}


def test_a_quantile_at_the_top_bucket_is_clipped() -> None:
    clipped = {**VLLM, "histogram_quantile(0.99": grew(80.0, 1)}
    rows = {row.symptom: row for row in collected(clipped).symptoms or ()}
    assert rows["itl"].clipped is True
    assert all(not row.clipped for row in collected(VLLM).symptoms or ())


def test_bucket_bounds_that_are_no_numbers_are_left_out() -> None:
    hostile = {**VLLM, "count by (le)": vector(({"le": "x"}, 1), ({"le": "2"}, 1))}
    assert all(not row.clipped for row in collected(hostile).symptoms or ())


def test_the_slowdown_is_that_of_the_symptom_that_grew_most_and_no_wait() -> None:
    waiting = {**VLLM, "(sum (rate(vllm:request_queue": grew(50, 0.001)}
    facts = collected(waiting)
    assert facts.slowdown_ratio == pytest.approx(10)
    assert facts.slowdown_symptom in ("inter-token", "end to end", "first token")


def test_a_plain_http_server_has_one_stage() -> None:
    answers = {
        "count by (__name__)": series("http_request_duration_seconds_count"),
        "(sum (rate(http_request_duration_seconds_sum": grew(0.16, 0.16),
    }
    facts = collected(answers)
    assert (facts.engine, facts.cpu_stage, facts.cpu_stage_ratio) == ("http", "handling", 1.0)


def test_a_workload_without_latency_series_says_nothing() -> None:
    assert collected({}) == Latency()


def test_a_prometheus_that_does_not_answer_says_nothing() -> None:
    assert drive(LatencyCollector().collect(PARAMS), lambda _: TIMEOUT) == Latency()


@pytest.mark.parametrize("prefix", ["ray_vllm_", ""])
def test_rays_prefix_is_used_where_the_site_says_so_or_where_it_is_found(prefix: str) -> None:
    def ray(reply: Any) -> Any:
        return series("ray_vllm_num_requests_running") if reply is VLLM[NAMES] else reply

    answers = {key.replace("vllm:", "ray_vllm_"): ray(reply) for key, reply in VLLM.items()}
    params = LatencyParams(namespace="llm", pods=("a",), metric_prefix=prefix)
    facts = collected(answers, params)
    assert facts.engine == "vllm"
    assert facts.cpu_stage_ratio == pytest.approx(11)


NAMES = "count by (__name__)"


def test_sglang_splits_into_queue_first_token_and_decode() -> None:
    facts = collected(
        {
            NAMES: series("sglang:time_to_first_token_seconds_count"),
            "(sum (rate(sglang:time_to_first": grew(3.0, 0.5),
            "(sum (rate(sglang:queue_time": grew(2.0, 0.1),
            "(sum (rate(sglang:e2e": grew(9.0, 3.0),
            "(sum (rate(sglang:inter_token": grew(0.02, 0.02),
            "sum (rate(sglang:": grew(4, 4),
        }
    )
    stages = {row.stage: (row.seconds, row.usual_seconds) for row in facts.stages or ()}
    assert stages == {
        "queue": (2.0, 0.1),
        "preprocessing and prefill": (1.0, 0.4),
        "decode": (6.0, 2.5),
    }
    assert (facts.engine, facts.cpu_stage, facts.cpu_stage_ratio) == ("sglang", "inter-token", 1.0)


def test_tgi_has_no_first_token_and_its_validation_is_preprocessing() -> None:
    facts = collected(
        {
            NAMES: series("tgi_request_duration_count"),
            "(sum (rate(tgi_request_duration": grew(4.0, 2.0),
            "(sum (rate(tgi_request_queue": grew(0.1, 0.1),
            "(sum (rate(tgi_request_validation": grew(0.3, 0.1),
            "(sum (rate(tgi_request_inference": grew(3.6, 1.8),
            "(sum (rate(tgi_request_mean_time": grew(0.02, 0.02),
        }
    )
    assert facts.engine == "tgi"
    assert [row.stage for row in facts.stages or ()] == ["preprocessing", "queue", "inference"]
    assert [row.symptom for row in facts.symptoms or ()] == ["pace", "e2e", "queue"]
    assert facts.cpu_stage == "preprocessing"
    assert facts.cpu_stage_ratio == pytest.approx(3)


TRITON = {
    NAMES: series("nv_inference_request_success"),
    "by (model)": vector(({"model": "bert"}, 1)),
    "(sum (rate(nv_inference_request_duration_us": grew(0.016, 0.009),
    "(sum (rate(nv_inference_queue_duration_us": grew(0.009, 0.002),
    "(sum (rate(nv_inference_compute_input_duration_us": grew(0.0004, 0.0002),
    "(sum (rate(nv_inference_compute_infer_duration_us": grew(0.006, 0.006),
    "(sum (rate(nv_inference_compute_output_duration_us": grew(0.0002, 0.0002),
}


def test_triton_tells_means_of_one_model_and_the_server_is_what_is_left() -> None:
    facts = collected(TRITON)
    stages = {row.stage: row.seconds for row in facts.stages or ()}
    assert list(stages) == ["queue", "input", "inference", "output", "server"]
    assert stages["server"] == pytest.approx(0.0004)
    assert facts.model == "bert"
    assert [row.symptom for row in facts.symptoms or ()] == ["e2e", "queue"]
    assert all(row.quantile == "" for row in facts.symptoms or ())


def test_tritons_copies_that_grew_by_less_than_a_millisecond_are_as_usual() -> None:
    assert collected(TRITON).cpu_stage_ratio == 1.0
    slow = {**TRITON, "(sum (rate(nv_inference_compute_input_duration_us": grew(0.003, 0.0002)}
    facts = collected(slow)
    assert facts.cpu_stage == "input"
    assert facts.cpu_stage_ratio == pytest.approx(15)


def test_triton_looks_at_the_model_that_lost_most_time() -> None:
    asked: list[str] = []

    def answer(request: Any) -> Any:
        asked.append(request.shown)
        total = "rate(nv_inference_request_duration_us"
        if "by (model)" in request.shown and request.shown.startswith("(sum") and request.ago:
            return vector(({"model": "big"}, 1000.0), ({"model": 'bad"one'}, 1000.0))
        if "by (model)" in request.shown and total in request.shown:
            return vector(({"model": "big"}, 1e6), ({"model": 'bad"one'}, 1e5))
        if "by (model)" in request.shown:
            return vector(({"model": "big"}, 1000.0), ({"model": 'bad"one'}, 10.0))
        return answering(TRITON)(request)

    facts = drive(LatencyCollector().collect(PARAMS), answer)
    assert facts.model == 'bad"one'
    assert any('model="bad\\"one"' in shown for shown in asked)


def test_errors_are_read_beside_latency_and_a_growth_has_a_history() -> None:
    facts = collected(VLLM)
    assert facts.error_source == "the engine"
    assert (facts.error_ratio, facts.error_ratio_usual) == (0.2, 0.0)
    assert (facts.aborted_ratio, facts.aborted_ratio_usual) == (0.1, 0.05)


def test_a_share_that_hardly_grew_gets_no_history() -> None:
    asked: list[str] = []

    def answer(request: Any) -> Any:
        asked.append(request.shown)
        return answering({**VLLM, 'finished_reason="error"': grew(0.005, 0.0)})(request)

    drive(LatencyCollector().collect(PARAMS), answer)
    ranged = [one for one in asked if "from" in one and "finished_reason" in one]
    assert ranged == []


def test_the_worst_place_that_counts_failures_is_named() -> None:
    params = LatencyParams(namespace="llm", pods=("a",), workload="chat")
    answers = {
        "nginx_ingress_controller_requests{exported_namespace": grew(0.4, 0.01),
        'status=~"5.*|429"': EMPTY,
        **VLLM,
        NAMES: series("vllm:num_requests_running", "http_requests_total"),
    }
    facts = collected(answers, params)
    assert (facts.error_source, facts.error_ratio) == ("the ingress", 0.4)
    assert [row.source for row in facts.errors or ()] == ["the ingress", "the engine"]


EDGE = "(sum (rate(nginx_ingress_controller_response_duration_seconds_sum{exported_namespace"


def test_the_edge_is_a_symptom_even_of_a_server_that_tells_nothing() -> None:
    params = LatencyParams(namespace="llm", pods=("a",), workload="chat")
    facts = collected({EDGE: grew(4.0, 0.5), "count by (le)": BOUNDS, "increase(": EMPTY}, params)
    (row,) = facts.symptoms or ()
    assert (row.symptom, row.title) == ("edge", "request at the ingress")
    assert (row.seconds, row.usual_seconds) == (4.0, 0.5)
    assert facts.engine is None


def test_the_edge_comes_after_the_engines_own_latencies_and_is_no_slowdown_of_it() -> None:
    params = LatencyParams(namespace="llm", pods=("a",), workload="chat")
    facts = collected({EDGE: grew(400.0, 0.5), **VLLM}, params)
    assert [row.symptom for row in facts.symptoms or ()] == ["ttft", "itl", "e2e", "queue", "edge"]
    assert facts.slowdown_ratio == pytest.approx(10)


def test_the_mesh_tells_milliseconds() -> None:
    asked: list[str] = []

    def answer(request: Any) -> Any:
        asked.append(request.shown)
        return EMPTY

    params = LatencyParams(namespace="llm", pods=("a",), workload='ch"at')
    drive(LatencyCollector().collect(params), answer)
    (mesh,) = {shown for shown in asked if "istio_request_duration" in shown and "ago" not in shown}
    assert mesh.endswith("* 0.001)")
    assert 'destination_workload="ch\\"at"' in mesh


def test_without_a_known_workload_no_edge_is_asked() -> None:
    asked: list[str] = []

    def answer(request: Any) -> Any:
        asked.append(request.shown)
        return EMPTY

    drive(LatencyCollector().collect(PARAMS), answer)
    assert not [shown for shown in asked if "nginx" in shown or "istio" in shown]


def test_what_a_site_does_not_have_costs_one_question_each() -> None:
    asked: list[str] = []

    def answer(request: Any) -> Any:
        asked.append(request.shown)
        return EMPTY

    params = LatencyParams(namespace="llm", pods=("a",), workload="chat")
    facts = drive(LatencyCollector().collect(params), answer)
    assert len(asked) == 7  # which family; two ingress spellings and the mesh: waits and failures
    assert not [shown for shown in asked if "ago" in shown]
    assert facts == Latency()


# which pods


def paced(**pods: float) -> Any:
    return vector(*(({"pod": pod}, seconds) for pod, seconds in pods.items()))


BY_POD = {
    "(sum by (pod) (rate(vllm:time_to_first_token": {
        "now": paced(a=3.0, b=0.4),
        "past": paced(a=0.4),
    },
    **VLLM,
}
TWO = LatencyParams(namespace="llm", pods=("a", "b"))


def test_a_latency_that_grew_is_told_for_each_pod_beside_its_usual_value() -> None:
    rows = {row.symptom: row for row in collected(BY_POD, TWO).symptoms or ()}
    assert [(p.pod, p.seconds, p.usual_seconds) for p in rows["ttft"].pods or ()] == [
        ("a", 3.0, 0.4),
        ("b", 0.4, None),
    ]


def test_pods_are_asked_only_of_what_grew_and_only_of_several() -> None:
    asked: list[str] = []
    answer = answering(BY_POD)

    def noting(request: Any) -> Any:
        asked.append(request.shown)
        return answer(request)

    drive(LatencyCollector().collect(TWO), noting)
    about = [one for one in asked if "by (pod)" in one]
    assert about
    assert all("queue" not in one for one in about)  # it did not grow
    asked.clear()
    drive(LatencyCollector().collect(PARAMS), noting)
    assert not [one for one in asked if "by (pod)" in one]


def test_pods_that_nobody_measured_are_unknown() -> None:
    rows = collected(VLLM, TWO).symptoms or ()
    assert {row.pods for row in rows} == {None}


def test_the_edge_is_asked_while_the_family_is_looked_for_and_adds_no_round() -> None:
    def rounds(answers: dict[str, Any], workload: str) -> int:
        params = LatencyParams(namespace="llm", pods=("a",), workload=workload)
        flow, answer, count = LatencyCollector().collect(params), answering(answers), 0
        reply: Any = None
        while True:
            try:
                request: Any = flow.send(reply)
            except StopIteration:
                return count
            count += 1
            reply = tuple(answer(inner) for inner in request.requests)

    assert rounds({EDGE: grew(4.0, 0.5), **VLLM}, "chat") == rounds(VLLM, "")
