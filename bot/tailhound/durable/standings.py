"""What is told of the outbox: how each place stands, and what waits for a person."""

from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from tailhound.durable.asking import Place
from tailhound.store.posts import CAN_BE_SENT, IS_OWN, WITH_OWN
from tailhound.store.tables import incident, outbox


@dataclass(frozen=True, slots=True)
class Standing:
    """How one place stands: rows that wait, those of them that failed before, those that were
    refused and wait for a person, and what was said last.
    """

    place: Place
    waiting: int
    late: int
    refused: int
    why: str


def standing(connection: sa.Connection) -> tuple[Standing, ...]:
    """How all places stand, in order of their names."""
    waits = sa.and_(outbox.c.state.in_(("pending", "sending")), CAN_BE_SENT)
    failed = outbox.c.error != ""
    rows = connection.execute(
        sa.select(
            outbox.c.notifier,
            outbox.c.place,
            _count_if(waits),
            _count_if(sa.and_(waits, failed)),
            _count_if(outbox.c.state == "broken"),
            sa.func.max(sa.case((failed, outbox.c.id))),
        )
        .select_from(WITH_OWN)
        .group_by(outbox.c.notifier, outbox.c.place)
        .order_by(outbox.c.notifier, outbox.c.place)
    ).all()
    last = [row[5] for row in rows if row[5] is not None]
    said = connection.execute(
        sa.select(outbox.c.id, outbox.c.error).where(outbox.c.id.in_(last))
    ).all()
    errors = {row.id: row.error for row in said}
    return tuple(
        Standing(Place(row[0], row[1]), row[2], row[3], row[4], errors.get(row[5], ""))
        for row in rows
    )


def _count_if(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.coalesce(sa.func.sum(sa.case((condition, 1), else_=0)), 0)


def broken(connection: sa.Connection) -> tuple[tuple[Place, str, int], ...]:
    """What was refused for good: place, what a person must do, how many incidents."""
    rows = connection.execute(
        sa.select(outbox.c.notifier, outbox.c.place, outbox.c.error, sa.func.count())
        .where(outbox.c.state == "broken")
        .group_by(outbox.c.notifier, outbox.c.place, outbox.c.error)
        .order_by(outbox.c.notifier, outbox.c.place, outbox.c.error)
    )
    return tuple(
        (Place(notifier, place), error, int(count)) for notifier, place, error, count in rows
    )


def late_since(connection: sa.Connection, notifier: str) -> datetime | None:
    """When the oldest news changed that a notifier has not shown and people wait for; None = there
    is none. Edits that are put off to keep a service's limits are not waited for.
    """
    pressing = sa.or_(outbox.c.urgent, sa.and_(outbox.c.message == "", IS_OWN))
    oldest = connection.execute(
        sa.select(sa.func.min(incident.c.changed_at))
        .select_from(WITH_OWN.join(incident, incident.c.id == outbox.c.incident_id))
        .where(
            outbox.c.notifier == notifier,
            outbox.c.state.in_(("pending", "sending")),
            CAN_BE_SENT,
            pressing,
        )
    ).scalar()
    return None if oldest is None else datetime.fromtimestamp(oldest, UTC)
