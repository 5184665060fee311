"""Which stages of a request got slower, so that every surface names the same."""

from tailhound.model.incident import Progress
from tailhound.model.verdict import Diagnosis, Stage

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
