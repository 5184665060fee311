"""A whole diagnosis on the bundled recording: the waves, the plan and the ranking together."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from tailhound import app
from tailhound.charts.panels import symptom_row
from tailhound.cli import alerts
from tailhound.diagnosis.report import as_json
from tailhound.durable import gather
from tailhound.durable.investigating import OnProgress, Sketch
from tailhound.durable.investigation import Investigator
from tailhound.durable.offline import Terms, investigate
from tailhound.flow import Request
from tailhound.model import (
    Confidence,
    Diagnosis,
    Incident,
    Missing,
    Outlook,
    Reason,
    Verdict,
)
from tailhound.settings import Settings
from tailhound.shipped import shipped
from tailhound.transports.recording import Answer, Recording, load
from tailhound.transports.replay import ReplayTransport
from tests.unit.diagnosis.test_report import SCHEMA

SETTINGS = Settings()
RECORDING = load(shipped("demo") / "cpu-throttling.json")


def diagnosed(
    recording: Recording = RECORDING,
    settings: Settings = SETTINGS,
    on_progress: OnProgress = lambda _counts, _sketch: None,
) -> Incident:
    investigator = Investigator(
        app.compiled(settings), app.collectors(), (ReplayTransport(recording),), settings
    )
    group = alerts.group_of(_body(recording), "recording")
    (incident,), _ = alerts.incidents_of(group, settings, recording.as_of)
    terms = Terms(as_of=recording.as_of, seconds=10, on_progress=on_progress)
    return asyncio.run(investigate(investigator, incident, terms))


def verdict(incident: Incident) -> Diagnosis:
    assert incident.diagnosis is not None
    return incident.diagnosis


def without(wanted: Callable[[Request[Any]], bool], missing: Missing) -> Recording:
    """The recording, with no answer to these questions."""
    return replace(
        RECORDING,
        answers=tuple(
            Answer(a.request, missing, a.took) if wanted(a.request) else a
            for a in RECORDING.answers
        ),
    )


def _body(recording: Recording) -> bytes:
    return json.dumps(recording.alert).encode()


TIMEOUT = Missing(Reason.TIMEOUT, "did not answer within 10 s")
FORBIDDEN = Missing(Reason.FORBIDDEN, "may not get pods in llm")


def test_the_recorded_incident_is_the_cpu_limit() -> None:
    incident = diagnosed()
    found = verdict(incident)
    assert (found.outlook, found.primary) == (Outlook.CAUSE_FOUND, "cpu-throttling")
    assert found.confidence is Confidence.HIGH
    assert found.symptom is not None
    assert found.symptom.onset is not None
    jsonschema.validate(as_json(incident), SCHEMA)


def test_before_the_verdict_the_symptom_and_what_is_ruled_out_are_told_and_no_cause() -> None:
    told: list[Sketch] = []
    final = verdict(diagnosed(on_progress=lambda _counts, sketch: told.append(sketch)))
    first, last = told[0](), told[-1]()
    assert (first.symptom, first.ruled_out) == (None, ())
    assert last.symptom is not None
    assert final.symptom is not None
    assert last.symptom == final.symptom
    assert last.stages == final.stages
    refuted = {one.runbook for one in final.causes if one.verdict is Verdict.REFUTED}
    assert last.ruled_out
    assert set(last.ruled_out) <= refuted


def test_what_room_is_left_for_changes_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    found = verdict(diagnosed())
    assert any("thinned" in item.reason for item in found.evidence)
    monkeypatch.setattr(gather, "fitted", lambda wave: wave)
    whole = verdict(diagnosed())
    assert not any("thinned" in item.reason for item in whole.evidence)
    assert (found.symptom, found.shape, found.chain) == (whole.symptom, whole.shape, whole.chain)
    assert found.causes == whole.causes


def test_the_same_evidence_gives_the_same_verdict() -> None:
    def plain(incident: Incident) -> Any:
        said = as_json(incident)
        for item in said["evidence"]:
            item.pop("took_seconds")
        return said

    assert plain(diagnosed()) == plain(diagnosed())


def test_a_prometheus_that_does_not_answer_is_said_first_and_confirms_nothing() -> None:
    found = verdict(diagnosed(without(lambda q: q.backend == "prometheus", TIMEOUT)))
    assert (found.outlook, found.blind) == (Outlook.BLIND, "Prometheus")
    assert found.at_deadline is False, "there was time left"
    assert found.cause("cpu-throttling").verdict is Verdict.UNKNOWN


def test_owners_that_may_not_be_read_do_not_hide_the_cause() -> None:
    found = verdict(diagnosed(without(lambda q: "replicasets" in q.shown, FORBIDDEN)))
    assert found.primary == "cpu-throttling"
    reasons = {item.name: item.reason for item in found.evidence}
    assert "may not get pods in llm" in reasons["subject"]


def test_missing_latency_never_confirms() -> None:
    found = verdict(diagnosed(without(lambda q: "vllm:" in q.shown, TIMEOUT)))
    assert found.cause("cpu-throttling").verdict is Verdict.UNKNOWN


def test_a_profile_moves_a_threshold_for_the_workloads_that_match() -> None:
    strict = {"cpu-throttling": {"moved": 1000.0}}
    here = {"match": {"namespace": "llm"}, "thresholds": strict}
    elsewhere = {"match": {"namespace": "other"}, "thresholds": strict}
    assert verdict(diagnosed(settings=_with(here))).primary is None
    assert verdict(diagnosed(settings=_with(elsewhere))).primary == "cpu-throttling"


def test_an_objective_is_shown_beside_the_symptom() -> None:
    found = verdict(diagnosed(settings=Settings.model_validate({"slo": {"itl_p99_seconds": 0.05}})))
    assert found.symptom is not None
    assert found.symptom.slo == 0.05


def test_the_symptom_that_the_alert_names_leads_and_its_chart_is_of_the_same_series() -> None:
    found = diagnosed()
    symptom = verdict(found).symptom
    assert symptom is not None
    assert symptom.name == "inter-token p99"
    assert [one.name for one in symptom.also] == ["end to end", "first token"]
    row = symptom_row(verdict(found))
    assert row is not None
    assert row["symptom"] == "itl"


def _with(profile: dict[str, Any]) -> Settings:
    return Settings.model_validate({"profiles": [profile]})
