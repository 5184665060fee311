"""The chart of the page: text as text, nothing that runs, small."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.charts.alt import bare
from tailhound.charts.chart import Change, Line
from tailhound.charts.svg import STYLE, WIDTH, svg
from tests.unit.charts.samples import EVERY, chart, panel, run, symptom_panel

SVG = "{http://www.w3.org/2000/svg}"
TAGS = {"svg", "title", "desc", "g", "text", "path", "line", "rect", "polygon", "circle"}


def said(markup: str) -> list[str]:
    root = ElementTree.fromstring(markup)  # noqa: S314 - our own text
    return [one.text or "" for one in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("name", EVERY)
def test_a_chart_is_small_and_made_of_shapes_and_texts_alone(name: str) -> None:
    markup = svg(EVERY[name])
    assert len(markup.encode()) <= 40 * 1024
    root = ElementTree.fromstring(markup)  # noqa: S314 - our own text
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= TAGS


@pytest.mark.parametrize("name", EVERY)
def test_nothing_runs_is_fetched_or_breaks_the_pages_policy(name: str) -> None:
    root = ElementTree.fromstring(svg(EVERY[name]))  # noqa: S314 - our own text
    for one in root.iter():
        for attribute, value in one.attrib.items():
            assert attribute not in ("style", "href", "src")
            assert not attribute.startswith("on")
            assert "url(" not in value


def test_it_is_an_image_with_a_name_and_a_description() -> None:
    root = ElementTree.fromstring(svg(chart()))  # noqa: S314 - our own text
    assert root.get("role") == "img"
    ids = (root.get("aria-labelledby") or "").split()
    found = {one.get("id"): one.text for one in root if one.get("id")}
    assert [found[one] for one in ids] == [chart().title, chart().alt]


def test_what_people_need_is_written_as_text() -> None:
    texts = said(svg(chart()))
    for wanted in ("usual", "needs 25 %", "SLO 20 ms for p50", "2 · 02:59", "3 · 03:00", "UTC"):
        assert wanted in texts
    assert "no data" in said(svg(EVERY["gap"]))
    assert "at least 60 s" in said(svg(EVERY["clipped"]))
    assert "7 others" in said(svg(EVERY["pods"]))


def test_a_gap_is_two_lines() -> None:
    root = ElementTree.fromstring(svg(chart(EVERY["gap"].panels[0])))  # noqa: S314 - our own text
    assert len(list(root.iter(f"{SVG}path"))) == 2


def test_ten_thousand_samples_stay_small_and_keep_their_peak() -> None:
    values = [1.0] * 10_000
    values[5_003] = 99.0
    line = Line(name="", runs=(run(values, 0.25),))
    markup = svg(chart(panel(unit="count", lines=(line,), limits=(), usual=None)))
    assert len(markup.encode()) <= 40 * 1024
    drawn = re.search(r' d="M([^"]*)"', markup)
    assert drawn is not None
    assert min(float(point.split(" ")[1]) for point in drawn.group(1).split("L")) < 60


def test_the_style_has_both_themes_and_no_address() -> None:
    assert "prefers-color-scheme: dark" in STYLE
    assert "#56B4E9" in STYLE
    assert "#0A6EB4" in STYLE
    assert "url" not in STYLE
    used = set(re.findall(r'class="([a-z]+)"', "".join(map(svg, EVERY.values()))))
    assert all(f".{kind}" in STYLE for kind in used)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_no_text_from_outside_becomes_markup(text: str) -> None:
    markup = svg(chart(panel(words=text), symptom_panel(words=text), title=text, alt=text))
    root = ElementTree.fromstring(markup)  # noqa: S314 - our own text
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= TAGS


def test_markup_in_a_name_is_shown_as_it_is() -> None:
    text = "<script>alert(1)</script>&\"'"
    markup = svg(chart(title=text, alt=text))
    assert "<script" not in markup
    root = ElementTree.fromstring(markup)  # noqa: S314 - our own text
    assert root[0].text == text


def test_every_place_lies_inside_the_picture() -> None:
    for one in EVERY.values():
        for x in re.findall(r' (?:x|x1|x2)="([-0-9.]+)"', svg(one)):
            assert 0 <= float(x) <= WIDTH


def test_a_heading_that_is_too_long_puts_whose_it_is_and_the_unit_on_a_line_of_their_own() -> None:
    line = Line(name="chat-json-7c9f84c7b-x2k4q", runs=(run([0.1, 0.2]),))
    words = "CPU periods in which it was stopped"
    drawn = svg(chart(panel(words=words, unit="ratio", lines=(line,), limits=())))
    assert said(drawn)[:2] == ["chat-json-7c9f84c7b-x2k4q: percent", words]
    short = svg(chart(panel(words="KV cache", unit="ratio", lines=(line,), limits=())))
    assert said(short)[0] == "KV cache, chat-json-7c9f84c7b-x2k4q: percent"


def test_no_time_is_cut_at_an_edge() -> None:
    for one in EVERY.values():
        label = r'<text[^>]* x="([-0-9.]+)"[^>]*>\d\d:\d\d</text>'
        times = re.findall(label, svg(one))
        assert [x for x in times if not 18 <= float(x) <= WIDTH - 18] == []


def test_a_change_is_a_solid_line_through_all_panels_named_in_the_first() -> None:
    plain = chart(panel(), symptom_panel())
    change = Change(at=(plain.start + plain.end) / 2, what="rollout of <b>chat</b>")
    markup = svg(replace(plain, changes=(change,)))
    root = ElementTree.fromstring(markup)  # noqa: S314 - our own text

    def solid(element: ElementTree.Element) -> int:
        return sum(
            one.get("class") == "limit" and one.get("x1") == one.get("x2")
            for one in element.iter(f"{SVG}line")
        )

    assert solid(root) == 2
    assert solid(ElementTree.fromstring(svg(plain))) == 0  # noqa: S314 - our own text
    assert [text for text in said(markup) if "rollout of <b>chat</b>" in text] == [
        f"{bare(change.at)} rollout of <b>chat</b>"
    ]
