"""Samples made into lines: gaps, order, what is no sample."""

import pytest

from tailhound.charts.series import band_of, drawn, gaps_of, points_of, runs_of, step_of


def test_samples_come_in_the_order_of_time_and_each_moment_once() -> None:
    mixed = ({"at": 20, "value": 2}, {"at": 10, "value": 1}, {"at": 20, "value": 3})
    assert points_of(mixed) == ((10.0, 1.0), (20.0, 3.0))


@pytest.mark.parametrize(
    "bad",
    [None, 7, "text", True, ({"at": 1},), ({"at": True, "value": 1},), ({"at": 1, "value": "x"},)],
)
def test_what_is_no_series_has_no_samples(bad: object) -> None:
    assert points_of(bad) == ()  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e308])
def test_a_sample_that_can_not_be_drawn_is_none(value: float) -> None:
    assert points_of(({"at": 1.0, "value": value},)) == ()


def test_the_step_is_the_usual_distance_of_samples() -> None:
    assert step_of(((0, 1), (15, 1), (30, 1), (300, 1))) == 15
    assert step_of(((0, 1),)) == 15


def test_one_missing_sample_is_joined_and_two_are_a_gap() -> None:
    assert len(runs_of(((0, 1), (15, 1), (45, 1)), 15)) == 1
    assert len(runs_of(((0, 1), (15, 1), (60, 1)), 15)) == 2


def test_gaps_are_what_was_asked_and_not_answered() -> None:
    points = ((100.0, 1.0), (115.0, 1.0), (200.0, 1.0))
    assert gaps_of(points, 15, (0.0, 300.0)) == ((0.0, 100.0), (115.0, 200.0), (200.0, 300.0))
    assert gaps_of(points, 15, (90.0, 210.0)) == ((115.0, 200.0),)


def test_no_usual_value_is_no_band() -> None:
    assert band_of(()) is None
    assert band_of(((1, 3.0), (2, 1.0))) == (1.0, 3.0)


def test_the_worst_lines_are_named_and_one_beyond_five_is_an_other() -> None:
    named = [(f"pod-{at}", ((0.0, float(at)), (15.0, float(at)))) for at in range(6)]
    lines, envelope = drawn(named, 15)
    assert [line.name for line in lines] == ["pod-5", "pod-4", "pod-3", "pod-2", "pod-1"]
    assert envelope is not None
    assert envelope.name == "1 other"
    assert envelope.runs == (((0.0, 0.0, 0.0), (15.0, 0.0, 0.0)),)


def test_an_envelope_is_as_broken_as_its_lines_all_are() -> None:
    high = [(f"a{at}", ((0.0, 9.0), (100.0, 9.0))) for at in range(5)]
    low = [("b", ((0.0, 1.0), (100.0, 1.0))), ("c", ((0.0, 2.0), (15.0, 2.0)))]
    _, envelope = drawn([*high, *low], 15)
    assert envelope is not None
    assert [len(run) for run in envelope.runs] == [2, 1]


def test_five_lines_need_no_envelope() -> None:
    lines, envelope = drawn([(f"pod-{at}", ((0.0, 1.0),)) for at in range(5)], 15)
    assert len(lines) == 5
    assert envelope is None
