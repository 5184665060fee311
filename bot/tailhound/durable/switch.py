"""The stop switch: every full member may stop all changes, and it survives restarts.

A file does the same, for whoever reaches neither Slack nor the database: while it exists, nothing
is changed. What can't be read counts as stopped.

A command that Slack delivers twice, perhaps to another replica and after a newer one, moves nothing
the second time: the last hundred envelopes are remembered beside the switch. Who resumes has seen
one stop and ends no other: not one that was set, or asked for once more, after they had typed.
"""

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from tailhound.durable.acts import Person
from tailhound.durable.desk import Desk
from tailhound.store.tables import meta

_NAME = "stop"
_SEEN = "stop:seen"
_REMEMBERED = 100
_WHY_BYTES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """All changes are stopped: by whom, since when, why. `at` None = that can't be read.

    `file` is the path of the file that stops them, which is to be removed; "" = somebody did it.
    `again` is who asked for the same last, where that was not the first.
    """

    by: str
    at: datetime | None
    why: str
    file: str = ""
    again: "Again | None" = None


@dataclass(frozen=True, slots=True)
class Again:
    """Who stopped what was stopped already, when, and how often that has happened."""

    by: str
    at: datetime
    times: int


@dataclass(frozen=True, slots=True)
class Seen:
    """How the switch stood when somebody typed `resume`; None = nothing was stopped."""

    stands: Stopped | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What a command did to the switch: how it stood before, and how it stands now; None = changes
    are not stopped. `known`: that very command had been done before, so nothing was moved. `newer`:
    nothing was moved, for the stop is not the one that had been seen.
    """

    before: Stopped | None
    now: Stopped | None
    known: bool = False
    newer: bool = False


class Switch:
    """Reads and moves the switch; each function is one transaction. `file`: see `stopped_by`."""

    def __init__(self, desk: Desk, file: Path | None = None) -> None:
        self._desk, self._file = desk, file

    def stop(self, person: Person, why: str, envelope: str = "") -> Moved:
        """Stop all changes; where they are stopped already, the first word stands, and the new one
        is noted beside it.

        `envelope` tells a second delivery of one command; "" = it can't come twice.
        """
        now = self._desk.boot.clock()
        with self._desk.database.writing() as connection:
            return stop(connection, person.name, why, now, envelope)

    def resume(self, envelope: str = "", seen: Seen | None = None) -> Moved:
        """Let changes happen again; see `resume` below. `envelope` as for `stop`."""
        with self._desk.database.writing() as connection:
            return resume(connection, self._file, envelope, seen)

    def state(self) -> Stopped | None:
        """Whether changes are stopped."""
        with self._desk.database.reading() as connection:
            return stopped(connection, self._file)


def stop(connection: sa.Connection, by: str, why: str, now: datetime, envelope: str = "") -> Moved:
    """Stop all changes; where they are stopped already, the first word stands."""
    before = stopped(connection)
    by, why = by[:200], why[:500]
    if _is_known(connection, envelope):
        return Moved(before=before, now=before, known=True)
    if before is not None:
        return Moved(before=before, now=_again(connection, before, by, now))
    content = {"by": by, "at": now.timestamp(), "why": why}
    connection.execute(sa.insert(meta).values(name=_NAME, value=json.dumps(content)))
    return Moved(before=None, now=Stopped(by=by, at=now, why=why))


def _again(connection: sa.Connection, stands: Stopped, by: str, now: datetime) -> Stopped:
    """Note that somebody stopped what is stopped; one that can't be read begins anew."""
    again = Again(by, now, stands.again.times + 1 if stands.again else 1)
    stands = replace(stands, again=again) if stands.at else Stopped(by=by, at=now, why=stands.why)
    content: dict[str, object] = {"by": stands.by, "at": (stands.at or now).timestamp()}
    content |= {"why": stands.why}
    if stands.again:
        content["again"] = {"by": by, "at": now.timestamp(), "times": again.times}
    row = sa.update(meta).where(meta.c.name == _NAME)
    connection.execute(row.values(value=json.dumps(content)))
    return stands


def resume(
    connection: sa.Connection,
    file: Path | None = None,
    envelope: str = "",
    seen: Seen | None = None,
) -> Moved:
    """Let changes happen again. While the stop file exists nothing is moved: who removes it does
    that. With `seen`, only that stop is ended, and not if it was asked for once more since."""
    before = stopped(connection, file)
    if _is_known(connection, envelope):
        return Moved(before=before, now=before, known=True)
    if before is not None and before.file:
        return Moved(before=before, now=before)
    if before is not None and seen is not None and seen.stands != before:
        return Moved(before=before, now=before, newer=True)
    connection.execute(sa.delete(meta).where(meta.c.name == _NAME))
    return Moved(before=before, now=None)


def stopped_by(file: Path | None) -> Stopped | None:
    """Whether the stop file exists: since when it does, and its first line as the reason."""
    if file is None:
        return None
    by = f"the file {file.name}"
    try:
        at = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        why = f"{file} can't be looked at: {error.strerror}"
        return Stopped(by=by, at=None, why=why, file=str(file))
    try:
        with file.open("rb") as content:
            line = content.read(_WHY_BYTES).decode("utf-8", "replace").partition("\n")[0]
    except OSError:
        line = ""  # that it exists is enough
    return Stopped(by=by, at=at, why=line.strip(), file=str(file))


def stopped(connection: sa.Connection, file: Path | None = None) -> Stopped | None:
    """The switch as it stands, a stop file first; what can't be read counts as stopped."""
    if found := stopped_by(file):
        return found
    text = connection.execute(sa.select(meta.c.value).where(meta.c.name == _NAME)).scalar()
    if text is None:
        return None
    try:
        row = json.loads(text)
        at, again = _time(row["at"]), row.get("again")
        last = Again(str(again["by"]), _time(again["at"]), int(again["times"])) if again else None
        return Stopped(by=str(row["by"]), at=at, why=str(row["why"]), again=last)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return Stopped(by="", at=None, why="the stop switch can't be read")


def _time(seconds: object) -> datetime:
    return datetime.fromtimestamp(float(str(seconds)), UTC)


def _is_known(connection: sa.Connection, envelope: str) -> bool:
    """Whether the command of that envelope was done before; from now on it was.

    One transaction writes at a time, so no other replica does the same meanwhile.
    """
    if not envelope:
        return False
    digest = hashlib.sha256(envelope.encode("utf-8", "replace")).hexdigest()[:32]
    text = connection.execute(sa.select(meta.c.value).where(meta.c.name == _SEEN)).scalar()
    seen = (text or "").split()
    if digest in seen:
        return True
    value = " ".join([*seen, digest][-_REMEMBERED:])
    if text is None:
        connection.execute(sa.insert(meta).values({"name": _SEEN, "value": value}))
    else:
        connection.execute(sa.update(meta).where(meta.c.name == _SEEN).values(value=value))
    return False
