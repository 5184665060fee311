"""Texts inside a chart: what they say, and where they don't stand on each other. Pure."""

from collections.abc import Sequence

from tailhound.charts.alt import bare
from tailhound.charts.axes import Scale
from tailhound.charts.chart import Change, Chart, Limit, Onset, Panel


def limit_label(limit: Limit, scale: Scale) -> str:
    """`needs 25 %`; with an arrow where it lies outside of the axis."""
    if scale.holds(limit.value):
        return limit.label
    return f"{limit.label} {'↑' if limit.value > scale.high else '↓'}"


def limits_left(chart: Chart, panel: Panel) -> bool:
    """Whether limits are named at the left: before the onset a line is far from them."""
    early = chart.start + 0.4 * (chart.end - chart.start)
    return panel.onset is not None and panel.onset.at > early


def onset_label(onset: Onset) -> str:
    """`2 · 02:59`: the number in the chain, and the time."""
    return f"{onset.mark} · {bare(onset.at)}" if onset.mark else bare(onset.at)


def change_label(change: Change) -> str:
    """`02:40 rollout of chat-json`."""
    return f"{bare(change.at)} {change.what}"


def spread(wanted: Sequence[float], apart: float, edges: tuple[float, float]) -> list[float]:
    """Places as near as possible to the wanted ones, at least `apart`, inside the edges.

    They come in the order that they were given in. Where the edges leave too little room, the
    distance shrinks evenly.
    """
    if not wanted:
        return []
    low, high = edges
    room = (high - low) / (len(wanted) - 1) if len(wanted) > 1 else apart
    apart = max(0.0, min(apart, room))
    order = sorted(range(len(wanted)), key=lambda at: wanted[at])
    places: list[float] = []
    for at in order:
        least = places[-1] + apart if places else low
        places.append(max(least, wanted[at]))
    ceiling = high
    for at in range(len(places) - 1, -1, -1):
        places[at] = max(low, min(places[at], ceiling))
        ceiling = places[at] - apart
    result = [0.0] * len(wanted)
    for place, at in zip(places, order, strict=True):
        result[at] = place
    return result
