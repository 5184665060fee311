"""Incidents of which nothing is heard any more: they count as over, and say so.

Alertmanager sends no end for what is silenced, and none for what it forgot with its disk. Without
this such an incident would stay open for ever, and take in whatever comes years later.
"""

from datetime import datetime, timedelta

import sqlalchemy as sa

from tailhound.durable.desk import Desk
from tailhound.durable.episodes import last_heard, unheard_now
from tailhound.durable.occurrences import Firing, end_all
from tailhound.model import Alert, State
from tailhound.settings import Incidents
from tailhound.store.records import Record
from tailhound.store.tables import incident, silence

AT_ONCE = 100

_IS_MUTED = sa.exists().where(
    silence.c.incident_id == incident.c.id,
    silence.c.state.in_(("asked", "setting", "set")),
    silence.c.until > sa.bindparam("before"),
)
_QUIET = (
    sa.select(incident.c.id)
    .where(
        incident.c.is_open,
        incident.c.heard_at < sa.bindparam("before"),
        incident.c.done >= incident.c.n,
        incident.c.state != State.MITIGATING.value,
        ~_IS_MUTED,
    )
    .order_by(incident.c.heard_at)
    .limit(AT_ONCE)
)


SKEW = timedelta(minutes=10)
"""The least window: starts of one alert that two senders tell differ by less."""


def window_of(settings: Incidents) -> timedelta:
    """How long an alert counts as part of the same story."""
    return max(timedelta(minutes=settings.reopen_minutes), SKEW)


def is_old(record: Record, now: datetime, settings: Incidents) -> bool:
    """Whether a verdict stands that is older than the window."""
    by = record.incident.verdict_by
    is_told = record.incident.state is State.DIAGNOSED
    return is_told and by is not None and now - by > window_of(settings)


def is_unheard(
    record: Record, fired: Alert, firing: Firing, now: datetime, settings: Incidents
) -> bool:
    """Whether an open incident must have ended without anybody saying so, when an alert fires.

    Nothing was heard of it for very long; or only this alert fires in it, it was not heard of in
    the window, and its start is so much later now that it ended in between.
    """
    quiet, window = now - last_heard(record), window_of(settings)
    if record.incident.state is State.MITIGATING or record.is_active:
        return False
    if settings.unheard_hours and quiet > timedelta(hours=settings.unheard_hours):
        return True
    is_later = firing.is_all_before(record.incident.id, fired, window.total_seconds())
    return quiet > window and is_later


def close_unheard(desk: Desk) -> tuple[str, ...]:
    """End the open incidents of which nothing was heard for `unheard_hours`; their ids."""
    now, hours = desk.boot.clock(), desk.terms().incidents.unheard_hours
    if not hours:
        return ()
    before = now - timedelta(hours=hours)
    with desk.database.reading() as connection:
        ids = tuple(connection.execute(_QUIET, {"before": before.timestamp()}).scalars())
    return tuple(id for id in ids if _closed(desk, id, before, now))


def _closed(desk: Desk, id: str, before: datetime, now: datetime) -> bool:
    """End one of them, unless something was heard of it meanwhile."""

    def edit(record: Record) -> Record | None:
        is_quiet = record.is_open and not record.is_active and last_heard(record) < before
        return unheard_now(record, now) if is_quiet else None

    with desk.database.writing() as connection:
        after = desk.change(connection, id, edit, urgent=False)
        if after is not None:
            end_all(connection, id, after.heard_at)
    return after is not None
