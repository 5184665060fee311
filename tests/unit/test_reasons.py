"""Why a cause is not the one: in the words of its runbook, the same on every surface."""

from dataclasses import replace

from tailhound.model import Cause, Check, Part, Seen, Verdict, reasons
from tailhound.slack.claims import claim_lines
from tailhound.slack.gaps import not_confirmed
from tailhound.slack.ink import INKS
from tailhound.truth import Truth
from tests.samples.incidents import UNKNOWN

SHARED = Check(
    claim="Its CPUs are shared, so the limit is enforced",
    condition="x",
    part=Part.APPLIES,
    truth=Truth.FALSE,
    seen=(Seen(name="spec.may_have_exclusive_cpus", value=True),),
)
TOLD = replace(SHARED, otherwise="the pod has whole CPUs of its own, so no quota stops it")
NONE = Check(
    claim="Preemptions are counted, and there were none",
    condition="x",
    part=Part.REFUTE,
    truth=Truth.TRUE,
    seen=(Seen(name="kv.preemptions_count", value=0.0, unit="count"),),
    otherwise="there were no preemptions",
)


def cause(check: Check, verdict: Verdict) -> Cause:
    return Cause(runbook="cpu-throttling", title="t", verdict=verdict, because="", checks=(check,))


def gaps(*causes: Cause) -> str:
    diagnosis = UNKNOWN.diagnosis
    assert diagnosis is not None
    return "\n".join(not_confirmed(replace(diagnosis, causes=causes), INKS[0]))


def test_what_does_not_apply_is_told_by_how_it_is() -> None:
    found = cause(TOLD, Verdict.NOT_APPLICABLE)
    assert "(the pod has whole CPUs of its own, so no quota stops it)" in gaps(found)
    assert reasons.against(found) == TOLD.otherwise


def test_without_such_words_the_claim_is_quoted_and_never_answered_with_a_no() -> None:
    found = cause(SHARED, Verdict.NOT_APPLICABLE)
    quoted = "“Its CPUs are shared, so the limit is enforced” does not hold"
    assert reasons.against(found) == reasons.against_in_short(found) == quoted
    assert f"({quoted})" in gaps(found)
    assert ": no)" not in gaps(found)


def test_what_is_ruled_out_is_told_in_the_other_words_of_its_runbook() -> None:
    found = cause(NONE, Verdict.REFUTED)
    assert "(there were no preemptions)" in gaps(found)
    other = cause(replace(NONE, otherwise=""), Verdict.REFUTED)
    assert "(preemptions are counted, and there were none" in gaps(other)


def test_other_words_stand_only_where_a_claim_speaks_against_its_cause() -> None:
    optional = replace(NONE, part=Part.OPTIONAL)
    for check, told in (
        (NONE, True),
        (replace(optional, truth=Truth.FALSE), True),
        (optional, False),
        (replace(NONE, truth=Truth.FALSE), False),
        (replace(optional, truth=Truth.UNKNOWN), False),
    ):
        lines = "\n".join(claim_lines([("", cause(check, Verdict.UNKNOWN))], INKS[0]))
        assert ("There were no preemptions" in lines) is told


def test_a_cause_without_a_claim_against_it_is_told_by_its_sentence() -> None:
    found = Cause(runbook="a", title="t", verdict=Verdict.REFUTED, because="Not it.")
    assert reasons.against(found) == reasons.against_in_short(found) == "not it"
