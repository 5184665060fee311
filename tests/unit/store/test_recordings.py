"""What an investigation asked, kept for a replay: parts, their limit, and which verdict's it is."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.store import recordings, records
from tailhound.store.database import Database, open_database
from tailhound.store.incidents import IncidentReader
from tailhound.store.recordings import Part, forget_earlier, keep_part
from tailhound.store.tables import investigation
from tests.databases import url_of
from tests.samples.incidents import EVERY_FIELD as INCIDENT

NOW = datetime(2026, 11, 30, 2, 53, tzinfo=UTC)
ID = INCIDENT.id


@pytest.fixture
def database(each_database: str, tmp_path: Path) -> Iterator[Database]:
    opened = open_database(url_of(tmp_path))
    with opened.writing() as connection:
        records.insert(connection, [records.Record(incident=INCIDENT)], NOW)
    yield opened
    opened.close()


def _asked(database: Database, n: int, *, resolved: str | None = "{}") -> None:
    with database.writing() as connection:
        connection.execute(
            sa.insert(investigation).values(
                incident_id=ID,
                n=n,
                sha="0" * 64,
                reason="opened",
                requested_at=NOW.timestamp(),
                verdict_by=NOW.timestamp(),
                resolved=resolved,
            )
        )


def _keep(database: Database, part: str, content: bytes, n: int = 1, after: float = 0.0) -> bool:
    with database.writing() as connection:
        return keep_part(connection, (ID, n, part), NOW + timedelta(seconds=after), content)


def _found(database: Database) -> tuple[Part, ...]:
    return IncidentReader.of(database).recorded(ID.lower())


def test_the_parts_come_back_in_the_order_in_which_they_were_asked(database: Database) -> None:
    _asked(database, 1)
    _keep(database, "resolve", b"who")
    _keep(database, "deepen", b"deeper", after=9)
    _keep(database, "collect", b"what", after=3)
    parts = _found(database)
    assert [(part.part, part.content) for part in parts] == [
        ("resolve", b"who"),
        ("collect", b"what"),
        ("deepen", b"deeper"),
    ]
    assert parts[1].asked_at == NOW + timedelta(seconds=3)


def test_a_step_that_runs_again_replaces_its_part(database: Database) -> None:
    _asked(database, 1)
    _keep(database, "collect", b"before the crash")
    _keep(database, "collect", b"after it")
    assert [part.content for part in _found(database)] == [b"after it"]


def test_what_is_too_large_is_not_kept_and_that_is_told(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordings, "AT_MOST", 1000)
    _asked(database, 1)
    assert _keep(database, "resolve", os.urandom(600))
    assert not _keep(database, "collect", os.urandom(600), after=1)
    assert _keep(database, "deepen", os.urandom(300), after=2), "what was left out takes no room"
    resolve, collect, deepen = _found(database)
    assert collect.content is None
    assert collect.size > 600
    assert resolve.content is not None
    assert deepen.content is not None


def test_only_the_recording_of_the_verdict_that_stands_is_found(database: Database) -> None:
    _asked(database, 1)
    _asked(database, 2, resolved=None)
    _keep(database, "collect", b"decided", n=1)
    _keep(database, "collect", b"under way, or failed", n=2)
    assert [part.content for part in _found(database)] == [b"decided"]


def test_a_verdict_takes_the_place_of_earlier_recordings(database: Database) -> None:
    for n in (1, 2):
        _asked(database, n)
        _keep(database, "collect", str(n).encode(), n=n)
    with database.writing() as connection:
        forget_earlier(connection, ID, 2)
    with database.reading() as connection:
        count = connection.exec_driver_sql("SELECT count(*) FROM th_recording").scalar()
    assert count == 1
    assert [part.content for part in _found(database)] == [b"2"]


def test_nothing_kept_is_nothing_found(database: Database) -> None:
    assert _found(database) == ()
