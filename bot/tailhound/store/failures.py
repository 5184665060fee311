"""What a failing database means in plain words, and what to do about it."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import sqlalchemy as sa

from tailhound.errors import StoreUnavailable

_PASSING = {
    "disk is full": "the disk is full: free some space on the file system that holds it",
    "no space left": "its disk is full: free some space on the server",
    "could not translate host": "its host has no address: check store.url",
    "failed to resolve host": "its host has no address: check store.url",
    "connection refused": "nobody answers there: is PostgreSQL running?",
    "timeout expired": "it gives no answer: check the network to it",
    "starting up": "it is starting, and will take connections soon",
    "shutting down": "it is being stopped",
    "too many clients": "it has no connection left: raise its max_connections",
    "remaining connection slots": "it has no connection left: raise its max_connections",
    "read-only transaction": "it takes no writes: store.url must lead to the primary server",
}
"""What a database says, and what it means; waiting may be all that these need."""

_LASTING = {
    "readonly database": "it is read-only: give the account of tailhound the right to write it",
    "unable to open": "it can't be opened: check that the directory exists and may be written",
    "locked": "another program has kept it locked for too long: find it with `fuser`, stop it",
    "malformed": "the file is damaged: stop tailhound and restore the last backup",
    "not a database": "the file is no SQLite database: move it away or name another one",
    "disk i/o error": "the disk reports an I/O error: look at the kernel log",
    "no such table": "its tables are missing: start `tailhound serve` once, which creates them",
    "password authentication failed": "the password is wrong: see store.password",
    "no password supplied": "it wants a password: set store.password",
    "no pg_hba.conf entry": "it lets nobody in from here: add a line to its pg_hba.conf",
    "permission denied": "the account may not do this: let it own the database",
    'role "': "there is no such account: create it, or correct store.url",
    'database "': "there is no such database: create it, or correct store.url",
    "relation": "its tables are missing: start `tailhound serve` once, which creates them",
}

_OUTAGES = ("25006", "25P03", "XX001", "XX002")
"""What PostgreSQL doesn't file under operation: read-only, a lost session, damaged data."""


def meaning(error: BaseException) -> str:
    """One sentence: what is wrong and what to do."""
    if isinstance(error, sa.exc.TimeoutError):
        return "all its connections have been busy for too long: the disk may be too slow"
    said = _said(error)
    text = said.splitlines()[0] if said else type(error).__name__
    found = _found(said, {**_PASSING, **_LASTING})
    return f"{found} ({text})" if found else text


def passes(error: BaseException) -> bool:
    """Whether waiting may be all that it needs."""
    return bool(_found(_said(error), _PASSING))


def lasts(error: BaseException) -> bool:
    """Whether somebody must mend it."""
    return not passes(error) and (is_outage(error) or bool(_found(_said(error), _LASTING)))


def is_outage(error: BaseException) -> bool:
    """Whether the database itself is in trouble, rather than one statement being wrong."""
    if isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError | sa.exc.TimeoutError):
        return True
    if not isinstance(error, sa.exc.DBAPIError):
        return False
    state = getattr(error.orig, "sqlstate", None)
    damaged = type(error.orig) is sqlite3.DatabaseError
    return error.connection_invalidated or state in _OUTAGES or damaged


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn an outage of the database `name` into StoreUnavailable; other errors pass."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
        if is_outage(error) or isinstance(error, sqlite3.Error):
            raise StoreUnavailable(f"the database {name}: {meaning(error)}") from error
        raise


def _said(error: BaseException) -> str:
    return str(getattr(error, "orig", None) or error).strip()


def _found(said: str, meanings: Mapping[str, str]) -> str:
    return next((means for part, means in meanings.items() if part in said.lower()), "")
