"""Waiting one's turn: in a storm more investigations are asked for than run at once."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from tailhound.durable.asking import Terms, noted
from tailhound.model import Queued, State
from tailhound.store.records import Record
from tailhound.store.tables import alert, incident

STORM_SECONDS = 60
"""How far back the alerts of a storm are counted."""

_ACTIVE = sa.select(sa.func.count()).where(incident.c.done < incident.c.n)
_ALERTS = sa.select(sa.func.count()).where(alert.c.changed_at > sa.bindparam("since"))


@dataclass(frozen=True, slots=True)
class Crowd:
    """How many investigations are asked for and have not ended, and how many alerts just came."""

    active: int
    alerts: int

    @classmethod
    def of(cls, connection: sa.Connection, now: datetime) -> "Crowd":
        """As the database has it."""
        active = connection.execute(_ACTIVE).scalar_one()
        since = now.timestamp() - STORM_SECONDS
        alerts = connection.execute(_ALERTS, {"since": since}).scalar_one()
        return cls(int(active), int(alerts))


def deferred(record: Record, crowd: Crowd, place: int, now: datetime, terms: Terms) -> Record:
    """The record of an investigation that is the `place`-th (from 1) of those that wait.

    When it starts is an upper bound: as if each of those before it took all of its time.
    """
    rounds = math.ceil(place / terms.incidents.concurrency)
    queued = Queued(
        place=place,
        incidents=crowd.active,
        alerts=crowd.alerts,
        seconds=STORM_SECONDS,
        starts_by=now + timedelta(seconds=rounds * terms.verdict_seconds),
    )
    return record.edited(state=State.DEFERRED, queued=queued)


def started(record: Record, now: datetime, terms: Terms) -> Record | None:
    """The record when its turn has come; None when it did not wait."""
    if record.incident.state is not State.DEFERRED:
        return None
    after = record.edited(
        state=State.INVESTIGATING,
        queued=None,
        verdict_by=now + timedelta(seconds=terms.verdict_seconds),
    )
    return noted(after, now, "Its turn has come: it is being checked")
