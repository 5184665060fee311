"""The database beside a `serve` that runs: how it stands, and single transactions in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from tailhound.errors import SettingsError
from tailhound.model import OPEN_STATES
from tailhound.store import postgres, sqlite
from tailhound.store.database import open_readers
from tailhound.store.failures import explained
from tailhound.store.migrations import KNOWN, version
from tailhound.store.tables import incident

WAIT_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseState:
    """How a database stands. `name` holds no password; `file` is that of SQLite.

    `tables` is the version of the tables, None = there are none; `wanted` the one that this
    tailhound works with. Without tables there are no incidents.
    """

    name: str
    file: Path | None
    tables: str | None
    wanted: str = KNOWN[-1]
    incidents: int = 0
    open: int = 0
    newest: datetime | None = None

    @property
    def is_older(self) -> bool:
        """Whether `db upgrade` brings it up to date."""
        return self.tables != self.wanted and (self.tables is None or self.tables in KNOWN)


def state_of(url: str, password: str = "") -> DatabaseState:
    """Look, and change nothing. SettingsError without a database."""
    file = sqlite.path_of(url) if url.startswith("sqlite") else None
    with reading_beside(url, password) as connection:
        return _state(connection, _name(url), file)


@contextmanager
def reading_beside(url: str, password: str = "") -> Iterator[sa.Connection]:
    """A connection that can't write. SettingsError without a database; StoreUnavailable when it
    gives no answer.
    """
    readers = open_readers(url, password)
    try:
        with explained(_name(url)), readers.connect() as connection:
            yield connection
    finally:
        readers.dispose()


def _name(url: str) -> str:
    return sa.make_url(url).render_as_string(hide_password=True)


def _state(connection: sa.Connection, name: str, file: Path | None) -> DatabaseState:
    found = version(connection)
    if found is None:
        return DatabaseState(name=name, file=file, tables=None)
    states = [state.value for state in OPEN_STATES]
    row = connection.execute(
        sa.select(
            sa.func.count(),
            sa.func.sum(sa.case((incident.c.state.in_(states), 1), else_=0)),
            sa.func.max(incident.c.received_at),
        ).select_from(incident)
    ).one()
    newest = None if row[2] is None else datetime.fromtimestamp(float(row[2]), UTC)
    return DatabaseState(
        name=name, file=file, tables=found, incidents=row[0], open=int(row[1] or 0), newest=newest
    )


@contextmanager
def writing_beside(url: str, password: str = "") -> Iterator[sa.Connection]:
    """One short transaction in a database that another process may be using.

    SettingsError where there is none, or one of another version; StoreUnavailable when it gives no
    answer.
    """
    state = state_of(url, password)
    if state.tables != state.wanted:
        raise SettingsError(
            f"the database {state.name} has tables {state.tables or 'of no version'}, this "
            f"tailhound works with {state.wanted}: type it with the version that serves, or see "
            "`tailhound db status`"
        )
    engine = _engine(url, password)
    try:
        with explained(state.name), engine.begin() as connection:
            if state.file is not None:
                sqlite.begin_writing(connection)
            else:
                postgres.begin_writing(connection)
            yield connection
    finally:
        engine.dispose()


def _engine(url: str, password: str) -> sa.Engine:
    if url.startswith("sqlite"):
        return sqlite.engine(sqlite.path_of(url), size=1, wait_seconds=WAIT_SECONDS)
    return postgres.engine(
        postgres.address(url, password),
        size=1,
        wait_seconds=WAIT_SECONDS,
        statement_seconds=WAIT_SECONDS,
    )
