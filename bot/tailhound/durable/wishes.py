"""Investigations that somebody asks for, and those that nobody runs."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

import sqlalchemy as sa

from tailhound.durable import storm
from tailhound.durable.acts import Click, Person, clicked
from tailhound.durable.asking import noted, put, task_of
from tailhound.durable.desk import Desk
from tailhound.durable.episodes import home
from tailhound.model import Incident, Recheck, State, telling
from tailhound.model.wording import day_clock
from tailhound.store import records
from tailhound.store.records import Record
from tailhound.store.tables import incident, investigation


@dataclass(frozen=True, slots=True)
class Stale:
    """An investigation that was asked for at `asked_at`, and has not ended."""

    id: str
    n: int
    asked_at: datetime


class Wishes:
    """What people and the sweep want from the investigations."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def recheck(self, id: str, by: str, envelope_id: str) -> bool | str:
        """Store a click, once, and ask for another investigation; False when it was known.

        Of what is over the verdict is kept: nothing is stored, and the answer is a sentence that
        says why. LookupError when there is no such incident.
        """
        now = self._desk.boot.clock()
        pressed = Click(incident=id, person=Person(by, by), envelope=envelope_id)
        with self._desk.database.writing() as connection:
            record = records.read(connection, id)
            if record is None:
                raise LookupError(f"there is no incident {id}")
            stands = home(record, lambda other: records.read(connection, other)).incident
            if why_not := _why_not(stands, now):
                return f"{why_not}; nothing is checked again."
            if clicked(connection, pressed, "re-check", now) is None:
                return False
            reason = f"re-check by {by}"[:200]

            def edit(record: Record) -> Record:
                check = Recheck(n=record.incident.n + 1, since=now, by=by)
                after = replace(record, waiting=reason).edited(recheck=check)
                return noted(after, now, f"Re-check asked for by {by}")

            self._desk.change(connection, stands.id, edit, urgent=True)
        return True

    def waiting(self, id: str) -> int | None:
        """The investigation of an incident that waits its turn in a storm; None when none does.

        The incident is given its own message, where it had only a row of the storm's.
        """
        with self._desk.database.writing() as connection:
            record = records.read(connection, id)
            if record is None:
                raise LookupError(f"there is no incident {id}")
            storm.release(connection, id)
            is_waiting = record.is_active and record.incident.state is State.DEFERRED
        return record.incident.n if is_waiting else None

    def stale(self, before: datetime, limit: int) -> tuple[Stale, ...]:
        """Investigations that have not ended, and were asked for before a moment."""
        asked_at = sa.func.coalesce(investigation.c.requested_at, incident.c.changed_at)
        wanted = (
            sa.select(incident.c.id, incident.c.n, asked_at.label("asked_at"))
            .outerjoin(
                investigation,
                sa.and_(
                    investigation.c.incident_id == incident.c.id,
                    investigation.c.n == incident.c.n,
                ),
            )
            .where(incident.c.done < incident.c.n, asked_at < before.timestamp())
            .order_by(asked_at)
            .limit(limit)
        )
        with self._desk.database.reading() as connection:
            rows = connection.execute(wanted).all()
        return tuple(
            Stale(row.id, row.n, datetime.fromtimestamp(row.asked_at, UTC)) for row in rows
        )

    def enqueue(self, id: str, n: int) -> bool:
        """Enqueue an investigation that no workflow stands for; False when it has ended."""
        desk = self._desk
        with desk.database.writing() as connection:
            record = records.read(connection, id)
            if record is None or record.incident.n != n or not record.is_active:
                return False
            there = sa.select(investigation.c.sha).where(
                investigation.c.incident_id == id, investigation.c.n == n
            )
            sha = connection.execute(there).scalar()
            if sha is None:
                begun = [(record, "found without a workflow")]
                put(connection, begun, desk.boot.clock(), desk.terms(), desk.enqueue)
            else:
                desk.enqueue(connection, task_of(record, sha))
        return True


def _why_not(incident: Incident, now: datetime) -> str:
    """Why there is nothing to check again; "" where there is."""
    if incident.unreadable:
        return "What came can't be read as an alert"
    if incident.state is State.JOINED:
        return f"It has joined {incident.joined_into}, which is not here any more"
    if incident.state is not State.RESOLVED:
        return ""
    at = incident.resolved_at
    return f"It is over ({telling.ended(incident)} {day_clock(at, now)})" if at else "It is over"
