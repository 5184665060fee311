"""A chart in words: the alternative text of its image, and the rows of its table. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median

from tailhound.charts.chart import Chart, Limit, Line, Panel, Point
from tailhound.charts.series import BROKEN, merged, step_of
from tailhound.model.names import capital, small
from tailhound.model.wording import NBSP, clock, cut, number

MOST = 400
"""Characters of an alternative text."""

ROWS = 16
"""About how many rows a table has."""

_NO_DATA = "no data"


def time_of(at: float, *, seconds: bool = False) -> str:
    """`02:51 UTC`."""
    return clock(datetime.fromtimestamp(at, UTC), seconds=seconds)


def bare(at: float) -> str:
    """`02:51`, where UTC stands beside it."""
    return time_of(at).removesuffix(" UTC")


def heading(panel: Panel) -> str:
    """What a panel measures, and of what where that is one thing."""
    named = [line.name for line in panel.lines if line.name]
    alone = named[0] if len(panel.lines) == 1 and named and panel.envelope is None else ""
    return f"{capital(panel.words)}{f', {alone}' if alone else ''}"


def alt_text(chart: Chart) -> str:
    """At most 400 characters: kind, from, to, what, the change, the limit, and the panel below."""
    kind = f"Line chart, {bare(chart.start)} to {time_of(chart.end)}."
    told = [kind]
    for at, panel in enumerate(chart.panels):
        first, *more = _sentences(panel)
        told += [f"Below it, {small(first)}" if at else first, *more]
    told += [f"Changed at {bare(one.at)}: {one.what}." for one in chart.changes]
    while len(" ".join(told)) > MOST and len(told) > 2:
        told.pop()
    return cut(" ".join(told).replace(NBSP, " "), MOST)


def _sentences(panel: Panel) -> list[str]:
    """What a panel shows, then its limits and gaps: the most important first."""
    worst = panel.lines[0]
    points = [point for run in worst.runs for point in run]
    others = len(panel.lines) - 1
    more = f" (worst of {others + 1} lines)" if others else ""
    told = [f"{heading(panel)}{more}: {_course(panel, points)}."]
    told += [text for limit in panel.limits[:1] if (text := _crossed(limit, points, panel.unit))]
    if panel.open:
        told.append(f"{capital(panel.open.label)}: the top bucket hides how much more.")
    told += [f"No data from {bare(start)} to {bare(end)}." for start, end in panel.gaps[:2]]
    return told


def _course(panel: Panel, points: Sequence[Point]) -> str:
    """`2 % until 02:59, then 100 %`; without an onset from where to where."""
    unit = panel.unit
    after = median(value for _, value in points[-5:])
    earlier = [value for at, value in points if panel.onset and at < panel.onset.at]
    if panel.onset and earlier:
        before = number(median(earlier), unit)
        return f"{before} until {bare(panel.onset.at)}, then {number(after, unit)}"
    lowest, highest = min(v for _, v in points), max(v for _, v in points)
    between = f"between {number(lowest, unit)} and {number(highest, unit)}"
    return f"{between}, at last {number(after, unit)}"


def _crossed(limit: Limit, points: Sequence[Point], unit: str) -> str:
    """When the line went over a limit, the last time that it did."""
    over = [after[0] for before, after in pairwise(points) if before[1] <= limit.value < after[1]]
    name = "objective" if limit.objective else "limit"
    told = f"The {name} of {number(limit.value, unit)}"
    if over:
        return f"{told} is crossed at {time_of(over[-1], seconds=True).removesuffix(' UTC')}."
    above = bool(points) and points[-1][1] > limit.value
    return f"{told} is {'passed all the time' if above else 'not reached'}."


@dataclass(frozen=True, slots=True)
class Table:
    """A chart as rows of text; the first column holds the time, UTC."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def table(chart: Chart) -> Table:
    """The values at about sixteen moments and at the onsets; "no data" where nothing was measured.

    Lines that are drawn as an envelope are no columns of their own, but two: lowest and highest.
    """
    columns = [column for panel in chart.panels for column in _columns(panel)]
    head = ("Time (UTC)", *(name for name, _, _ in columns))
    rows = tuple(
        (_moment(at, chart), *(_value(points, unit, at) for _, points, unit in columns))
        for at in _moments(chart)
    )
    return Table(head, rows)


Column = tuple[str, Sequence[Point], str]


def _columns(panel: Panel) -> Iterable[Column]:
    for line in panel.lines:
        yield _column_name(panel, line), merged(line.runs), panel.unit
    if panel.envelope:
        edges = [edge for run in panel.envelope.runs for edge in run]
        name = panel.envelope.name
        yield f"{name}, lowest", [(at, low) for at, low, _ in edges], panel.unit
        yield f"{name}, highest", [(at, high) for at, _, high in edges], panel.unit


def _column_name(panel: Panel, line: Line) -> str:
    return f"{capital(panel.words)}{f', {line.name}' if line.name else ''}"


def _moments(chart: Chart) -> list[float]:
    step = 60.0 * max(1.0, round((chart.end - chart.start) / ROWS / 60.0))
    first = step * -(-_begin(chart) // step)
    regular = [first + step * at for at in range(int((chart.end - first) // step) + 1)]
    onsets = [panel.onset.at for panel in chart.panels if panel.onset]
    return sorted({*regular, *onsets, chart.end})


def _begin(chart: Chart) -> float:
    """When the first panel begins: with its first sample, or with a gap. Before it nobody asked."""
    firsts = [line.runs[0][0][0] for panel in chart.panels for line in panel.lines]
    return max(chart.start, min([*firsts, *(gap[0] for p in chart.panels for gap in p.gaps)]))


def _moment(at: float, chart: Chart) -> str:
    marks = ["began" for panel in chart.panels if panel.onset and panel.onset.at == at]
    seconds = at % 60 != 0
    text = time_of(at, seconds=seconds).removesuffix(" UTC")
    return f"{text} ({', '.join(dict.fromkeys(marks))})" if marks else text


def _value(points: Sequence[Point], unit: str, at: float) -> str:
    """The last sample at or before a moment, unless it is too old to be joined with it."""
    place = bisect_right(points, at, key=lambda point: point[0])
    if not place:
        return _NO_DATA
    moment, value = points[place - 1]
    old = at - moment > BROKEN * step_of(tuple(points))
    return _NO_DATA if old else number(value, unit)
