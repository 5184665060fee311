"""The first sample after which a series stays outside its usual band."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tailhound.diagnosis.onset import (
    after_its_effect,
    half_grown,
    lasted,
    left_band,
    onset_of,
    shape_of,
    teeth_of,
)
from tailhound.model import FactValue


def series(*values: float, start: float = 1000.0) -> FactValue:
    return tuple({"at": start + 15 * i, "value": value} for i, value in enumerate(values))


USUAL = series(*[1.0, 1.02, 0.98] * 10)


def at(second: float) -> datetime:
    return datetime.fromtimestamp(second, UTC)


def test_a_step_begins_at_its_first_sample() -> None:
    assert onset_of(series(1, 1, 1, 5, 5, 5), USUAL) == at(1045)


def test_a_spike_that_came_back_is_no_onset() -> None:
    assert onset_of(series(1, 9, 9, 9, 1, 1), USUAL) is None


def test_a_step_is_half_grown_where_it_begins_and_a_second_step_where_the_larger_one_does() -> None:
    assert half_grown(series(1, 1, 1, 5, 5, 5), USUAL) == at(1045)
    assert half_grown(series(1, 2, 2, 2, 9, 9, 9, 9, 9), USUAL) == at(1060)


def test_what_has_no_onset_is_never_half_grown() -> None:
    assert half_grown(series(1, 9, 9, 9, 1, 1), USUAL) is None
    assert half_grown(series(1, 9, 9, 9), None) is None


def test_a_series_that_swings_at_the_end_is_half_grown_late_and_no_error() -> None:
    assert half_grown(series(1, 9, 9, 9, 9, 2), USUAL) == at(1075)


def test_two_scrapes_are_not_enough() -> None:
    assert onset_of(series(1, 1, 1, 1, 5, 5), USUAL) is None


def test_a_series_that_was_outside_all_along_began_nobody_knows_when() -> None:
    assert onset_of(series(5, 5, 5, 5), USUAL) is None


def test_how_long_it_was_so_is_told_of_what_was_outside_all_along() -> None:
    assert lasted(series(5, 5, 9, 5), USUAL) == 45
    assert lasted(series(1, 5, 9, 5), USUAL) == 0
    assert lasted(series(5, 5), USUAL) == 0


def test_without_a_usual_window_only_what_stood_still_and_is_not_zero_was_so_all_along() -> None:
    assert lasted(series(1, 1, 1), ()) == 30
    assert lasted(series(1, 1, 2), ()) == 0
    assert lasted(series(0, 0, 0), ()) == 0
    assert lasted((), ()) == 0


def test_without_a_usual_window_the_onset_is_unknown() -> None:
    assert onset_of(series(1, 1, 5, 5, 5), None) is None
    assert left_band(series(1, 1, 5, 5, 5), ()) is None


def test_a_flat_usual_window_has_a_band_of_a_tenth() -> None:
    flat = series(*[2.0] * 20)
    assert left_band(series(2.1, 2.1, 2.1), flat) is False
    assert left_band(series(2.3, 2.3, 2.3), flat) is True


def test_a_cause_may_start_a_little_later_by_resolution_but_not_much_later() -> None:
    effect = at(1000)
    assert not after_its_effect(effect + timedelta(minutes=3), effect)
    assert after_its_effect(effect + timedelta(minutes=6), effect)
    assert not after_its_effect(None, effect)
    assert not after_its_effect(effect, None)


def test_a_jump_is_a_step_and_a_climb_is_a_ramp() -> None:
    step = series(*[1.0] * 20, *[5.0] * 40)
    ramp = series(*[1.0] * 20, *[1.0 + 0.1 * i for i in range(60)])
    assert shape_of(step, onset_of(step, USUAL)) == "step"
    assert shape_of(ramp, onset_of(ramp, USUAL)) == "ramp"


@given(
    st.recursive(
        st.none() | st.text() | st.floats(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_whatever_is_no_series_gives_no_onset(junk: FactValue) -> None:
    assert onset_of(junk, junk) is None


# what comes and goes


def comb(
    *, spikes: int = 4, every: int = 24, wide: int = 8, high: float = 4.0, quiet: int = 40
) -> FactValue:
    """Samples at 1, then spikes of `wide` samples, a spike each `every` samples."""
    one = [high] * wide + [1.0] * (every - wide)
    return series(*[1.0] * quiet, *one * spikes)


def test_spikes_in_equal_intervals_are_a_comb_that_began_with_the_first() -> None:
    found = comb()
    assert teeth_of(found, USUAL) == tuple(1000.0 + 15 * (40 + 24 * at) for at in range(4))
    assert onset_of(found, USUAL) == at(1000 + 15 * 40)
    assert half_grown(found, USUAL) == onset_of(found, USUAL)


def test_a_comb_that_is_up_at_the_end_began_with_its_first_spike_too() -> None:
    inside = series(*[1.0] * 40, *([4.0] * 8 + [1.0] * 16) * 3, *[4.0] * 8)
    assert onset_of(inside, USUAL) == at(1000 + 15 * 40)


def test_three_spikes_are_no_comb() -> None:
    assert teeth_of(comb(spikes=3), USUAL) == ()
    assert len(teeth_of(comb(spikes=4), USUAL)) == 4


def test_spikes_that_hardly_stand_out_are_no_comb() -> None:
    assert teeth_of(comb(high=1.45), USUAL) == ()
    assert len(teeth_of(comb(high=1.6), USUAL)) == 4


def test_spikes_at_odd_times_are_no_comb() -> None:
    odd = series(*[1.0] * 40, *([4.0] * 8 + [1.0] * 8) * 2, *([4.0] * 8 + [1.0] * 40), *[4.0] * 8)
    assert teeth_of(odd, USUAL) == ()


def test_a_comb_that_ended_is_none() -> None:
    ended = series(*[1.0] * 40, *([4.0] * 8 + [1.0] * 16) * 4, *[1.0] * 60)
    assert teeth_of(ended, USUAL) == ()


def test_a_series_that_usually_comes_and_goes_is_no_news() -> None:
    assert teeth_of(comb(), comb(quiet=0)) == ()


def test_a_comb_that_is_older_than_the_history_began_nobody_knows_when() -> None:
    found = comb(quiet=4)
    assert len(teeth_of(found, USUAL)) == 4
    assert onset_of(found, USUAL) is None
    begun = series(*[4.0] * 4, *[1.0] * 16, *([4.0] * 8 + [1.0] * 16) * 4)
    assert len(teeth_of(begun, USUAL)) == 4
    assert onset_of(begun, USUAL) is None


def test_a_step_a_ramp_and_silence_are_no_comb() -> None:
    assert teeth_of(series(*[1.0] * 20, *[5.0] * 60), USUAL) == ()
    assert teeth_of(series(*[1 + 0.1 * step for step in range(80)]), USUAL) == ()
    assert teeth_of(series(*[1.0] * 80), USUAL) == ()
    assert teeth_of(None, USUAL) == ()
    assert teeth_of(comb(), None) == ()


@given(st.lists(st.floats(min_value=0.95, max_value=1.05), min_size=1, max_size=180))
def test_jitter_is_no_comb(values: list[float]) -> None:
    assert teeth_of(series(*values), USUAL) == ()


@given(st.lists(st.floats(min_value=0, max_value=1e6), max_size=180))
def test_a_comb_has_four_spikes_in_order_whatever_the_series(values: list[float]) -> None:
    found = teeth_of(series(*values), USUAL)
    assert not found or (len(found) >= 4 and list(found) == sorted(found))
