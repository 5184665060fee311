"""Which outbox rows are an incident's own message, and which are posts that hang on one."""

import sqlalchemy as sa

from tailhound.store.tables import outbox

STORM_PART = "storm"
"""The part of a message that is about many incidents."""

OWN_PARTS = ("", STORM_PART)
"""The parts of rows that are messages of their own: an incident's, and that of a storm."""

OWN = outbox.alias("own")
"""The row of the message that a post hangs on."""

IS_OWN = outbox.c.part.in_(OWN_PARTS)
CAN_BE_SENT = sa.or_(IS_OWN, OWN.c.message != "")
"""A post in a thread needs the message that the thread hangs on."""


def of_the_same_message(other: sa.FromClause) -> sa.ColumnElement[bool]:
    """Whether another row is of the same incident in the same place."""
    return sa.and_(
        other.c.incident_id == outbox.c.incident_id,
        other.c.notifier == outbox.c.notifier,
        other.c.place == outbox.c.place,
    )


WITH_OWN = outbox.outerjoin(
    OWN, sa.and_(sa.not_(IS_OWN), of_the_same_message(OWN), OWN.c.part == "")
)
"""The rows, each post in a thread beside the message that it hangs on."""
