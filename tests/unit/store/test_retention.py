"""What is deleted of old incidents, and what stays however old it is."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tailhound.model import Incident, State
from tailhound.store import records
from tailhound.store.database import Database, open_database
from tailhound.store.outputs import keep_compiled
from tailhound.store.retention import PAGE, forget_incidents, forget_rows
from tailhound.store.tables import (
    METADATA,
    alert,
    body,
    incident,
    investigation,
    outbox,
    silence,
)
from tests.databases import url_of
from tests.samples.incidents import CONFIRMED, FIRST
from tests.samples.story import NOW

OLD = NOW - timedelta(days=100)
BEFORE = (NOW - timedelta(days=91)).timestamp()


@pytest.fixture
def database(each_database: str, tmp_path: Path) -> Iterator[Database]:
    opened = open_database(url_of(tmp_path))
    yield opened
    opened.close()


def one(id: str, state: State = State.RESOLVED, **changes: Any) -> Incident:
    """An incident of long ago."""
    base = replace(FIRST, id=id, key=f"workload:{id}", state=state, received_at=OLD)
    return replace(base, **changes)


def put(database: Database, *incidents: Incident, done: int = 1) -> None:
    with database.writing() as connection:
        for it in incidents:
            records.insert(connection, [records.Record(incident=it, done=done)], OLD)


def add(database: Database, table: sa.Table, **values: Any) -> None:
    with database.writing() as connection:
        connection.execute(sa.insert(table).values(**values))


def forgotten(database: Database, at_most: int = 200) -> set[str]:
    """Delete until nothing is left to delete; the ids that are gone."""
    before = ids(database)
    while True:
        with database.writing() as connection:
            if not forget_incidents(connection, BEFORE, at_most):
                return before - ids(database)


def ids(database: Database) -> set[str]:
    with database.reading() as connection:
        return set(connection.execute(sa.select(incident.c.id)).scalars())


def rows(database: Database) -> Mapping[str, int]:
    """How many rows each table holds that belongs to incidents."""
    with database.reading() as connection:
        return {
            table.name: connection.execute(
                sa.select(sa.func.count()).select_from(table)
            ).scalar_one()
            for table in METADATA.sorted_tables
            if any(key.column is incident.c.id for key in table.foreign_keys)
        }


def a_row(table: sa.Table, id: str) -> dict[str, Any]:
    """A row of any table that belongs to an incident: something in each column that needs it."""
    values: dict[str, Any] = {}
    for column in table.columns:
        if column.foreign_keys:
            values[column.name] = id
        elif column.nullable or column.server_default is not None or column.autoincrement is True:
            continue
        else:
            values[column.name] = {str: "x", float: 0.0, int: 0, bool: False, bytes: b""}[
                column.type.python_type
            ]
    return values


def test_an_old_incident_goes_with_everything_that_belongs_to_it(database: Database) -> None:
    put(database, one("A001"))
    for table in METADATA.sorted_tables:
        if any(key.column is incident.c.id for key in table.foreign_keys):
            add(database, table, **a_row(table, "A001"))
    assert set(rows(database).values()) == {1}
    assert len(rows(database)) >= 9
    assert forgotten(database) == {"A001"}
    assert set(rows(database).values()) == {0}


def test_what_is_open_stays_however_old_it_is(database: Database) -> None:
    states = (State.DEFERRED, State.INVESTIGATING, State.DIAGNOSED, State.MITIGATING, State.FAILED)
    put(database, *(one(f"A{n:03}", state) for n, state in enumerate(states)))
    assert forgotten(database) == set()


def test_a_body_that_could_not_be_read_goes_too(database: Database) -> None:
    put(database, one("A001", State.FAILED, key="unreadable:abc", unreadable="not JSON"))
    assert forgotten(database) == {"A001"}


def test_what_changed_of_late_stays(database: Database) -> None:
    put(database, one("A001"), one("A002"))
    with database.writing() as connection:
        records.update(connection, [records.Record(incident=one("A002"), done=1)], NOW)
    assert forgotten(database) == {"A001"}


def test_what_is_being_looked_at_or_waits_to_be_told_or_is_muted_stays(database: Database) -> None:
    put(database, one("A001"), done=0)
    put(database, one("A002"), one("A003"), one("A004"), one("A005"), one("A006"))
    told = {"notifier": "slack", "place": "C1", "wanted_revision": 2, "state": "pending"}
    add(database, outbox, incident_id="A002", **told)
    add(database, outbox, incident_id="A004", **told | {"state": "broken"})
    for id, state, ahead in (("A003", "set", 60), ("A005", "ending", 60), ("A006", "set", -60)):
        muting = {"id": id, "state": state, "until": BEFORE + ahead}
        add(database, silence, **a_row(silence, id) | muting)
    assert forgotten(database) == {"A004", "A006"}


@pytest.mark.parametrize("state", ["sent", "held", "broken", "left"])
def test_what_nobody_will_send_any_more_holds_nothing_back(database: Database, state: str) -> None:
    put(database, one("A001"))
    own = {"incident_id": "A001", "notifier": "slack", "place": "C1", "wanted_revision": 2}
    add(database, outbox, **own, state=state)
    add(database, outbox, **own, part="timeline", state="pending")
    assert forgotten(database) == {"A001"}


def test_what_is_old_is_deleted_a_page_at_a_time_the_oldest_first(database: Database) -> None:
    for n in range(2 * PAGE + 50):
        add(database, body, sha=f"{n:064}", received_at=float(n), size=1, content=b"x")
    sizes = []
    while True:
        with database.writing() as connection:
            sizes.append(forget_rows(connection, body.c.received_at, 2 * PAGE + 20.0))
        if not sizes[-1]:
            break
    assert sizes == [PAGE, PAGE, 20, 0]
    with database.reading() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(body)).scalar_one() == 30


def test_rows_of_one_moment_go_together(database: Database) -> None:
    for n in range(PAGE + 1):
        add(database, body, sha=f"{n:064}", received_at=1.0, size=1, content=b"x")
    with database.writing() as connection:
        assert forget_rows(connection, body.c.received_at, 2.0) == PAGE + 1


def test_what_joined_another_goes_before_it_and_never_while_that_one_is_open(
    database: Database,
) -> None:
    put(database, one("A001"), one("A002", State.JOINED, joined_into="A001"))
    put(database, one("B001", State.DIAGNOSED), one("B002", State.JOINED, joined_into="B001"))
    put(database, one("C001"), one("C002", State.JOINED, joined_into="C001", received_at=NOW))
    assert forgotten(database) == {"A001", "A002"}


def test_pages_are_small_and_all_of_them_are_deleted(database: Database) -> None:
    put(database, *(one(f"A{n:03}") for n in range(7)))
    with database.writing() as connection:
        assert forget_incidents(connection, BEFORE, at_most=3) == 3
    assert len(forgotten(database, at_most=3)) == 4


def test_the_sets_of_runbooks_and_other_incidents_are_left_alone(database: Database) -> None:
    put(database, one("A001"), replace(CONFIRMED, diagnosis=None))
    with database.writing() as connection:
        sha = keep_compiled(connection, b"{}", OLD)
        for id in ("A001", CONFIRMED.id):
            row = a_row(investigation, id) | {"sha": sha}
            connection.execute(sa.insert(investigation).values(**row))
            connection.execute(sa.insert(alert).values(**a_row(alert, id) | {"ident": id}))
    assert forgotten(database) == {"A001"}
    assert rows(database)["th_investigation"] == 1
    assert rows(database)["th_alert"] == 1
    with database.reading() as connection:
        assert connection.execute(sa.text("select count(*) from th_compiled")).scalar_one() == 1
