"""One database, three engines: intake's single writer, the workers' pool, the readers' pool.

On SQLite a shared pool let a draining queue keep intake waiting for seconds; so intake has a
connection of its own, and readers (web, API, CLI) have theirs, which can't write.
"""

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

import sqlalchemy as sa

from tailhound.errors import SettingsError, StoreUnavailable
from tailhound.store.failures import explained, is_outage, meaning
from tailhound.store.migrations import upgrade

BUSY_SECONDS = 30
WORKERS = 2
READERS = 4
POOL_WAIT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Database:
    """An open database. `work` is shared with the workflow engine."""

    url: str
    name: str
    intake: sa.Engine
    work: sa.Engine
    readers: sa.Engine
    lock: TextIO | None

    @property
    def is_sqlite(self) -> bool:
        """Whether this is the embedded database: one process, one writer at a time."""
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

    def close(self) -> None:
        """Give back all connections and the lock."""
        for engine in (self.intake, self.work, self.readers):
            engine.dispose()
        if self.lock is not None:
            self.lock.close()


def open_database(url: str) -> Database:
    """Lock, create or upgrade, and open the database. One process may do so at a time on SQLite.

    SettingsError says what a person must do; StoreUnavailable may pass by itself.
    """
    if not url.startswith("sqlite"):
        return _open_server(url)
    path = _sqlite_path(url)
    lock = _lock(path)
    try:
        database = Database(
            url=sa.URL.create("sqlite", database=str(path)).render_as_string(),
            name=str(path),
            intake=_sqlite(path, size=1),
            work=_sqlite(path, size=WORKERS),
            readers=_sqlite_readers(path),
            lock=lock,
        )
        _prepare(database)
    except BaseException:
        lock.close()
        raise
    return database


def open_readers(url: str) -> sa.Engine:
    """Read-only connections to a database that somebody else may be using.

    SettingsError when there is none yet.
    """
    if not url.startswith("sqlite"):
        return _server(url, size=READERS, readonly=True)
    path = _sqlite_path(url)
    if not path.exists():
        raise SettingsError(
            f"there is no database at {path}: start `tailhound serve` first, or set store.url"
        )
    return _sqlite_readers(path)


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
        if "disk is full" in text or not is_outage(error):
            raise StoreUnavailable(text) from error
        raise SettingsError(text) from error
    except SettingsError:
        database.close()
        raise


@contextmanager
def _writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            # the driver begins only before the first write: what was read until then could be stale
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        yield connection


def _sqlite_path(url: str) -> Path:
    database = sa.make_url(url).database
    if not database or database == ":memory:":
        raise SettingsError("store.url: name a file, as in sqlite:////var/lib/tailhound/bot.db")
    return Path(database).absolute()


def _lock(path: Path) -> TextIO:
    """Hold `<db>.lock` for the life of the process."""
    beside = path.with_name(path.name + ".lock")
    try:
        lock = beside.open("a+", encoding="ascii")
    except OSError as error:
        raise SettingsError(
            f"store.url: can't write in {path.parent}: {error.strerror}; "
            "create the directory and give it to the account of tailhound"
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.seek(0)
        owner = lock.read().strip() or "unknown"
        lock.close()
        raise SettingsError(
            f"store.url: {path} is in use by another tailhound (process {owner}); "
            "stop that one, or give this one a database of its own"
        ) from error
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def _sqlite(path: Path, *, size: int) -> sa.Engine:
    engine = sa.create_engine(
        sa.URL.create("sqlite", database=str(path)),
        poolclass=sa.pool.QueuePool,
        pool_size=size,
        max_overflow=0,
        pool_timeout=POOL_WAIT_SECONDS,
        connect_args={"check_same_thread": False, "timeout": BUSY_SECONDS},
    )

    @sa.event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = "IMMEDIATE"
        connection.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA synchronous=FULL")

    return engine


def _sqlite_readers(path: Path) -> sa.Engine:
    def connect() -> sqlite3.Connection:
        where = f"file:{quote(str(path))}?mode=ro"
        connection = sqlite3.connect(where, uri=True, timeout=BUSY_SECONDS, check_same_thread=False)
        connection.execute("PRAGMA query_only=ON")
        return connection

    return sa.create_engine(
        sa.URL.create("sqlite", database=str(path)),
        creator=connect,
        poolclass=sa.pool.QueuePool,
        pool_size=READERS,
        max_overflow=0,
        pool_timeout=POOL_WAIT_SECONDS,
    )


def _open_server(url: str) -> Database:
    database = Database(
        url=url,
        name=sa.make_url(url).render_as_string(hide_password=True),
        intake=_server(url, size=1),
        work=_server(url, size=10),
        readers=_server(url, size=READERS, readonly=True),
        lock=None,
    )
    _prepare(database)
    return database


def _server(url: str, *, size: int, readonly: bool = False) -> sa.Engine:
    parsed = sa.make_url(url)
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    options = "-c default_transaction_read_only=on" if readonly else ""
    return sa.create_engine(
        parsed,
        pool_size=size,
        max_overflow=0,
        pool_timeout=POOL_WAIT_SECONDS,
        pool_pre_ping=True,
        connect_args={"options": options} if options else {},
    )
