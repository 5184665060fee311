"""Incidents that turn out to be about the same workload become one: the later joins the earlier."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import sqlalchemy as sa

from tailhound.durable.asking import noted
from tailhound.durable.desk import Desk
from tailhound.durable.episodes import ALERTS_SHOWN, is_same
from tailhound.model import State
from tailhound.store import records
from tailhound.store.records import Record
from tailhound.store.tables import alert, incident


class Joining:
    """Lets incidents join."""

    def __init__(
        self, desk: Desk, told: Callable[[str, str], None] = lambda _id, _into: None
    ) -> None:
        """`told` hears, after the commit, which incident has joined which."""
        self._desk = desk
        self._told = told

    def join(self, id: str, key: str) -> str:
        """Let incidents of one workload become one: the later joins the earlier, by its id.

        Returns the id of the incident that this one has joined, "" when it goes on.
        """
        if not key:
            return ""
        now = self._desk.boot.clock()
        with self._desk.database.writing() as connection:
            mine = records.read(connection, id)
            if mine is None or not mine.is_open:
                return mine.incident.joined_into if mine else ""
            if mine.resolved_key != key:
                records.update(connection, [replace(mine, resolved_key=key)], now)
            others = records.read_where(
                connection,
                incident.c.is_open,
                sa.or_(incident.c.key == key, incident.c.resolved_key == key),
                incident.c.id != id,
                limit=1,
            )
            if not others:
                return ""
            first, second = sorted([mine, others[0]], key=_age)
            self._absorb(connection, first.incident.id, second, now)
        self._told(second.incident.id, first.incident.id)
        return first.incident.id if second.incident.id == id else ""

    def _absorb(self, connection: sa.Connection, into: str, record: Record, now: datetime) -> None:
        """Close an incident in favour of an earlier one, which gets its alerts."""
        it = record.incident
        connection.execute(
            sa.update(alert).where(alert.c.incident_id == it.id).values(incident_id=into)
        )
        self._desk.change(
            connection,
            it.id,
            lambda r: noted(
                replace(r, done=r.incident.n, waiting="").edited(
                    state=State.JOINED, joined_into=into, progress=None, asked_until=None
                ),
                now,
                f"It is the same workload as incident {into}: joined",
            ),
            urgent=True,
        )
        self._desk.change(
            connection,
            into,
            lambda r: noted(_taking(r, record), now, f"Incident {it.id} has joined: {it.name}"),
            urgent=False,
        )


def _age(record: Record) -> tuple[datetime, str]:
    return record.incident.received_at, record.incident.id


def _taking(record: Record, joining: Record) -> Record:
    """The record with the alerts of an incident that joins it, and with its silences."""
    other = joining.incident
    room = max(ALERTS_SHOWN - len(record.incident.alerts), 0)
    mine = record.incident.alerts
    more = [a for a in other.alerts if not any(is_same(a, b) for b in mine)]
    heard_at = max(record.heard_at, joining.heard_at)
    return replace(record, heard_at=heard_at).edited(
        alerts=(*record.incident.alerts, *more[:room]),
        truncated_alerts=record.incident.truncated_alerts + len(more[room:]),
        silences=(*record.incident.silences, *other.silences),
    )
