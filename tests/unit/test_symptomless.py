"""What is said where no symptom was found: that nothing grew, or that nobody could tell."""

from collections.abc import Mapping
from typing import Any

import pytest

from tailhound.model import Asked, Evidence, EvidenceStatus, telling
from tailhound.model.names import small
from tailhound.model.symptomless import LATENCY, history_seconds, symptomless

SERIES = tuple({"at": at * 675.0, "value": 1.0} for at in range(5))
YOUNGER = tuple({"at": at * 300.0, "value": 1.0} for at in range(5))
NBSP = "\u00a0"


def row(title: str = "first token", **more: Any) -> Mapping[str, Any]:
    return {
        "title": title,
        "seconds": 0.7,
        "usual_seconds": 0.7,
        "series": SERIES,
        "usual_series": SERIES,
        **more,
    }


YOUNG: dict[str, Any] = {"usual_seconds": None, "usual_series": None}


def evidence(
    *rows: Mapping[str, Any],
    failed: tuple[EvidenceStatus, str] | None = None,
    errors: Any = (),
    **more: Any,
) -> Evidence:
    asked = [Asked(question="q", backend="prometheus", status=EvidenceStatus.COLLECTED)]
    if failed:
        asked.append(Asked(question="r", backend="prometheus", status=failed[0], detail=failed[1]))
    return Evidence(
        name="latency",
        collector=LATENCY,
        status=more.pop("status", EvidenceStatus.COLLECTED),
        facts={"symptoms": rows, "errors": errors},
        asked=tuple(asked),
        **more,
    )


def said(*items: Evidence) -> str:
    return symptomless(items).text.replace(NBSP, " ")


TIMEOUT = (EvidenceStatus.TIMEOUT, "Prometheus did not answer within 10 s. Fix: look at it")


def test_a_young_history_is_told_with_its_age() -> None:
    told = said(evidence(row(**YOUNG, series=YOUNGER), row("inter-token", **YOUNG)))
    assert told == (
        "unknown (no usual value yet (history: 20 min): first token 700 ms, inter-token 700 ms)"
    )


def test_a_series_that_is_as_old_as_one_looks_is_not_called_young() -> None:
    assert history_seconds(SERIES) is None
    assert history_seconds(YOUNGER) == 1200
    assert history_seconds(()) is None
    assert history_seconds([{"at": "soon"}, 3]) is None


def test_health_is_claimed_only_where_everything_was_measured_and_compared() -> None:
    assert symptomless([evidence(row())]).nothing_grew is True
    assert said(evidence(row())) == "none grew: first token 700 ms, all as usual"


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ((), "unknown (latency was not measured: nobody asked)"),
        (
            (evidence(failed=TIMEOUT, status=EvidenceStatus.TIMEOUT),),
            "unknown (Prometheus did not answer within 10 s)",
        ),
        (
            (
                Evidence(
                    name="latency",
                    collector=LATENCY,
                    status=EvidenceStatus.SKIPPED,
                    reason="not asked: no pods are known for this incident",
                ),
            ),
            "unknown (no pods are known for this incident)",
        ),
        (
            (evidence(status=EvidenceStatus.EMPTY, reason="no such series"),),
            "unknown (no latency or error series of it in Prometheus)",
        ),
        (
            (evidence(row(**YOUNG), row("inter-token", **YOUNG)),),
            "unknown (no usual value yet: first token 700 ms, inter-token 700 ms)",
        ),
        (
            (evidence(row(series=SERIES[:2])),),
            "unknown (no usual value yet (history: 11 min 15 s): first token 700 ms)",
        ),
        (
            (evidence(row(), row("inter-token", **YOUNG)),),
            "unknown (nothing grew that could be compared; no usual value yet: inter-token 700 ms)",
        ),
        (
            (evidence(row(), failed=TIMEOUT),),
            "unknown (nothing grew that could be compared; Prometheus did not answer within 10 s)",
        ),
        (
            (evidence(row(seconds=None)),),
            "unknown (no latency or error series of it in Prometheus)",
        ),
    ],
)
def test_what_nobody_measured_is_unknown_with_its_reason(
    found: tuple[Evidence, ...], told: str
) -> None:
    assert said(*found) == told
    assert symptomless(found).nothing_grew is False


def test_times_that_are_as_usual_are_told_though_failures_have_no_usual_value() -> None:
    failures = {"source": "the engine", "ratio": 0.0, "usual_ratio": None, "series": SERIES}
    found = evidence(row(), row("inter-token", seconds=0.02, usual_seconds=0.02), errors=[failures])
    assert said(found) == (
        "unknown, but no time grew: first token 700 ms, inter-token 20 ms, all as usual "
        "(no usual value yet: error share at the engine 0 %)"
    )
    assert symptomless((found,)).reason.startswith("the symptom is unknown, but no time grew: ")
    assert (symptomless((found,)).nothing_grew, symptomless((found,)).as_fast) == (False, True)


def test_shares_of_failures_are_looked_at_too() -> None:
    failures = {"source": "the ingress", "ratio": 0.01, "usual_ratio": 0.0}
    series = {"series": SERIES, "usual_series": SERIES}
    assert said(evidence(errors=({**failures, **series},))) == (
        "none grew: error share at the ingress 1 %, usually 0 %"
    )
    assert said(evidence(errors=(failures,))) == (
        "unknown (no usual value yet: error share at the ingress 1 %)"
    )


@pytest.mark.parametrize("hostile", [None, 3, "x", ({"seconds": "NaN"},), (7,), ({},)])
def test_facts_of_a_wrong_shape_are_nothing_measured(hostile: Any) -> None:
    item = Evidence(
        name="latency",
        collector=LATENCY,
        status=EvidenceStatus.COLLECTED,
        facts={"symptoms": hostile},
    )
    assert symptomless([item]).nothing_grew is False


def test_an_empty_answer_is_counted_apart_from_data_and_from_failures() -> None:
    kinds = EvidenceStatus
    asked = [kinds.COLLECTED] * 3 + [kinds.EMPTY, kinds.NOT_APPLICABLE, kinds.TIMEOUT]
    assert telling.tally(asked) == "3 of 6 questions answered, 2 empty, 1 failed"
    assert telling.tally([kinds.SKIPPED, kinds.FORBIDDEN]) == (
        "0 of 2 questions answered, 1 failed, 1 not asked"
    )
    assert telling.tally([kinds.COLLECTED]) == "1 of 1 question answered"
    assert telling.tally([]) == ""


@pytest.mark.parametrize("text", ["Prometheus: no answer", "Kubernetes refuses", "SSH to a", "a"])
def test_a_name_keeps_its_capital_in_the_middle_of_a_sentence(text: str) -> None:
    assert small(text) == text
    assert small("The pod") == "the pod"
