"""What counts as right, as a miss, and as a false confirmation."""

from collections.abc import Mapping

import pytest

from tests.accuracy.running import Ran
from tests.accuracy.scoring import Totals, expected_of, falsely_confirmed, kept, score
from tests.lab.scenario import Expect

KNOWN = ("a", "b", "c")


def _ran(primary: str | None, **verdicts: str) -> Ran:
    causes = [{"runbook": book, "verdict": verdict} for book, verdict in verdicts.items()]
    return Ran(
        primary=primary,
        verdicts=verdicts,
        because=dict.fromkeys(verdicts, "so it was seen"),
        asked={},
        result={"primary": primary, "causes": causes},
    )


@pytest.mark.parametrize(
    ("expect", "wanted"),
    [
        ({"primary": "a"}, "confirmed"),
        ({"primary": ["a", "b"]}, "free"),
        ({"confirmed": ["a"]}, "confirmed"),
        ({"refuted": ["a"]}, "refuted"),
        ({"unknown": ["a"]}, "unknown"),
        ({"never_confirmed": ["a"]}, "not confirmed"),
        ({"primary": None}, "not confirmed"),
        ({}, "free"),
    ],
)
def test_what_is_wanted_of_a_cause(expect: Mapping[str, object], wanted: str) -> None:
    assert expected_of("a", Expect.model_validate(expect)) == wanted


@pytest.mark.parametrize("key", ["refuted", "unknown", "never_confirmed"])
def test_a_confirmation_against_the_expectation_is_false(key: str) -> None:
    expect = Expect.model_validate({key: ["a"]})
    assert falsely_confirmed(_ran("a", a="confirmed", b="confirmed"), expect) == ("a",)


def test_where_nothing_may_be_confirmed_every_confirmation_is_false() -> None:
    expect = Expect.model_validate({"primary": None})
    ran = _ran("b", a="refuted", b="confirmed")
    assert falsely_confirmed(ran, expect) == ("b",)
    assert score("x", ran, expect, KNOWN).primary_right is False


def test_a_right_primary_cause() -> None:
    expect = Expect.model_validate({"primary": ["a", "b"], "refuted": ["c"]})
    found = score("x", _ran("b", b="confirmed", c="refuted"), expect, KNOWN)
    assert found.primary_right is True
    assert found.misses == ()
    assert ("c", "refuted", "refuted") in found.matrix


def test_a_miss_tells_its_reason() -> None:
    expect = Expect.model_validate({"primary": "a"})
    found = score("x", _ran(None, a="unknown"), expect, KNOWN)
    assert found.primary_right is False
    assert "primary must be a" in found.misses[0]


def test_a_cause_without_a_runbook_is_not_judged() -> None:
    expect = Expect.model_validate({"primary": "not-there-yet"})
    assert score("x", _ran(None, a="unknown"), expect, KNOWN).primary_right is None


def test_a_variant_that_turns_a_verdict_loses_it() -> None:
    expect = Expect.model_validate({"confirmed": ["a"], "refuted": ["b"]})
    before = _ran("a", a="confirmed", b="refuted", c="refuted")
    after = _ran("a", a="confirmed", b="unknown", c="unknown")
    assert [text.split()[0] for text in kept(before, after, expect)] == ["b"]


def test_a_free_cause_that_becomes_confirmed_is_lost_too() -> None:
    expect = Expect.model_validate({"confirmed": ["a"]})
    before = _ran("a", a="confirmed", c="unknown")
    after = _ran("a", a="confirmed", c="confirmed")
    assert [text.split()[0] for text in kept(before, after, expect)] == ["c"]


def test_another_primary_cause_is_a_loss() -> None:
    expect = Expect.model_validate({})
    lost = kept(_ran("a", a="unknown"), _ran(None, a="unknown"), expect)
    assert lost == ("primary was a, is None",)


@pytest.mark.parametrize(("wrong", "good"), [(1, True), (2, False)])
def test_the_bar_is_ninety_five_in_a_hundred(wrong: int, good: bool) -> None:
    expect = Expect.model_validate({"primary": "a"})
    right = score("x", _ran("a", a="confirmed"), expect, KNOWN)
    miss = score("y", _ran(None, a="unknown"), expect, KNOWN)
    assert Totals(scores=[right] * (20 - wrong) + [miss] * wrong).good is good


def test_one_false_confirmation_is_one_too_many() -> None:
    expect = Expect.model_validate({"primary": "a", "never_confirmed": ["b"]})
    right = score("x", _ran("a", a="confirmed"), expect, KNOWN)
    false = score("y", _ran("a", a="confirmed", b="confirmed"), expect, KNOWN)
    assert Totals(scores=[right] * 99 + [false]).false_confirmations == (("y", "b"),)
    assert not Totals(scores=[right] * 99 + [false]).good


def test_nothing_measured_is_not_good() -> None:
    assert not Totals(scores=[]).good
