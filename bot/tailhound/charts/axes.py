"""Ticks and scales, the same for the image and for the page. Pure."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tailhound.charts.alt import bare, heading
from tailhound.charts.chart import Panel
from tailhound.model.wording import count

_TIME_STEPS = (60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400)
FEWEST, MOST = 5, 7
"""Ticks of the axis of time."""

FAR = 4.0
"""A limit that is further away than this many times the values is told at the edge, not drawn."""

FULL = 1.05
"""Where the axis of a share ends: a line at 100 % is seen whole."""

HEADROOM = 0.12
OPEN_ROOM = 0.35
"""How much higher than the values an axis goes; more where a band is open above."""

_NO_SPAN = 1e-290
"""An axis of less has no round values: what is so near to zero is none of a measurement."""

_WORDS = {
    "ratio": ((100.0, "percent"),),
    "seconds": (
        (1000.0, "milliseconds"),
        (1.0, "seconds"),
        (1 / 60, "minutes"),
        (1 / 3600, "hours"),
    ),
    "hours": ((1.0, "hours"), (1 / 24, "days")),
    "bytes": tuple(
        (1 / 1024**power, name) for power, name in enumerate(("B", "KiB", "MiB", "GiB", "TiB"))
    ),
    "bytes_per_second": tuple(
        (1 / 1024**power, name) for power, name in enumerate(("B/s", "KiB/s", "MiB/s", "GiB/s"))
    ),
    "per_second": ((1.0, "per second"),),
    "seconds_per_second": ((1.0, "seconds per second"),),
    "tokens": ((1.0, "tokens"),),
    "tokens_per_second": ((1.0, "tokens per second"),),
    "cores": ((1.0, "cores"),),
    "celsius": ((1.0, "°C"),),
    "times": ((1.0, "times its usual"),),
}
_LEAST = {"seconds": (1.0, 120.0, 7200.0), "hours": (48.0,)}
"""From which top value on the next larger unit is used; sizes take 1,024 of the one before."""

_ZOOMED = frozenset({"celsius"})
"""Units whose axis may begin above 0."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The axis of values: from `low` to `high`; `heading` says what and in which unit.

    `lines` say the same on two lines: what is measured, then of what and in which unit.
    """

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    heading: str
    lines: tuple[str, ...]

    def place(self, value: float) -> float:
        """Where a value lies: 0 at the bottom, 1 at the top; what is outside lies at the edge."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def holds(self, value: float) -> bool:
        """Whether a value lies on the axis."""
        return self.low <= value <= self.high


def time_ticks(start: float, end: float) -> tuple[tuple[float, str], ...]:
    """Five to seven moments at whole minutes, `02:30`; fewer only where the span is too short."""
    choices = [_every(step, start, end) for step in _TIME_STEPS]
    best = min(choices, key=lambda ticks: max(FEWEST - len(ticks), len(ticks) - MOST, 0))
    return tuple((at, bare(at)) for at in best[: 2 * MOST])


def _every(step: float, start: float, end: float) -> list[float]:
    first = step * math.ceil(start / step)
    return [first + step * at for at in range(max(0, int((end - first) // step) + 1))][:1000]


def scale_of(panel: Panel) -> Scale:
    """The axis of a panel: from 0 for what can't be less, 0 to 100 % for shares."""
    values = list(_values(panel))
    lowest, highest = min(values), max(values)
    limits = [one.value for one in panel.limits if one.value <= FAR * max(highest, 0.0)]
    peak = max([highest, *limits])
    top = peak + abs(peak) * (OPEN_ROOM if panel.open else HEADROOM)
    bottom = lowest - 0.1 * (highest - lowest)
    if panel.unit not in _ZOOMED:
        top, bottom = max(0.0, top), min(0.0, lowest)
    if panel.unit == "ratio":
        top = max(FULL, top if highest > 1 else FULL)
    if top - bottom < _NO_SPAN:
        top = bottom + 1.0
    factor, word = _unit(panel.unit, top)
    places = _round(bottom, top, factor)
    if panel.unit == "count":
        places = [at for at in places if at == round(at)]
    ticks = tuple((at, count(round(at * factor, 9))) for at in places)
    said = heading(panel)
    what = heading(replace(panel, lines=()))
    below = ": ".join(part for part in (said.removeprefix(what).removeprefix(", "), word) if part)
    whole = f"{said}: {word}" if word else said
    return Scale(bottom, top, ticks, whole, (what, below) if below else (what,))


def _values(panel: Panel) -> Iterable[float]:
    for line in panel.lines:
        for run in line.runs:
            yield from (value for _, value in run)
    if panel.envelope:
        for edges in panel.envelope.runs:
            yield from (value for _, low, high in edges for value in (low, high))
    if panel.usual:
        yield from panel.usual
    if panel.open:
        yield panel.open.low


def _unit(unit: str, top: float) -> tuple[float, str]:
    """The factor and the word that make readable numbers of values up to `top`."""
    choices = _WORDS.get(unit, ((1.0, ""),))
    bounds = _LEAST.get(unit, tuple(1024.0 ** (at + 1) for at in range(len(choices) - 1)))
    place = sum(top >= bound for bound in bounds) if len(choices) > 1 else 0
    return choices[place]


def _round(low: float, high: float, factor: float) -> list[float]:
    """Three to five round values on the axis."""
    span = (high - low) * factor
    rough = span / 4
    size = 10.0 ** math.floor(math.log10(rough))
    step = next((size * times for times in (1, 2, 2.5, 5, 10) if size * times >= rough), rough)
    first = math.ceil(low * factor / step - 1e-9)
    last = math.floor(high * factor / step + 1e-9)
    return [at * step / factor for at in range(first, min(last, first + 8) + 1)]
