"""What is thinned to fit into a checkpoint tells the same onsets as the whole of it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tailhound.diagnosis.course import Course
from tailhound.durable.budget import LIMIT, fitted
from tailhound.model import Evidence, EvidenceStatus, FactValue
from tailhound.model.facts import number_of
from tailhound.store.codec import evidence_from_plain, evidence_to_plain

START = 1764489600.0
TOLD = ("onset", "half_grown", "is_outside", "lasted_seconds", "comes_and_goes", "shape",
        "usual")  # fmt: skip

levels = st.sampled_from([1.0, 1.02, 0.98, 1.2, 2.5, 4.0, 9.0]) | st.floats(0, 1e6)
stretches = st.lists(st.tuples(levels, st.integers(1, 60)), max_size=14)


def series(values: list[float], step: float = 15.0) -> FactValue:
    return tuple({"at": START + step * at, "value": value} for at, value in enumerate(values))


def in_stretches(parts: list[tuple[float, int]]) -> FactValue:
    return series([value for value, count in parts for _ in range(count)][:400])


def evidence(name: str, facts: dict[str, Any]) -> Evidence:
    return Evidence(name=name, collector="c", status=EvidenceStatus.COLLECTED, facts=facts)


def kept(facts: dict[str, Any], limit: int) -> Evidence:
    """What comes out of the checkpoint of a wave that holds this evidence beside another one."""
    other = evidence("other", {"y_series": series([1.0] * 181)})
    wave = fitted((evidence("x", facts), other), limit)
    return evidence_from_plain(evidence_to_plain(wave))[0]


def told(course: Course) -> dict[str, Any]:
    return {name: getattr(course, name) for name in TOLD}


def cpu(now: FactValue, usual: FactValue) -> dict[str, Any]:
    return {"x": 1.0, "x_series": now, "x_usual_series": usual}


STEP = series([1.0] * 101 + [5.0] * 80)
USUAL = series([1.0, 1.02, 0.98, 1.01] * 30)


@given(stretches, stretches, st.integers(600, 20_000))
def test_a_kept_series_tells_and_shows_what_the_whole_one_told_or_says_why_nothing(
    now: list[tuple[float, int]], usual: list[tuple[float, int]], limit: int
) -> None:
    facts = cpu(in_stretches(now), in_stretches(usual))
    found = kept(facts, limit)
    here, whole = told(Course(found.facts, "x_")), told(Course(facts, "x_"))
    if found.facts.get("x_series"):
        assert _shown_at(found.facts["x_series"]) >= _turns(whole)
    if here != whole:
        assert "too many to keep" in found.reason or "not kept" in found.reason
        assert here["onset"] is None
        assert here["half_grown"] is None
        assert here["is_outside"] is None


def _turns(whole: dict[str, Any]) -> set[float]:
    return {round(at.timestamp(), 3) for at in (whole["onset"], whole["half_grown"]) if at}


def _shown_at(samples: Any) -> set[float]:
    return {round(sample["at"], 3) for sample in samples}


@given(stretches, stretches, st.integers(600, 20_000))
def test_rows_of_a_set_tell_what_they_told_whole_or_are_not_measured(
    now: list[tuple[float, int]], usual: list[tuple[float, int]], limit: int
) -> None:
    row: dict[str, Any] = {"symptom": "ttft", "series": in_stretches(now)}
    rows = (row | {"usual_series": in_stretches(usual)}, {"symptom": "e2e", "series": None})
    found = kept({"symptoms": rows}, limit)
    records: Any = found.facts.get("symptoms")
    if records is None:
        assert "too many to keep" in found.reason or "not kept" in found.reason
        return
    assert [told(Course(one)) for one in records] == [told(Course(one)) for one in rows]


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=400), st.integers(2_000, 20_000))
def test_a_kept_series_has_the_age_the_lowest_and_the_highest_sample_of_the_whole(
    values: list[float], limit: int
) -> None:
    found = kept({"x_series": series(values)}, limit)
    samples: Any = found.facts["x_series"]
    assert [samples[0]["at"], samples[-1]["at"]] == [START, START + 15 * (len(values) - 1)]
    left = [number_of(one["value"]) for one in samples]
    assert (min(left), max(left)) == (min(values), max(values))  # type: ignore[type-var]  # floats


def test_an_onset_that_the_kept_samples_would_not_tell_is_known() -> None:
    facts = cpu(series([1.0] * 101 + [6.0] * 80), series([1.0, 3.0] * 60))
    found = kept(facts, 6_000)
    assert "x_usual_series was thinned to" in found.reason
    assert Course(found.facts, "x_").onset == datetime.fromtimestamp(START + 15 * 101, UTC)
    assert Course(_without_note(found.facts), "x_").onset is None


def test_a_record_of_an_older_version_has_no_note_and_is_read_from_its_samples() -> None:
    before = _without_note(kept(cpu(STEP, USUAL), 6_000).facts)
    course = Course(before, "x_")
    assert (course.is_outside, course.comes_and_goes, course.shape) == (True, False, "step")
    assert course.onset is not None


def _without_note(facts: Mapping[str, FactValue]) -> dict[str, FactValue]:
    found = {name: value for name, value in facts.items() if "." not in name}
    assert len(found) == len(facts) - 1
    return found


def test_a_note_is_that_of_the_whole_pair_whichever_is_thinned_first() -> None:
    long_usual = cpu(STEP, series([1.0, 1.4, 0.6, 1.0] * 100))
    long_now = cpu(series([1.0] * 300 + [1.9] * 81), series([1.0, 1.4, 0.6] * 40))
    for facts in (long_usual, long_now):
        found = kept(facts, 8_000)
        assert found.reason.count("was thinned to") == 2
        assert told(Course(found.facts, "x_")) == told(Course(facts, "x_"))


def test_what_needs_no_thinning_gets_no_note() -> None:
    facts = cpu(STEP, USUAL)
    assert kept(facts, LIMIT).facts.keys() == facts.keys()


def test_a_note_that_is_none_tells_nothing() -> None:
    for junk in ("x", 3, ({"onset": "soon", "is_outside": 1, "comes_and_goes": "yes"},), ({},)):
        course = Course({**cpu(STEP, USUAL), "x_series.whole": junk}, "x_")
        if isinstance(junk, tuple):
            assert told(course) == {
                "onset": None,
                "half_grown": None,
                "is_outside": None,
                "lasted_seconds": 0.0,
                "comes_and_goes": False,
                "shape": "",
                "usual": None,
            }
        else:
            assert course.onset is not None
