"""A threshold that its unit can't have is refused where it is written."""

import math

import pytest

from tailhound.model.facts import UNITS
from tailhound.rules.bounds import unfit
from tests.unit.rules.kit import RUNBOOK, findings


@pytest.mark.parametrize(
    ("value", "unit", "says"),
    [
        (
            60,
            "ratio",
            "a ratio is a share of 1: write 0.6 for 60 % (for x60, use the unit `times`)",
        ),
        (2.01, "ratio", "write 0.0201 for 2.01 %"),
        (4000, "ratio", "write 0.6 for 60 %"),
        (-0.1, "ratio", "a number of the unit ratio is never below 0"),
        (-1, "seconds", "never below 0"),
        (-300, "celsius", "nothing is that cold"),
        (math.nan, "none", "must be a finite number"),
        (math.inf, "seconds", "must be a finite number"),
    ],
)
def test_what_a_unit_cant_have(value: float, unit: str, says: str) -> None:
    assert says in unfit(value, unit)


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        (0.25, "ratio"),
        (1.1, "ratio"),
        (60, "times"),
        (-40, "celsius"),
        (-3, "none"),
        (1e9, "bytes"),
    ],
)
def test_what_a_unit_can_have(value: float, unit: str) -> None:
    assert unfit(value, unit) == ""


@pytest.mark.parametrize("unit", sorted(UNITS))
def test_nothing_and_one_are_always_possible(unit: str) -> None:
    assert unfit(0, unit) == unfit(1, unit) == ""


def test_a_runbook_is_told_at_the_threshold() -> None:
    assert "strong: {value: 0.25" in RUNBOOK
    (found,) = findings(RUNBOOK.replace("strong: {value: 0.25", "strong: {value: 25"))
    assert "thresholds.strong: a ratio is a share of 1: write 0.25 for 25 %" in str(found)
