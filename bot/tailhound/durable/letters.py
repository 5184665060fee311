"""Outbox rows: claimed in a commit of their own before anything is sent, settled after.

An incident's own message has the part "". Posts in its thread are rows of their own, which wait
until that message stands.

A row is `pending`, `sending` (claimed by one boot), `sent`, or `broken` (refused for good). When
`wanted_revision` grows past `sent_revision` it is pending again, so changes of one incident that
nobody has sent yet are sent as one.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from tailhound.durable.arrivals import clean
from tailhound.durable.asking import Place
from tailhound.durable.claims import Claim
from tailhound.durable.delays import REASON_LENGTH, delay_others, delayed_by, lost_posts
from tailhound.durable.due import DUE, FARTHEST_SECONDS, HERE, IN_ORDER
from tailhound.model import Incident, Outlook
from tailhound.notifiers import STORM, Delivery, Later, Like, Posted, Refusal, Storm
from tailhound.store.finding import newest_of_cause
from tailhound.store.posts import CAN_BE_SENT, OWN_PARTS, WITH_OWN
from tailhound.store.records import read_whole
from tailhound.store.tables import incident, outbox

REVIVED_SECONDS = 24 * 3600.0
LEFT = "left"
"""The state of a row that nobody can send (`durable.leftover`)."""
_UNSENDABLE = outbox.c.state.in_(("broken", LEFT))


_LENGTHS = {"state": 10, "message": 200, "thread": 40, "seen": 64, "error": 2_000,
            "delayed_by": REASON_LENGTH}  # fmt: skip
"""Characters of what a notifier answers that are kept; it is text from outside."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A claimed row: what is delivered, and the revision that it shows."""

    claim: Claim
    delivery: Delivery
    revision: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for one place: rows that are due or will be, and the soonest time of any."""

    count: int
    soonest: float | None


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


def claim(connection: sa.Connection, place: Place, boot: str, now: datetime) -> Claim | None:
    """Take the most pressing row of a place: first posts and verdicts before progress."""
    where = {"notifier": place.notifier, "place": place.place, "now": now.timestamp()}
    row = connection.execute(DUE, where).first()
    if row is None:
        return None
    connection.execute(_CLAIM, {"row_id": row.id, "owner": boot})
    return Claim(
        id=row.id,
        incident_id=row.incident_id,
        place=row.place,
        message=row.message,
        attempt=row.attempt + 1,
        unsure=row.unsure,
        lost=row.lost,
        part=row.part,
        thread=row.thread if row.part in OWN_PARTS else row.own_thread or row.own_message,
        mention=row.mention,
        seen=row.seen,
        posted_at=row.posted_at,
        delayed_by=row.delayed_by,
        wanted=row.wanted_revision,
        urgent=row.urgent,
    )


def opened(
    connection: sa.Connection,
    claimed: Claim,
    storm_of: Callable[[Incident], Storm] | None = None,
    instead_of: tuple[str, ...] = (),
) -> Letter:
    """What a claimed row delivers, in its newest state; ValueError when it can't be read.

    `storm_of` tells of the storm that began with an incident.
    """
    found = read_whole(connection, claimed.incident_id)
    if found is None:
        raise ValueError(f"there is no incident {claimed.incident_id}")
    delivery = Delivery(
        id=claimed.id,
        incident=found,
        place=claimed.place,
        message=claimed.message,
        attempt=claimed.attempt,
        unsure=claimed.unsure,
        lost_posts=claimed.lost,
        part=claimed.part,
        thread=claimed.thread,
        mention=claimed.mention,
        seen=claimed.seen,
        storm=storm_of(found) if storm_of and claimed.part == STORM else None,
        posted_at=claimed.posted_at,
        delayed_by=claimed.delayed_by,
        urgent=claimed.urgent,
        instead_of=instead_of,
        like=None if claimed.part else _like(connection, found),
    )
    return Letter(claimed, delivery, claimed.wanted if delivery.storm else found.revision)


def _like(connection: sa.Connection, given: Incident) -> Like | None:
    """An earlier incident of the cause that was found."""
    if given.diagnosis is None or given.diagnosis.outlook is not Outlook.CAUSE_FOUND:
        return None
    wanted = newest_of_cause(given)
    row = None if wanted is None else connection.execute(wanted).first()
    if row is None:
        return None
    return Like(id=row.id, at=datetime.fromtimestamp(row.received_at, UTC), cause=row.runbook)


def settle(
    connection: sa.Connection,
    letter: Letter,
    result: Posted | Later | Refusal,
    boot: str,
    now: datetime,
) -> None:
    """Write what came of a delivery. It changes nothing when the row is no longer ours."""
    if isinstance(result, Posted):
        _settle(connection, letter.claim, boot, _posted(letter, result, now))
        return
    if isinstance(result, Later):
        values = {
            "state": "pending",
            "not_before": now.timestamp() + min(max(result.seconds, 0.0), FARTHEST_SECONDS),
            "unsure": letter.claim.unsure or result.unsure,
            "lost": lost_posts(letter.claim, result),
            "error": result.why,
            "delayed_by": delayed_by(letter.claim, result.why),
        }
        is_ours = _settle(connection, letter.claim, boot, values)
    else:
        is_ours = give_up(connection, letter.claim, boot, result.why)
    if is_ours and result.why and not result.only_this:
        delay_others(connection, letter.claim, result.why)


def give_up(connection: sa.Connection, claimed: Claim, boot: str, why: str) -> bool:
    """Leave a claimed row to a person: `why` names what must be done. False when it is not ours."""
    values = {"state": "broken", "urgent": False, "error": why}
    return _settle(connection, claimed, boot, {**values, "delayed_by": delayed_by(claimed, why)})


def _settle(
    connection: sa.Connection, claimed: Claim, boot: str, values: Mapping[str, object]
) -> bool:
    """Whether the row was ours, and so was written."""
    texts = {k: clean(v)[: _LENGTHS[k]] for k, v in values.items() if isinstance(v, str)}
    mine = sa.update(outbox).where(*_MINE).values({**values, **texts})
    return connection.execute(mine, {"row_id": claimed.id, "owner": boot}).rowcount > 0


def _posted(letter: Letter, result: Posted, now: datetime) -> dict[str, object]:
    newer = outbox.c.wanted_revision > letter.revision
    is_first = bool(result.message) and not letter.claim.message
    kept = {"thread": ""} if result.loose else {}  # what hangs in its thread hangs on itself now
    return {
        **kept,
        "state": sa.case((newer, "pending"), else_="sent"),
        "urgent": sa.case((newer, outbox.c.urgent), else_=sa.false()),
        "message": result.message,
        "seen": result.seen,
        "posted_at": now.timestamp() if is_first else outbox.c.posted_at,
        "sent_revision": letter.revision,
        "attempt": 0,
        "not_before": 0.0,
        "unsure": False,
        "lost": 0,
        "error": "",
    }


def redraw(connection: sa.Connection, notifier: str) -> int:
    """The messages of open incidents are to be looked at again, although nothing has changed."""
    open_ = sa.select(incident.c.id).where(incident.c.is_open)
    result = connection.execute(
        sa.update(outbox)
        .where(
            outbox.c.notifier == notifier,
            outbox.c.part == "",
            outbox.c.state == "sent",
            outbox.c.incident_id.in_(open_),
        )
        .values(state="pending", not_before=0.0)
    )
    return result.rowcount


def take_over(connection: sa.Connection, living: Collection[str]) -> int:
    """Rows that a life was sending that is none of these are pending again, unsure; how many."""
    result = connection.execute(
        sa.update(outbox)
        .where(outbox.c.state == "sending", outbox.c.boot.not_in(sorted(living)))
        .values(
            state="pending",
            unsure=True,
            not_before=0.0,
            lost=outbox.c.lost + sa.case((outbox.c.message == "", 1), else_=0),
        )
    )
    return result.rowcount


def take_back(connection: sa.Connection, place: Place, boot: str) -> int:
    """Rows that this life claimed and does not know of are pending again, and unsure; how many.

    Only for the one sender of a place, between two deliveries: an answer of the database was lost.
    """
    result = connection.execute(
        sa.update(outbox)
        .where(
            outbox.c.notifier == place.notifier,
            outbox.c.place == place.place,
            outbox.c.state == "sending",
            outbox.c.boot == boot,
        )
        .values(state="pending", unsure=True)
    )
    return result.rowcount


def waiting(connection: sa.Connection, place: Place) -> Waiting:
    """What a place has to wait for."""
    count, soonest = connection.execute(
        sa.select(sa.func.count(), sa.func.min(sa.case((IN_ORDER, outbox.c.not_before))))
        .select_from(WITH_OWN)
        .where(*HERE, outbox.c.state == "pending", CAN_BE_SENT),
        {"notifier": place.notifier, "place": place.place},
    ).one()
    return Waiting(int(count), soonest)


def revive(connection: sa.Connection, place: Place, now: datetime, limit: int | None = None) -> int:
    """Refused rows are pending again, the newest first; how many. What nobody has heard of for
    REVIVED_SECONDS stays as it is: people would not know what to do with it."""
    fresh = incident.c.changed_at > now.timestamp() - REVIVED_SECONDS
    wanted = (
        sa.select(outbox.c.id)
        .join(incident, incident.c.id == outbox.c.incident_id)
        .where(
            outbox.c.notifier == place.notifier,
            outbox.c.place == place.place,
            _UNSENDABLE,
            fresh,
        )
        .order_by(outbox.c.id.desc())
        .limit(limit)
    )
    result = connection.execute(
        sa.update(outbox)
        .where(outbox.c.id.in_(wanted), _UNSENDABLE)
        .values(state="pending", not_before=0.0)
    )
    return result.rowcount
