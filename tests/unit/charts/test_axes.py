"""Ticks and scales."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tailhound.charts.axes import scale_of, time_ticks
from tailhound.charts.chart import Limit, Line, Open
from tests.unit.charts.samples import END, panel, run


def labels(*values: float, unit: str = "seconds") -> list[str]:
    line = Line(name="", runs=(run(values),))
    shown = scale_of(panel(unit=unit, lines=(line,), usual=None, limits=()))
    return [text for _, text in shown.ticks]


@settings(deadline=None)
@given(st.integers(min_value=0, max_value=86400))
def test_45_minutes_from_a_whole_five_have_five_to_seven_ticks(at: int) -> None:
    end = END + at
    start = 300.0 * ((end - 2700) // 300.0)
    ticks = time_ticks(start, end)
    assert 5 <= len(ticks) <= 7
    assert all(start <= moment <= end for moment, _ in ticks)


@settings(deadline=None)
@given(st.floats(min_value=600, max_value=5 * 86400))
def test_any_longer_time_has_four_to_nine_ticks(seconds: float) -> None:
    assert 4 <= len(time_ticks(END - seconds, END)) <= 9


def test_ticks_are_whole_minutes_of_utc() -> None:
    start = datetime(2026, 11, 30, 2, 20, tzinfo=UTC).timestamp()
    assert [text for _, text in time_ticks(start, start + 2700)] == [
        "02:20", "02:30", "02:40", "02:50", "03:00",
    ]  # fmt: skip


@pytest.mark.parametrize("seconds", [0.0, 1.0, 1e7])
def test_no_span_at_all_and_a_very_long_one_have_ticks_or_none(seconds: float) -> None:
    assert len(time_ticks(END - seconds, END)) <= 14


def test_shares_run_from_0_to_100_percent() -> None:
    shown = scale_of(panel(lines=(Line(name="", runs=(run([0.01]),)),)))
    assert shown.low == 0
    assert shown.high == pytest.approx(1.05)
    assert [text for _, text in shown.ticks] == ["0", "50", "100"]
    assert shown.heading.endswith(": percent")


def test_more_than_all_is_possible_of_a_limit() -> None:
    assert scale_of(panel(lines=(Line(name="", runs=(run([1.8]),)),))).holds(1.8)


@pytest.mark.parametrize(
    ("values", "word"),
    [((0.008, 0.08), "milliseconds"), ((0.4, 12.0), "seconds"), ((5.0, 600.0), "minutes")],
)
def test_times_are_in_the_unit_that_reads_best(values: tuple[float, ...], word: str) -> None:
    line = Line(name="", runs=(run(values),))
    assert scale_of(panel(unit="seconds", lines=(line,), limits=())).heading.endswith(word)


def test_ticks_are_round_in_the_unit_that_is_shown() -> None:
    assert labels(0.008, 0.08) == ["0", "25", "50", "75"]
    assert labels(12.4) == ["0", "5", "10"]
    assert labels(240.0) == ["0", "2", "4"]
    assert labels(1.0, unit="count") == ["0", "1"]
    assert labels(98_000.0, unit="tokens") == ["0", "50k", "100k"]


def test_temperatures_need_not_begin_at_0() -> None:
    warm = Line(name="", runs=(run([71, 84]),))
    assert scale_of(panel(unit="celsius", lines=(warm,), usual=None, limits=())).low > 0


def test_a_line_that_is_always_0_has_an_axis() -> None:
    shown = scale_of(panel(unit="count", lines=(Line(name="", runs=(run([0, 0]),)),), limits=()))
    assert shown.low < shown.high


def test_a_limit_nearby_belongs_to_the_axis_and_a_far_one_does_not_flatten_the_line() -> None:
    line = Line(name="", runs=(run([1.0]),))
    near = panel(unit="seconds", lines=(line,), limits=(Limit(label="", value=2.5),))
    far = panel(unit="seconds", lines=(line,), limits=(Limit(label="", value=60.0),))
    assert scale_of(near).holds(2.5)
    assert not scale_of(far).holds(60.0)
    assert scale_of(far).high < 2


def test_an_open_band_has_room_above() -> None:
    clipped = Open(low=60.0, start=END - 300, label="at least 60 s")
    line = Line(name="", runs=(run([60.0]),))
    shown = scale_of(panel(unit="seconds", lines=(line,), limits=(), open=clipped))
    assert shown.place(60.0) < 0.8


@settings(deadline=None)
@example(values=[5e-324], unit="bytes")
@given(
    st.lists(st.floats(min_value=-1e12, max_value=1e12), min_size=1, max_size=20),
    st.sampled_from(["ratio", "seconds", "bytes", "count", "celsius", "hours", "of-acme"]),
)
def test_any_values_have_an_axis_that_holds_them(values: list[float], unit: str) -> None:
    shown = scale_of(
        panel(unit=unit, lines=(Line(name="", runs=(run(values),)),), usual=None, limits=())
    )
    assert all(shown.holds(value) for value in values)
    assert 1 <= len(shown.ticks) <= 9
    near = 1e-6 * (shown.high - shown.low)
    assert all(shown.low - near <= at <= shown.high + near for at, _ in shown.ticks)
