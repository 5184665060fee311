"""The elements that a chart's SVG is made of."""

import re
from xml.etree.ElementTree import Element, SubElement

from tailhound.charts.chart import Point, Role

_POINTS = 240
"""More points of one line than pixels can show are thinned, with the peaks kept."""

_CLEAN = re.compile("[^\\t\\n\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""What no XML document may hold."""


def add_path(group: Element, points: list[Point], role: Role, dashes: str) -> None:
    """A line; a single sample is a dot."""
    kind = role.value
    if len(points) == 1:
        x, y = points[0]
        SubElement(group, "circle", {"class": kind, "cx": f"{x}", "cy": f"{y}", "r": "1.5"})
        return
    shown = _thinned(points)
    drawn = "M" + "L".join(f"{x:g} {y:g}" for x, y in shown)
    given = {"class": kind, "d": drawn, "stroke": "currentColor", "fill": "none"}
    SubElement(group, "path", {**given, **({"stroke-dasharray": dashes} if dashes else {})})


def _thinned(points: list[Point]) -> list[Point]:
    """Of each stretch the first, the lowest and the highest point: peaks stay."""
    if len(points) <= _POINTS:
        return points
    size = -(-len(points) * 3 // _POINTS)
    kept: list[Point] = []
    for first in range(0, len(points), size):
        part = points[first : first + size]
        low = min(part, key=lambda point: point[1])
        high = max(part, key=lambda point: point[1])
        kept += sorted({part[0], low, high})
    return [*kept, points[-1]]


def add_box(group: Element, xs: tuple[float, float], ys: tuple[float, float], kind: str) -> None:
    """A filled box; at least a pixel high, so that a band without width is seen."""
    width, height = abs(xs[1] - xs[0]), max(abs(ys[1] - ys[0]), 1.0)
    place = {"x": min(xs), "y": min(ys), "width": width, "height": height}
    SubElement(
        group,
        "rect",
        {
            "class": kind,
            "fill": "currentColor",
            "fill-opacity": "0.15",
            **{name: f"{value:g}" for name, value in place.items()},
        },
    )


def add_rule(
    group: Element, xs: tuple[float, float], ys: tuple[float, float], kind: str, dashes: str = ""
) -> None:
    place = {"x1": xs[0], "x2": xs[1], "y1": ys[0], "y2": ys[1]}
    given = {"class": kind, "stroke": "currentColor"}
    given |= {name: f"{value:g}" for name, value in place.items()}
    SubElement(group, "line", {**given, **({"stroke-dasharray": dashes} if dashes else {})})


def add_label(
    group: Element, place: tuple[float, float], text: str, anchor: str = "start", kind: str = ""
) -> None:
    x, y = place
    given = {"x": f"{x:g}", "y": f"{y:g}"}
    if anchor != "start":
        given["text-anchor"] = anchor
    if kind:
        given["class"] = kind
    add_text(group, "text", text, **given)


def add_text(parent: Element, tag: str, text: str, **given: str) -> None:
    SubElement(parent, tag, given).text = _CLEAN.sub("\ufffd", text)
