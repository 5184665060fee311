"""Names in sentences: they stay as they are, wherever they stand."""

import pytest

from tailhound.model.names import capital


@pytest.mark.parametrize(
    "text",
    [
        "chat-json-predictor-00001-deployment-5b7d9c-x2k4q was stopped",
        "llm-0 was stopped",
        "gpu-node-7: no answer",
        "db-1, db-2 refuse",
        "vllm:num_requests_waiting is not there",
        "prod/llm-70b is slow",
        "node_exporter is not scraped",
        "prometheus.monitoring does not resolve",
        "vLLM is too old",
        "10.0.0.5 refuses",
    ],
)
def test_a_name_that_opens_a_sentence_can_be_copied(text: str) -> None:
    assert capital(text) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("inter-token p99", "Inter-token p99"),
        ("first token mean", "First token mean"),
        ("unknown", "Unknown"),
        ("the drive: no answer", "The drive: no answer"),
        ("one-click is off", "One-click is off"),
        ("", ""),
    ],
)
def test_any_other_word_opens_a_sentence_with_a_capital(text: str, said: str) -> None:
    assert capital(text) == said
