"""Everything that may stand in a runbook is in docs/authors/runbooks.md."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tailhound.model.facts import UNITS
from tailhound.rules.condition.calls import FUNCTIONS
from tailhound.rules.inputs import ALWAYS, PHRASES
from tailhound.rules.says_filters import FILTERS
from tailhound.rules.schema import json_schema

TEXT = (Path(__file__).parents[3] / "docs" / "authors" / "runbooks.md").read_text(encoding="utf-8")
WORDS = set(re.findall(r"[A-Za-z_][A-Za-z0-9_-]*", TEXT))


def keys(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        properties = schema.get("properties", {})
        yield from properties
        for value in schema.values():
            yield from keys(value)
    elif isinstance(schema, list):
        for item in schema:
            yield from keys(item)


@pytest.mark.parametrize(
    "name", sorted({*keys(json_schema()), *UNITS, *FUNCTIONS, *FILTERS, *ALWAYS})
)
def test_a_word_of_the_grammar_is_in_the_docs(name: str) -> None:
    assert name in WORDS


@pytest.mark.parametrize("phrase", sorted(PHRASES))
def test_a_phrase_for_an_input_is_in_the_docs(phrase: str) -> None:
    assert f"`{phrase}`" in TEXT
