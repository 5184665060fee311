"""A chart as PNG, 1200 x 675, by matplotlib.

matplotlib costs about 50 MiB, so the server draws in a short-lived process (`painter`): this module
is its program. `python -m tailhound.charts.draw` reads charts as JSON and writes the images as a
JSON list of base64 texts.
"""

import base64
import json
import sys

from tailhound.charts.chart import Chart, charts_from_json
from tailhound.charts.image import EDGE, HEIGHT, TITLE, WIDTH, Image
from tailhound.charts.plot import HEAD, NAMES, Plot

_TOP, _BOTTOM, _SPACE = 24, 52, 14
_LINE = 38
"""Pixels of a line of the title."""


def png(chart: Chart) -> bytes:
    """The chart as a PNG. Nothing in its texts is read as markup; nothing global is changed."""
    return drawing(chart).png()


def drawing(chart: Chart) -> Image:
    """The image before it becomes bytes."""
    image = Image()
    lines = image.title(chart.title)
    for at, line in enumerate(lines):
        image.text(EDGE, _TOP + at * _LINE, line, size=TITLE, weight="bold")
    top = _TOP + len(lines) * _LINE + 8
    height = (HEIGHT - _BOTTOM - top) / len(chart.panels)
    several = any(len(panel.lines) > 1 or panel.envelope for panel in chart.panels)
    right = WIDTH - (NAMES if several else EDGE)
    for at, panel in enumerate(chart.panels):
        box = (right, top + at * height + HEAD, top + (at + 1) * height - _SPACE)
        Plot(image, chart, panel, box).draw(ticks=at == len(chart.panels) - 1)
    return image


def main() -> int:
    """Charts as JSON in, their images as JSON out."""
    images = [base64.b64encode(png(chart)).decode() for chart in charts_from_json(sys.stdin.read())]
    sys.stdout.write(json.dumps(images))
    return 0


if __name__ == "__main__":
    sys.exit(main())
