"""Which row of the outbox goes next.

First what people wait for: an incident's first message, a verdict. Posts in a thread come last, in
the order in which they were asked for, and once the message stands that they hang on. One that is
urgent does not wait for those before it. What did not get through last time goes behind what has
not been tried: else one message that its service chokes on would keep all others waiting, as its
place is left alone for just as long as it waits itself.
"""

import sqlalchemy as sa

from tailhound.store.posts import CAN_BE_SENT, IS_OWN, OWN, OWN_PARTS, WITH_OWN, of_the_same_message
from tailhound.store.tables import outbox

FARTHEST_SECONDS = 3600.0
"""No row waits longer for its next try; one that seems to was written before a clock was set back.
"""

HERE = (
    outbox.c.notifier == sa.bindparam("notifier"),
    outbox.c.place == sa.bindparam("place"),
)
_EARLIER = outbox.alias("earlier")
_EARLIER_WAITS = sa.exists().where(
    of_the_same_message(_EARLIER),
    _EARLIER.c.part.not_in(OWN_PARTS),
    _EARLIER.c.id < outbox.c.id,
    _EARLIER.c.message == "",
    _EARLIER.c.state.in_(("pending", "sending")),
)
IN_ORDER = sa.or_(IS_OWN, outbox.c.urgent, outbox.c.message != "", sa.not_(_EARLIER_WAITS))
"""Posts in one thread stand in the order in which they were asked for; edits need no order."""
_PRESSING = sa.or_(outbox.c.urgent, sa.and_(IS_OWN, outbox.c.message == ""))
_HAS_FAILED = sa.and_(outbox.c.error != "", outbox.c.attempt > 0)
DUE = (
    sa.select(
        outbox,
        OWN.c.message.label("own_message"),
        OWN.c.thread.label("own_thread"),
    )
    .select_from(WITH_OWN)
    .where(
        *HERE,
        outbox.c.state == "pending",
        sa.or_(
            outbox.c.not_before <= sa.bindparam("now"),
            outbox.c.not_before > sa.bindparam("now") + FARTHEST_SECONDS,
        ),
        CAN_BE_SENT,
        IN_ORDER,
    )
    .order_by(
        sa.case((_HAS_FAILED, 1), else_=0),
        sa.case((_PRESSING, 0), (IS_OWN, 1), else_=2),
        sa.case((_HAS_FAILED, outbox.c.not_before), else_=0.0),
        outbox.c.id,
    )
    .limit(1)
    .with_for_update(skip_locked=True, of=outbox)
)
