"""How much there is of what."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable.arrivals import Arrival, unreadable_item
from tailhound.durable.episodes import unread
from tailhound.model import State
from tailhound.store import records
from tailhound.store.counts import count
from tailhound.store.database import Database, open_database
from tailhound.store.tables import outbox
from tests.databases import url_of
from tests.samples.incidents import FAILED, FIRST
from tests.samples.story import NOW


@pytest.fixture
def database(each_database: str, tmp_path: Path) -> Iterator[Database]:
    opened = open_database(url_of(tmp_path))
    yield opened
    opened.close()


def test_bodies_that_cannot_be_read_are_counted_apart_from_failures(database: Database) -> None:
    arrival = Arrival(body=b"not json", at=NOW, unreadable="not JSON")
    raw = unread(unreadable_item(arrival), "RAW1", "not JSON", NOW, "observe")
    failed = replace(FAILED, id="F001", key="workload:llm/one", diagnosis=None)
    resolved = replace(raw.incident, id="RAW2", key="other", state=State.RESOLVED)
    first = replace(FIRST, id="A001", key="unreadable-looking:llm/two")
    with database.writing() as connection:
        records.insert(connection, [raw], NOW)
        records.insert(
            connection, [records.Record(incident=one) for one in (failed, resolved, first)], NOW
        )
    counted = count(database, NOW)
    assert counted.incidents == {State.FAILED: 2, State.RESOLVED: 1, State.INVESTIGATING: 1}
    assert counted.unreadable == 1


def test_what_cannot_be_sent_yet_does_not_wait(database: Database) -> None:
    """A post in a thread waits for the thread's own message; a storm's message tells of others."""
    first = replace(FIRST, id="A001", key="workload:llm/one")
    held = replace(FIRST, id="A002", key="workload:llm/two")
    row = {"notifier": "chat", "place": "C1", "wanted_revision": 5, "state": "pending"}
    rows: list[dict[str, object]] = [
        row | {"incident_id": "A001", "part": "", "message": ""},
        row | {"incident_id": "A001", "part": "timeline", "message": ""},
        row | {"incident_id": "A002", "part": "", "message": "", "state": "held"},
        row | {"incident_id": "A002", "part": "timeline", "message": ""},
        row | {"incident_id": "A002", "part": "storm", "message": ""},
    ]
    with database.writing() as connection:
        records.insert(connection, [records.Record(incident=one) for one in (first, held)], NOW)
        connection.execute(sa.insert(outbox), rows)
    assert count(database, NOW).waiting == 2
    with database.writing() as connection:
        mine = sa.update(outbox).where(outbox.c.incident_id == "A001", outbox.c.part == "")
        connection.execute(mine.values(message="m", state="sent", sent_revision=5))
    assert count(database, NOW).waiting == 2
