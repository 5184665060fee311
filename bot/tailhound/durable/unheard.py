"""Incidents of which nothing is heard any more: they count as over, and say so.

Alertmanager sends no end for what is silenced, and none for what it forgot with its disk. Without
this such an incident would stay open for ever, and take in whatever comes years later.
"""

from datetime import datetime, timedelta

import sqlalchemy as sa

from tailhound.durable.desk import Desk
from tailhound.durable.episodes import unheard_now
from tailhound.durable.hearing import Ear, Hearing, repeats_within
from tailhound.durable.occurrences import Firing, end_all
from tailhound.model import Alert, State
from tailhound.settings import Incidents
from tailhound.store.finding import is_muted
from tailhound.store.records import Record
from tailhound.store.tables import incident

AT_ONCE = 100

_QUIET = (
    sa.select(incident.c.id)
    .where(
        incident.c.is_open,
        incident.c.heard_at < sa.bindparam("before"),
        incident.c.done >= incident.c.n,
        incident.c.state != State.MITIGATING.value,
        ~is_muted(sa.bindparam("before")),
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
    record: Record, fired: Alert, firing: Firing, hearing: Hearing, settings: Incidents
) -> bool:
    """Whether an open incident must have ended without anybody saying so, when an alert fires.

    Nothing was heard of it for very long; or only this alert fires in it, not even a repeat came
    where one was due, and its start is so much later now that it ended in between.
    """
    if _is_unheard(record, hearing, settings):
        return True
    window = window_of(settings)
    longer = max(window, repeats_within(settings))
    return hearing.is_quiet(record, longer, settings) and firing.is_all_before(
        record.incident.id, fired, window.total_seconds()
    )


def _is_unheard(record: Record, hearing: Hearing, settings: Incidents) -> bool:
    hours = settings.unheard_hours
    return hours > 0 and hearing.is_quiet(record, timedelta(hours=hours), settings)


def close_unheard(desk: Desk, ear: Ear) -> tuple[str, ...]:
    """End the open incidents of which nothing was heard for `unheard_hours`; their ids."""
    settings, hearing = desk.terms().incidents, ear.hearing(desk.boot.clock())
    if not settings.unheard_hours:
        return ()
    before = hearing.now - timedelta(hours=settings.unheard_hours)
    with desk.database.reading() as connection:
        ids = tuple(connection.execute(_QUIET, {"before": before.timestamp()}).scalars())
    return tuple(id for id in ids if _closed(desk, id, hearing))


def _closed(desk: Desk, id: str, hearing: Hearing) -> bool:
    """End one of them, unless something was heard of it meanwhile."""
    settings = desk.terms().incidents

    def edit(record: Record) -> Record | None:
        is_over = _is_unheard(record, hearing, settings)
        return unheard_now(record, hearing.now) if is_over else None

    with desk.database.writing() as connection:
        after = desk.change(connection, id, edit, urgent=False)
        if after is not None:
            end_all(connection, id, after.heard_at)
    return after is not None
