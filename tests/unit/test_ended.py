"""How an incident ended is told alike everywhere; nobody's silence is called a resolution."""

from dataclasses import replace

import pytest

from tailhound.cli.text import markdown, terminal
from tailhound.model import Incident, telling
from tailhound.settings import Listen
from tailhound.web.story import span_of
from tailhound.web.words import state_of
from tests.samples.incidents import CONFIRMED, RESOLVED
from tests.samples.story import NOW, at

UNHEARD = replace(RESOLVED, unheard=True)


@pytest.mark.parametrize(
    ("incident", "word"),
    [(CONFIRMED, ""), (RESOLVED, "resolved"), (UNHEARD, "not heard of since")],
)
def test_an_end_has_one_word(incident: Incident, word: str) -> None:
    assert telling.ended(incident) == word


def test_the_terminal_calls_nothing_alerting_that_is_over() -> None:
    for incident, said in ((RESOLVED, "resolved 03:38 UTC"), (UNHEARD, "not heard of since 03:38")):
        for told in ("\n".join(terminal(incident, at(400))), markdown(incident, at(400))):
            assert "alerting since" not in told
            assert said in told
    assert "alerting since" in "\n".join(terminal(CONFIRMED, NOW))


def test_a_postmortem_has_no_end_that_nobody_told() -> None:
    assert span_of(RESOLVED, at(400)).startswith("From 03:00 UTC to 03:38 UTC (")
    told = span_of(UNHEARD, at(400))
    assert told == "From 03:00 UTC, not heard of since 03:38 UTC: its end is not known"


def test_a_page_has_an_address_only_where_people_reach_it() -> None:
    assert Listen().page_of("8R5W") == ""
    there = Listen(public_url="https://tailhound.example/")
    assert there.page_of("8R5W") == "https://tailhound.example/incidents/8R5W"


def test_an_alert_that_is_over_is_not_resolved_since_it_began() -> None:
    alert = replace(CONFIRMED.alerts[0], starts_at=at(0), ends_at=None)
    assert state_of(alert, NOW).startswith("firing, since ")
    assert state_of(replace(alert, ends_at=at(38)), NOW).startswith("fired from ")
