"""What the shipped runbooks say to people, whatever the case."""

import pytest

from tailhound import app
from tailhound.model import Part
from tailhound.model.phrases import PHRASES, phrase
from tailhound.rules.runbook import Runbook
from tailhound.settings import Settings

BOOKS = app.compiled(Settings()).runbooks


def by_id(runbook: Runbook) -> str:
    return runbook.id


@pytest.mark.parametrize("runbook", BOOKS, ids=by_id)
def test_every_suggestion_says_what_its_risk_is_of(runbook: Runbook) -> None:
    for one in runbook.mitigations:
        assert one.risk_of, one.id
        assert len(one.risk_of) <= 50, "on a phone it has two lines beside the title"
        assert not one.risk_of.endswith(".")


def amounts(runbook: Runbook) -> set[tuple[str, str]]:
    """The facts that its claims look at and show as numbers, with their units."""
    return {
        (name, unit)
        for _, claim in runbook.claims
        for name, unit in claim.condition.shown
        if not name.endswith("_usual") and name.count(".") == 1 and " " not in name
    }


@pytest.mark.parametrize("runbook", BOOKS, ids=by_id)
def test_every_number_of_a_claim_has_words_for_what_it_is(runbook: Runbook) -> None:
    for name, unit in amounts(runbook):
        if unit != "celsius":
            assert name.rpartition(".")[2] in PHRASES, name


@pytest.mark.parametrize("name", PHRASES)
@pytest.mark.parametrize("value", [0, 0.4, 1, 3])
def test_a_phrase_reads_with_any_amount(name: str, value: float) -> None:
    for unit in ("count", "times", "ratio", "seconds"):
        told = phrase(f"x.{name}", value, unit, named=True)
        assert "(s)" not in told
        assert "{}" not in told
        assert len(told) <= 50
    assert " 0 " not in f" {phrase(f'x.{name}', 0, 'count', named=True)} "


@pytest.mark.parametrize("runbook", BOOKS, ids=by_id)
def test_what_speaks_against_a_cause_is_told_by_how_it_is(runbook: Runbook) -> None:
    """Never "“No rollout replaces its pods” does not hold"."""
    for part, claim in runbook.claims:
        if part in (Part.OPTIONAL, Part.APPLIES):
            assert claim.otherwise, claim.sentence
