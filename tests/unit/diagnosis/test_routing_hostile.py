"""Labels that are made to keep a regular expression busy."""

import time
from datetime import UTC, datetime

import pytest

from tailhound.diagnosis.routing import LONGEST, routed
from tailhound.model import Alert, AlertStatus, Incident, State, Subject, SubjectKind
from tailhound.settings import Route, Slack
from tailhound.settings_patterns import why_not

NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)


def channel(pattern: str, value: str) -> str:
    """Where an alert goes whose team is this, when teams like that have a channel of their own."""
    alert = Alert(
        fingerprint="f",
        name="X",
        labels={"alertname": "X", "team": value},
        annotations={},
        status=AlertStatus.FIRING,
        starts_at=NOW,
    )
    incident = Incident(
        id="8R5W",
        key="k",
        subject=Subject(kind=SubjectKind.GROUP),
        state=State.DIAGNOSED,
        alerts=(alert,),
        received_at=NOW,
    )
    own = Route(match_re={"team": pattern}, channel="C0OWN")
    (to,) = routed(incident, Slack(channel="C0ALL", routes=(own,)))
    return to.channel


@pytest.mark.parametrize(
    "pattern", [".*gpu.*x", "(.*-)?llm-.*-x", ".*a.*b.*c", "[a-z-]*[a-z]*[a-z]*x"]
)
@pytest.mark.parametrize("unit", ["gpu", "llm-", "a", "ab"])
def test_no_label_keeps_an_expression_busy(pattern: str, unit: str) -> None:
    for length in (LONGEST, 64 * 1024):
        began = time.thread_time()
        channel(pattern, (unit * length)[:length])
        assert time.thread_time() - began < 1.0


def test_a_value_over_the_limit_fits_nothing_and_one_at_the_limit_does() -> None:
    assert channel(".*", "a" * LONGEST) == "C0OWN"
    assert channel(".*", "a" * (LONGEST + 1)) == "C0ALL"


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+x", "([a-z]+-?)+x", "(a|a)*b", "(?:a*){2,}", "((a?)b)*", "(?P<n>.*)+", "(a*){9}"],
)
def test_what_takes_for_ever_on_a_label_made_for_it_is_refused(pattern: str) -> None:
    assert "for ever" in why_not(pattern)
    with pytest.raises(ValueError, match=r"match_re.team: repeats"):
        Route(match_re={"team": pattern})


@pytest.mark.parametrize(
    "pattern",
    [
        "inference|serving", "(.*-)?llm-.*", "team-(a|b)", "[(+*)]+", r"\(a+\)+", "(abc)+", "",
        "(?i)gpu.*", "a{2,5}b*", "(?:prod|stage)-[0-9]+", "[]()*]+x", "(?=a.*)b+",
    ],
)  # fmt: skip
def test_ordinary_expressions_are_taken(pattern: str) -> None:
    assert why_not(pattern) == ""
    Route(match_re={"team": pattern})
