"""What the shipped runbooks say to people, whatever the case."""

import pytest

from tailhound import app
from tailhound.model import Part, Seen
from tailhound.model.facts import Kind, schema_of
from tailhound.model.phrases import PHRASES, phrase, template_of
from tailhound.rules.runbook import Runbook
from tailhound.settings import Settings
from tailhound_collectors import COLLECTORS

BOOKS = app.compiled(Settings()).runbooks


def by_id(runbook: Runbook) -> str:
    return runbook.id


@pytest.mark.parametrize("runbook", BOOKS, ids=by_id)
def test_every_suggestion_says_what_its_risk_is_of(runbook: Runbook) -> None:
    for one in runbook.mitigations:
        assert one.risk_of, one.id
        assert len(one.risk_of) <= 50, "on a phone it has two lines beside the title"
        assert not one.risk_of.endswith(".")


def amounts(runbook: Runbook) -> set[tuple[str, str]]:
    """The facts that its claims look at and show as numbers, with their units."""
    return {
        (name, unit)
        for _, claim in runbook.claims
        for name, unit in claim.condition.shown
        if not name.endswith("_usual") and name.count(".") == 1 and " " not in name
    }


@pytest.mark.parametrize("runbook", BOOKS, ids=by_id)
def test_every_number_of_a_claim_has_words_for_what_it_is(runbook: Runbook) -> None:
    for name, unit in amounts(runbook):
        if unit != "celsius":
            seen = Seen(name=name, value=1, unit=unit, collector=runbook.collector(name))
            assert template_of(seen), name


EVERY = [(collector, fact) for collector, told in PHRASES.items() for fact in told]


@pytest.mark.parametrize(("collector", "fact"), EVERY)
def test_every_phrase_is_of_a_fact_that_its_collector_has(collector: str, fact: str) -> None:
    (shipped,) = (one for one in COLLECTORS if one.name == collector)
    assert schema_of(shipped.facts)[fact].kind is Kind.NUMBER


@pytest.mark.parametrize(("collector", "fact"), EVERY)
@pytest.mark.parametrize("value", [0, 0.4, 1, 3])
def test_a_phrase_reads_with_any_amount(collector: str, fact: str, value: float) -> None:
    def said(value: float, unit: str) -> str:
        seen = Seen(name=f"x.{fact}", value=value, unit=unit, collector=collector)
        return phrase(seen, value, named=True)

    for unit in ("count", "times", "ratio", "seconds"):
        told = said(value, unit)
        assert "(s)" not in told
        assert "{}" not in told
        assert len(told) <= 50
    assert " 0 " not in f" {said(0, 'count')} "


@pytest.mark.parametrize(
    ("name", "collector", "told"),
    [
        ("replicas.lost_count", "prometheus.replicas", "12 taken away"),
        ("dns.lost_count", "promql packets.dns", "lost 12"),
        ("dns.lost_count", "acme.dns", "lost 12"),
        ("dns.lost_count", "", "lost 12"),
        ("api.requests_ratio", "prometheus.apiserver", "requests 12"),
        ("disk.requests_ratio", "prometheus.disk_io", "12 the usual requests"),
        ("api.levels.wait_seconds", "prometheus.apiserver", "wait 12"),
        ("cpu.rows.throttled_ratio", "prometheus.container_cpu", "throttled 12"),
    ],
)
def test_a_fact_of_the_same_name_that_means_something_else_has_its_plain_name(
    name: str, collector: str, told: str
) -> None:
    assert phrase(Seen(name=name, value=12, collector=collector), 12, named=True) == told


@pytest.mark.parametrize("runbook", BOOKS, ids=by_id)
def test_what_speaks_against_a_cause_is_told_by_how_it_is(runbook: Runbook) -> None:
    """Never "“No rollout replaces its pods” does not hold"."""
    for part, claim in runbook.claims:
        if part in (Part.OPTIONAL, Part.APPLIES):
            assert claim.otherwise, claim.sentence
