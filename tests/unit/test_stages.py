"""Which stage a cause explains, and what would tell two causes apart."""

from dataclasses import replace

from tailhound.model import Check, Part, Stage
from tailhound.model.candidates import would_tell_apart
from tailhound.model.stages import STAGES, explains
from tailhound.truth import Truth
from tailhound_collectors import families
from tests.samples.causes import DIAGNOSIS, DRAINED, OUT, THROTTLING

BOTH = replace(
    DIAGNOSIS,
    causes=(THROTTLING, DRAINED, *OUT),
    stages=(
        Stage(stage="queue", seconds=21.1, usual_seconds=0.1),
        Stage(stage="decode", seconds=3.4, usual_seconds=0.6),
        Stage(stage="prefill", seconds=0.4, usual_seconds=0.4),
    ),
)


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def test_a_cause_explains_the_stage_that_it_slows_with_the_seconds_of_its_growth() -> None:
    assert plain(explains(BOTH, DRAINED)) == "explains the queue (+21 s)"
    assert plain(explains(BOTH, THROTTLING)) == "explains the decode (+2.8 s)"


def test_of_several_stages_the_one_that_grew_most_is_named() -> None:
    both = replace(THROTTLING, slows=("decode", "prefill", "queue"))
    assert "queue" in explains(BOTH, both)


def test_a_stage_that_did_not_grow_and_a_cause_that_slows_none_explain_nothing() -> None:
    assert explains(BOTH, replace(DRAINED, slows=("prefill",))) == ""
    assert explains(BOTH, replace(DRAINED, slows=())) == ""
    assert explains(replace(BOTH, stages=()), DRAINED) == ""


def test_a_claim_that_nobody_could_check_would_decide_first_then_an_onset() -> None:
    open_ = Check(
        claim="Pods without throttling are fast.",
        condition="c",
        part=Part.REFUTE,
        truth=Truth.UNKNOWN,
        missing=("cpu.x",),
    )
    checks = (*THROTTLING.checks, open_)
    asked = replace(BOTH, causes=(replace(THROTTLING, checks=checks), DRAINED, *OUT))
    assert would_tell_apart(asked) == "pods without throttling are fast (CPU throttling)"
    known = replace(THROTTLING, checks=(), onset=THROTTLING.onset)
    unknown = replace(BOTH, causes=(known, replace(DRAINED, onset=None), *OUT))
    assert would_tell_apart(unknown) == "when node drain began: its onset is not known"
    assert would_tell_apart(replace(BOTH, causes=(known, DRAINED, *OUT))) == (
        "undo one at a time and look whether the symptom goes"
    )


def test_every_stage_that_the_collectors_name_can_be_named_by_a_runbook() -> None:
    named = {
        part.stage
        for family in vars(families).values()
        if isinstance(family, families.Family)
        for part in family.stages
    }
    assert named
    assert named <= set(STAGES)
