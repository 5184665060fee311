"""What the shipped runbooks say to people, whatever the case."""

import pytest

from tailhound import app
from tailhound.rules.runbook import Runbook
from tailhound.settings import Settings

BOOKS = app.compiled(Settings()).runbooks


def by_id(runbook: Runbook) -> str:
    return runbook.id


@pytest.mark.parametrize("runbook", BOOKS, ids=by_id)
def test_every_suggestion_says_what_its_risk_is_of(runbook: Runbook) -> None:
    for one in runbook.mitigations:
        assert one.risk_of, one.id
        assert len(one.risk_of) <= 50, "on a phone it has two lines beside the title"
        assert not one.risk_of.endswith(".")
