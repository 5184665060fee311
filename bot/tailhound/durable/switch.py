"""The stop switch: every full member may stop all changes, and it survives restarts."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from tailhound.durable.acts import Person
from tailhound.durable.desk import Desk
from tailhound.store.tables import meta

_NAME = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """All changes are stopped: by whom, since when, why. `at` None = the row can't be read."""

    by: str
    at: datetime | None
    why: str


class Switch:
    """Reads and moves the switch; each function is one transaction."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def stop(self, person: Person, why: str) -> Stopped:
        """Stop all changes; where they are stopped already, the first word stands."""
        now = self._desk.boot.clock()
        with self._desk.database.writing() as connection:
            standing = stopped(connection)
            if standing is not None:
                return standing
            content = {"by": person.name[:200], "at": now.timestamp(), "why": why[:500]}
            row = {"name": _NAME, "value": json.dumps(content)}
            connection.execute(sa.insert(meta).values(row))
        return Stopped(by=person.name, at=now, why=why)

    def resume(self) -> Stopped | None:
        """Let changes happen again; what stood until now, None = nothing was stopped."""
        with self._desk.database.writing() as connection:
            standing = stopped(connection)
            connection.execute(sa.delete(meta).where(meta.c.name == _NAME))
        return standing

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
