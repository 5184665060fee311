"""The limits an engine was started with."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.model import Missing, Reason
from tailhound_collectors.engine_args import EngineArgs, EngineArgsCollector, flags
from tailhound_collectors.pods import PodParams
from tests.driving import drive

PARAMS = PodParams(namespace="llm", pods=("a", "b"), container="main", selector="app=chat")


def pod(name: str, *args: str, command: tuple[str, ...] = (), container: str = "main") -> Any:
    spec = {"name": container, "args": list(args), "command": list(command)}
    return {"metadata": {"name": name}, "spec": {"containers": [spec]}}


def collected(*pods: Any) -> EngineArgs:
    return drive(EngineArgsCollector().collect(PARAMS), lambda _: pods)


def test_vllms_limits_are_read_in_either_style() -> None:
    facts = collected(
        pod("a", "--max-num-seqs=64", "--max_model_len", "32k", "--gpu-memory-utilization", "0.9")
    )
    assert facts.read is True
    assert (facts.max_sequences_count, facts.max_model_tokens, facts.memory_ratio) == (
        64,
        32000,
        0.9,
    )


def test_sglangs_names_mean_the_same() -> None:
    facts = collected(
        pod("a", "--max-running-requests", "48", "--mem-fraction-static=0.85", "--tp", "8")
    )
    assert (facts.max_sequences_count, facts.memory_ratio) == (48, 0.85)
    assert facts.tensor_parallel_count == 8


def test_a_shell_line_is_taken_apart() -> None:
    line = "exec vllm serve '/models/a b' --max-num-seqs 32 --no-enable-prefix-caching"
    facts = collected(pod("a", command=("sh", "-c", line)))
    assert (facts.max_sequences_count, facts.prefix_caching_off) == (32, True)


def test_where_pods_differ_the_lowest_counts() -> None:
    facts = collected(pod("a", "--max-num-seqs=64"), pod("b", "--max-num-seqs=16"))
    assert facts.max_sequences_count == 16


def test_a_limit_that_is_not_given_or_no_number_is_unknown() -> None:
    facts = collected(pod("a", "--max-num-seqs=$(SEQS)", "--kv-cache-dtype", "fp8"))
    assert (facts.read, facts.max_sequences_count, facts.kv_dtype) == (True, None, "fp8")


def test_a_side_container_is_not_the_engine() -> None:
    assert collected(pod("a", "--max-num-seqs=4", container="sidecar")) == EngineArgs()


def test_pods_that_may_not_be_read_say_nothing() -> None:
    missing = Missing(Reason.FORBIDDEN, "may not list pods in llm")
    assert drive(EngineArgsCollector().collect(PARAMS), lambda _: missing) == EngineArgs()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--a=1", "--a=2"], {"a": "2"}),
        (["--offset", "-3", "--flag"], {"offset": "-3", "flag": ""}),
        (["serve", "model"], {}),
        (["--name", "one", "two"], {"name": "one"}),
    ],
)
def test_flags_keep_the_last_value(words: list[str], found: dict[str, str]) -> None:
    assert flags(words) == found


@given(st.lists(st.text(max_size=40), max_size=6))
def test_whatever_stands_in_the_arguments_is_read_without_an_error(words: list[str]) -> None:
    facts = collected(pod("a", *words))
    assert facts.read is True
