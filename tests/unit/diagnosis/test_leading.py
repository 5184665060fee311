"""Which symptom leads: the one that the alert names, else the one that grew most."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tailhound.diagnosis.leading import led, unmeasured
from tailhound.diagnosis.named import NOTHING, Named, named_by
from tailhound.diagnosis.symptom import first_onset, grew_seconds, moved, symptom_of
from tailhound.model import Alert, AlertStatus, Symptom, telling
from tests.unit.diagnosis.test_symptom import evidence, failures, latency

ALERT = Alert(
    fingerprint="f",
    name="SomethingIsWrong",
    labels={},
    annotations={},
    status=AlertStatus.FIRING,
    starts_at=datetime(2026, 11, 30, tzinfo=UTC),
)
FIRST = latency("ttft", "first token", 1, 1.4, 1.4, 1.4)
BETWEEN = latency("itl", "inter-token", 1, 3.5, 3.5, 3.5)
WHOLE = latency("e2e", "end to end", 1, 2.6, 2.6, 2.6)
QUEUE = latency("queue", "queue wait", 1, 90, 90, 90)
EDGE = latency("edge", "request at the ingress", 1, 9, 9, 9)
FAILED = failures(0, 0.5, 0.5, 0.5)


def leading(named: Named, *rows: Any, errors: Any = ()) -> Symptom:
    found = symptom_of(led(moved(evidence(rows, errors)), named), {}, ())
    assert found is not None
    return found


def by_name(name: str, **changes: Any) -> Named:
    return named_by(replace(ALERT, name=name, **changes))


# --- what leads


def test_without_a_word_of_the_alert_the_one_that_grew_most_leads() -> None:
    found = leading(NOTHING, FIRST, BETWEEN, WHOLE)
    assert found.name == "inter-token mean"
    assert found.series == "inter-token"


def test_the_others_that_grew_are_told_shortly_the_one_that_grew_most_first() -> None:
    found = leading(NOTHING, FIRST, BETWEEN, WHOLE, errors=[FAILED])
    told = telling.also(found).replace("\u00a0", " ")
    assert told == "also end to end x2.6, first token x1.4, error share at the ingress 50 %"
    assert telling.also(found, 1) == "also end to end x2.6"
    assert told in telling.valued(found).replace("\u00a0", " ")
    assert telling.also(leading(NOTHING, FIRST)) == ""


def test_growth_that_reads_the_same_leads_in_the_order_of_the_symptoms() -> None:
    nearly = latency("e2e", "end to end", 1, 1.42, 1.42, 1.42)
    assert leading(NOTHING, FIRST, nearly).name == "first token mean"


def test_a_wait_an_edge_and_failures_lead_only_where_they_are_named_or_alone() -> None:
    assert leading(NOTHING, FIRST, QUEUE, EDGE, errors=[FAILED]).name == "first token mean"
    assert leading(by_name("QueueWaitHigh"), FIRST, QUEUE).name == "queue wait mean"
    assert leading(NOTHING, QUEUE).name == "queue wait mean"
    found = leading(by_name("ServiceErrorRateHigh"), FIRST, errors=[FAILED])
    assert found.name == "error share at the ingress"
    assert leading(NOTHING, errors=[FAILED]).name == "error share at the ingress"


def test_what_the_alert_names_leads_although_another_grew_more() -> None:
    assert leading(by_name("LLMDHighTTFT"), FIRST, BETWEEN, WHOLE).name == "first token mean"
    assert leading(by_name("LatencyHigh"), FIRST, BETWEEN, WHOLE).name == "end to end mean"
    assert leading(by_name("TokensSlow"), FIRST, BETWEEN, WHOLE).name == "inter-token mean"


def test_what_the_alert_names_and_did_not_move_does_not_lead() -> None:
    still = latency("ttft", "first token", 1, 1, 1, 1)
    assert leading(by_name("HighTTFT"), still, WHOLE).name == "end to end mean"


def test_what_changed_is_looked_for_before_the_first_of_them_whichever_leads() -> None:
    early = latency("ttft", "first token", 1, 1.4, 1.4, 1.4, 1.4, 1.4)
    rows = led(moved(evidence([early, BETWEEN])))
    found = symptom_of(rows, {}, ())
    assert found is not None
    assert found.onset is not None
    first = first_onset(rows)
    assert first is not None
    assert first < found.onset
    assert first_onset([]) is None


def test_the_growth_is_of_the_mean_and_for_a_time_per_token_of_whole_requests() -> None:
    found = evidence([FIRST, BETWEEN, WHOLE])
    assert grew_seconds([FIRST], found) == pytest.approx(0.4)
    assert grew_seconds([BETWEEN], found) == pytest.approx(1.6)


def test_how_much_it_grew_is_not_known_without_a_mean_without_growth_and_of_failures() -> None:
    assert grew_seconds([BETWEEN], evidence([FIRST, BETWEEN])) is None
    assert grew_seconds([latency("ttft", "first token", 1, 1, 1, 1)], []) is None
    assert grew_seconds([{**FIRST, "usual_seconds": None}], []) is None
    assert grew_seconds([FAILED], []) is None
    assert grew_seconds([], []) is None


# --- what nobody measured


def test_what_the_alert_names_and_nobody_measured_is_said() -> None:
    named = by_name("InferenceInterTokenLatencyHigh")
    assert unmeasured(evidence([FIRST]), named) == "inter-token: not measured"
    assert unmeasured(evidence([FIRST]), by_name("High5xx")) == "error share: not measured"


@pytest.mark.parametrize("kind", ["itl", "pace"])
def test_what_was_measured_is_not_said_to_be_missing_whether_it_moved_or_not(kind: str) -> None:
    still = latency(kind, "inter-token", 1, 1, 1, 1)
    assert unmeasured(evidence([FIRST, still]), by_name("TPOTHigh")) == ""


def test_nothing_is_said_to_be_missing_without_a_word_for_it_or_without_any_latency() -> None:
    assert unmeasured(evidence([FIRST]), by_name("LatencyHigh")) == ""
    assert unmeasured(evidence([FIRST]), NOTHING) == ""
    assert unmeasured(evidence(), by_name("HighTTFT")) == ""
    assert unmeasured([], by_name("QueueDepthHigh")) == ""


# --- what an alert names


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("LLMDHighTTFT", "first token"),
        ("vllm_time_to_first_token_high", "first token"),
        ("InferenceInterTokenLatencyHigh", "inter-token"),
        ("ITLHigh", "inter-token"),
        ("TimePerOutputTokenSLO", "inter-token"),
        ("E2ELatencyHigh", "end to end"),
        ("EndToEndSlow", "end to end"),
        ("QueueTooLong", "queue wait"),
        ("ServiceErrorRateHigh", "error share"),
        ("Http5xxHigh", "error share"),
        ("LatencyHigh", ""),
        ("XidErrorsOnGpu", ""),
        ("TitleWaitlist", ""),
        ("", ""),
    ],
)
def test_an_alert_names_its_symptom_in_words_of_ours(name: str, title: str) -> None:
    assert by_name(name).title == title


def test_the_name_is_believed_first_then_a_label_for_it_then_the_summary() -> None:
    said = {"summary": "TTFT p99 above 2.5 s while the queue is empty", "description": "itl"}
    assert by_name("SLOBurn", annotations=said).title == "first token"
    assert by_name("SLOBurn", labels={"slo": "e2e"}, annotations=said).title == "end to end"
    assert by_name("ITLHigh", labels={"slo": "e2e"}, annotations=said).title == "inter-token"
    assert by_name("SLOBurn", annotations={"description": "high itl"}).title == "inter-token"


def test_a_label_that_may_be_a_name_of_something_names_no_symptom() -> None:
    assert by_name("Slow", labels={"service": "queue", "pod": "ttft-0"}) == NOTHING
    assert named_by(None) == NOTHING


def test_a_hostile_text_of_any_length_chooses_among_our_own_names_only() -> None:
    for text in (
        "x" * 1_000_000 + " ttft",
        "<!channel> *`\x00" * 9,
        "A" * 1_000_000,
        "\u202e" * 500,
    ):
        assert by_name(text) == NOTHING
    assert by_name("*TTFT* <@U1>").title == "first token"
