"""The stop switch: every full member may stop all changes, and it survives restarts.

A command that Slack delivers twice, perhaps to another replica and after a newer one, moves nothing
the second time: the last hundred envelopes are remembered beside the switch.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from tailhound.durable.acts import Person
from tailhound.durable.desk import Desk
from tailhound.store.tables import meta

_NAME = "stop"
_SEEN = "stop:seen"
_REMEMBERED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """All changes are stopped: by whom, since when, why. `at` None = the row can't be read."""

    by: str
    at: datetime | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What a command did to the switch: how it stood before, and how it stands now; None = changes
    are not stopped. `known`: that very command had been done before, so nothing was moved.
    """

    before: Stopped | None
    now: Stopped | None
    known: bool = False


class Switch:
    """Reads and moves the switch; each function is one transaction."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def stop(self, person: Person, why: str, envelope: str = "") -> Moved:
        """Stop all changes; where they are stopped already, the first word stands.

        `envelope` tells a second delivery of one command; "" = it can't come twice.
        """
        now = self._desk.boot.clock()
        with self._desk.database.writing() as connection:
            before = stopped(connection)
            if _is_known(connection, envelope):
                return Moved(before=before, now=before, known=True)
            if before is not None:
                return Moved(before=before, now=before)
            content = {"by": person.name[:200], "at": now.timestamp(), "why": why[:500]}
            row = {"name": _NAME, "value": json.dumps(content)}
            connection.execute(sa.insert(meta).values(row))
        return Moved(before=None, now=Stopped(by=person.name, at=now, why=why))

    def resume(self, envelope: str = "") -> Moved:
        """Let changes happen again. `envelope` as for `stop`."""
        with self._desk.database.writing() as connection:
            before = stopped(connection)
            if _is_known(connection, envelope):
                return Moved(before=before, now=before, known=True)
            connection.execute(sa.delete(meta).where(meta.c.name == _NAME))
        return Moved(before=before, now=None)

    def state(self) -> Stopped | None:
        """Whether changes are stopped."""
        with self._desk.database.reading() as connection:
            return stopped(connection)


def stopped(connection: sa.Connection) -> Stopped | None:
    """The switch as it stands; what can't be read counts as stopped."""
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
