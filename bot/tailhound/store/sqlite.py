"""SQLite: the file, its lock, and connections that wait for each other."""

import fcntl
import os
import sqlite3
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

import sqlalchemy as sa

from tailhound.errors import SettingsError

BUSY_SECONDS = 30


def path_of(url: str) -> Path:
    """The file of an address; SettingsError when it names none."""
    database = sa.make_url(url).database
    if not database or database == ":memory:":
        raise SettingsError("store.url: name a file, as in sqlite:////var/lib/tailhound/bot.db")
    return Path(database).absolute()


def locked(path: Path) -> TextIO:
    """Hold `<db>.lock` for the life of the process; SettingsError when another one does."""
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


def engine(path: Path, *, size: int, wait_seconds: float) -> sa.Engine:
    """At most `size` connections that write."""
    made = sa.create_engine(
        sa.URL.create("sqlite", database=str(path)),
        poolclass=sa.pool.QueuePool,
        pool_size=size,
        max_overflow=0,
        pool_timeout=wait_seconds,
        connect_args={"check_same_thread": False, "timeout": BUSY_SECONDS},
    )

    @sa.event.listens_for(made, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = "IMMEDIATE"
        connection.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA synchronous=FULL")

    return made


def readers(path: Path, *, size: int, wait_seconds: float) -> sa.Engine:
    """At most `size` connections that can't write, and need no lock."""

    def connect() -> sqlite3.Connection:
        where = f"file:{quote(str(path))}?mode=ro"
        connection = sqlite3.connect(where, uri=True, timeout=BUSY_SECONDS, check_same_thread=False)
        connection.execute("PRAGMA query_only=ON")
        return connection

    return sa.create_engine(
        sa.URL.create("sqlite", database=str(path)),
        creator=connect,
        poolclass=sa.pool.QueuePool,
        pool_size=size,
        max_overflow=0,
        pool_timeout=wait_seconds,
    )


def begin_writing(connection: sa.Connection) -> None:
    """Begin now: the driver alone begins at the first write, and what was read until then could be
    stale."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")
