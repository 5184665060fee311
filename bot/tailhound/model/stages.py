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


def explained(diagnosis: Diagnosis, cause: Cause) -> Stage | None:
    """The stage that a cause slows, by its runbook, and that grew most here; None without one."""
    grown = (stage for stage in slow_stages(diagnosis) if stage.stage in cause.slows)
    return next(grown, None)


def explains(diagnosis: Diagnosis, cause: Cause) -> str:
    """`explains the queue (+21 s)`: the growth of its mean time; "" where no stage fits."""
    stage = explained(diagnosis, cause)
    if stage is None:
        return ""
    grew = (stage.seconds or 0.0) - (stage.usual_seconds or 0.0)
    return f"explains the {stage.stage} (+{number(grew, 'seconds')})"
