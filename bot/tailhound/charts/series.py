"""Samples as they come in evidence, made into what can be drawn. Pure."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median

from tailhound.charts.chart import Envelope, Line, Point, Run
from tailhound.model import FactValue

BROKEN = 2.5
"""Samples further apart than this many steps are not joined: at least two are missing."""

DEFAULT_STEP = 15.0
"""Seconds between samples where too few are there to tell."""

MOST_LINES = 5
"""Lines by name in one panel; the rest is one grey envelope."""

LARGEST = 1e18
"""What is larger than an exabyte, or longer than the universe is old, is no measurement."""

Span = tuple[float, float]


def points_of(series: FactValue) -> Run:
    """The samples of a series fact in the order of time; whatever is no finite sample is left out.

    Of two samples of one moment the later one in the list counts.
    """
    if not isinstance(series, tuple | list):
        return ()
    found: dict[float, float] = {}
    for sample in series:
        if isinstance(sample, Mapping):
            at, value = sample.get("at"), sample.get("value")
            if _finite(at) and _finite(value):
                found[float(at)] = float(value)  # type: ignore[arg-type]  # both are numbers
    return tuple(sorted(found.items()))


def number_of(value: FactValue) -> float | None:
    """A fact as a number that can be drawn; None for anything else."""
    return float(value) if _finite(value) else None  # type: ignore[arg-type]  # it is a number


def _finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and abs(value) <= LARGEST


def within(points: Run, span: Span) -> Run:
    """The samples of a span of time."""
    return tuple(point for point in points if span[0] <= point[0] <= span[1])


def step_of(points: Run) -> float:
    """The seconds between two samples, as a rule."""
    gaps = [after[0] - before[0] for before, after in pairwise(points)]
    return max(median(gaps), 1.0) if gaps else DEFAULT_STEP


def runs_of(points: Run, step: float) -> tuple[Run, ...]:
    """The samples in unbroken runs: a gap is never joined."""
    runs: list[list[Point]] = []
    for point in points:
        if runs and point[0] - runs[-1][-1][0] <= BROKEN * step:
            runs[-1].append(point)
        else:
            runs.append([point])
    return tuple(map(tuple, runs))


def gaps_of(points: Run, step: float, asked: Span) -> tuple[Span, ...]:
    """The spans of what was asked that hold no sample."""
    times = [asked[0], *(at for at, _ in within(points, asked)), asked[1]]
    return tuple(
        (before, after) for before, after in pairwise(times) if after - before > BROKEN * step
    )


def band_of(usual: Run) -> Span | None:
    """The lowest and highest usual value; None where none is known."""
    values = [value for _, value in usual]
    return (min(values), max(values)) if values else None


def drawn(
    named: Sequence[tuple[str, Run]], step: float
) -> tuple[tuple[Line, ...], Envelope | None]:
    """At most five lines, the worst first; the others as one envelope.

    The worst is the one that is highest over its last samples.
    """
    ordered = sorted((one for one in named if one[1]), key=lambda one: (-_level(one[1]), one[0]))
    shown, rest = ordered[:MOST_LINES], ordered[MOST_LINES:]
    lines = tuple(Line(name=name, runs=runs_of(points, step)) for name, points in shown)
    return lines, _envelope([points for _, points in rest], step) if rest else None


def _level(points: Run) -> float:
    """Where a series is now: the median of its last samples."""
    return median(value for _, value in points[-5:])


def _envelope(rest: Sequence[Run], step: float) -> Envelope:
    at: dict[float, list[float]] = {}
    for points in rest:
        for moment, value in points:
            at.setdefault(step * round(moment / step), []).append(value)
    edges = [(moment, min(values), max(values)) for moment, values in sorted(at.items())]
    runs: list[list[tuple[float, float, float]]] = []
    for edge in edges:
        if runs and edge[0] - runs[-1][-1][0] <= BROKEN * step:
            runs[-1].append(edge)
        else:
            runs.append([edge])
    noun = "other" if len(rest) == 1 else "others"
    return Envelope(name=f"{len(rest)} {noun}", runs=tuple(map(tuple, runs)))


def merged(many: Iterable[Run]) -> Run:
    """All samples of several series in the order of time, to find where none of them has any."""
    return tuple(sorted(point for points in many for point in points))
