"""One panel of the image: bands, lines, limits, onset, and their texts."""

from typing import Any

from tailhound.charts import colours
from tailhound.charts.axes import Scale, scale_of, time_ticks
from tailhound.charts.chart import Chart, Panel, Role
from tailhound.charts.image import EDGE, TEXT, WIDTH, Image, drawable
from tailhound.charts.labels import change_label, limit_label, limits_left, onset_label, spread

LEFT, NAMES = 112, 290
"""Pixels at the left for the values, and at the right for the names of several lines."""

HEAD = 42
"""Pixels above a panel for what it measures."""

_PIECE = 44
"""Pixels of the piece of a line beside its name."""

_DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (1, 1.5)), (0, (8, 2, 1, 2)), (0, (3, 4)))
"""Lines of one panel differ in this, not in colour."""


class Plot:
    """One panel in its axes."""

    def __init__(
        self, image: Image, chart: Chart, panel: Panel, box: tuple[float, float, float]
    ) -> None:
        """`box` is the right, the upper and the lower edge of the axes."""
        self._image, self._chart, self._panel = image, chart, panel
        self._right, self._edges = box[0], box[1:]
        self._axes = image.axes(LEFT, self._right, self._edges)
        self._scale: Scale = scale_of(panel)
        mechanism = panel.role is Role.MECHANISM
        self._colour = colours.MECHANISM if mechanism else colours.SYMPTOM
        self._weight = 2.4 if mechanism else 3.8

    def draw(self, *, ticks: bool) -> None:
        """Everything of this panel; `ticks` for the one that bears the times."""
        chart = self._chart
        self._axes.set_xlim(chart.start, max(chart.end, chart.start + 1))
        self._axes.set_ylim(self._scale.low, self._scale.high)
        head = self._image.heading(self._scale)
        self._image.text(EDGE, self._edges[0] - HEAD + 4, head, color=self._colour)
        self._frame(ticks=ticks)
        self._bands()
        self._lines()
        self._limits()
        self._changes()
        self._onset()
        self._names()

    def _frame(self, *, ticks: bool) -> None:
        for side, spine in self._axes.spines.items():
            spine.set_visible(side == "bottom")
            spine.set_color(colours.SECONDARY)
        self._axes.tick_params(length=0)
        self._axes.set_xticks([])
        self._axes.set_yticks([])
        for value, text in self._scale.ticks:
            self._axes.axhline(value, color=colours.SECONDARY, alpha=0.25, linewidth=1)
            y = self._y(value)
            self._image.text(
                LEFT - 12, y, drawable(text), ha="right", va="center", color=colours.SECONDARY
            )
        if ticks:
            self._times()

    def _times(self) -> None:
        y, zone = self._edges[1] + 10, self._image.width("UTC")
        end = min(WIDTH - 12, self._right + 12 + zone)
        for at, text in time_ticks(self._chart.start, self._chart.end):
            half = self._image.width(text) / 2
            x = max(self._x(at), 12 + half)
            if x + half < end - zone - 14:
                self._image.text(x, y, text, ha="center", color=colours.SECONDARY)
            self._axes.axvline(at, color=colours.SECONDARY, alpha=0.12, linewidth=1)
        self._image.text(end, y, "UTC", ha="right", color=colours.SECONDARY)

    def _x(self, at: float) -> float:
        chart = self._chart
        share = (at - chart.start) / max(chart.end - chart.start, 1.0)
        return LEFT + min(1.0, max(0.0, share)) * (self._right - LEFT)

    def _y(self, value: float) -> float:
        top, bottom = self._edges
        return bottom - self._scale.place(value) * (bottom - top)

    def _bands(self) -> None:
        """What lies behind the lines: gaps, the usual band, the envelope, the open band."""
        panel, axes = self._panel, self._axes
        for start, end in panel.gaps:
            axes.axvspan(start, end, color=colours.SECONDARY, alpha=colours.GAP, linewidth=0)
            middle = (self._x(start) + self._x(end)) / 2
            half = self._image.width("no data") / 2
            x = min(max(middle, LEFT + half + 4), self._right - half - 4)
            self._inner(x, self._edges[1] - 30, "no data", "center", colours.SECONDARY)
        if panel.usual:
            least = 0.012 * (self._scale.high - self._scale.low)
            low, high = panel.usual
            axes.axhspan(
                low,
                max(high, low + least),
                color=colours.SECONDARY,
                alpha=colours.BAND,
                linewidth=0,
            )
        if panel.envelope:
            for edges in panel.envelope.runs:
                times, lows, highs = zip(*edges, strict=True)
                axes.fill_between(
                    times, lows, highs, color=colours.SECONDARY, alpha=2 * colours.BAND, linewidth=0
                )
        if panel.open:
            axes.fill_between(
                (panel.open.start, self._chart.end),
                panel.open.low,
                self._scale.high,
                color=self._colour,
                alpha=colours.BAND,
                linewidth=0,
            )

    def _lines(self) -> None:
        for at, line in enumerate(self._panel.lines):
            style = _DASHES[at % len(_DASHES)]
            for run in line.runs:
                times, values = zip(*run, strict=True)
                dot = "o" if len(run) == 1 else ""
                self._axes.plot(
                    times,
                    values,
                    color=self._colour,
                    linewidth=self._weight - (0.6 if at else 0.0),
                    linestyle=style,
                    marker=dot,
                    solid_joinstyle="round",
                )

    def _limits(self) -> None:
        panel, (top, bottom) = self._panel, self._edges
        for limit in panel.limits:
            if self._scale.holds(limit.value):
                style = "dashdot" if limit.objective else "dashed"
                self._axes.axhline(limit.value, color=colours.LIMIT, linestyle=style, linewidth=2)
        left = limits_left(self._chart, panel)
        x = LEFT + self._image.width("usual") + 40 if left else self._right - 8
        wanted = [self._y(limit.value) - 32 for limit in panel.limits]
        places = spread(wanted, TEXT + 6.0, (top + 2, bottom - 32))
        for y, limit in zip(places, panel.limits, strict=True):
            text, side = limit_label(limit, self._scale), "left" if left else "right"
            self._inner(x, y, text, side, colours.LIMIT)
        if panel.open:
            y = max(self._y(panel.open.low) - 34, top + 2)
            self._inner(self._right - 8, y, panel.open.label, "right", colours.LIMIT)
        if panel.usual:
            y = max(self._y(panel.usual[1]) - 32, top + 2)
            self._inner(LEFT + 8, y, "usual", "left", colours.SECONDARY)

    def _changes(self) -> None:
        """A solid line for each change; what it was stands in the first panel, below the onset."""
        for below, change in enumerate(self._chart.changes, 1):
            self._axes.axvline(change.at, color=colours.LIMIT, linestyle="solid", linewidth=2)
            if self._panel is not self._chart.panels[0]:
                continue
            x = self._x(change.at)
            late = x > (LEFT + self._right) / 2
            y = self._edges[0] + 2 + below * (TEXT + 8)
            at, side = (x - 10, "right") if late else (x + 10, "left")
            self._inner(at, y, change_label(change), side, colours.LIMIT)

    def _onset(self) -> None:
        onset = self._panel.onset
        if onset is None:
            return
        self._axes.axvline(onset.at, color=colours.ONSET, linestyle="dotted", linewidth=3)
        x, text = self._x(onset.at), onset_label(onset)
        late = x > (LEFT + self._right) / 2
        side = "right" if late else "left"
        self._inner(x - 10 if late else x + 10, self._edges[0] + 2, text, side, colours.ONSET)

    def _names(self) -> None:
        """The names of several lines at the right, each beside a piece of its line."""
        panel = self._panel
        if len(panel.lines) < 2 and panel.envelope is None:
            return
        ends = [(self._y(line.runs[-1][-1][1]), line.name) for line in panel.lines]
        styles: list[dict[str, Any]] = [
            {"color": self._colour, "linestyle": _DASHES[at % len(_DASHES)], "linewidth": 2.4}
            for at in range(len(ends))
        ]
        if panel.envelope:
            _, low, high = panel.envelope.runs[-1][-1]
            ends.append((self._y((low + high) / 2), panel.envelope.name))
            styles.append({"color": colours.SECONDARY, "alpha": 2 * colours.BAND, "linewidth": 9})
        top, bottom = self._edges
        places = spread([y for y, _ in ends], TEXT + 6.0, (top + 6, bottom - 10))
        for y, (_, name), style in zip(places, ends, styles, strict=True):
            x = self._right + _PIECE + 20
            self._image.stroke(
                (self._right + 12, self._right + 12 + _PIECE), y, solid_capstyle="butt", **style
            )
            shown = self._image.fitting(drawable(name), WIDTH - 12 - x)
            self._image.text(x, y, shown, va="center")

    def _inner(self, x: float, y: float, text: str, side: str, colour: str) -> None:
        """A text inside the axes, on the card's own colour so that lines don't cross it."""
        shown = self._image.fitting(drawable(text), self._right - LEFT - 24)
        box = {"facecolor": colours.CARD, "edgecolor": "none", "alpha": 0.75, "pad": 2}
        self._image.text(x, y, shown, ha=side, color=colour, bbox=box)
