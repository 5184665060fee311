"""What keeps messages from being posted, as it is told in their last lines."""

import sqlalchemy as sa

from tailhound.durable.arrivals import clean
from tailhound.durable.claims import Claim
from tailhound.notifiers import Later
from tailhound.store.tables import outbox

REASON_LENGTH = 200
"""Characters of a reason that are kept."""


def delay_others(connection: sa.Connection, claimed: Claim, why: str) -> int:
    """What keeps one message from a place keeps the others that wait for it, untried; of how many
    that was news.

    A row that is being changed just now is passed over: it hears of it the next time. So two
    transactions never wait for each other's rows.
    """
    reason = clean(why)[:REASON_LENGTH]
    mine = outbox.alias("mine")
    notifier = sa.select(mine.c.notifier).where(mine.c.id == claimed.id).scalar_subquery()
    found = (
        sa.select(outbox.c.id)
        .where(
            outbox.c.notifier == notifier,
            outbox.c.place == claimed.place,
            outbox.c.state == "pending",
            outbox.c.part == "",
            outbox.c.message == "",
            outbox.c.delayed_by != reason,
        )
        .order_by(outbox.c.id)
        .with_for_update(of=outbox, skip_locked=True)
        .cte("found")
    )
    told = (
        sa.update(outbox)
        .where(outbox.c.id.in_(sa.select(found.c.id)))
        .values(delayed_by=reason)
        .returning(outbox.c.id)
    )
    return len(connection.execute(told).all())


def delayed_by(claimed: Claim, why: str) -> str:
    """What keeps a message from being posted: the last reason that was told."""
    return why if why and not claimed.message else claimed.delayed_by


def lost_posts(claimed: Claim, result: Later) -> int:
    """How many posts nobody answered, this one included. Who is unsure without a count has lost
    one, unless the row was unsure already: then perhaps only the looking failed."""
    if not result.unsure or claimed.message:
        return claimed.lost
    return max(claimed.lost, result.lost_posts, int(not claimed.unsure))
