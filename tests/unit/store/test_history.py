"""What matchers would have muted lately, and how the last month went."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tailhound.actions.silence import Matcher
from tailhound.model import Alert, AlertStatus, Diagnosis, Outlook, Rating, State, Verdict
from tailhound.store import history
from tailhound.store.database import open_database
from tailhound.store.history import Month, Past, month, past
from tests.databases import url_of
from tests.unit.store.test_accuracy import Shelf
from tests.unit.store.test_confirmed import FOUND, NONE, NOW

pytestmark = pytest.mark.usefixtures("each_database")

SLOW = (Matcher("alertname", "Slow"),)
WEEK = NOW - timedelta(days=7)


@pytest.fixture
def shelf(tmp_path: Path, each_database: str) -> Iterator[Shelf]:
    opened = Shelf(open_database(url_of(tmp_path)))
    yield opened
    opened.database.close()


def alert(name: str = "Slow", severity: str = "page", fingerprint: str = "f1") -> Alert:
    return Alert(
        fingerprint=fingerprint,
        name=name,
        labels={"alertname": name, "severity": severity, "namespace": "prod"},
        annotations={},
        status=AlertStatus.FIRING,
        starts_at=NOW,
    )


def with_alerts(
    shelf: Shelf, *alerts: Alert, diagnosis: Diagnosis = NONE, days_ago: float = 0
) -> str:
    return shelf.incident(diagnosis, days_ago=days_ago, alerts=alerts)


def test_without_incidents_nothing_was_muted(shelf: Shelf) -> None:
    assert past(shelf.database, SLOW, WEEK) == Past()
    assert month(shelf.database, WEEK) == Month()


def test_alerts_that_match_are_counted_over_incidents(shelf: Shelf) -> None:
    with_alerts(shelf, alert(), alert(fingerprint="f2"), alert("Other"))
    with_alerts(shelf, alert(severity="warning"))
    with_alerts(shelf, alert("Other"))
    assert past(shelf.database, SLOW, WEEK).alerts == 3
    assert past(shelf.database, (Matcher("namespace", "prod"),), WEEK).alerts == 5
    assert past(shelf.database, (Matcher("alertname", "S.*|X", True),), WEEK).alerts == 3


def test_a_page_with_a_confirmed_cause_was_a_real_incident(shelf: Shelf) -> None:
    real = with_alerts(shelf, alert(), diagnosis=FOUND)
    with_alerts(shelf, alert(), diagnosis=NONE)
    with_alerts(shelf, alert(severity="warning"), diagnosis=FOUND)
    assert past(shelf.database, SLOW, WEEK) == Past(alerts=3, real=(real,), untold=1)


@pytest.mark.parametrize(
    ("rating", "cause", "real"),
    [
        (Rating.RIGHT, "", True),
        (Rating.PARTLY, "", True),
        (Rating.WRONG, "node-drain", True),
        (Rating.WRONG, "", False),
        (Rating.UNSURE, "", False),
    ],
)
def test_a_page_that_people_gave_a_cause_was_a_real_incident(
    shelf: Shelf, rating: Rating, cause: str, real: bool
) -> None:
    id = with_alerts(shelf, alert())
    shelf.word(id, rating, cause)
    found = past(shelf.database, SLOW, WEEK)
    assert (found.real, found.untold) == (((id,), 0) if real else ((), 1))


def test_the_incident_that_is_asked_about_is_none_of_its_own_past(shelf: Shelf) -> None:
    own = with_alerts(shelf, alert())
    assert past(shelf.database, SLOW, WEEK, own) == Past()
    with_alerts(shelf, alert())
    assert past(shelf.database, SLOW, WEEK, own) == Past(alerts=1, untold=1)


def test_what_is_older_or_joined_is_left_out(shelf: Shelf) -> None:
    with_alerts(shelf, alert(), days_ago=8)
    shelf.incident(NONE, alerts=(alert(),), state=State.JOINED)
    assert past(shelf.database, SLOW, WEEK) == Past()


def test_more_than_is_looked_through_is_told(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "LOOKED_AT", 2)
    for _ in range(3):
        with_alerts(shelf, alert())
    assert past(shelf.database, SLOW, WEEK) == Past(alerts=2, untold=2, whole=False)


def test_a_month_counts_incidents_causes_and_words(shelf: Shelf) -> None:
    right, wrong, partly = (shelf.incident(FOUND) for _ in range(3))
    unsure = shelf.incident(NONE)
    shelf.incident(FOUND, days_ago=8)
    shelf.incident(FOUND, state=State.JOINED)
    shelf.word(right, Rating.RIGHT)
    shelf.word(wrong, Rating.WRONG)
    shelf.word(partly, Rating.PARTLY)
    shelf.word(unsure, Rating.UNSURE)
    found = month(shelf.database, WEEK)
    assert found == Month(incidents=4, found=3, right=1, partly=1, wrong=1)
    assert found.rated == 3


def test_what_it_was_where_no_cause_had_been_named_is_neither_right_nor_wrong(shelf: Shelf) -> None:
    elsewhere, missed = shelf.incident(NONE), shelf.incident(NONE)
    shelf.word(elsewhere, Rating.WRONG, said_primary="")
    shelf.word(missed, Rating.WRONG, "node-drain", said_primary="")
    found = month(shelf.database, WEEK)
    assert found == Month(incidents=2, unnamed=2)
    assert found.rated == 2


def test_the_newest_word_about_an_incident_counts(shelf: Shelf) -> None:
    id = shelf.incident(FOUND)
    shelf.word(id, Rating.WRONG)
    shelf.word(id, Rating.RIGHT, person="U2", at=NOW.timestamp() + 1)
    assert month(shelf.database, WEEK) == Month(incidents=1, found=1, right=1)


def test_incidents_that_could_not_be_seen_into_are_counted_apart(shelf: Shelf) -> None:
    blind = replace(NONE, outlook=Outlook.BLIND, blind='"outlook":"no cause confirmed"')
    for diagnosis in (blind, blind, FOUND, replace(NONE, blind=blind.outlook.value)):
        shelf.incident(diagnosis)
    assert month(shelf.database, WEEK) == Month(incidents=4, found=1, blind=2)


def test_where_no_cause_could_be_judged_nothing_was_seen(shelf: Shelf) -> None:
    hostile = 'x","verdict":"refuted'
    unknown = replace(NONE.causes[0], verdict=Verdict.UNKNOWN, because=hostile)
    for causes in ((unknown,), (unknown, *NONE.causes), NONE.causes):
        shelf.incident(replace(NONE, causes=causes))
    assert month(shelf.database, WEEK) == Month(incidents=3, blind=1)
