"""How much there is of what, for gauges and the state line."""

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from tailhound.model import State
from tailhound.store.database import Database
from tailhound.store.posts import CAN_BE_SENT, WITH_OWN
from tailhound.store.tables import UNREADABLE, incident, outbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Incidents by state, and how many of the failed ones stand for a body that can't be read;
    messages that wait, for how many seconds the oldest of them does, and those that were refused
    and wait for a person. A post in a thread counts once the thread's own message stands, and an
    incident that a storm's message tells of does not wait.
    """

    incidents: dict[State, int]
    unreadable: int
    waiting: int
    refused: int
    oldest_seconds: float


def count(database: Database, now: datetime) -> Counted:
    """What the database holds now; StoreUnavailable when it gives no answer."""
    by_state = sa.select(incident.c.state, sa.func.count()).group_by(incident.c.state)
    waiting = (
        sa.select(sa.func.count(), sa.func.min(incident.c.changed_at))
        .select_from(WITH_OWN.join(incident, incident.c.id == outbox.c.incident_id))
        .where(
            outbox.c.wanted_revision > outbox.c.sent_revision,
            outbox.c.state.in_(("pending", "sending")),
            CAN_BE_SENT,
        )
    )
    refused = sa.select(sa.func.count()).where(outbox.c.state == "broken")
    raw = sa.select(sa.func.count()).where(
        incident.c.state == State.FAILED.value, incident.c.key.startswith(UNREADABLE)
    )
    with database.reading() as connection:
        states = {State(name): int(number) for name, number in connection.execute(by_state)}
        number, since = connection.execute(waiting).one()
        broken = connection.execute(refused).scalar_one()
        unreadable = connection.execute(raw).scalar_one()
    oldest = max(0.0, now.timestamp() - since) if since is not None else 0.0
    return Counted(
        incidents=states,
        unreadable=int(unreadable),
        waiting=int(number),
        refused=int(broken),
        oldest_seconds=oldest,
    )
