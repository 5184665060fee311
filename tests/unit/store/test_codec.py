"""The nouns survive JSON; what this version doesn't know is passed over."""

import json
from dataclasses import MISSING, fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.model import Asked, Evidence, EvidenceStatus, FactValue
from tailhound.store import codec
from tests.samples.causes import DIAGNOSIS
from tests.samples.incidents import EVERY_FIELD, STATES

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


def test_an_incident_with_everything_survives() -> None:
    assert codec.incident_from_json(codec.incident_to_json(EVERY_FIELD)) == EVERY_FIELD


@pytest.mark.parametrize(
    "whole", [EVERY_FIELD, EVERY_FIELD.diagnosis], ids=["incident", "diagnosis"]
)
def test_the_sample_holds_something_in_every_field(whole: Any) -> None:
    untouched = {
        item.name
        for item in fields(whole)
        if item.default is not MISSING and getattr(whole, item.name) == item.default
    }
    assert untouched == set()


@pytest.mark.parametrize("state", STATES)
def test_an_incident_in_every_state_survives(state: str) -> None:
    incident = STATES[state]
    assert codec.incident_from_json(codec.incident_to_json(incident)) == incident


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
    plain = json.loads(codec.incident_to_json(EVERY_FIELD))
    plain["from_the_future"] = {"a": 1}
    plain["subject"]["zone"] = "eu"
    plain["diagnosis"]["causes"][0]["score"] = 0.9
    assert codec.incident_from_json(json.dumps(plain)) == EVERY_FIELD


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"id": 1}'])
def test_what_is_no_incident_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="validation error"):
        codec.incident_from_json(text)
