"""Texts that don't stand on each other."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.charts.axes import scale_of
from tailhound.charts.chart import Limit, Onset
from tailhound.charts.labels import limit_label, onset_label, spread
from tests.unit.charts.samples import END, panel


@settings(deadline=None)
@given(st.lists(st.floats(min_value=-500, max_value=500), max_size=7))
def test_texts_are_apart_and_inside_the_edges(wanted: list[float]) -> None:
    places = sorted(spread(wanted, 30.0, (0.0, 200.0)))
    assert len(places) == len(wanted)
    assert all(0 <= place <= 200 for place in places)
    assert all(after - before >= 29.999 for before, after in itertools.pairwise(places))


def test_a_text_that_is_alone_stays_where_it_belongs() -> None:
    assert spread([70.0], 30.0, (0.0, 200.0)) == [70.0]


def test_texts_keep_their_order() -> None:
    assert spread([50.0, 40.0], 30.0, (0.0, 200.0))[1] < spread([50.0, 40.0], 30.0, (0.0, 200.0))[0]


def test_more_texts_than_room_come_nearer_evenly() -> None:
    assert spread([1.0] * 11, 30.0, (0.0, 100.0)) == [10.0 * at for at in range(11)]


def test_a_limit_outside_of_the_axis_says_where_it_is() -> None:
    scale = scale_of(panel(unit="seconds", limits=()))
    assert limit_label(Limit(label="SLO 60 s", value=60.0), scale) == "SLO 60 s ↑"
    assert limit_label(Limit(label="SLO 1 s", value=1.0), scale) == "SLO 1 s"


def test_an_onset_is_told_with_its_number_and_time() -> None:
    assert onset_label(Onset(at=END - 300, mark="2")) == "2 · 02:59"
    assert onset_label(Onset(at=END - 300)) == "02:59"
