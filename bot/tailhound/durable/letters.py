"""Outbox rows: claimed in a commit of their own before anything is sent, settled after.

A row is `pending`, `sending` (claimed by one boot), `sent`, or `broken` (refused for good). When
`wanted_revision` grows past `sent_revision` it is pending again, so changes of one incident that
nobody has sent yet are sent as one.
"""

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from tailhound.durable.asking import Place
from tailhound.notifiers import Delivery, Later, Posted, Refusal
from tailhound.store.records import read_whole
from tailhound.store.tables import outbox


@dataclass(frozen=True, slots=True)
class Letter:
    """A claimed row: what is delivered, and the revision that it shows."""

    delivery: Delivery
    revision: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for one place: rows that are due or will be, and the soonest time of any."""

    count: int
    soonest: float | None


_HERE = (
    outbox.c.notifier == sa.bindparam("notifier"),
    outbox.c.place == sa.bindparam("place"),
)
_DUE = (
    sa.select(outbox)
    .where(*_HERE, outbox.c.state == "pending", outbox.c.not_before <= sa.bindparam("now"))
    .order_by(sa.case((sa.or_(outbox.c.urgent, outbox.c.message == ""), 0), else_=1), outbox.c.id)
    .limit(1)
    .with_for_update(skip_locked=True)
)
_CLAIM = (
    sa.update(outbox)
    .where(outbox.c.id == sa.bindparam("row_id"), outbox.c.state == "pending")
    .values(state="sending", boot=sa.bindparam("owner"), attempt=outbox.c.attempt + 1)
)
_MINE = (
    outbox.c.id == sa.bindparam("row_id"),
    outbox.c.state == "sending",
    outbox.c.boot == sa.bindparam("owner"),
)


def claim(connection: sa.Connection, place: Place, boot: str, now: datetime) -> Letter | None:
    """Take the most pressing row of a place: first posts and verdicts before progress."""
    where = {"notifier": place.notifier, "place": place.place, "now": now.timestamp()}
    row = connection.execute(_DUE, where).first()
    if row is None:
        return None
    connection.execute(_CLAIM, {"row_id": row.id, "owner": boot})
    found = read_whole(connection, row.incident_id)
    if found is None:  # a foreign key forbids it
        raise LookupError(f"outbox row {row.id} names incident {row.incident_id}: not there")
    delivery = Delivery(
        id=row.id,
        incident=found,
        place=row.place,
        message=row.message,
        attempt=row.attempt + 1,
        unsure=row.unsure,
    )
    return Letter(delivery, found.revision)


def settle(
    connection: sa.Connection,
    letter: Letter,
    result: Posted | Later | Refusal,
    boot: str,
    now: datetime,
) -> None:
    """Write what came of a delivery. It changes nothing when the row is no longer ours."""
    if isinstance(result, Posted):
        values = _posted(letter, result)
    elif isinstance(result, Later):
        values = {
            "state": "pending",
            "not_before": now.timestamp() + max(result.seconds, 0.0),
            "unsure": letter.delivery.unsure or result.unsure,
            "error": result.why,
        }
    else:
        values = {"state": "broken", "urgent": False, "error": result.why}
    mine = sa.update(outbox).where(*_MINE).values(values)
    connection.execute(mine, {"row_id": letter.delivery.id, "owner": boot})


def _posted(letter: Letter, result: Posted) -> dict[str, object]:
    newer = outbox.c.wanted_revision > letter.revision
    return {
        "state": sa.case((newer, "pending"), else_="sent"),
        "urgent": sa.case((newer, outbox.c.urgent), else_=sa.false()),
        "message": result.message,
        "sent_revision": letter.revision,
        "attempt": 0,
        "not_before": 0.0,
        "unsure": False,
        "error": "",
    }


def take_over(connection: sa.Connection, boot: str) -> int:
    """Rows that an earlier life was sending are pending again, and unsure; how many.

    Only for a database that one process uses at a time.
    """
    result = connection.execute(
        sa.update(outbox)
        .where(outbox.c.state == "sending", outbox.c.boot != boot)
        .values(state="pending", unsure=True, not_before=0.0)
    )
    return result.rowcount


def waiting(connection: sa.Connection, place: Place) -> Waiting:
    """What a place has to wait for."""
    count, soonest = connection.execute(
        sa.select(sa.func.count(), sa.func.min(outbox.c.not_before)).where(
            *_HERE, outbox.c.state == "pending"
        ),
        {"notifier": place.notifier, "place": place.place},
    ).one()
    return Waiting(int(count), soonest)


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
