"""Accuracy: what people said of the diagnoses, counted per cause."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.model import Diagnosis, Outlook, Rating, State, Verdict
from tailhound.store import records
from tailhound.store.accuracy import Record, accuracy
from tailhound.store.database import Database, open_database
from tailhound.store.tables import feedback
from tests.databases import url_of
from tests.unit.store.test_confirmed import FOUND, INCIDENT, NONE, NOW, TWO_FIT, cause

pytestmark = pytest.mark.usefixtures("each_database")


@dataclass(slots=True)
class Shelf:
    """A database to put incidents and words into."""

    database: Database
    count: int = 0

    def incident(self, diagnosis: Diagnosis, *, days_ago: float = 0, **changes: object) -> str:
        """One more incident, received so many days ago; its id."""
        self.count += 1
        id = f"A{self.count:03}"
        at = NOW - timedelta(days=days_ago)
        one = replace(INCIDENT, id=id, key=id, received_at=at, **changes)  # type: ignore[arg-type]
        with self.database.writing() as writing:
            records.insert(writing, [records.Record(incident=one)], NOW)
            records.write_diagnosis(writing, id, diagnosis)
        return id

    def word(self, id: str, rating: Rating, cause: str = "", **changes: object) -> None:
        """What a person said about an incident."""
        row = {
            "incident_id": id,
            "person": "U1",
            "name": "ana",
            "rating": rating.name.lower(),
            "cause": cause,
            "said_primary": "kv-preemption",
            "at": NOW.timestamp(),
        }
        with self.database.writing() as writing:
            writing.execute(sa.insert(feedback).values(row | changes))

    def of(self, runbook: str, days: float = 30) -> Record:
        """What is counted of one cause."""
        return accuracy(self.database, NOW - timedelta(days=days)).of(runbook)


@pytest.fixture
def shelf(tmp_path: Path, each_database: str) -> Iterator[Shelf]:
    opened = Shelf(open_database(url_of(tmp_path)))
    yield opened
    opened.database.close()


def test_nothing_is_known_of_a_cause_that_nobody_met(shelf: Shelf) -> None:
    assert shelf.of("cpu-throttling") == Record(runbook="cpu-throttling")
    assert accuracy(shelf.database, NOW).incidents == 0


def test_confirmed_counts_every_incident_that_confirms_it_with_or_without_feedback(
    shelf: Shelf,
) -> None:
    shelf.incident(FOUND)
    shelf.word(shelf.incident(FOUND), Rating.RIGHT)
    assert shelf.of("kv-preemption") == Record(runbook="kv-preemption", confirmed=2, right=1)
    assert shelf.of("long-prompt") == Record(runbook="long-prompt", confirmed=2)


def test_old_incidents_and_joined_ones_are_not_counted(shelf: Shelf) -> None:
    shelf.word(shelf.incident(FOUND, days_ago=31), Rating.RIGHT)
    shelf.word(shelf.incident(FOUND, state=State.JOINED), Rating.RIGHT)
    assert shelf.of("kv-preemption", days=30).confirmed == 0
    assert shelf.of("kv-preemption", days=32).right == 1


def test_another_cause_that_was_not_confirmed_is_missed_and_the_named_one_wrong(
    shelf: Shelf,
) -> None:
    shelf.word(shelf.incident(FOUND), Rating.WRONG, "cpu-throttling")
    assert shelf.of("kv-preemption").wrong == 1
    assert shelf.of("cpu-throttling") == Record(runbook="cpu-throttling", missed=1)


def test_a_cause_of_the_chain_that_people_choose_was_found_not_missed(shelf: Shelf) -> None:
    shelf.word(shelf.incident(FOUND), Rating.WRONG, "long-prompt")
    assert shelf.of("long-prompt") == Record(runbook="long-prompt", confirmed=1, right=1)
    assert shelf.of("kv-preemption").wrong == 1


def test_right_but_not_the_whole_story_is_right_and_misses_the_other(shelf: Shelf) -> None:
    shelf.word(shelf.incident(FOUND), Rating.PARTLY, "node-drain")
    assert shelf.of("kv-preemption") == Record(
        runbook="kv-preemption", confirmed=1, right=1, partly=1
    )
    assert shelf.of("node-drain").missed == 1


def test_of_two_that_fit_the_chosen_one_is_right_and_the_other_wrong(shelf: Shelf) -> None:
    shelf.word(shelf.incident(TWO_FIT), Rating.RIGHT, "long-prompt", said_primary="")
    assert (shelf.of("long-prompt").right, shelf.of("long-prompt").wrong) == (1, 0)
    assert (shelf.of("kv-preemption").right, shelf.of("kv-preemption").wrong) == (0, 1)
    shelf.word(shelf.incident(TWO_FIT), Rating.RIGHT, said_primary="")
    assert (shelf.of("kv-preemption").right, shelf.of("kv-preemption").wrong) == (1, 1)


def test_where_nothing_was_confirmed_only_a_missed_cause_counts(shelf: Shelf) -> None:
    shelf.word(shelf.incident(NONE), Rating.RIGHT, said_primary="")
    shelf.word(shelf.incident(NONE), Rating.WRONG, "cpu-throttling", said_primary="")
    found = accuracy(shelf.database, NOW - timedelta(days=1))
    assert dict(found.causes) == {"cpu-throttling": Record(runbook="cpu-throttling", missed=1)}
    assert (found.incidents, found.rated) == (2, 2)


def test_a_cause_that_no_runbook_has_is_counted_apart(shelf: Shelf) -> None:
    shelf.word(shelf.incident(FOUND), Rating.WRONG)
    found = accuracy(shelf.database, NOW - timedelta(days=1))
    assert found.elsewhere == 1
    assert found.of("kv-preemption").wrong == 1


def test_the_newest_word_of_anybody_counts_and_not_knowing_is_no_word(shelf: Shelf) -> None:
    id = shelf.incident(FOUND)
    shelf.word(id, Rating.WRONG, "cpu-throttling")
    shelf.word(id, Rating.RIGHT, person="U2", at=NOW.timestamp() + 60)
    shelf.word(id, Rating.UNSURE, person="U3", at=NOW.timestamp() + 120)
    assert (shelf.of("kv-preemption").right, shelf.of("kv-preemption").wrong) == (1, 0)
    assert shelf.of("cpu-throttling").missed == 0


def test_what_was_shown_when_the_word_was_given_counts_not_what_stands_now(shelf: Shelf) -> None:
    id = shelf.incident(FOUND)
    shelf.word(id, Rating.RIGHT)
    now_another = replace(
        FOUND,
        primary="node-drain",
        chain=("node-drain",),
        outlook=Outlook.CAUSE_FOUND,
        causes=(cause("node-drain", Verdict.CONFIRMED),),
    )
    with shelf.database.writing() as writing:
        records.write_diagnosis(writing, id, now_another)
    assert shelf.of("kv-preemption").right == 1
    assert shelf.of("node-drain") == Record(runbook="node-drain", confirmed=1)
