"""KV transfers: the wire is judged by the time per byte."""

from typing import Any

import pytest

from tailhound_collectors.kv_transfer import (
    KvTransferCollector,
    KvTransfers,
    TransferParams,
)
from tests.driving import EMPTY, TIMEOUT, by_text, drive, vector

PARAMS = TransferParams(namespace="llm", pods=("a", "b"))
FOUND = "count by (__name__)"


def series(*names: str) -> Any:
    return vector(*(({"__name__": name}, 1) for name in names))


def pods(now: dict[str, float], past: dict[str, float]) -> Any:
    def told(values: dict[str, float]) -> Any:
        return vector(*(({"pod": pod}, value) for pod, value in values.items()))

    return {"now": told(now), "past": told(past)}


def collected(answers: dict[str, Any], params: TransferParams = PARAMS) -> KvTransfers:
    return drive(KvTransferCollector().collect(params), by_text(answers, EMPTY))


VLLM: dict[str, Any] = {
    FOUND: series("vllm:nixl_xfer_time_seconds_sum"),
    "quantile": pods({"a": 0.03, "b": 0.2}, {"a": 0.03, "b": 0.05}),
    "nixl_xfer_time_seconds_sum": pods({"a": 0.02, "b": 0.1}, {"a": 0.02, "b": 0.025}),
    "nixl_xfer_time_seconds_count": pods({"a": 2, "b": 2}, {"a": 2, "b": 2}),
    "nixl_bytes_transferred_sum": pods({"a": 1e8, "b": 1e8}, {"a": 1e8, "b": 1e8}),
    "nixl_post_time_seconds_sum": pods({"a": 0.001, "b": 0.001}, {"a": 0.001, "b": 0.001}),
    "failed": vector(({}, 0.0)),
}


def test_the_pod_whose_bytes_take_longest_is_told() -> None:
    facts = collected(VLLM)
    assert (facts.counted, facts.engine, facts.pod) == (True, "vllm", "b")
    assert facts.per_byte_times == pytest.approx(4)
    assert facts.slower_times == pytest.approx(4)
    assert (facts.p99_seconds, facts.mean_seconds) == (0.2, 0.05)
    assert facts.throughput_bytes_per_second == pytest.approx(1e9)
    assert (facts.post_times, facts.payload_times, facts.failed_per_second) == (1, 1, 0)
    assert facts.expired_per_second is None


def test_larger_payloads_take_longer_and_a_byte_does_not() -> None:
    facts = collected(
        {**VLLM, "nixl_bytes_transferred_sum": pods({"a": 1e8, "b": 4e8}, {"a": 1e8, "b": 1e8})}
    )
    assert facts.per_byte_times == pytest.approx(1)
    assert (facts.payload_times, facts.pod) == (4, "b")


def test_of_a_handful_of_transfers_the_mean_is_compared() -> None:
    few = {**VLLM, "nixl_xfer_time_seconds_count": pods({"b": 0.2}, {"b": 0.1})}
    facts = collected(few)
    assert facts.slower_times == pytest.approx(2)


def test_pods_that_count_no_transfers() -> None:
    assert collected({}) == KvTransfers(counted=False)


def test_prometheus_that_does_not_answer_is_no_pod_without_transfers() -> None:
    assert collected({FOUND: TIMEOUT}) == KvTransfers()


def test_nothing_was_moved_so_nothing_takes_longer() -> None:
    still = pods({"a": 0.0, "b": 0.0}, {"a": 0.0, "b": 0.0})
    facts = collected({**VLLM, **dict.fromkeys(list(VLLM)[2:6], still), "quantile": EMPTY})
    assert (facts.pod, facts.per_byte_times, facts.failed_per_second) == (None, None, 0)
    assert facts.counted is True


def test_a_pod_without_a_usual_value_tells_no_ratio() -> None:
    fresh = {
        name: {"now": reply["now"], "past": EMPTY}
        for name, reply in VLLM.items()
        if isinstance(reply, dict)
    }
    facts = collected({**VLLM, **fresh})
    assert (facts.per_byte_times, facts.slower_times, facts.payload_times) == (None, None, None)
    assert facts.pod == "b"


def test_failures_that_nobody_counts_are_not_zero_for_vllm_but_are_for_sglang() -> None:
    assert collected({**VLLM, "failed": EMPTY}).failed_per_second is None
    sglang = {
        FOUND: series("sglang:kv_transfer_latency_ms_sum"),
        "latency_ms_sum": pods({"a": 0.05}, {"a": 0.0125}),
        "latency_ms_count": pods({"a": 2}, {"a": 2}),
        "total_mb_sum": pods({"a": 1e8}, {"a": 1e8}),
    }
    facts = collected(sglang)
    assert (facts.engine, facts.failed_per_second) == ("sglang", 0)
    assert facts.per_byte_times == pytest.approx(4)
    assert collected({**sglang, "failed": TIMEOUT}).failed_per_second is None


def test_gauges_of_sglang_tell_speed_and_latency() -> None:
    facts = collected(
        {
            FOUND: series("sglang:kv_transfer_latency_ms"),
            "latency_ms": pods({"a": 0.04}, {"a": 0.01}),
            "total_mb": pods({"a": 6e7}, {"a": 6e7}),
            "speed_gb_s": pods({"a": 1.5e9}, {"a": 6e9}),
        }
    )
    assert (facts.per_byte_times, facts.slower_times, facts.payload_bytes) == (4, 4, 6e7)


def test_a_prefix_of_the_site_is_asked_for() -> None:
    facts = collected(
        {FOUND: series("my:nixl_xfer_time_seconds_sum"), "my:nixl_xfer_time": EMPTY},
        TransferParams(namespace="llm", pods=("a",), metric_prefix="my:"),
    )
    assert (facts.counted, facts.engine) == (True, "vllm")


def test_without_pods_it_is_known_only_that_nobody_counts_transfers() -> None:
    nobody = TransferParams()
    assert collected({}, nobody).counted is False
    assert collected(VLLM, nobody) == KvTransfers()
    assert collected({FOUND: TIMEOUT}, nobody).counted is None
