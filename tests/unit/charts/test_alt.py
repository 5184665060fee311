"""A chart in words: its alternative text and its table."""

import pytest

from tailhound.charts.alt import alt_text, table
from tailhound.charts.chart import Limit, Line
from tests.unit.charts.samples import CLIPPED, END, EVERY, GAP, TWELVE, chart, panel, run


def test_the_alternative_text_says_kind_what_from_to_onset_and_limit() -> None:
    assert alt_text(chart()) == (
        "Line chart, 02:18 to 03:04 UTC. CPU periods in which it was stopped, chat-json-2: "
        "2 % until 02:59, then 100 %. The limit of 25 % is crossed at 02:59:00. Below it, "
        "inter-token, mean: 8 ms until 03:00, then 80 ms. The objective of 20 ms is crossed at "
        "03:00:15."
    )


@pytest.mark.parametrize("name", EVERY)
def test_an_alternative_text_is_at_most_400_characters(name: str) -> None:
    assert 20 < len(alt_text(EVERY[name])) <= 400


def test_what_is_too_long_loses_the_least_important_first() -> None:
    told = alt_text(chart(*[panel(words="w" * 120)] * 3))
    assert len(told) <= 400
    assert told.startswith("Line chart, 02:18 to 03:04 UTC. Wwww")


def test_without_an_onset_it_says_between_what_the_line_ran() -> None:
    told = alt_text(chart(panel(onset=None)))
    assert "between 2 % and 100 %, at last 100 %" in told


def test_a_limit_that_was_never_crossed_is_told_so() -> None:
    low = Line(name="", runs=(run([0.02] * 10),))
    assert "The limit of 25 % is not reached." in alt_text(chart(panel(lines=(low,), onset=None)))
    high = Line(name="", runs=(run([0.9] * 10),))
    assert "is passed all the time." in alt_text(chart(panel(lines=(high,), onset=None)))


def test_gaps_clipped_quantiles_and_other_lines_are_told() -> None:
    assert "No data from 02:39 to 02:49." in alt_text(chart(GAP))
    assert "At least 60 s: the top bucket hides how much more." in alt_text(chart(CLIPPED))
    assert "(worst of 5 lines)" in alt_text(chart(TWELVE))


def test_the_table_has_a_column_for_each_line_and_a_row_for_the_onset() -> None:
    rows = table(chart())
    assert rows.head == (
        "Time (UTC)",
        "CPU periods in which it was stopped, chat-json-2",
        "Inter-token, mean",
    )
    assert ("02:59 (began)", "100\u00a0%", "8\u00a0ms") in rows.rows
    assert rows.rows[-1] == ("03:04", "100\u00a0%", "80\u00a0ms")
    assert 10 <= len(rows.rows) <= 24


def test_the_table_says_no_data_where_there_is_none() -> None:
    rows = table(chart(GAP))
    assert any(row[1:] == ("no data",) for row in rows.rows)


def test_the_others_are_two_columns() -> None:
    assert table(chart(TWELVE)).head[-2:] == ("7 others, lowest", "7 others, highest")


def test_the_table_begins_with_the_first_sample() -> None:
    late = Line(name="", runs=(run([0.1] * 20),))
    rows = table(chart(panel(lines=(late,), onset=None, gaps=())))
    assert "no data" not in {cell for row in rows.rows for cell in row}


def test_seconds_are_told_where_a_moment_is_no_whole_minute() -> None:
    moved = panel(limits=(Limit(label="", value=0.5),))
    assert table(chart(moved, end=END + 7)).rows[-1][0] == "03:04:07"
