"""Which stage a cause explains, and what would tell two causes apart."""

from dataclasses import replace

from tailhound.model import Check, Diagnosis, Part, Stage, Symptom
from tailhound.model.candidates import would_tell_apart
from tailhound.model.stages import STAGES, explains, name_of, not_measured, unexplained
from tailhound.truth import Truth
from tailhound_collectors import families
from tailhound_collectors.symptoms import remainder_of
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


# --- what the stages explain of the symptom

LEFT = "first token less queue and prefill"
REST = Stage(stage="preprocessing", seconds=0.444, usual_seconds=0.197, remainder=LEFT)
DARK = Stage(stage="decode", seconds=None, usual_seconds=None)


def grown_by(seconds: float | None, *stages: Stage, series: str = "end to end") -> Diagnosis:
    symptom = Symptom(
        name="x mean", value=4.9, unit="seconds", usual=1.9, series=series, grew_seconds=seconds
    )
    return replace(BOTH, symptom=symptom, stages=stages)


def test_stages_that_explain_less_than_half_of_the_growth_leave_it_unexplained() -> None:
    assert unexplained(grown_by(2.98, REST, DARK)) == 2.98
    assert unexplained(grown_by(0.45, REST, DARK)) is None
    both = (replace(REST, seconds=0.6), Stage(stage="queue", seconds=0.7, usual_seconds=0.1))
    assert unexplained(grown_by(2.0, *both)) is None
    assert unexplained(grown_by(2.1, *both)) == 2.1


def test_where_nobody_knows_how_much_the_symptom_grew_nothing_is_said_to_be_unexplained() -> None:
    assert unexplained(grown_by(None, REST)) is None
    assert unexplained(replace(BOTH, symptom=None)) is None
    assert unexplained(None) is None


def test_what_comes_after_the_first_token_explains_nothing_of_it() -> None:
    later = Stage(stage="decode", seconds=9.0, usual_seconds=1.0)
    assert unexplained(grown_by(2.0, later, series="first token")) == 2.0
    assert unexplained(grown_by(2.0, later)) is None


def test_a_remainder_is_called_what_it_is_and_a_measured_stage_by_its_name() -> None:
    assert name_of(REST) == "before prefill"
    assert name_of(replace(REST, remainder="")) == "preprocessing"
    assert not_measured(grown_by(1.0, REST, DARK)) == ("decode",)
    slowed = replace(THROTTLING, slows=("preprocessing",))
    told = explains(grown_by(0.3, REST), slowed)
    assert plain(told) == "explains the time before prefill (+247 ms)"


def test_each_remainder_of_a_server_says_of_what_and_each_measured_stage_says_nothing() -> None:
    said = {
        (family.engine, one.stage): remainder_of(one)
        for family in (families.vllm("vllm:"), families.SGLANG, families.TGI, families.TF_SERVING)
        for one in family.stages
    }
    assert said["vllm", "preprocessing"] == LEFT
    assert said["vllm", "queue"] == said["tgi", "preprocessing"] == ""
    assert said["sglang", "decode"] == "end to end less first token"
    assert said["tf-serving", "server"] == "end to end less run time"
