"""The stable JSON of one incident."""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tailhound.diagnosis.report import as_json
from tailhound.model import (
    Alert,
    AlertStatus,
    Asked,
    Cause,
    Check,
    Confidence,
    Diagnosis,
    Evidence,
    EvidenceStatus,
    Incident,
    Offer,
    Outlook,
    Part,
    Seen,
    Stage,
    State,
    Subject,
    SubjectKind,
    Verdict,
)
from tailhound.truth import Truth

SCHEMA = json.loads(Path("docs/api/diagnosis.schema.json").read_text(encoding="utf-8"))
AT = datetime(2026, 11, 29, 4, 0, tzinfo=timezone(timedelta(hours=1)))


def incident(**changed: Any) -> Incident:
    alert = Alert(
        fingerprint="f",
        name="InferenceInterTokenLatencyHigh",
        labels={"namespace": "llm"},
        annotations={},
        status=AlertStatus.FIRING,
        starts_at=AT,
    )
    values: dict[str, Any] = {
        "id": "7F3K",
        "key": "workload:/llm/chat",
        "subject": Subject(kind=SubjectKind.WORKLOAD, namespace="llm", workload="chat"),
        "state": State.DIAGNOSED,
        "alerts": (alert,),
        "received_at": AT,
    }
    return Incident(**{**values, **changed})


DIAGNOSIS = Diagnosis(
    outlook=Outlook.CAUSE_FOUND,
    primary="cpu-throttling",
    chain=("cpu-throttling",),
    confidence=Confidence.HIGH,
    causes=(
        Cause(
            runbook="cpu-throttling",
            title="The CPU limit stops the engine",
            verdict=Verdict.CONFIRMED,
            because="stopped in 62 % of its periods",
            onset=AT,
            checks=(
                Check(
                    claim="Stopped",
                    condition="cpu.throttled_ratio > suspect",
                    part=Part.CONFIRM,
                    truth=Truth.TRUE,
                    seen=(Seen(name="cpu.throttled_ratio", value=0.62, unit="ratio"),),
                ),
            ),
            mitigations=(
                Offer(
                    id="raise-limit",
                    title="Raise it",
                    mode="suggested",
                    offered=True,
                    why_not=None,
                    risk="medium",
                ),
            ),
        ),
    ),
    evidence=(
        Evidence(
            name="cpu",
            collector="prometheus.container_cpu",
            status=EvidenceStatus.COLLECTED,
            asked=(Asked(question="up", backend="prometheus", status=EvidenceStatus.COLLECTED),),
            took_seconds=0.2004,
        ),
    ),
    stages=(Stage(stage="queue", seconds=3.1, usual_seconds=0.02),),
)


def test_a_diagnosed_incident_has_exactly_the_agreed_keys() -> None:
    said = as_json(incident(diagnosis=DIAGNOSIS))
    jsonschema.validate(said, SCHEMA)
    assert said["causes"][0]["checks"][0]["seen"] == {"cpu.throttled_ratio": 0.62}
    assert said["evidence"][0]["questions"] == ["up"]


def test_times_are_utc_whatever_zone_they_came_in() -> None:
    said = as_json(incident(diagnosis=DIAGNOSIS))
    assert said["alerts"][0]["starts_at"] == "2026-11-29T03:00:00Z"
    assert said["causes"][0]["onset"] == "2026-11-29T03:00:00Z"


def test_an_incident_without_a_diagnosis_says_so_with_the_same_keys() -> None:
    said = as_json(incident(state=State.INVESTIGATING, received_at=datetime.now(UTC)))
    jsonschema.validate(said, SCHEMA)
    assert said["primary"] is None
    assert said["causes"] == []


def test_the_schema_refuses_what_was_not_agreed() -> None:
    said = as_json(incident(diagnosis=DIAGNOSIS)) | {"extra": 1}
    with pytest.raises(jsonschema.ValidationError, match="extra"):
        jsonschema.validate(said, SCHEMA)
