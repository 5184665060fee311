"""From phases to samples: no server needed."""

import itertools
import math
from typing import Any

import pytest

from tests.lab.history import STALE, Grid, Sampled, sampled
from tests.lab.series import Series, parsed, replaced
from tests.lab.times import filled, past, rfc3339, seconds, span

NOW = 1_796_000_000.0
GRID = Grid.of(15)


def series(**keys: Any) -> list[Sampled]:
    return list(sampled(Series.model_validate(keys), GRID, 15, NOW))


def at(one: Sampled, moment: float) -> Any:
    return one.values[GRID.times.index(moment)]


def test_the_history_holds_three_hours_and_an_hour_and_ten_minutes_a_day_and_a_week_ago() -> None:
    recent = [moment for moment in GRID.times if moment >= -10800]
    assert (recent[0], recent[-1], len(recent)) == (-10800, 0, 721)
    older = [moment for moment in GRID.times if moment < -10800]
    assert (older[0], older[-1], len(older)) == (-604800 - 3600, -86400 + 600, 2 * 281)
    assert -604800 + 600 in older
    assert list(GRID.times) == sorted(set(GRID.times))


def test_a_gauge_stays_ramps_and_stays() -> None:
    (one,) = series(
        gauge='kv{pod="a"}',
        phases=[
            {"until": "-10m", "value": 0.6},
            {"until": "-8m", "from": 0.6, "to": 1.0},
            {"until": "0m", "value": 1},
        ],
    )
    assert one.labels == {"__name__": "kv", "pod": "a"}
    assert at(one, -604800) == 0.6
    assert at(one, -600) == pytest.approx(0.6)
    assert at(one, -540) == pytest.approx(0.8)
    assert at(one, -480) == at(one, 0) == 1


def test_a_moment_is_a_unix_time() -> None:
    (one,) = series(gauge="created", phases=[{"until": "0m", "value": "at -40m"}])
    assert at(one, 0) == NOW - 2400


def test_jitter_is_bounded_and_the_same_in_every_run() -> None:
    keys = {"gauge": "g", "phases": [{"until": "0m", "value": 10}], "jitter": 0.1}
    first, second = series(**keys)[0].values, series(**keys)[0].values
    assert first == second
    assert len(set(first)) > 1000
    assert all(isinstance(value, float) and 9 <= value <= 11 for value in first)


def test_a_counter_starts_somewhere_grows_by_its_rate_and_falls_at_a_reset() -> None:
    (one,) = series(
        counter="c",
        start=40,
        phases=[{"until": "-10m", "per_second": 0}, {"until": "0m", "per_second": 2}],
        resets=["-1m"],
    )
    assert at(one, -604800) == at(one, -600) == 40
    assert at(one, -300) == pytest.approx(640)
    assert at(one, -60) == 0
    assert at(one, 0) == pytest.approx(120)


def test_a_jittered_counter_never_falls_and_keeps_its_mean_rate() -> None:
    (one,) = series(counter="c", phases=[{"until": "0m", "per_second": 4}], jitter=0.5)
    recent = [value for value in one.values[-721:] if isinstance(value, float)]
    assert recent == sorted(recent)
    assert (recent[-1] - recent[0]) / 10800 == pytest.approx(4, rel=0.05)


def test_an_absent_series_goes_on_counting_unseen_and_ends_with_a_staleness_marker() -> None:
    (one,) = series(
        counter="c",
        phases=[
            {"until": "-30m", "per_second": 1},
            {"until": "-20m", "absent": True, "per_second": 1},
            {"until": "0m", "per_second": 1},
        ],
    )
    assert at(one, -1800) == STALE
    assert at(one, -1785) is None
    assert at(one, -1200) - at(one, -1815) == pytest.approx(615)


def test_a_series_that_begins_has_no_marker_before() -> None:
    (one,) = series(
        gauge="g", phases=[{"until": "-30m", "absent": True}, {"until": "0m", "value": 1}]
    )
    assert STALE not in one.values
    assert one.values.count(None) == 2 * 281 + 600


def histogram(*phases: dict[str, Any], **more: Any) -> dict[str, Sampled]:
    found = series(histogram='h{a="b"}', le=[0.5, 1, 10], phases=list(phases), **more)
    return {one.labels["__name__"] + one.labels.get("le", ""): one for one in found}


def test_a_histogram_has_cumulative_buckets_a_count_and_a_sum_from_the_middles() -> None:
    found = histogram({"until": "0m", "per_second": 6, "share": {0.5: 0.5, 10: 0.25, "inf": 0.25}})
    assert set(found) == {"h_bucket0.5", "h_bucket1", "h_bucket10", "h_bucket+Inf"} | {
        "h_count",
        "h_sum",
    }

    def rate(name: str) -> float:
        return float((at(found[name], 0) - at(found[name], -600)) / 600)

    assert [round(rate(f"h_bucket{le}"), 6) for le in ("0.5", "1", "10", "+Inf")] == [3, 3, 4.5, 6]
    assert rate("h_count") == pytest.approx(6)
    assert rate("h_sum") == pytest.approx(6 * (0.5 * 0.25 + 0.25 * 5.5 + 0.25 * 10))


def test_a_given_mean_sets_the_sum() -> None:
    found = histogram({"until": "0m", "per_second": 6, "share": {10: 1}, "mean": 0.02})
    assert at(found["h_sum"], 0) - at(found["h_sum"], -600) == pytest.approx(600 * 6 * 0.02)


def test_buckets_of_a_histogram_are_never_above_the_next() -> None:
    found = histogram(
        {"until": "-5m", "per_second": 3, "share": {0.5: 0.1, 1: 0.89, 10: 0.01}},
        {"until": "0m", "per_second": 9, "share": {0.5: 1}},
        jitter=0.3,
        resets=["-2m"],
    )
    ordered = [found[f"h_bucket{le}"].values for le in ("0.5", "1", "10", "+Inf")]
    for below, above in itertools.pairwise(ordered):
        assert all(float(b or 0) <= float(a or 0) + 1e-6 for b, a in zip(below, above, strict=True))
    assert found["h_count"].values == found["h_bucket+Inf"].values


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"gauge": "g", "counter": "c", "phases": [{"until": "0m", "value": 1}]}, "one of gauge"),
        ({"gauge": "g", "phases": [{"until": "0m", "per_second": 1}]}, "not `per_second`"),
        ({"counter": "c", "phases": [{"until": "0m", "value": 1}]}, "have `per_second`"),
        ({"gauge": "g", "phases": [{"until": "-1m", "value": 1}]}, "the last one ends"),
        ({"gauge": "g", "phases": [{"until": "1m", "value": 1}]}, "in the future"),
        ({"gauge": "g", "phases": [{"until": "soon", "value": 1}]}, "is no time"),
        ({"gauge": "g", "phases": [{"until": "0m", "from": 1}]}, "belong together"),
        ({"gauge": "g", "phases": [{"until": "0m"}]}, "give one of"),
        ({"gauge": "g", "phases": [{"until": "0m", "value": 1, "colour": 2}]}, "Extra inputs"),
        ({"gauge": "g{a=b}", "phases": [{"until": "0m", "value": 1}]}, 'is not label="value"'),
        ({"gauge": 'g{a="b",a="c"}', "phases": [{"until": "0m", "value": 1}]}, "stands twice"),
        (
            {"histogram": "h", "le": [1], "phases": [{"until": "0m", "per_second": 1}]},
            "needs `share`",
        ),
        (
            {
                "histogram": "h",
                "le": [1],
                "phases": [{"until": "0m", "per_second": 1, "share": {1: 0.5}}],
            },
            "add up to 0.5",
        ),
        (
            {
                "histogram": "h",
                "le": [1],
                "phases": [{"until": "0m", "per_second": 1, "share": {2: 1}}],
            },
            "does not hold",
        ),
    ],
)
def test_what_is_wrong_with_a_series_is_said(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match="(?s)" + says.replace("`", ".")):
        Series.model_validate(keys)


def test_labels_may_hold_quotes_commas_and_newlines() -> None:
    assert parsed(r'm{a="x,\"y\"}",b="1\n2\\",}') == ("m", {"a": 'x,"y"}', "b": "1\n2\\"})
    assert parsed("m") == parsed("m{}") == ("m", {})


def test_let_replaces_names_in_series_alone() -> None:
    raw = {"gauge": "up{<pod>}", "phases": [{"until": "0m", "value": 1}]}
    assert replaced(raw, {"pod": 'pod="a"'})["gauge"] == 'up{pod="a"}'
    with pytest.raises(ValueError, match="<pod> is not in `let`"):
        replaced(raw, {})


def test_times_are_read_and_filled_in() -> None:
    assert [seconds(text) for text in ("-9m", "0m", 0, "-1h30m", "-7d", "15s")] == [
        -540,
        0,
        0,
        -5400,
        -604800,
        15,
    ]
    assert (past("-1s"), span("200s")) == (-1, 200)
    for wrong, read in (("5m", past), ("-5m", span)):
        with pytest.raises(ValueError, match=wrong):
            read(wrong)
    manifest = {"metadata": {"creationTimestamp": "-5m"}, "spec": {"args": ["-1m"], "name": "-2d"}}
    assert filled(manifest, NOW) == {
        "metadata": {"creationTimestamp": rfc3339(NOW - 300)},
        "spec": {"args": ["-1m"], "name": "-2d"},
    }
    assert math.isclose(NOW, 1_796_000_000)


def test_scrapes_after_now_continue_the_last_phase() -> None:
    entry = Series.model_validate(
        {
            "counter": "c",
            "jitter": 0.2,
            "phases": [{"until": "-5m", "per_second": 1}, {"until": "0m", "per_second": 2}],
        }
    )
    (before,) = sampled(entry, GRID, 15, NOW)
    (after,) = sampled(entry, Grid.of(15, 4), 15, NOW)
    assert list(after.values)[:-4] == list(before.values)
    assert after.values[-1] - after.values[-5] == pytest.approx(120, rel=0.2)  # type: ignore[operator]
