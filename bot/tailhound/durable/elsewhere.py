"""What becomes of incidents that their own place can't show: another place has them.

A place that refuses for good hands on to the next in its row: a channel to the fallback channel,
that one to the second way out. One that does not get through for long hands on to the second way
out what people wait for. What was handed on is followed there to its end, whatever the first place
does later.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import sqlalchemy as sa

from tailhound.durable.asking import Place, message_row
from tailhound.durable.claims import Claim
from tailhound.durable.letters import REVIVED_SECONDS
from tailhound.durable.storm import HELD
from tailhound.notifiers import PARTS, Later, Posted, Refusal
from tailhound.store.records import chunks
from tailhound.store.tables import incident, outbox

AT_ONCE = 500
"""So many incidents are handed on in one go; the next attempt hands on more."""

_THERE = outbox.alias("there")
_OWN = (
    outbox.c.notifier == sa.bindparam("notifier"),
    outbox.c.place == sa.bindparam("place"),
    outbox.c.part == "",
)
_UNTOLD = (
    sa.select(incident.c.id, incident.c.revision, outbox.c.mention)
    .join(outbox, outbox.c.incident_id == incident.c.id)
    .where(
        *_OWN,
        sa.not_(
            sa.exists().where(
                _THERE.c.incident_id == incident.c.id,
                _THERE.c.notifier == sa.bindparam("to_notifier"),
                _THERE.c.place == sa.bindparam("to_place"),
                _THERE.c.part == "",
            )
        ),
    )
    .order_by(outbox.c.id)
    .limit(AT_ONCE)
)
_IS_HELD = sa.and_(outbox.c.state == HELD, incident.c.is_open)
_REFUSED = _UNTOLD.where(
    sa.or_(
        incident.c.id == sa.bindparam("id"),
        _IS_HELD,
        sa.and_(outbox.c.state == "broken", incident.c.changed_at > sa.bindparam("since")),
    )
)
_WAITS = _UNTOLD.where(
    sa.or_(
        _IS_HELD,
        sa.and_(
            outbox.c.state == "pending",
            sa.or_(outbox.c.message == "", outbox.c.urgent),
            incident.c.changed_at > sa.bindparam("since"),
        ),
    )
)
_PARTS_OF = sa.select(outbox.c.incident_id, outbox.c.part).where(
    outbox.c.notifier == sa.bindparam("notifier"),
    outbox.c.place == sa.bindparam("place"),
    outbox.c.part.in_(PARTS),
)
_ROWS_OF = sa.select(outbox.c.notifier, outbox.c.place, outbox.c.state).where(
    outbox.c.incident_id == sa.bindparam("id"), outbox.c.part == ""
)


@dataclass(frozen=True, slots=True)
class Detours:
    """Which place has what another one can't show.

    `fallbacks` is the next place of each that refuses. `late` is where things go that do not get
    through for so many seconds: the second way out.
    """

    fallbacks: Mapping[Place, Place] = field(default_factory=dict)
    late: Mapping[Place, tuple[Place, float]] = field(default_factory=dict)

    def with_place(self, place: Place, first: Place) -> "Detours":
        """These, for a further place too: where it refuses the first has its messages."""
        late = {place: self.late[first]} if first in self.late else {}
        return Detours({place: first, **self.fallbacks}, {**late, **self.late})

    def next(self, place: Place, refusal: Refusal) -> Place | None:
        """The place for what this one refused; none of the same service where that is dead."""
        to = self.fallbacks.get(place)
        while to is not None and refusal.everywhere and to.notifier == place.notifier:
            to = self.fallbacks.get(to)
        return to

    def stand_in_for(self, place: Place) -> frozenset[Place]:
        """The places whose incidents come here."""
        refusing = {one for one, to in self.fallbacks.items() if to == place}
        waiting = {one for one, (to, _) in self.late.items() if to == place}
        further = {one for inner in refusing for one in self.stand_in_for(inner)}
        return frozenset(refusing | waiting | further)


class Watch:
    """Notices places that refuse, and places that do not get through; in memory."""

    def __init__(self, detours: Detours) -> None:
        self._detours = detours
        self._failing: dict[Place, datetime] = {}
        self._diverted: dict[Place, Place] = {}

    def diverted(self) -> Mapping[Place, Place]:
        """The places that can't show incidents now, and which ones have those."""
        return dict(self._diverted)

    def seen(self, place: Place, result: Posted | Later | Refusal, now: datetime) -> Place | None:
        """Where the incidents of a place go after this result; None = they stay."""
        if isinstance(result, Posted):
            if result.called:
                self._failing.pop(place, None)
                self._diverted.pop(place, None)
            return None
        if result.only_this or (isinstance(result, Later) and not result.why):
            return None
        if isinstance(result, Refusal):
            self._failing.pop(place, None)
            to = self._detours.next(place, result)
        else:
            to = self._overdue(place, now)
        if to is not None:
            self._diverted[place] = to
        return to

    def _overdue(self, place: Place, now: datetime) -> Place | None:
        """Where things go once the place has not got through for long."""
        to, seconds = self._detours.late.get(place, (None, 0.0))
        since = min(self._failing.get(place, now), now)  # a clock may be set back
        self._failing[place] = since
        return to if now - since >= timedelta(seconds=seconds) else None


def hand_on(
    connection: sa.Connection, here: Place, to: Place, refused: Claim | None, now: datetime
) -> int:
    """Have another place show what this one can't; how many incidents it has not had before.

    Of a place that `refused` a row: that one's, all others that it refused, those that its storm's
    message holds. Of one that only does not get through (None): those that people wait for.
    """
    which = {
        "notifier": here.notifier,
        "place": here.place,
        "to_notifier": to.notifier,
        "to_place": to.place,
        "since": now.timestamp() - REVIVED_SECONDS,
    }
    if refused is None:
        found = connection.execute(_WAITS, which).all()
    else:
        found = connection.execute(_REFUSED, which | {"id": refused.incident_id}).all()
    same = to.notifier == here.notifier
    rows = [
        message_row(one.id, to, one.revision) | {"mention": one.mention if same else ""}
        for one in found
    ]
    rows += _parts(connection, here, to, {one.id: one.revision for one in found}) if same else []
    if rows:
        connection.execute(sa.insert(outbox), rows)
    return len(found)


def _parts(
    connection: sa.Connection, here: Place, to: Place, incidents: Mapping[str, int]
) -> list[dict[str, object]]:
    """Rows for the posts in the threads of these incidents, as there are in the first place."""
    at = {"notifier": here.notifier, "place": here.place}
    return [
        message_row(row.incident_id, to, incidents[row.incident_id], part=row.part, urgent=False)
        | {"mention": ""}
        for chunk in chunks(sorted(incidents))
        for row in connection.execute(_PARTS_OF.where(outbox.c.incident_id.in_(chunk)), at)
    ]


def instead_of(
    connection: sa.Connection, incident_id: str, here: Place, detours: Detours
) -> tuple[str, ...]:
    """The places of an incident that can't show it, while this one stands in for them."""
    others = detours.stand_in_for(here)
    if not others:
        return ()
    rows = connection.execute(_ROWS_OF, {"id": incident_id}).all()
    return tuple(
        row.place
        for row in rows
        if row.state == "broken" and Place(row.notifier, row.place) in others
    )
