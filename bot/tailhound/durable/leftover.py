"""What waits for places that the settings name no more.

A place whose notifier is still there is served on: messages stand in it that are to be edited, and
what waits goes where it was to go. Where it refuses, the first place of that notifier has it. What
waits for a notifier that is gone can be sent by nobody: it is `left`, and is tried again, like what
was refused, by a process that has such a notifier.
"""

from collections.abc import Collection

import sqlalchemy as sa

from tailhound.durable.asking import Place
from tailhound.durable.letters import LEFT
from tailhound.store.tables import incident, outbox

_UNSENT = outbox.c.state.in_(("pending", "sending"))
_PLACES = (
    sa.select(outbox.c.notifier, outbox.c.place)
    .join(incident, incident.c.id == outbox.c.incident_id)
    .where(sa.or_(_UNSENT, sa.and_(outbox.c.part == "", incident.c.is_open)))
    .distinct()
)


def places(connection: sa.Connection, known: Collection[Place]) -> tuple[Place, ...]:
    """The places with something to send, now or when an open incident changes, that are not among
    the known ones, though their notifier is.
    """
    notifiers = {place.notifier for place in known}
    found = {Place(row.notifier, row.place) for row in connection.execute(_PLACES)}
    return tuple(
        sorted(
            (place for place in found - set(known) if place.notifier in notifiers),
            key=lambda place: (place.notifier, place.place),
        )
    )


def leave(connection: sa.Connection, notifiers: Collection[str]) -> int:
    """Leave what waits for notifiers that are none of these; how many rows that are."""
    left = (
        sa.update(outbox)
        .where(
            outbox.c.state.in_(("pending", "broken", "held")),
            outbox.c.notifier.not_in(sorted(notifiers)),
        )
        .values(state=LEFT, error="the settings have no such notifier any more")
    )
    return connection.execute(left).rowcount
