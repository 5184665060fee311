"""What a workload's replica counts did over the incident: asked for, in service, lost. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tailhound.model.facts import Sample, Series

SAMPLES_AT_LEAST = 4
"""Fewer samples tell no history: our own default, as for a rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaHistory:
    """Replicas over time. `missing` are those asked for and not in service, sample by sample.

    `asked_count` is by how many the wanted number rose, all rises together. `lost_count` is by how
    many the number in service fell below what was wanted: falls that follow a scale-down do not
    count. `from_zero_count` is how often the wanted number left zero.
    """

    desired: Series
    missing: Series
    missing_seconds: float
    short_ago_seconds: float | None
    asked_count: int
    lost_count: int
    from_zero_count: int


def history_of(
    desired: Series | None, ready: Series | None, asleep: Series | None, step: float
) -> ReplicaHistory | None:
    """None where too few moments have both counts.

    `asleep` counts replicas that are ready and hold no model; where it has no sample nobody sleeps.
    """
    wanted, served = _at(desired), _at(ready)
    resting = _at(asleep)
    moments = sorted(wanted.keys() & served.keys())
    if len(moments) < SAMPLES_AT_LEAST:
        return None
    missing = tuple(
        Sample(
            at,
            max(wanted[at] - served[at], 0.0) + min(resting.get(at, 0.0), served[at]),
        )
        for at in moments
    )
    short = [sample.at for sample in missing if sample.value > 0]
    pairs = list(pairwise(moments))
    rises = [max(wanted[now] - wanted[before], 0.0) for before, now in pairs]
    falls = [
        max(min(served[before], wanted[now]) - min(served[now], wanted[now]), 0.0)
        for before, now in pairs
    ]
    return ReplicaHistory(
        desired=tuple(Sample(at, wanted[at]) for at in moments),
        missing=missing,
        missing_seconds=len(short) * step,
        short_ago_seconds=moments[-1] - short[-1] if short else None,
        asked_count=round(sum(rises)),
        lost_count=round(sum(falls)),
        from_zero_count=sum(wanted[before] == 0 < wanted[now] for before, now in pairs),
    )


def waited_meanwhile(history: ReplicaHistory | None, waiting: Series | None) -> float | None:
    """The most requests that waited at a moment when replicas were missing.

    None where no such moment has a sample.
    """
    queued = _at(waiting)
    short = [sample.at for sample in (history.missing if history else ()) if sample.value > 0]
    return max((queued[at] for at in short if at in queued), default=None)


def last(series: Sequence[Sample] | None) -> int | None:
    """The last value of a series, as a count."""
    return round(series[-1].value) if series else None


def peak(series: Sequence[Sample] | None) -> int | None:
    """The highest value of a series, as a count."""
    return round(max(sample.value for sample in series)) if series else None


def _at(series: Series | None) -> Mapping[float, float]:
    return {sample.at: sample.value for sample in series or ()}
