"""The canvas of an image: texts measured and placed in pixels. The only importer of matplotlib.

It is imported by the process that draws, never by the server (see `painter`).
"""

import io
from functools import cache
from typing import Any

from matplotlib import font_manager
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.ft2font import FT2Font
from matplotlib.lines import Line2D

from tailhound.charts import colours
from tailhound.charts.axes import Scale
from tailhound.model.wording import cut

WIDTH, HEIGHT, DPI = 1200, 675, 100
TEXT, TITLE = 24, 30
"""Pixels: what is smaller can't be read at the width of a phone."""

EDGE = 36
"""Pixels that stay free at the left and at the right."""

FONT = "DejaVu Sans"
"""It comes with matplotlib, so that an image looks the same everywhere."""


@cache
def _glyphs() -> frozenset[int]:
    """The characters that the font can draw."""
    return frozenset(FT2Font(font_manager.findfont(FONT)).get_charmap())


def drawable(text: str, most: int = 300) -> str:
    """One line that the font has every character of; others become a white square."""
    line = " ".join(text[: 4 * most].split())[:most]
    known = _glyphs()
    return "".join(one if ord(one) in known and one.isprintable() else "□" for one in line)


class Image:
    """One image in the making. Places are pixels from its upper left corner."""

    def __init__(self) -> None:
        size = (WIDTH / DPI, HEIGHT / DPI)
        self.figure: Any = Figure(figsize=size, dpi=DPI, facecolor=colours.CARD)
        self._canvas: Any = FigureCanvasAgg(self.figure)

    def axes(self, left: float, right: float, edges: tuple[float, float]) -> Any:
        """Empty axes in a box; `edges` are its top and bottom."""
        top, bottom = edges
        place = (
            left / WIDTH,
            1 - bottom / HEIGHT,
            (right - left) / WIDTH,
            (bottom - top) / HEIGHT,
        )
        return self.figure.add_axes(place, facecolor=colours.CARD)

    def width(self, text: str, size: float = TEXT, weight: str = "normal") -> float:
        """How wide a text is, in pixels."""
        font = FontProperties(family=FONT, size=points(size), weight=weight)
        renderer = self._canvas.get_renderer()
        width, _, _ = renderer.get_text_width_height_descent(text, font, ismath=False)
        return float(width)

    def fitting(self, text: str, room: float, size: float = TEXT, weight: str = "normal") -> str:
        """A text cut to the room that it has, with a mark."""
        if self.width(text, size, weight) <= room:
            return text
        least, most = 0, len(text)
        while least < most:
            middle = (least + most + 1) // 2
            fits = self.width(f"{text[:middle]}…", size, weight) <= room
            least, most = (middle, most) if fits else (least, middle - 1)
        return f"{text[:least].rstrip()}…"

    def heading(self, scale: Scale) -> str:
        """What a panel shows, on one line: a long name loses its middle, never the unit."""
        room = WIDTH - 2 * EDGE
        whole = drawable(scale.heading)
        name, _, unit = drawable(scale.lines[-1]).rpartition(": ")
        if self.width(whole) <= room or not name:
            return self.fitting(whole, room)
        what = drawable(scale.lines[0])
        for length in range(len(name), 7, -1):
            text = f"{what}, {cut(name, length)}: {unit}"
            if self.width(text) <= room:
                return text
        return f"{self.fitting(what, room - self.width(f': {unit}'))}: {unit}"

    def title(self, text: str) -> list[str]:
        """A title on one line, or on two; what is longer is cut, and says so."""
        room = WIDTH - 2 * EDGE
        first, words = "", drawable(text).split(" ")
        while words and self.width(f"{first} {words[0]}".strip(), TITLE, "bold") <= room:
            first = f"{first} {words.pop(0)}".strip()
        rest = self.fitting(" ".join(words), room, TITLE, "bold")
        return [line for line in (first, rest) if line] or [""]

    def text(self, x: float, y: float, text: str, **given: Any) -> None:
        """A text with its upper left corner at a place; nothing in it is read as markup."""
        size = given.pop("size", TEXT)
        style = {"color": colours.TEXT, "va": "top", "family": FONT, **given}
        self.figure.text(
            x / WIDTH, 1 - y / HEIGHT, text, fontsize=points(size), parse_math=False, **style
        )

    def box(self, text: Any) -> Any:
        """The box of a text of the figure in pixels, from the lower left corner."""
        return text.get_window_extent(self._canvas.get_renderer())

    def stroke(self, xs: tuple[float, float], y: float, **given: Any) -> None:
        """A horizontal line between two places."""
        places = [x / WIDTH for x in xs]
        self.figure.add_artist(Line2D(places, [1 - y / HEIGHT] * 2, **given))

    def png(self) -> bytes:
        """The image so far."""
        image = io.BytesIO()
        self._canvas.print_png(image)
        return image.getvalue()


def points(pixels: float) -> float:
    """matplotlib counts text in points."""
    return pixels * 72 / DPI
