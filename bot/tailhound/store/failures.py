"""What a failing database means in plain words, and what to do about it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from tailhound.errors import StoreUnavailable

_MEANINGS = (
    ("disk is full", "the disk is full: free some space on the file system that holds it"),
    ("readonly database", "it is read-only: give the account of tailhound the right to write it"),
    ("unable to open", "it can't be opened: check that the directory exists and may be written"),
    ("locked", "another program has kept it locked for too long: find it with `fuser`, stop it"),
    ("malformed", "the file is damaged: stop tailhound and restore the last backup"),
    ("not a database", "the file is no SQLite database: move it away or name another one"),
    ("disk i/o error", "the disk reports an I/O error: look at the kernel log"),
    ("no such table", "its tables are missing: start `tailhound serve` once, which creates them"),
)


def meaning(error: BaseException) -> str:
    """One sentence: what is wrong and what to do."""
    text = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
    if isinstance(error, sa.exc.TimeoutError):
        return "all its connections have been busy for too long: the disk may be too slow"
    found = next((said for part, said in _MEANINGS if part in text.lower()), None)
    return f"{found} ({text})" if found else text.splitlines()[0]


def is_outage(error: BaseException) -> bool:
    """Whether the database itself is in trouble, rather than one statement being wrong."""
    if isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError | sa.exc.TimeoutError):
        return True
    damaged = isinstance(error, sa.exc.DatabaseError)
    return damaged and type(getattr(error, "orig", None)) is sqlite3.DatabaseError


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn an outage of the database `name` into StoreUnavailable; other errors pass."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
        if is_outage(error) or isinstance(error, sqlite3.Error):
            raise StoreUnavailable(f"the database {name}: {meaning(error)}") from error
        raise
