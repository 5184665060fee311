"""What `why` says of an incident that has no claims to show: why there are none, by its state."""

from dataclasses import replace

import pytest

from tailhound.model import Incident, Outlook, State
from tailhound.slack.shown import WHY, shown_text
from tests.samples.incidents import CONFIRMED, STATES
from tests.samples.story import NOW

WITHOUT_CLAIMS = {
    "first": "There is no verdict yet, so no claim was decided.",
    "deferred": "It waits its turn, so no claim was decided yet.",
    "resolved-early": "It was over before there was a verdict, so no claim was decided.",
    "joined": "It has joined incident 7F3K, so its claims are those of that one.",
    "failed": (
        "tailhound itself failed (the database was full for 10 min), so no claim was decided."
    ),
    "unreadable": "What came can't be read as an alert, so nothing was checked.",
    "back": (
        "There is no verdict of this time yet, so no claim was decided. "
        "Last time: the CPU limit stops the engine · high."
    ),
}


def why(incident: Incident) -> str:
    """The line below the headline."""
    text = shown_text(incident, WHY, address="", page="", now=NOW)
    return text.splitlines()[1]


@pytest.mark.parametrize("state", WITHOUT_CLAIMS)
def test_where_no_claim_was_decided_it_is_told_why(state: str) -> None:
    assert why(STATES[state]) == WITHOUT_CLAIMS[state]


STANDING = [name for name, incident in STATES.items() if incident.verdict_stands]


@pytest.mark.parametrize("state", STANDING)
def test_a_verdict_that_stands_is_told_by_its_claims(state: str) -> None:
    assert "no claim was decided" not in why(STATES[state])


def test_what_fails_when_it_comes_back_tells_what_it_was_last_time() -> None:
    failed = replace(STATES["back"], state=State.FAILED, failed_because="out of <!here> memory.")
    assert why(failed).startswith(
        "tailhound itself failed (out of &lt;!here&gt; memory), so no claim was decided. Last time:"
    )


def test_a_verdict_without_a_claim_is_not_taken_for_none() -> None:
    assert CONFIRMED.diagnosis is not None
    empty = replace(
        CONFIRMED.diagnosis,
        outlook=Outlook.NONE_CONFIRMED,
        primary=None,
        chain=(),
        causes=(),
        evidence=(),
    )
    assert why(replace(CONFIRMED, diagnosis=empty)) == "No runbook decided a claim."
