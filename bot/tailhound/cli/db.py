"""`tailhound db status | upgrade`: the database, looked at beside a running serve, or brought up
to date while none runs."""

import argparse
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import urlsplit

from tailhound.errors import SettingsError
from tailhound.model.wording import count, day_clock, number
from tailhound.settings import Settings, load
from tailhound.store.beside import DatabaseState, state_of
from tailhound.store.database import open_database

DONE, FINDINGS = 0, 1


def run(args: argparse.Namespace) -> int:
    """Tell, or upgrade; exit code 1 when the tables are not those of this version."""
    settings = load(args.config)
    if args.what == "upgrade":
        return _upgrade(settings)
    state = state_of(settings.store.url, settings.store.secret())
    for name, told in rows(state, datetime.now(UTC)):
        sys.stdout.write(f"{name:<12} {told}\n")
    return DONE if state.tables == state.wanted else FINDINGS


def rows(state: DatabaseState, now: datetime) -> Iterator[tuple[str, str]]:
    """What is told of a database, by name."""
    yield "database", ", ".join(_where(state))
    yield "tables", _tables(state)
    if state.tables is not None:
        newest = f"; the newest {day_clock(state.newest, now)}" if state.newest else ""
        yield "incidents", f"{count(state.incidents)}, {state.open} open{newest}"


def _where(state: DatabaseState) -> Iterator[str]:
    if state.file is None:
        at = urlsplit(state.name)
        yield f"PostgreSQL, {at.hostname or 'local'}{at.path}"
        return
    yield f"SQLite, {state.file}"
    yield number(state.file.stat().st_size, "bytes")
    yield f"{number(shutil.disk_usage(state.file.parent).free, 'bytes')} free"


def _tables(state: DatabaseState) -> str:
    found = state.tables or "none yet"
    if state.tables == state.wanted:
        return f"{found}, up to date"
    if state.is_older:
        return f"{found}, this version works with {state.wanted}: `tailhound db upgrade`"
    return f"{found}, of a newer tailhound: this one knows {state.wanted}, install that one again"


def _upgrade(settings: Settings) -> int:
    """Bring the tables up to date. Other processes must not be using them."""
    url, password = settings.store.url, settings.store.secret()
    before = _version(url, password)
    open_database(url, password).close()
    after = _version(url, password)
    told = f"{after}, nothing to do" if before == after else f"{before or 'none'} -> {after}"
    sys.stdout.write(f"tables       {told}\n")
    return DONE


def _version(url: str, password: str) -> str | None:
    """The version of the tables; None without any, and without a database."""
    try:
        return state_of(url, password).tables
    except SettingsError:
        return None
