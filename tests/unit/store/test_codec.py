"""The nouns survive JSON; what this version doesn't know is passed over."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.model import (
    Alert,
    AlertStatus,
    Asked,
    Bound,
    Cause,
    Check,
    Confidence,
    Diagnosis,
    Evidence,
    EvidenceStatus,
    FactValue,
    Happened,
    Incident,
    Offer,
    Outlook,
    Part,
    Progress,
    Revised,
    Seen,
    Stage,
    State,
    Subject,
    SubjectKind,
    Symptom,
    Verdict,
)
from tailhound.store import codec
from tailhound.truth import Truth

NOW = datetime(2026, 11, 30, 2, 53, 0, 123456, tzinfo=UTC)

PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.floats(allow_nan=False, allow_infinity=False)
)
SETS = st.lists(st.dictionaries(st.text(max_size=5), PLAIN, max_size=4), max_size=3).map(tuple)
FACTS = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=10), PLAIN | SETS, max_size=6
)

EVIDENCE = Evidence(
    name="cpu",
    collector="prometheus.container_cpu",
    status=EvidenceStatus.COLLECTED,
    facts={
        "throttled_ratio": 0.62,
        "containers": ({"name": "main", "cores": 4.0, "limited": True},),
        "series": ({"at": 1.0, "value": 2.0},),
        "none": None,
        "whole": 3,
    },
    asked=(Asked(question="rate(x[5m])", backend="prometheus", status=EvidenceStatus.TIMEOUT),),
    took_seconds=0.2,
)
DIAGNOSIS = Diagnosis(
    outlook=Outlook.CAUSE_FOUND,
    primary="cpu-throttling",
    chain=("cpu-throttling",),
    confidence=Confidence.HIGH,
    causes=(
        Cause(
            runbook="cpu-throttling",
            title="the CPU limit stops the engine",
            verdict=Verdict.CONFIRMED,
            because="stopped in 62 % of its periods",
            onset=NOW,
            checks=(
                Check(
                    claim="Stopped often",
                    condition="cpu.throttled_ratio > lost",
                    part=Part.CONFIRM,
                    truth=Truth.UNKNOWN,
                    seen=(Seen(name="cpu.throttled_ratio", value=0.62, unit="ratio", usual=0.0),),
                    missing=("latency.slowdown_ratio",),
                    needs=(Bound(fact="a", comparison=">", value=0.25, unit="ratio"),),
                ),
            ),
            mitigations=(
                Offer(
                    id="raise",
                    title="Raise it",
                    mode="suggested",
                    offered=False,
                    why_not="observe mode",
                    risk="low",
                ),
            ),
        ),
    ),
    evidence=(EVIDENCE,),
    stages=(Stage(stage="queue", seconds=3.1, usual_seconds=None),),
    symptom=Symptom(name="TTFT p99", value=12.4, unit="seconds", usual=0.8, onset=NOW),
    decided_at=NOW,
    at_deadline=True,
)
INCIDENT = Incident(
    id="7F3K",
    key="workload:/prod/llm-70b",
    subject=Subject(kind=SubjectKind.WORKLOAD, namespace="prod", workload="llm-70b"),
    state=State.DIAGNOSED,
    alerts=(
        Alert(
            fingerprint="f1",
            name="LLMDHighTTFT",
            labels={"a": 'x"y\n`<!channel>`\u202e'},
            annotations={},
            status=AlertStatus.FIRING,
            starts_at=NOW,
        ),
    ),
    received_at=NOW,
    progress=Progress(answered=1, waiting=2, failed=3, ruled_out=("dns",)),
    diagnosis=DIAGNOSIS,
    revised=Revised(at=NOW, was_at=NOW, was="no cause confirmed", why="late"),
    timeline=(Happened(at=NOW, what="First alert received"),),
)


def test_an_incident_with_everything_survives() -> None:
    assert codec.incident_from_json(codec.incident_to_json(INCIDENT)) == INCIDENT


def test_a_diagnosis_survives() -> None:
    assert codec.diagnosis_from_json(codec.diagnosis_to_json(DIAGNOSIS)) == DIAGNOSIS


def test_evidence_survives_a_checkpoint() -> None:
    plain = json.loads(json.dumps(codec.evidence_to_plain((EVIDENCE,))))
    assert codec.evidence_from_plain(plain) == (EVIDENCE,)


@given(FACTS)
def test_all_facts_survive(facts: dict[str, FactValue]) -> None:
    evidence = replace(EVIDENCE, facts=facts)
    (back,) = codec.evidence_from_json(codec.evidence_to_json((evidence,)))
    assert back == evidence
    for name, value in facts.items():
        assert type(back.facts[name]) is type(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_comes_back_as_not_measured(value: float) -> None:
    evidence = replace(EVIDENCE, facts={"x": value})
    (back,) = codec.evidence_from_json(codec.evidence_to_json((evidence,)))
    assert back.facts == {"x": None}


def test_keys_of_a_newer_version_are_passed_over() -> None:
    plain = json.loads(codec.incident_to_json(INCIDENT))
    plain["from_the_future"] = {"a": 1}
    plain["subject"]["zone"] = "eu"
    plain["diagnosis"]["causes"][0]["score"] = 0.9
    assert codec.incident_from_json(json.dumps(plain)) == INCIDENT


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"id": 1}'])
def test_what_is_no_incident_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="validation error"):
        codec.incident_from_json(text)
