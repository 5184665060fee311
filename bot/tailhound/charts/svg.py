"""A chart as SVG for the page: text as text, colours by class, nothing that runs or is fetched.

`STYLE` belongs into the page's style sheet: the page forbids styles inside documents. Without it
the chart is drawn in the colour of the text.
"""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from tailhound.charts import colours
from tailhound.charts.axes import Scale, scale_of, time_ticks
from tailhound.charts.chart import Chart, Panel
from tailhound.charts.elements import add_box, add_label, add_path, add_rule, add_text
from tailhound.charts.labels import change_label, limit_label, limits_left, onset_label, spread
from tailhound.model.wording import cut

WIDTH, LEFT, RIGHT = 400.0, 46.0, 10.0
PANEL, HEAD, FOOT, SPACE = 120.0, 38.0, 34.0, 14.0
LINE, _HEADING = 15.0, 54

SIZE = 14
"""Pixels of text at the chart's own width; it grows with the column."""

_NAMES = 118.0
"""Room at the right for the names of several lines."""
_TICK = 18.0
"""Half of what a time takes: it is not cut at the edges."""

_DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 6")
"""Lines of one panel differ in this, not in colour."""


def _rules(prefix: str, shades: Sequence[str]) -> str:
    names = ("card", "text", "soft", "mechanism", "symptom", "onset", "limit")
    return " ".join(f"{prefix}{name}: {shade};" for name, shade in zip(names, shades, strict=True))


STYLE = f"""\
.chart {{ {
    _rules(
        "--chart-",
        (
            colours.LIGHT_CARD,
            colours.LIGHT_TEXT,
            colours.LIGHT_SECONDARY,
            colours.LIGHT_MECHANISM,
            colours.LIGHT_SYMPTOM,
            colours.LIGHT_ONSET,
            colours.LIGHT_LIMIT,
        ),
    )
} display: block; width: 100%; height: auto; max-width: 34rem; }}
@media (prefers-color-scheme: dark) {{ .chart {{ {
    _rules(
        "--chart-",
        (
            colours.CARD,
            colours.TEXT,
            colours.SECONDARY,
            colours.MECHANISM,
            colours.SYMPTOM,
            colours.ONSET,
            colours.LIMIT,
        ),
    )
} }} }}
.chart text {{ fill: var(--chart-text); font: {SIZE}px system-ui, sans-serif; \
stroke: var(--chart-card); stroke-width: 3px; paint-order: stroke; }}
.chart .soft {{ fill: var(--chart-soft); }}
.chart .axis {{ stroke: var(--chart-soft); stroke-opacity: .5; fill: none; }}
.chart .usual, .chart .envelope {{ fill: var(--chart-soft); fill-opacity: {colours.BAND}; }}
.chart .gap {{ fill: var(--chart-soft); fill-opacity: {colours.GAP}; }}
.chart .mechanism {{ stroke: var(--chart-mechanism); fill: none; stroke-width: 2; }}
.chart .symptom {{ stroke: var(--chart-symptom); fill: none; stroke-width: 3; }}
.chart .open {{ fill: var(--chart-soft); fill-opacity: {colours.BAND}; }}
.chart .onset {{ stroke: var(--chart-onset); stroke-width: 2; }}
.chart text.onset {{ fill: var(--chart-onset); stroke: var(--chart-card); stroke-width: 3px; }}
.chart .limit {{ stroke: var(--chart-limit); stroke-width: 1.5; }}
@media (forced-colors: active) {{ .chart text {{ fill: CanvasText; }} }}
"""


def svg(chart: Chart) -> str:
    """The chart as one `<svg>` element to stand inside a page; at most 40 KB."""
    right = RIGHT + (_NAMES if any(_several(panel) for panel in chart.panels) else 0.0)
    height = len(chart.panels) * (HEAD + PANEL + SPACE) + FOOT
    root = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": "chart",
            "viewBox": f"0 0 {WIDTH:g} {height:g}",
            "role": "img",
            "aria-labelledby": f"{chart.id}-title {chart.id}-alt",
        },
    )
    add_text(root, "title", chart.title, id=f"{chart.id}-title")
    add_text(root, "desc", chart.alt, id=f"{chart.id}-alt")
    for at, panel in enumerate(chart.panels):
        area = _Area(chart, scale_of(panel), HEAD + at * (HEAD + PANEL + SPACE), right)
        _panel(SubElement(root, "g"), panel, area)
    _times(root, chart, height, right)
    return tostring(root, encoding="unicode")


def _several(panel: Panel) -> bool:
    return len(panel.lines) > 1 or panel.envelope is not None


class _Area:
    """Where the axes of a panel lie, and where a moment and a value lie in it."""

    def __init__(self, chart: Chart, scale: Scale, top: float, right: float) -> None:
        self.chart, self.scale = chart, scale
        self.top, self.bottom = top, top + PANEL
        self.left, self.right = LEFT, WIDTH - right
        self._start, self._span = chart.start, max(chart.end - chart.start, 1.0)

    def x(self, at: float) -> float:
        share = min(1.0, max(0.0, (at - self._start) / self._span))
        return round(self.left + share * (self.right - self.left), 1)

    def y(self, value: float) -> float:
        return round(self.bottom - self.scale.place(value) * PANEL, 1)


def _panel(group: Element, panel: Panel, area: _Area) -> None:
    scale = area.scale
    told = (scale.heading,) if len(scale.heading) <= _HEADING else scale.lines
    for above, said in enumerate(reversed(told)):
        add_label(group, (0.0, area.top - 8 - above * LINE), cut(said, _HEADING))
    for value, text in area.scale.ticks:
        add_rule(group, (area.left, area.right), (area.y(value), area.y(value)), "axis")
        add_label(group, (area.left - 6, area.y(value) + 4), text, anchor="end", kind="soft")
    _bands(group, panel, area)
    for at, line in enumerate(panel.lines):
        for run in line.runs:
            add_path(group, [(area.x(x), area.y(y)) for x, y in run], panel.role, _DASHES[at % 5])
    _marks(group, panel, area)
    _names(group, panel, area)


def _bands(group: Element, panel: Panel, area: _Area) -> None:
    if panel.usual:
        low, high = panel.usual
        add_box(group, (area.left, area.right), (area.y(low), area.y(high)), "usual")
    for start, end in panel.gaps:
        add_box(group, (area.x(start), area.x(end)), (area.bottom, area.top), "gap")
        middle = (area.x(start) + area.x(end)) / 2
        add_label(group, (_inside(middle, 24, area), area.bottom - 8), "no data", "middle", "soft")
    if panel.envelope:
        for edges in panel.envelope.runs:
            upper = [f"{area.x(at)},{area.y(high)}" for at, _, high in edges]
            lower = [f"{area.x(at)},{area.y(low)}" for at, low, _ in reversed(edges)]
            SubElement(group, "polygon", {"class": "envelope", "points": " ".join(upper + lower)})
    if panel.open:
        add_box(
            group,
            (area.x(panel.open.start), area.right),
            (area.y(panel.open.low), area.top),
            "open",
        )


def _marks(group: Element, panel: Panel, area: _Area) -> None:
    """Limits and onset, then all texts over them, which don't stand on each other."""
    for limit in panel.limits:
        if area.scale.holds(limit.value):
            y, dashes = area.y(limit.value), "8 3 2 3" if limit.objective else "6 4"
            add_rule(group, (area.left, area.right), (y, y), "limit", dashes)
    _changes(group, panel, area)
    if panel.onset:
        x = area.x(panel.onset.at)
        add_rule(group, (x, x), (area.top, area.bottom), "onset", "2 4")
        side, anchor = (-4, "end") if x > (area.left + area.right) / 2 else (4, "start")
        add_label(group, (x + side, area.top + SIZE), onset_label(panel.onset), anchor, "onset")
    if panel.open:
        y = max(area.y(panel.open.low) - 5, area.top + SIZE)
        add_label(group, (area.right - 3, y), cut(panel.open.label, 40), "end")
    if panel.usual:
        y = max(area.y(panel.usual[1]) - 4, area.top + SIZE)
        add_label(group, (area.left + 4, y), "usual", kind="soft")
    wanted = [area.y(limit.value) - 5 for limit in panel.limits]
    places = spread(wanted, SIZE + 2.0, (area.top + SIZE, area.bottom - 3))
    left = limits_left(area.chart, panel)
    x, anchor = (area.left + 48, "start") if left else (area.right - 3, "end")
    for place, limit in zip(places, panel.limits, strict=True):
        add_label(group, (x, place), cut(limit_label(limit, area.scale), 40), anchor)


def _changes(group: Element, panel: Panel, area: _Area) -> None:
    """A solid line for each change; what it was stands in the first panel, below the onset."""
    for below, change in enumerate(area.chart.changes, 1):
        x = area.x(change.at)
        add_rule(group, (x, x), (area.top, area.bottom), "limit")
        if panel is not area.chart.panels[0]:
            continue
        side, anchor = (-4, "end") if x > (area.left + area.right) / 2 else (4, "start")
        y = area.top + SIZE + below * LINE
        add_label(group, (x + side, y), cut(change_label(change), 60), anchor)


def _names(group: Element, panel: Panel, area: _Area) -> None:
    """The names of several lines at the right, each beside a piece of its line."""
    if not _several(panel):
        return
    ends = [(area.y(line.runs[-1][-1][1]), line.name) for line in panel.lines]
    kinds = [(panel.role.value, _DASHES[at % 5]) for at in range(len(ends))]
    if panel.envelope:
        _, low, high = panel.envelope.runs[-1][-1]
        ends.append((area.y((low + high) / 2), panel.envelope.name))
        kinds.append(("envelope", ""))
    places = spread([y for y, _ in ends], SIZE + 2.0, (area.top + 6, area.bottom))
    x = area.right + 4
    for y, (_, name), (kind, dashes) in zip(places, ends, kinds, strict=True):
        if kind == "envelope":
            add_box(group, (x, x + 16), (y - 4, y + 4), kind)
        else:
            add_rule(group, (x, x + 16), (y, y), kind, dashes)
        add_label(group, (x + 20, y + 4), cut(name, 13))


def _times(root: Element, chart: Chart, height: float, right: float) -> None:
    span = max(chart.end - chart.start, 1.0)
    width = WIDTH - right - LEFT
    for at, text in time_ticks(chart.start, chart.end):
        x = LEFT + (at - chart.start) / span * width
        place = min(max(x, _TICK), WIDTH - _TICK)
        add_label(root, (place, height - 26), text, "middle", "soft")
    add_label(root, (WIDTH - 2, height - 6), "UTC", "end", "soft")


def _inside(x: float, half: float, area: _Area) -> float:
    """A middle that keeps a text of twice `half` inside the axes."""
    return min(max(x, area.left + half), area.right - half)
