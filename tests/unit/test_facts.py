"""What counts as a number, wherever a fact is read."""

import math

import pytest

from tailhound.model.facts import number_of


@pytest.mark.parametrize(("value", "number"), [(0, 0.0), (3, 3.0), (-0.5, -0.5)])
def test_a_number_is_one(value: float, number: float) -> None:
    assert number_of(value) == number


@pytest.mark.parametrize(
    "value", [None, True, False, "3", (), math.nan, math.inf, -math.inf, 10**400]
)
def test_a_yes_a_text_and_what_is_not_finite_are_no_numbers(value: object) -> None:
    assert number_of(value) is None
