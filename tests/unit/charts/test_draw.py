"""The image: its size, its texts, and that nothing outside changes it."""

import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from matplotlib.text import Text

from tailhound.charts import colours
from tailhound.charts.axes import scale_of
from tailhound.charts.chart import Line, charts_to_json
from tailhound.charts.draw import drawing, png
from tailhound.charts.image import EDGE, HEIGHT, TEXT, WIDTH, Image, drawable, points
from tests.unit.charts.samples import END, EVERY, chart, panel, run, symptom_panel

HOSTILE = 'A$\\frac{1}{2}$ <b>&"x"\n\x1b[31m \u202etxet\u202c 😀 مرحبا 漢字 $\\undefined$ {} %s'


def texts(image: Image) -> list[tuple[Text, Any]]:
    """Every text of the image with its box in pixels."""
    return [(one, image.box(one)) for one in image.figure.findobj(Text) if one.get_text()]


@pytest.mark.parametrize("name", EVERY)
def test_an_image_has_the_size_that_slack_shows_whole(name: str) -> None:
    image = png(EVERY[name])
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", image[16:24]) == (1200, 675)
    assert len(image) < 200_000


@pytest.mark.parametrize("name", EVERY)
def test_every_text_lies_inside_the_image_and_is_at_least_24_pixels(name: str) -> None:
    for text, box in texts(drawing(EVERY[name])):
        assert box.x0 >= 0, text.get_text()
        assert box.x1 <= WIDTH, text.get_text()
        assert box.y0 >= 0, text.get_text()
        assert box.y1 <= HEIGHT, text.get_text()
        assert float(text.get_fontsize()) >= points(TEXT)


def test_a_long_name_in_a_heading_loses_its_middle_and_never_the_unit() -> None:
    name = "chat-json-predictor-00003-deployment-6f9c8d7b5-k2xmv"
    words = "CPU periods in which it was stopped"
    line = Line(name=name, runs=(run([0.1, 0.2]),))
    shown = Image().heading(scale_of(panel(words=words, unit="ratio", lines=(line,), limits=())))
    assert shown.startswith(f"{words}, chat-json")
    assert shown.endswith("k2xmv: percent")
    assert "…" in shown
    assert Image().width(shown) <= WIDTH - 2 * EDGE
    long = scale_of(panel(words="w" * 200, unit="ratio", lines=(line,), limits=()))
    assert Image().heading(long).endswith("…: percent")
    assert Image().width(Image().heading(long)) <= WIDTH - 2 * EDGE


def test_what_people_need_is_written() -> None:
    said = [text.get_text() for text, _ in texts(drawing(chart()))]
    for wanted in (
        "Stopped in 100 % of its CPU periods, usually 2 %",
        "CPU periods in which it was stopped, chat-json-2: percent",
        "Inter-token, mean: milliseconds",
        "usual",
        "needs 25 %",
        "SLO 20 ms for p50",
        "2 · 02:59",
        "3 · 03:00",
        "UTC",
        "02:30",
    ):
        assert wanted in said


def test_gaps_clipped_quantiles_and_pods_are_written() -> None:
    assert "no data" in [text.get_text() for text, _ in texts(drawing(EVERY["gap"]))]
    assert "at least 60 s" in [text.get_text() for text, _ in texts(drawing(EVERY["clipped"]))]
    said = [text.get_text() for text, _ in texts(drawing(EVERY["pods"]))]
    assert {"chat-json-0", "chat-json-4", "7 others"} <= set(said)


def test_a_gap_is_not_joined_and_a_single_sample_is_a_dot() -> None:
    line = Line(name="", runs=(run([0.02] * 60), ((END + 100, 0.9),)))
    drawn = drawing(chart(panel(lines=(line,)))).figure.axes[0].lines
    found = [one for one in drawn if one.get_color() == colours.MECHANISM]
    assert [(len(one.get_xdata()), one.get_marker()) for one in found] == [(60, ""), (1, "o")]


def test_texts_of_one_panel_do_not_stand_on_each_other() -> None:
    boxes = [
        (text.get_text(), box)
        for text, box in texts(drawing(EVERY["pods"]))
        if text.get_text().startswith("chat-json")
    ]
    for at, (one, box) in enumerate(boxes):
        for other, second in boxes[at + 1 :]:
            assert box.y1 <= second.y0 + 6 or second.y1 <= box.y0 + 6, (one, other)


@pytest.mark.parametrize(
    "text", [HOSTILE, "W" * 10_000, "$" * 99, "", "\n\n", "\ud800", "😀" * 500]
)
def test_no_text_from_outside_breaks_the_image_or_leaves_it(text: str) -> None:
    hostile = panel(words=text)
    for found, box in texts(drawing(chart(hostile, symptom_panel(words=text), title=text))):
        assert box.x1 <= WIDTH
        assert "\n" not in found.get_text()
        assert found.get_parse_math() is False


def test_characters_that_the_font_lacks_become_squares() -> None:
    assert drawable("a漢\x00b") == "a□□b"
    assert drawable("100\u00a0%  usual\tx") == "100 % usual x"


def test_the_same_chart_is_the_same_image_in_any_thread() -> None:
    charts = [EVERY["pods"], EVERY["clipped"], EVERY["gap"]]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(png, charts)) == [png(one) for one in charts]


def test_the_program_answers_with_one_image_for_each_chart() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tailhound.charts.draw"],
        input=charts_to_json([chart()]).encode(),
        capture_output=True,
        check=True,
        timeout=30,
    )
    assert done.stdout.startswith(b'["iVBOR')
    assert done.stderr == b""
