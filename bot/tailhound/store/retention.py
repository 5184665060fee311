"""Deleting incidents that nobody will look at any more, with all that hangs on them.

Only what is over goes: resolved, joined into one that is over, or a body that could not be read. An
incident that is open stays however old it is, for its alert may still fire and be sent again.
"""

from typing import Any, Final

import sqlalchemy as sa

from tailhound.model import State
from tailhound.store.finding import is_muted
from tailhound.store.tables import (
    METADATA,
    UNREADABLE,
    body,
    incident,
    outbox,
    output,
    recording,
)

PAGE = 200
"""Rows that are deleted in one transaction, or a few more: intake waits for no more than that."""

AGED: Final = (output.c.asked_at, body.c.received_at, recording.c.asked_at)
"""The times of raw answers, webhook bodies and parts of recordings."""

_OTHER = incident.alias("other")
_OVER = sa.or_(
    incident.c.state.in_((State.RESOLVED.value, State.JOINED.value)),
    sa.and_(incident.c.state == State.FAILED.value, incident.c.key.startswith(UNREADABLE)),
)
_WAITS = sa.exists().where(
    outbox.c.incident_id == incident.c.id,
    outbox.c.part == "",
    outbox.c.state.in_(("pending", "sending")),
)
"""Its message is still to be sent. What a storm held back, what was refused and what nobody can
send is not, nor is a post in a thread whose message was refused.
"""
_JOINED = incident.c.id.in_(sa.select(_OTHER.c.joined_into).where(_OTHER.c.joined_into != ""))
_GOES_ON = incident.c.joined_into.in_(sa.select(_OTHER.c.id).where(_OTHER.c.is_open))
"""Its alerts are followed into an incident that is still open."""

_OLD = (
    sa.select(incident.c.id)
    .where(
        incident.c.received_at < sa.bindparam("before"),
        incident.c.changed_at < sa.bindparam("before"),
        incident.c.done >= incident.c.n,
        _OVER,
        ~_WAITS,
        ~is_muted(sa.bindparam("before")),
        ~_JOINED,
        ~_GOES_ON,
    )
    .order_by(incident.c.received_at)
    .limit(sa.bindparam("at_most"))
    .with_for_update()
)


def forget_incidents(connection: sa.Connection, before: float, at_most: int = PAGE) -> int:
    """Delete incidents that are over and did not change since `before` (Unix seconds); how many.

    One that others have joined goes after them, so call it until nothing is left.
    """
    found = connection.execute(_OLD, {"before": before, "at_most": at_most})
    ids = list(found.scalars())
    if not ids:
        return 0
    for table in METADATA.sorted_tables:
        for key in table.foreign_keys:
            if key.column is incident.c.id:
                connection.execute(sa.delete(table).where(key.parent.in_(ids)))
    return connection.execute(sa.delete(incident).where(incident.c.id.in_(ids))).rowcount


def forget_rows(connection: sa.Connection, time: sa.Column[Any], before: float) -> int:
    """Delete the oldest rows of a table whose `time` (Unix seconds) is before that; how many.

    At most a page, and what is as old as its last row: call it until nothing is left.
    """
    old = sa.select(time).where(time < before).order_by(time)
    last = connection.execute(old.offset(PAGE - 1).limit(1)).scalar()
    is_old = time < before if last is None else time <= last
    return connection.execute(sa.delete(time.table).where(is_old)).rowcount
