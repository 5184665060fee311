"""The stop switch: every full member may stop all changes, and it survives restarts.

A file does the same, for whoever reaches neither Slack nor the database: while it exists, nothing
is changed. What can't be read counts as stopped.

A command that Slack delivers twice, perhaps to another replica and after a newer one, moves nothing
the second time: the last hundred envelopes are remembered beside the switch.
"""

import hashlib
import json
from dataclasses import dataclass
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
    """

    by: str
    at: datetime | None
    why: str
    file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What a command did to the switch: how it stood before, and how it stands now; None = changes
    are not stopped. `known`: that very command had been done before, so nothing was moved.
    """

    before: Stopped | None
    now: Stopped | None
    known: bool = False


class Switch:
    """Reads and moves the switch; each function is one transaction. `file`: see `stopped_by`."""

    def __init__(self, desk: Desk, file: Path | None = None) -> None:
        self._desk, self._file = desk, file

    def stop(self, person: Person, why: str, envelope: str = "") -> Moved:
        """Stop all changes; where they are stopped already, the first word stands.

        `envelope` tells a second delivery of one command; "" = it can't come twice.
        """
        now = self._desk.boot.clock()
        with self._desk.database.writing() as connection:
            return stop(connection, person.name, why, now, envelope)

    def resume(self, envelope: str = "") -> Moved:
        """Let changes happen again; see `resume` below. `envelope` as for `stop`."""
        with self._desk.database.writing() as connection:
            return resume(connection, self._file, envelope)

    def state(self) -> Stopped | None:
        """Whether changes are stopped."""
        with self._desk.database.reading() as connection:
            return stopped(connection, self._file)


def stop(connection: sa.Connection, by: str, why: str, now: datetime, envelope: str = "") -> Moved:
    """Stop all changes; where they are stopped already, the first word stands."""
    before = stopped(connection)
    if _is_known(connection, envelope):
        return Moved(before=before, now=before, known=True)
    if before is not None:
        return Moved(before=before, now=before)
    content = {"by": by[:200], "at": now.timestamp(), "why": why[:500]}
    connection.execute(sa.insert(meta).values(name=_NAME, value=json.dumps(content)))
    return Moved(before=None, now=Stopped(by=by, at=now, why=why))


def resume(connection: sa.Connection, file: Path | None = None, envelope: str = "") -> Moved:
    """Let changes happen again. While the stop file exists nothing is moved: who removes it does
    that."""
    before = stopped(connection, file)
    if _is_known(connection, envelope):
        return Moved(before=before, now=before, known=True)
    if before is not None and before.file:
        return Moved(before=before, now=before)
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
        at = datetime.fromtimestamp(float(row["at"]), UTC)
        return Stopped(by=str(row["by"]), at=at, why=str(row["why"]))
    except (ValueError, KeyError, TypeError, OverflowError):
        return Stopped(by="", at=None, why="the stop switch can't be read")


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
