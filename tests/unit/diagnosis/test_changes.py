"""What differs between two diagnoses of the same evidence."""

from dataclasses import replace

import pytest

from tailhound.diagnosis.changes import changes
from tailhound.model import Cause, Check, Confidence, Diagnosis, Outlook, Part, Verdict
from tailhound.truth import Truth


def check(claim: str, truth: Truth, condition: str = "", part: Part = Part.CONFIRM) -> Check:
    return Check(claim=claim, condition=condition or claim, part=part, truth=truth)


def cause(
    name: str,
    verdict: Verdict,
    *checks: Check,
    confidence: Confidence | None = None,
) -> Cause:
    return Cause(
        runbook=name,
        title=name,
        verdict=verdict,
        because="so",
        confidence=confidence,
        checks=checks,
    )


def diagnosis(*causes: Cause, primary: str | None = None) -> Diagnosis:
    return Diagnosis(
        outlook=Outlook.CAUSE_FOUND if primary else Outlook.NONE_CONFIRMED,
        primary=primary,
        chain=(primary,) if primary else (),
        confidence=Confidence.HIGH if primary else None,
        causes=causes,
        evidence=(),
    )


def test_the_same_is_the_same_whatever_its_order() -> None:
    a, b = cause("a", Verdict.REFUTED), cause("b", Verdict.UNKNOWN, check("x", Truth.UNKNOWN))
    found = changes(diagnosis(a, b), diagnosis(b, a))
    assert found.is_same
    assert (found.causes, found.unchanged) == ((), 2)


def test_a_claim_that_turns_is_a_change_even_when_the_verdict_stays() -> None:
    old = cause("a", Verdict.UNKNOWN, check("x", Truth.TRUE), check("y", Truth.UNKNOWN))
    new = cause("a", Verdict.UNKNOWN, check("x", Truth.FALSE), check("y", Truth.UNKNOWN))
    found = changes(diagnosis(old), diagnosis(new))
    assert not found.is_same
    ((claim,),) = (one.claims for one in found.causes)
    assert claim.old is not None
    assert claim.new is not None
    assert (claim.claim, claim.old.truth, claim.new.truth) == ("x", Truth.TRUE, Truth.FALSE)


def test_a_rewritten_sentence_is_known_by_its_condition_and_only_in_its_own_list() -> None:
    old = cause("a", Verdict.UNKNOWN, check("x", Truth.TRUE, "f > 1"))
    same = cause("a", Verdict.UNKNOWN, check("renamed", Truth.TRUE, "f > 1"))
    assert changes(diagnosis(old), diagnosis(same)).is_same
    moved = cause("a", Verdict.UNKNOWN, check("x", Truth.TRUE, "f > 1", Part.REFUTE))
    (change,) = changes(diagnosis(old), diagnosis(moved)).causes
    assert [(c.old is None, c.new is None) for c in change.claims] == [(False, True), (True, False)]


def test_two_claims_with_one_condition_are_each_compared_once() -> None:
    old = cause("a", Verdict.UNKNOWN, check("x", Truth.TRUE, "f"), check("y", Truth.FALSE, "f"))
    new = cause("a", Verdict.UNKNOWN, check("y", Truth.FALSE, "f"), check("x", Truth.TRUE, "f"))
    assert changes(diagnosis(old), diagnosis(new)).is_same


@pytest.mark.parametrize("verdict", [Verdict.UNKNOWN, Verdict.REFUTED, Verdict.NOT_APPLICABLE])
def test_a_new_cause_that_is_not_confirmed_is_told_and_is_no_change(verdict: Verdict) -> None:
    known, new = cause("a", Verdict.REFUTED), cause("b", verdict)
    for old_side, new_side in (((known,), (known, new)), ((known, new), (known,))):
        found = changes(diagnosis(*old_side), diagnosis(*new_side))
        assert found.is_same
        assert [one.runbook for one in found.causes] == ["b"]


def test_a_new_cause_that_is_confirmed_is_a_change() -> None:
    known, new = cause("a", Verdict.REFUTED), cause("b", Verdict.CONFIRMED)
    assert not changes(diagnosis(known), diagnosis(known, new)).is_same
    assert not changes(diagnosis(known, new), diagnosis(known)).is_same


def test_each_part_of_the_whole_counts() -> None:
    old = diagnosis(cause("a", Verdict.CONFIRMED), primary="a")
    assert not changes(old, replace(old, confidence=Confidence.LOW)).is_same
    assert not changes(old, replace(old, chain=("b", "a"))).is_same
    assert not changes(old, replace(old, outlook=Outlook.TWO_FIT)).is_same
    assert not changes(old, replace(old, primary=None)).is_same
    assert changes(old, replace(old, took_seconds=9.0, at_deadline=True)).is_same


def test_a_cause_that_is_less_sure_is_a_change() -> None:
    old = cause("a", Verdict.CONFIRMED, confidence=Confidence.HIGH)
    new = replace(old, confidence=Confidence.MEDIUM)
    (change,) = changes(diagnosis(old), diagnosis(new)).causes
    assert (change.old_confidence, change.new_confidence) == (Confidence.HIGH, Confidence.MEDIUM)
