"""One database, opened for each of its users: intake, workers, readers, and a replica's pulse.

On SQLite a shared pool let a draining queue keep intake waiting for seconds; so intake has a
connection of its own, and readers (web, API, CLI) have theirs, which can't write.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TextIO

import sqlalchemy as sa

from tailhound.errors import SettingsError, StoreUnavailable
from tailhound.store import postgres, sqlite
from tailhound.store.failures import explained, lasts, meaning
from tailhound.store.migrations import upgrade

WORKERS_OF_A_FILE = 2
WORKERS_OF_A_SERVER = 10
READERS = 4
POOL_WAIT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Database:
    """An open database. `work` is shared with the workflow engine.

    `url` holds the password, `name` does not. `pulse` waits for nobody else's transaction.
    """

    url: str = field(repr=False)
    name: str
    intake: sa.Engine
    work: sa.Engine
    readers: sa.Engine
    pulse: sa.Engine
    lock: TextIO | None

    @property
    def is_sqlite(self) -> bool:
        """Whether this is the embedded database, which one process uses at a time."""
        return self.work.dialect.name == "sqlite"

    @contextmanager
    def accepting(self) -> Iterator[sa.Connection]:
        """A transaction of intake's writer thread; StoreUnavailable when there can be none."""
        with explained(self.name), _writing(self.intake) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction of a worker; StoreUnavailable when there can be none."""
        with explained(self.name), _writing(self.work) as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection that can't write; StoreUnavailable when there is none."""
        with explained(self.name), self.readers.connect() as connection:
            yield connection

    @contextmanager
    def pulsing(self) -> Iterator[sa.Connection]:
        """A transaction that is not kept waiting by those that write; for leases alone."""
        with explained(self.name), self.pulse.begin() as connection:
            yield connection

    def close(self) -> None:
        """Give back all connections and the lock."""
        for engine in (self.intake, self.work, self.readers, self.pulse):
            if not sa.event.contains(engine.pool, "checkin", _closing):
                sa.event.listen(engine.pool, "checkin", _closing)
            engine.dispose()
        if self.lock is not None:
            self.lock.close()


def open_database(url: str, password: str = "") -> Database:
    """Create or upgrade, and open the database. One process may do so at a time on SQLite.

    SettingsError says what a person must do; StoreUnavailable may pass by itself.
    """
    return _open_file(url) if url.startswith("sqlite") else _open_server(url, password)


def open_readers(url: str, password: str = "") -> sa.Engine:
    """Read-only connections to a database that somebody else may be using.

    SettingsError when there is none yet.
    """
    if not url.startswith("sqlite"):
        return _reading_server(postgres.address(url, password))
    path = sqlite.path_of(url)
    if not path.exists():
        raise SettingsError(
            f"there is no database at {path}: start `tailhound serve` first, or set store.url"
        )
    return sqlite.readers(path, size=READERS, wait_seconds=POOL_WAIT_SECONDS)


def _open_file(url: str) -> Database:
    path = sqlite.path_of(url)
    lock = sqlite.locked(path)
    try:
        work = sqlite.engine(path, size=WORKERS_OF_A_FILE, wait_seconds=POOL_WAIT_SECONDS)
        database = Database(
            url=sa.URL.create("sqlite", database=str(path)).render_as_string(),
            name=str(path),
            intake=sqlite.engine(path, size=1, wait_seconds=POOL_WAIT_SECONDS),
            work=work,
            readers=sqlite.readers(path, size=READERS, wait_seconds=POOL_WAIT_SECONDS),
            pulse=work,
            lock=lock,
        )
        _prepare(database)
    except BaseException:
        lock.close()
        raise
    return database


def _open_server(url: str, password: str) -> Database:
    address = postgres.address(url, password)
    wait = POOL_WAIT_SECONDS
    database = Database(
        url=address.render_as_string(hide_password=False),
        name=address.render_as_string(hide_password=True),
        intake=postgres.engine(
            address, size=1, wait_seconds=wait, statement_seconds=postgres.STATEMENT_SECONDS
        ),
        work=postgres.engine(address, size=WORKERS_OF_A_SERVER, wait_seconds=wait),
        readers=_reading_server(address),
        pulse=postgres.engine(
            address, size=1, wait_seconds=wait, statement_seconds=postgres.IDLE_SECONDS
        ),
        lock=None,
    )
    _prepare(database)
    return database


def _reading_server(address: sa.URL) -> sa.Engine:
    return postgres.engine(
        address,
        size=READERS,
        wait_seconds=POOL_WAIT_SECONDS,
        readonly=True,
        statement_seconds=postgres.STATEMENT_SECONDS,
    )


def _prepare(database: Database) -> None:
    """Bring the tables up to date; what can't be repaired by waiting is a SettingsError."""
    try:
        with database.work.connect() as connection:
            if database.is_sqlite:
                connection.exec_driver_sql("PRAGMA journal_mode=WAL")
        with _writing(database.work) as connection:
            upgrade(connection, database.name)
    except sa.exc.SQLAlchemyError as error:
        database.close()
        text = f"the database {database.name}: {meaning(error)}"
        if lasts(error):
            raise SettingsError(text) from error
        raise StoreUnavailable(text) from error
    except SettingsError:
        database.close()
        raise


def _closing(connection: Any, _record: object) -> None:
    """What a thread gives back after the end is closed, for nobody else will do so."""
    if connection is not None:
        connection.close()


@contextmanager
def _writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            sqlite.begin_writing(connection)
        else:
            postgres.begin_writing(connection)
        yield connection
