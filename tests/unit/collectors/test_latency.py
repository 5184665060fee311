"""Which stage of a request grew."""

from typing import Any

import pytest

from tailhound_collectors.latency import Latency, LatencyCollector, LatencyParams
from tests.driving import EMPTY, by_text, drive, vector

PARAMS = LatencyParams(namespace="llm", pods=("a",))


def grew(now: float, past: float) -> Any:
    return {"now": vector(({}, now)), "past": vector(({}, past))}


def collected(answers: dict[str, Any], params: LatencyParams = PARAMS) -> Latency:
    return drive(LatencyCollector().collect(params), by_text(answers, EMPTY))


VLLM = {
    "count(vllm:time_to_first": vector(({}, 1)),
    "from": EMPTY,
    "histogram_quantile(0.99": grew(0.25, 0.025),
    "count by (le)": vector(({"le": "0.5"}, 1), ({"le": "80.0"}, 1), ({"le": "+Inf"}, 1)),
    "increase(": vector(({}, 500)),
    "max (rate": vector(({}, 1)),
    "sum (rate(vllm:time_to_first_token_seconds_count": grew(4, 4),
    "(sum (rate(vllm:time_to_first_token_seconds_sum": grew(1.6, 0.4),
    "(sum (rate(vllm:inter_token_latency_seconds_sum": grew(0.08, 0.008),
    "(sum (rate(vllm:e2e": grew(20, 2),
    "(sum (rate(vllm:request_queue": grew(0.01, 0.01),
    "(sum (rate(vllm:request_prefill": grew(0.6, 0.3),
    "(sum (rate(vllm:request_decode": grew(18, 1.6),
}
ORDERED = {key: VLLM[key] for key in sorted(VLLM, key=lambda key: key.startswith("sum (rate"))}


def test_stages_add_up_and_the_frontend_is_what_is_left() -> None:
    stages = {row.stage: row for row in collected(ORDERED).stages or ()}
    assert list(stages) == ["preprocessing", "queue", "prefill", "decode"]
    assert stages["preprocessing"].seconds == pytest.approx(0.99)
    assert stages["preprocessing"].usual_seconds == pytest.approx(0.09)


def test_the_cpu_stage_that_grew_most_is_named() -> None:
    facts = collected(ORDERED)
    assert facts.cpu_stage == "preprocessing"
    assert facts.cpu_stage_ratio == pytest.approx(11)


def test_a_frontend_that_grew_by_less_than_the_noise_is_left_out() -> None:
    quiet = {**ORDERED, "(sum (rate(vllm:time_to_first_token_seconds_sum": grew(0.64, 0.32)}
    facts = collected(quiet)
    assert facts.cpu_stage == "inter-token"
    assert facts.cpu_stage_ratio == pytest.approx(10)


def test_a_negative_remainder_is_unknown() -> None:
    odd = {**ORDERED, "(sum (rate(vllm:time_to_first_token_seconds_sum": grew(0.1, 0.1)}
    stages = {row.stage: row for row in collected(odd).stages or ()}
    assert stages["preprocessing"].seconds is None


def test_thin_traffic_reads_p90() -> None:
    thin = {**ORDERED, "increase(": vector(({}, 43)), "histogram_quantile(0.9,": grew(0.2, 0.02)}
    rows = {row.symptom: row for row in collected(thin).symptoms or ()}
    assert rows["itl"].quantile == "p90"


def test_a_quantile_at_the_top_bucket_is_clipped() -> None:
    clipped = {**ORDERED, "histogram_quantile(0.99": grew(80.0, 1)}
    rows = {row.symptom: row for row in collected(clipped).symptoms or ()}
    assert rows["itl"].clipped is True
    assert all(not row.clipped for row in collected(ORDERED).symptoms or ())


def test_a_plain_http_server_has_one_stage() -> None:
    answers = {
        "count(http_request_duration_seconds": vector(({}, 1)),
        "from": EMPTY,
        "(sum (rate(http_request_duration_seconds_sum": grew(0.16, 0.16),
    }
    facts = collected(answers)
    assert (facts.engine, facts.cpu_stage, facts.cpu_stage_ratio) == ("http", "handling", 1.0)


def test_a_workload_without_latency_series_says_nothing() -> None:
    assert collected({}) == Latency()


def test_rays_prefix_is_used_where_the_site_says_so() -> None:
    ray = {key.replace("vllm:", "ray_vllm_"): reply for key, reply in ORDERED.items()}
    params = LatencyParams(namespace="llm", pods=("a",), metric_prefix="ray_vllm_")
    assert collected(ray, params).engine == "vllm"
