"""The nouns as JSON and back. Keys that this version doesn't know are passed over."""

import json
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from tailhound.model import Diagnosis, Evidence, Incident


@cache
def _incident() -> TypeAdapter[Incident]:
    return TypeAdapter(Incident)


@cache
def _diagnosis() -> TypeAdapter[Diagnosis]:
    return TypeAdapter(Diagnosis)


@cache
def _evidence() -> TypeAdapter[tuple[Evidence, ...]]:
    return TypeAdapter(tuple[Evidence, ...])


def incident_to_json(incident: Incident) -> str:
    """An incident as JSON text. NaN and infinity become null: not measured."""
    return _incident().dump_json(incident).decode()


def incident_from_json(text: str | bytes) -> Incident:
    """The incident of a JSON text; ValueError when it holds none."""
    return _incident().validate_json(text)


def diagnosis_to_json(diagnosis: Diagnosis) -> str:
    """A diagnosis as JSON text."""
    return _diagnosis().dump_json(diagnosis).decode()


def diagnosis_from_json(text: str | bytes) -> Diagnosis:
    """The diagnosis of a JSON text; ValueError when it holds none."""
    return _diagnosis().validate_json(text)


def evidence_to_json(evidence: tuple[Evidence, ...]) -> str:
    """Evidence as a JSON list."""
    return _evidence().dump_json(evidence).decode()


def evidence_from_json(text: str | bytes) -> tuple[Evidence, ...]:
    """The evidence of a JSON list; ValueError when it holds anything else."""
    return _evidence().validate_json(text)


def evidence_to_plain(evidence: tuple[Evidence, ...]) -> list[dict[str, Any]]:
    """Evidence as lists and dicts, ready to cross a checkpoint."""
    plain: list[dict[str, Any]] = json.loads(evidence_to_json(evidence))
    return plain


def evidence_from_plain(plain: Any) -> tuple[Evidence, ...]:
    """What `evidence_to_plain` made; ValueError when it is something else."""
    return _evidence().validate_python(plain)
