"""A storm: a channel that gets too many new messages has one for all further incidents.

The rows of those are `held`. The storm's own message is a row too, of the part `storm`, on the
first incident that it holds: it is claimed, sent and edited like any other. An incident gets its
own message after all once it is critical and its cause is confirmed, or when somebody opens it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from tailhound.durable.asking import Place, message_row
from tailhound.durable.due import HERE
from tailhound.model import PAGES, Incident
from tailhound.model.alert import BY_HAND
from tailhound.notifiers import STORM, Storm
from tailhound.store.records import chunks, raise_revision, read_whole
from tailhound.store.tables import alert, confirmed, incident, outbox

HELD = "held"
_HELD = {"state": HELD, "delayed_by": "many incidents at once"}
BACKLOG = 30
"""First posts that wait for one channel: at one a second they are 30 s late."""

WORST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Limits:
    """How many new messages a place takes in how many seconds."""

    messages: int
    seconds: float


_OWN = outbox.c.part == ""
_NEW = sa.and_(_OWN, outbox.c.message == "", outbox.c.unsure.is_(False), outbox.c.posted_at == 0)
_RELEASED = -1.0
"""`posted_at` of a row that is not to be held any more."""
_ON_ITS_WAY = sa.and_(
    outbox.c.message == "",
    sa.or_(
        outbox.c.state == "sending", sa.and_(outbox.c.state == "pending", outbox.c.unsure.is_(True))
    ),
)
_POSTED = sa.select(sa.func.count()).where(
    *HERE,
    sa.or_(outbox.c.posted_at.between(sa.bindparam("since"), sa.bindparam("until")), _ON_ITS_WAY),
    sa.or_(_OWN, outbox.c.part == STORM),
)
"""What is being posted, or may have been, counts too: by another replica, or before a kill."""
_WAITING = sa.select(sa.func.count()).where(*HERE, _NEW, outbox.c.state == "pending")
_IS_URGENT = sa.func.lower(incident.c.severity).in_(sorted(PAGES))
_IS_CONFIRMED = sa.exists().where(
    confirmed.c.incident_id == incident.c.id, confirmed.c.named.is_(True)
)
_IS_BY_HAND = sa.exists().where(
    alert.c.incident_id == incident.c.id, alert.c.fingerprint.startswith(BY_HAND, autoescape=True)
)
_LATEST = (
    sa.select(
        outbox.c.id,
        outbox.c.incident_id,
        outbox.c.state,
        outbox.c.sent_revision,
        outbox.c.wanted_revision,
    )
    .where(*HERE, outbox.c.part == STORM)
    .order_by(outbox.c.id.desc())
    .limit(1)
)
_EDIT = sa.update(outbox).values(
    state=sa.case((outbox.c.state == "sent", "pending"), else_=outbox.c.state)
)
_LAST_HELD = (
    sa.select(sa.func.max(incident.c.received_at))
    .join(outbox, outbox.c.incident_id == incident.c.id)
    .where(*HERE, outbox.c.state == HELD)
)
_NEWEST = (
    sa.select(sa.func.max(incident.c.revision))
    .join(outbox, outbox.c.incident_id == incident.c.id)
    .where(*HERE, outbox.c.state == HELD)
)


def hold(connection: sa.Connection, place: Place, limits: Limits, now: datetime) -> int:
    """Hold back the first posts that are too many for this place; how many.

    Those of critical incidents go through while less than BACKLOG wait; beyond, only those with a
    confirmed cause do. Those that somebody asked for always do: a person waits for them.
    """
    here = {"notifier": place.notifier, "place": place.place}
    since, until = now.timestamp() - limits.seconds, now.timestamp() + limits.seconds
    waiting = connection.execute(_WAITING, here).scalar_one()
    if not waiting:
        return 0
    posted = connection.execute(_POSTED, here | {"since": since, "until": until}).scalar_one()
    flooded = waiting > BACKLOG
    if posted < limits.messages and not flooded:
        return 0
    worst = sa.and_(_IS_URGENT, _IS_CONFIRMED) if flooded else _IS_URGENT
    spared = sa.or_(worst, _IS_BY_HAND)
    wanted = (
        sa.select(outbox.c.id, outbox.c.incident_id)
        .join(incident, incident.c.id == outbox.c.incident_id)
        .where(*HERE, _NEW, outbox.c.state == "pending", sa.not_(spared))
        .order_by(outbox.c.id)
        .offset(max(0, limits.messages - posted))
    )
    rows = connection.execute(wanted, here).all()
    if not rows:
        return 0
    _begin(connection, place, rows[0].incident_id, since)
    for chunk in chunks([row.id for row in rows]):
        connection.execute(sa.update(outbox).where(outbox.c.id.in_(chunk)).values(_HELD))
    return len(rows)


def _begin(connection: sa.Connection, place: Place, first: str, since: float) -> None:
    """Have a row for the storm's message: that of the storm that goes on, or a new one. A storm is
    over when nothing was held for as long as the limit looks back, or when its message was refused:
    what it held would be nowhere.
    """
    here = {"notifier": place.notifier, "place": place.place}
    last = connection.execute(_LAST_HELD, here).scalar()
    goes_on = last is not None and last > since
    latest = connection.execute(_LATEST, here).first() if goes_on else None
    if latest is not None and latest.state != "broken":
        return
    row = message_row(first, place, 0, part=STORM) | {"sent_revision": -1}
    connection.execute(sa.insert(outbox).values(row))


def refresh(connection: sa.Connection, place: Place) -> bool:
    """Let the storm's message be edited when one of its incidents has changed; whether it is."""
    here = {"notifier": place.notifier, "place": place.place}
    storm = connection.execute(_LATEST, here).first()
    newest = connection.execute(_NEWEST, here).scalar() if storm else None
    if storm is None or newest is None or newest <= storm.wanted_revision:
        return False
    connection.execute(_EDIT.where(outbox.c.id == storm.id).values(wanted_revision=newest))
    return True


def release(connection: sa.Connection, incident_id: str) -> int:
    """Let an incident have its own message after all; in how many places it was held."""
    return _let_go(connection, incident_id, _RELEASED)


def reconsider(connection: sa.Connection, incident_id: str) -> int:
    """Let it be judged once more whether an incident is held, for it has got worse; in how many
    places it was.
    """
    return _let_go(connection, incident_id, 0.0)


def _let_go(connection: sa.Connection, incident_id: str, posted_at: float) -> int:
    mine = (outbox.c.incident_id == incident_id, outbox.c.state == HELD)
    places = connection.execute(sa.select(outbox.c.notifier, outbox.c.place).where(*mine)).all()
    connection.execute(sa.update(outbox).where(*mine).values(state="pending", posted_at=posted_at))
    for notifier, place in places:
        here = {"notifier": notifier, "place": place}
        row = connection.execute(_LATEST, here).first()
        if row is not None:  # a new revision: it may be on its way as it was
            newer = raise_revision(connection)
            connection.execute(_EDIT.where(outbox.c.id == row.id).values(wanted_revision=newer))
    return len(places)


def is_urgent(severity: str) -> bool:
    """Whether an incident of this severity gets its own message once its cause is confirmed."""
    return severity.lower() in PAGES


def summary(connection: sa.Connection, place: Place, first: Incident, limits: Limits) -> Storm:
    """What the storm's message says that began with this incident."""
    since = first.received_at.timestamp() - limits.seconds
    here = {"notifier": place.notifier, "place": place.place, "since": since}
    is_held = sa.case((outbox.c.state == HELD, 1), else_=0)
    counts = connection.execute(
        sa.select(
            sa.func.count(),
            sa.func.coalesce(sa.func.sum(is_held), 0),
            sa.func.min(incident.c.received_at),
        )
        .select_from(outbox.join(incident, incident.c.id == outbox.c.incident_id))
        .where(*HERE, _OWN, incident.c.received_at > sa.bindparam("since")),
        here,
    ).one()
    return Storm(
        since=datetime.fromtimestamp(counts[2], UTC) if counts[2] else first.received_at,
        incidents=int(counts[0]),
        held=int(counts[1]),
        worst=_worst(connection, here),
    )


def _worst(connection: sa.Connection, here: dict[str, object]) -> tuple[Incident, ...]:
    rank = sa.case((_IS_URGENT, 0), (sa.func.lower(incident.c.severity) == "warning", 1), else_=2)
    ids = connection.execute(
        sa.select(incident.c.id)
        .join(outbox, outbox.c.incident_id == incident.c.id)
        .where(
            *HERE,
            outbox.c.state == HELD,
            incident.c.is_open,
            incident.c.received_at > sa.bindparam("since"),
        )
        .order_by(sa.case((_IS_CONFIRMED, 0), else_=1), rank, incident.c.received_at)
        .limit(WORST_SHOWN),
        here,
    ).scalars()
    return tuple(found for id in ids if (found := read_whole(connection, id)) is not None)
