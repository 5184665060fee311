"""The evidence of a wave stays below its limit, and loses the least telling part first."""

import json
from typing import Any

from tailhound.durable.budget import LIMIT, bytes_of, fitted
from tailhound.model import Asked, Evidence, EvidenceStatus


def _evidence(name: str, **changes: Any) -> Evidence:
    asked = tuple(
        Asked(
            question="q" * 200,
            backend="prometheus",
            status=EvidenceStatus.COLLECTED,
            answer="a" * 400,
        )
        for _ in range(20)
    )
    values: dict[str, Any] = {
        "collector": "c",
        "status": EvidenceStatus.COLLECTED,
        "facts": {"x": 1.0},
        "asked": asked,
    }
    return Evidence(name=name, **(values | changes))


def _size(wave: tuple[Evidence, ...]) -> int:
    return sum(map(bytes_of, wave))


def test_a_small_wave_is_not_touched() -> None:
    wave = (_evidence("a"), _evidence("b"))
    assert fitted(wave) is wave


def test_answers_are_cut_first() -> None:
    wave = tuple(_evidence(f"e{n}") for n in range(30))
    assert _size(wave) > LIMIT
    cut = fitted(wave)
    assert _size(cut) <= LIMIT
    assert all(one.facts == {"x": 1.0} and len(one.asked) == 20 for one in cut)
    assert all(len(asked.answer) == 80 for one in cut for asked in one.asked)


def test_long_series_are_thinned_and_keep_their_span_and_their_newest_sample() -> None:
    series = tuple({"at": 1764489600.0 + 15 * n, "value": 0.123456789} for n in range(961))
    wave = tuple(_evidence(f"e{n}", facts={"x_series": series, "x": 1.0}) for n in range(12))
    cut = fitted(wave)
    assert _size(cut) <= LIMIT
    for one in cut:
        kept = one.facts["x_series"]
        assert isinstance(kept, tuple)
        assert 60 < len(kept) < 961
        assert kept[-1] == series[-1]
        assert f"x_series was thinned to {len(kept)} samples" in one.reason
        assert one.reason.count("thinned") == 1


def test_series_inside_sets_are_thinned_too_and_nothing_is_lost_of_the_records() -> None:
    series = tuple({"at": 1764489600.0 + 15 * n, "value": 0.123456789} for n in range(961))
    rows = ({"symptom": "ttft", "series": series}, {"symptom": "e2e", "series": series[:3]})
    wave = tuple(_evidence(f"e{n}", facts={"symptoms": rows, "x": 1.0}) for n in range(12))
    cut = fitted(wave)
    assert _size(cut) <= LIMIT
    for one in cut:
        records: Any = one.facts["symptoms"]
        long, short = records
        assert (long["symptom"], short) == ("ttft", rows[1])
        assert 30 < len(long["series"]) < 961
        assert long["series"][-1] == series[-1]
        assert f"symptoms was thinned to {len(long['series'])} samples" in one.reason


def test_long_questions_lose_their_ends_before_a_series_is_lost() -> None:
    series = tuple({"at": 1764489600.0 + 15 * n, "value": 0.5} for n in range(181))
    asked = tuple(
        Asked(question="q" * 4000, backend="prometheus", status=EvidenceStatus.COLLECTED)
        for _ in range(20)
    )
    wave = tuple(_evidence(f"e{n}", facts={"x_series": series}, asked=asked) for n in range(12))
    cut = fitted(wave)
    assert _size(cut) <= LIMIT
    assert all(one.facts["x_series"] for one in cut)
    assert all(len(asked.question) == 300 for one in cut for asked in one.asked)


def test_a_set_that_is_too_large_counts_as_not_measured() -> None:
    big = tuple({"pod": f"pod-{n}", "value": n} for n in range(20_000))
    cut = fitted((_evidence("a", facts={"pods": big, "x": 1.0}), _evidence("b")))
    assert _size(cut) <= LIMIT
    assert cut[0].facts == {"pods": None, "x": 1.0}
    assert "pods held 20,000 records, too many to keep" in cut[0].reason
    assert cut[0].status is EvidenceStatus.COLLECTED
    assert cut[1].facts == {"x": 1.0}
    (alone,) = fitted((_evidence("a", facts={"pods": big}),))
    assert alone.status is EvidenceStatus.TRUNCATED


def test_nothing_makes_a_wave_larger_than_its_limit() -> None:
    texts = {f"t{n}": "é" * 2000 for n in range(60)}
    questions = tuple(
        Asked(question="ü" * 4000, backend="x", status=EvidenceStatus.TIMEOUT, detail="d" * 400)
        for _ in range(200)
    )
    wave = tuple(_evidence(f"e{n}", facts=texts, asked=questions) for n in range(5))
    cut = fitted(wave)
    assert _size(cut) <= LIMIT
    assert [one.name for one in cut] == [one.name for one in wave]
    assert any("not kept" in one.reason for one in cut)
    json.dumps([dict(one.facts) for one in cut])
