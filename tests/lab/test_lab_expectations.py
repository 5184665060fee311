"""What counts as a right diagnosis."""

from typing import Any

import pytest

from tests.lab.expectations import check_expectations, known_runbooks, unchecked
from tests.lab.scenario import Expect

KNOWN = {"cpu-throttling", "long-prompt", "gpu-clocks"}


def result(primary: str | None, **verdicts: str) -> dict[str, Any]:
    causes = [
        {"runbook": name.replace("_", "-"), "verdict": verdict}
        for name, verdict in verdicts.items()
    ]
    return {"primary": primary, "causes": causes}


RIGHT = result(
    "cpu-throttling", cpu_throttling="confirmed", long_prompt="not-applicable", gpu_clocks="unknown"
)


@pytest.mark.parametrize(
    "expect",
    [
        {"primary": "cpu-throttling", "confirmed": ["cpu-throttling"]},
        {"primary": ["long-prompt", "cpu-throttling"]},
        {"refuted": ["long-prompt"], "unknown": ["gpu-clocks"]},
        {"never_confirmed": ["gpu-clocks", "not-written-yet"]},
        {"primary": "not-written-yet", "confirmed": ["not-written-yet"]},
        {},
    ],
)
def test_what_is_right_misses_nothing(expect: dict[str, Any]) -> None:
    assert check_expectations(RIGHT, Expect.model_validate(expect), KNOWN) == ()


@pytest.mark.parametrize(
    ("expect", "says"),
    [
        ({"primary": "long-prompt"}, "primary must be long-prompt, is cpu-throttling"),
        ({"primary": None}, "no cause may be confirmed"),
        ({"confirmed": ["gpu-clocks"]}, "gpu-clocks must be confirmed, is unknown"),
        ({"refuted": ["cpu-throttling"]}, "must be not-applicable or refuted, is confirmed"),
        ({"unknown": ["long-prompt"]}, "must be unknown, is not-applicable"),
        ({"never_confirmed": ["cpu-throttling"]}, "must never be confirmed"),
    ],
)
def test_what_is_missed_is_said(expect: dict[str, Any], says: str) -> None:
    (miss,) = check_expectations(RIGHT, Expect.model_validate(expect), KNOWN)
    assert says in miss


def test_a_known_cause_that_is_not_among_the_causes_is_a_miss() -> None:
    expect = Expect.model_validate({"refuted": ["gpu-clocks"]})
    (miss,) = check_expectations(result(None, cpu_throttling="unknown"), expect, KNOWN)
    assert "is not there" in miss


def test_a_result_without_causes_is_never_right() -> None:
    assert check_expectations({}, Expect(), KNOWN) == ("the result holds no causes",)


def test_what_no_runbook_answers_for_is_named() -> None:
    expect = Expect.model_validate({"primary": "a", "refuted": ["gpu-clocks", "c"]})
    assert unchecked(expect, KNOWN) == ("a", "c")


def test_the_shipped_runbooks_are_known() -> None:
    assert "cpu-throttling" in known_runbooks()
