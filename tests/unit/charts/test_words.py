"""The words for what a series measures."""

import pytest

from tailhound.charts.words import WORDS, title_of, whose, words_of
from tailhound.model.facts import Kind, schema_of
from tailhound_collectors import COLLECTORS


def with_series() -> set[str]:
    return {
        f"{collector.name}/{name.removesuffix('_series')}"
        for collector in COLLECTORS
        for name, fact in schema_of(collector.facts).items()
        if fact.kind is Kind.SERIES and not name.endswith("_usual_series")
    }


def test_every_series_of_the_shipped_collectors_has_words_and_no_words_are_left_over() -> None:
    assert set(WORDS) == with_series()


@pytest.mark.parametrize("name", WORDS)
def test_what_the_words_take_from_the_evidence_is_a_fact_of_it(name: str) -> None:
    collector = next(one for one in COLLECTORS if one.name == name.partition("/")[0])
    schema = schema_of(collector.facts)
    for told in (WORDS[name].told_by, WORDS[name].whose):
        assert told == "" or schema[told].kind is Kind.TEXT


def test_words_take_what_the_evidence_names() -> None:
    facts = {"slow_kind": "write", "device": "nvme0n1"}
    assert words_of("prometheus.disk_io", "slow_seconds", facts) == "mean wait of a write"
    assert whose("prometheus.disk_io", "slow_seconds", facts) == "nvme0n1"
    assert words_of("prometheus.disk_io", "slow_seconds", {"slow_kind": None}) == "mean disk wait"
    assert whose("prometheus.disk_io", "slow_seconds", {}) == ""


def test_a_name_from_outside_is_no_template() -> None:
    told = {"mechanism": "{0.__class__} {}"}
    words = words_of("prometheus.apiserver", "mechanism_seconds", told)
    assert words == "{0.__class__} {}, p99"
    assert title_of(words, "5 s, usually 1 s", "prometheus.apiserver", "mechanism_seconds") == (
        "{0.__class__} {}, p99: 5 s, usually 1 s"
    )


def test_somebody_elses_fact_is_told_by_its_name_without_its_unit() -> None:
    assert words_of("acme.fans", "fan_stall_seconds", {}) == "fan stall"
    assert words_of("acme.fans", "stall_ratio", {}) == "stall"
    assert title_of("stall", "1", "acme.fans", "stall_ratio") is None
