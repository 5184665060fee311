"""Values as people read them."""

import math
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.model.facts import UNITS
from tailhound.model.wording import (
    NBSP,
    clock,
    count,
    cut,
    day_clock,
    duration,
    fact,
    grown,
    number,
    share,
    times,
    with_usual,
)

floats = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15)


def plain(text: str) -> str:
    return text.replace(NBSP, " ")


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (12.4, "seconds", "12.4 s"),
        (0.08, "seconds", "80 ms"),
        (200, "seconds", "3 min 20 s"),
        (7800, "seconds", "2 h 10 min"),
        (2208, "hours", "92 days"),
        (0.62, "ratio", "62 %"),
        (0.004, "ratio", "0.4 %"),
        (0.0004, "ratio", "under 0.1 %"),
        (0.997, "ratio", "99.7 %"),
        (0, "ratio", "0 %"),
        (1, "ratio", "100 %"),
        (0.9999, "ratio", "over 99.9 %"),
        (1.2, "ratio", "120 %"),
        (6, "cores", "6 cores"),
        (1, "cores", "1 core"),
        (0.5, "cores", "0.5 cores"),
        (2.4, "per_second", "2.4/s"),
        (1.4, "seconds_per_second", "1.4 s per second"),
        (1.5, "tokens_per_second", "1.5 tok/s"),
        (98_000, "tokens", "98k tokens"),
        (9400, "count", "9,400"),
        (12_345, "count", "12.3k"),
        (1_234_567, "count", "1.23M"),
        (141 * 1024**3, "bytes", "141 GiB"),
        (5 * 1024**2, "bytes_per_second", "5 MiB/s"),
        (41, "celsius", "41 °C"),
        (28, "times", "x28"),
        (1.04, "times", "x1.04"),
        (1.5, "times", "x1.5"),
        (0.8, "times", "x0.8"),
        (0.015, "times", "÷67"),
        (1e300, "count", "over 999T"),
        (1e300, "bytes", "over 1,023 PiB"),
        (math.nan, "seconds", "not measured"),
        (math.inf, "count", "not measured"),
    ],
)
def test_a_number_is_written_with_its_unit(value: float, unit: str, words: str) -> None:
    assert plain(number(value, unit)) == words


@pytest.mark.parametrize(
    ("now", "usual", "words"),
    [
        (4.7, 1, "x4.7"),
        (12.4, 0.8, "x15"),
        (1.5, 100, "÷67"),
        (1.09, 1, "as usual"),
        (0.91, 1, "as usual"),
        (2.4, 0, ""),
        (2.4, None, ""),
        (0, 3, ""),
        (math.nan, 1, ""),
        (1e308, 1e-308, ""),
        (5e-324, 1.0, ""),  # neither way round is a number
        (1.0, 5e-324, ""),
    ],
)
def test_the_ratio_to_the_usual_value(now: float, usual: float | None, words: str) -> None:
    assert times(now, usual) == words


@pytest.mark.parametrize(
    ("value", "usual", "unit", "words"),
    [
        (12.4, 0.8, "seconds", "12.4 s, usually 0.8 s (x15)"),
        (3.1, 0.02, "seconds", "3.1 s, usually 0.02 s (x155)"),
        (2.27, 0.0875, "seconds", "2.27 s, usually 87.5 ms (x26)"),
        (28, 0.0243, "seconds", "28 s, usually 24.3 ms (x1,152)"),
        (60, 0.39, "seconds", "60 s, usually 0.39 s (x154)"),
        (4.87, 0.496, "seconds", "4.87 s, usually 496 ms (x9.8)"),
        (0.0025, 0.001, "seconds", "2.5 ms, usually 1 ms (x2.5)"),
        (1.5, 100, "tokens_per_second", "1.5 tok/s, usually 100 (÷67)"),
        (98_000, 21_000, "tokens", "98k tokens, usually 21k (x4.7)"),
        (2.4, 0, "per_second", "2.4/s, usually 0"),
        (0.08, None, "seconds", "80 ms, no usual value yet"),
        (0.99, 0.61, "ratio", "99 %, usually 61 % (x1.6)"),
        (1.02, 1.0, "seconds", "1.02 s, usually 1 s (as usual)"),
        (0.38, 0.00017, "ratio", "38 %, usually under 0.1 %"),
        (2, 0.00002, "per_second", "2/s, usually under 0.0001"),
    ],
)
def test_a_value_stands_beside_its_usual_one(
    value: float, usual: float | None, unit: str, words: str
) -> None:
    assert plain(with_usual(value, usual, unit)) == words


def test_a_clipped_quantile_says_at_least_for_value_and_ratio() -> None:
    text = plain(with_usual(60, 0.4, "seconds", at_least=True))
    assert text == "at least 60 s, usually 0.4 s (at least x150)"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.9996, "1 s"),
        (0.0004, "0.4 ms"),
        (119.4, "119 s"),
        (119.96, "2 min"),
        (3599.9, "1 h"),
        (86400 * 2, "2 days"),
        (86400 * 3.26, "3.3 days"),
        (-90, "-90 s"),
    ],
)
def test_a_duration_is_never_rounded_into_a_wrong_unit(seconds: float, words: str) -> None:
    assert plain(duration(seconds)) == words


@given(floats, st.sampled_from(sorted(UNITS)))
def test_no_number_has_an_exponent_a_breaking_space_or_a_special_word(
    value: float, unit: str
) -> None:
    text = number(value, unit)
    assert not re.search(r"\de[+-]?\d|nan|inf|None", text)
    assert " " not in re.sub("under |over ", "", text)
    assert len(text) < 40


@given(st.floats(min_value=0, max_value=1))
def test_a_share_is_never_rounded_to_nothing_or_everything(x: float) -> None:
    text = plain(share(x))
    assert (text == "0 %") == (x == 0)
    assert (text == "100 %") == (x == 1)


@given(st.floats(min_value=0.001, max_value=1e12))
def test_a_count_is_right_to_three_digits(x: float) -> None:
    text = count(x).replace(",", "")
    factor = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}.get(text[-1], 1)
    assert float(text.rstrip("kMGT")) * factor == pytest.approx(x, rel=0.006)


@given(st.floats(min_value=0.0001, max_value=119))
def test_a_short_duration_is_right_to_three_digits(seconds: float) -> None:
    value, unit = duration(seconds).split(NBSP)
    assert float(value) / {"ms": 1000, "s": 1}[unit] == pytest.approx(seconds, rel=0.006)


@given(st.floats(min_value=1e-6, max_value=1e6), st.floats(min_value=1e-6, max_value=1e6))
def test_the_ratio_points_the_right_way(now: float, usual: float) -> None:
    text = times(now, usual)
    assert text == "as usual" or text.startswith("x" if now > usual else "÷")


@given(st.text(), st.integers(min_value=0, max_value=80))
def test_cut_text_keeps_its_limit_and_its_head(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert len(short) <= limit or short == text
    assert short == text or limit == 0 or "…" in short


def test_a_cut_name_keeps_head_and_tail() -> None:
    assert cut("chat-json-7c9f5b8d6-aaaaaaaaaaaa-x2k4q", 20) == "chat-json-7c9…-x2k4q"


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (None, "seconds", "not measured"),
        (True, "none", "yes"),
        (False, "none", "no"),
        ("argocd", "none", "argocd"),
        ("", "none", '""'),
        (({"pod": "a"}, {"pod": "b"}), "none", "2 entries"),
        (({"pod": "a"},), "none", "1 entry"),
        (0.25, "ratio", "25 %"),
        (math.nan, "ratio", "not measured"),
    ],
)
def test_any_fact_has_words(value: object, unit: str, words: str) -> None:
    assert plain(fact(value, unit)) == words  # type: ignore[arg-type]


def test_where_nothing_is_usual_yet_the_age_of_the_history_is_told() -> None:
    told = with_usual(0.08, None, "seconds", history_seconds=7200)
    assert told.replace("\u00a0", " ") == "80 ms, no usual value yet (history: 2 h)"
    assert with_usual(0.08, 0.04, "seconds", history_seconds=7200).endswith("(x2)")


def test_times_are_utc_and_the_date_shows_when_it_is_not_today() -> None:
    at = datetime(2026, 11, 29, 3, 38, 21, tzinfo=UTC)
    assert clock(at) == "03:38 UTC"
    assert clock(at, seconds=True) == "03:38:21 UTC"
    assert day_clock(at, at) == "03:38 UTC"
    assert day_clock(at, datetime(2026, 11, 30, tzinfo=UTC)) == "29 Nov 03:38 UTC"
    assert day_clock(at, datetime(2027, 1, 1, tzinfo=UTC)) == "29 Nov 2026 03:38 UTC"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (72.1, "72"),
        (6.93, "7"),
        (1.02, "1"),
        (0.97, "1"),
        (0.4, "0.4"),
        (0, "0"),
        (12_345, "12.3k"),
        (-72.1, "-72"),
    ],
)
def test_a_count_is_whole_from_one_on(value: float, text: str) -> None:
    assert number(value, "count") == text
    assert with_usual(value, 48.6, "count").startswith(f"{text}, usually 49")


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [
        (0.247, 2.98, "+0.25 s of +2.98 s"),
        (0.002, 2.98, "+0 s of +2.98 s"),
        (0.247, 0.5, "+247 ms of +500 ms"),
        (20, 200, "+20 s of +3 min 20 s"),
        (1.2, 3.0, "+1.2 s of +3 s"),
    ],
)
def test_a_part_of_a_growth_is_told_in_the_unit_of_the_whole(
    part: float, whole: float, words: str
) -> None:
    assert plain(grown(part, whole)) == words
