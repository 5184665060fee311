"""From the phases of a series to its samples: a scrape step, jitter by seed, resets, buckets."""

import math
import random
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.lab.series import Phase, Series, parsed

RECENT = 3 * 3600.0
ANCHORS = (-7 * 86400.0, -86400.0)
BEFORE, AFTER = 3600.0, 600.0
STALE = "stale"

Value = float | str | None
"""A sample; STALE = the scrape that no longer found the series; None = no sample."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """One series as Prometheus would have stored it: a value for each moment of the grid."""

    labels: dict[str, str]
    values: Sequence[Value]


@dataclass(frozen=True, slots=True)
class Grid:
    """The moments of all scrapes: seconds relative to the lab's now, ascending.

    The history holds an hour before and ten minutes after -7d and -1d, and the last three hours.
    """

    times: tuple[float, ...]
    first: float

    @classmethod
    def of(cls, step: float, more: int = 0) -> "Grid":
        """The grid of a scrape interval; `more` scrapes have happened since "now"."""
        around = [
            anchor - BEFORE + step * tick
            for anchor in ANCHORS
            for tick in range(int((BEFORE + AFTER) / step) + 1)
        ]
        recent = [-step * tick for tick in range(int(RECENT / step), -1 - more, -1)]
        times = tuple(around + recent)
        return cls(times, times[0])

    def follows(self, index: int, step: float) -> bool:
        """Whether the sample before is one scrape ago (and not in another window)."""
        return index > 0 and self.times[index] - self.times[index - 1] <= step * 1.5


def sampled(series: Series, grid: Grid, step: float, now: float) -> Iterator[Sampled]:
    """Every series that Prometheus gets from one entry: one, or all buckets of a histogram."""
    name, labels = parsed(series.text)
    hidden = _hidden(series, grid, step)
    if series.gauge:
        yield Sampled({"__name__": name, **labels}, _masked(_gauge(series, grid, now), hidden))
    elif series.counter:
        values = _counted(series, grid, [phase.per_second or 0.0 for phase in series.phases])
        yield Sampled({"__name__": name, **labels}, _masked(values, hidden))
    else:
        yield from _histogram(series, grid, hidden)


def _hidden(series: Series, grid: Grid, step: float) -> dict[int, Value]:
    """Where there is no sample, and where the scrape marked the series as gone."""
    gone: dict[int, Value] = {}
    for phase, begin, end in _spans(series, grid):
        if not phase.absent:
            continue
        for index in range(begin, end):
            gone[index] = None
        if begin < end and begin - 1 not in gone and grid.follows(begin, step):
            gone[begin] = STALE
    return gone


def _masked(values: list[float], hidden: dict[int, Value]) -> Sequence[Value]:
    if not hidden:
        return values
    return [hidden.get(index, value) for index, value in enumerate(values)]


def _spans(series: Series, grid: Grid) -> Iterator[tuple[Phase, int, int]]:
    """Each phase with its part of the grid; a moment that is an end belongs to the next phase."""
    begin = 0
    for phase in series.phases:
        end = (
            len(grid.times) if phase is series.phases[-1] else bisect_left(grid.times, phase.until)
        )
        yield phase, begin, end
        begin = end


def _gauge(series: Series, grid: Grid, now: float) -> list[float]:
    values: list[float] = []
    since = -RECENT
    for phase, begin, end in _spans(series, grid):
        values += _level(phase, grid.times[begin:end], since, now)
        since = phase.until
    if series.jitter:
        dice = random.Random(series.text)  # noqa: S311 - the same scenario gives the same history
        values = [value * (1 + series.jitter * dice.uniform(-1, 1)) for value in values]
    return values


def _level(phase: Phase, moments: Sequence[float], since: float, now: float) -> list[float]:
    if phase.start is not None and phase.to is not None:
        rise = (phase.to - phase.start) / max(phase.until - since, 1e-9)
        return [phase.start + rise * max(moment - since, 0.0) for moment in moments]
    value = phase.value or 0.0 if phase.moment is None else now + phase.moment
    return [value] * len(moments)


def _counted(series: Series, grid: Grid, rates: Sequence[float]) -> list[float]:
    """A counter's values: `start` plus everything since the beginning, back to 0 at each reset."""
    growth = _Growth(series, rates)
    dice = random.Random(series.text)  # noqa: S311 - the same scenario gives the same history
    value, before = series.start, grid.first
    resets = sorted(series.resets)
    values = []
    for moment in grid.times:
        if resets and resets[0] <= moment:
            while resets and resets[0] <= moment:
                before = max(before, resets.pop(0))
            value = 0.0
        grown = growth.until(moment) - growth.until(before)
        value += grown * (1 + series.jitter * dice.uniform(-1, 1)) if series.jitter else grown
        before = moment
        values.append(value)
    return values


class _Growth:
    """The integral of a step function: how much was counted up to a moment."""

    def __init__(self, series: Series, rates: Sequence[float]) -> None:
        self._ends = [phase.until for phase in series.phases]
        self._rates = rates
        self._sums = [0.0]
        for index in range(1, len(rates)):
            length = self._ends[index] - self._ends[index - 1]
            self._sums.append(self._sums[-1] + length * rates[index])

    def until(self, moment: float) -> float:
        """Counted up to `moment`, relative to the end of the first phase."""
        index = min(bisect_left(self._ends, moment), len(self._ends) - 1)
        return self._sums[index] - (self._ends[index] - moment) * self._rates[index]


def _histogram(series: Series, grid: Grid, hidden: dict[int, Value]) -> Iterator[Sampled]:
    name, labels = parsed(series.text)
    computed: dict[tuple[float, ...], Sequence[Value]] = {}
    for bound in (*series.le, math.inf):
        rates = tuple(_below(phase, bound) for phase in series.phases)
        if rates not in computed:
            computed[rates] = _masked(_counted(series, grid, rates), hidden)
        bucket = {"__name__": f"{name}_bucket", **labels, "le": _bound(bound)}
        yield Sampled(bucket, computed[rates])
    yield Sampled({"__name__": f"{name}_count", **labels}, computed[rates])
    sums = [(phase.per_second or 0.0) * _mean(series, phase) for phase in series.phases]
    total = _masked(_counted(series, grid, sums), hidden)
    yield Sampled({"__name__": f"{name}_sum", **labels}, total)


def _below(phase: Phase, bound: float) -> float:
    """Observations a second that are at most `bound`.

    Shares of 0.5, 0.3 and 0.19 put p99 exactly on a bound, where the rounding of floats would
    decide which bucket holds it: a billionth more decides for the lower one.
    """
    shares = (phase.share or {}).items()
    part = min(math.fsum(part for le, part in shares if le <= bound) * (1 + 1e-9), 1.0)
    return (phase.per_second or 0.0) * part


def _mean(series: Series, phase: Phase) -> float:
    """What an observation is on average: as given, or the middles of the buckets."""
    given = phase.mean if phase.mean is not None else series.mean
    if given is not None:
        return given
    lower = dict(zip(series.le, (0.0, *series.le), strict=False))
    return sum(
        part * (series.le[-1] if math.isinf(le) else (lower[le] + le) / 2)
        for le, part in (phase.share or {}).items()
    )


def _bound(bound: float) -> str:
    return "+Inf" if math.isinf(bound) else f"{bound:.15g}"
