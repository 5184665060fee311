"""Which stages of a request got slower, so that every surface names the same."""

from typing import Literal, get_args

from tailhound.model.incident import Progress
from tailhound.model.verdict import Cause, Diagnosis, Stage
from tailhound.model.wording import number

StageName = Literal[
    "ingress",
    "preprocessing",
    "queue",
    "prefill",
    "preprocessing and prefill",
    "decode",
    "input",
    "inference",
    "output",
    "server",
    "handler",
    "handling",
]
"""The names that the collectors have for the stages of a request, whatever serves."""

STAGES: tuple[str, ...] = get_args(StageName)

NOTHING_SECONDS = 0.001
"""A millisecond: nobody waits for less."""

GROWTH_RATIO = 0.1
_PART_OF_SLOWEST = 0.05
"""What a stage has to grow by to be slow: of its usual time, and of what the slowest one grew."""


def slow_stages(measured: Diagnosis | Progress | None) -> tuple[Stage, ...]:
    """The stages that grew, the one that grew most first; empty when none is known to have."""
    known = [
        (stage.seconds - stage.usual_seconds, stage.usual_seconds, stage)
        for stage in (measured.stages if measured else ())
        if stage.seconds is not None and stage.usual_seconds is not None
    ]
    known.sort(key=lambda one: -one[0])
    least = max(NOTHING_SECONDS, _PART_OF_SLOWEST * known[0][0]) if known else 0.0
    return tuple(
        stage for growth, usual, stage in known if growth > GROWTH_RATIO * usual and growth >= least
    )


def as_fast_as_usual(diagnosis: Diagnosis) -> bool:
    """Whether stages were measured, each could be compared with its usual time, and none grew."""
    known = all(
        stage.seconds is not None and stage.usual_seconds is not None for stage in diagnosis.stages
    )
    return bool(diagnosis.stages) and known and not slow_stages(diagnosis)


EXPLAINING_PART = 0.5
"""Stages that grew by less than this part of what the symptom grew by are not where it comes from.
Our own default."""

_REMAINDERS = {"preprocessing": "before prefill"}
"""What a stage is called that is only what others leave, where its own name says too much."""

_LATER = {"first token": ("decode", "output")}
"""Stages that a symptom has no part of, by its series."""


def name_of(stage: Stage) -> str:
    """`queue`; `before prefill` of what is no measurement of the preprocessing."""
    return _REMAINDERS.get(stage.stage, stage.stage) if stage.remainder else stage.stage


def what(stage: Stage) -> str:
    """`queue`, `time before prefill`: the same behind an article."""
    name = name_of(stage)
    return name if name == stage.stage else f"time {name}"


def growth_of(stage: Stage) -> float:
    """By how many seconds its mean grew; 0 where that is not known."""
    if stage.seconds is None or stage.usual_seconds is None:
        return 0.0
    return stage.seconds - stage.usual_seconds


def unexplained(measured: Diagnosis | Progress | None) -> float | None:
    """By how many seconds the symptom grew, where the stages that grew are less than half of that;
    None where they explain it, or nobody can tell.
    """
    symptom = measured.symptom if measured else None
    whole = symptom.grew_seconds if symptom else None
    if symptom is None or whole is None:
        return None
    later = _LATER.get(symptom.series, ())
    known = sum(growth_of(one) for one in slow_stages(measured) if one.stage not in later)
    return whole if known < EXPLAINING_PART * whole else None


def not_measured(measured: Diagnosis | Progress | None) -> tuple[str, ...]:
    """The stages whose time now nobody knows."""
    stages = measured.stages if measured else ()
    return tuple(name_of(one) for one in stages if one.seconds is None)


def explained(diagnosis: Diagnosis, cause: Cause) -> Stage | None:
    """The stage that a cause slows, by its runbook, and that grew most here; None without one."""
    grown = (stage for stage in slow_stages(diagnosis) if stage.stage in cause.slows)
    return next(grown, None)


def explains(diagnosis: Diagnosis, cause: Cause) -> str:
    """`explains the queue (+21 s)`: the growth of its mean time; "" where no stage fits."""
    stage = explained(diagnosis, cause)
    if stage is None:
        return ""
    return f"explains the {what(stage)} (+{number(growth_of(stage), 'seconds')})"
