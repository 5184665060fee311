"""What an incident's change brings to its threads beside the edits of its message.

Most changes bring nothing: an edit notifies nobody. Events that people must notice
(`diagnosis.noise`) are posts of their own, and two posts that are never edited have successors:
charts where the verdict names another cause, the file where the incident is resolved.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from tailhound.diagnosis.noise import OVERTURNED, PAGED, REOPENED, REVISED, events_of
from tailhound.durable.asking import Place, Terms, message_row
from tailhound.model import Incident, State
from tailhound.notifiers import CHARTS, EVENT, FILE
from tailhound.store.tables import outbox

MENTION_SECONDS = 3600.0
"""An incident mentions a group again once this much has passed."""

_ROWS = sa.select(
    outbox.c.notifier,
    outbox.c.place,
    outbox.c.part,
    outbox.c.message,
    outbox.c.mention,
    outbox.c.posted_at,
).where(outbox.c.incident_id == sa.bindparam("row_id"))
_INSERT = sa.insert(outbox)
_MENTIONING = (REOPENED, PAGED)


@dataclass(frozen=True, slots=True)
class _Place:
    """One place of an incident: its rows by part, and whether it mentioned somebody lately."""

    notifier: str
    place: str
    parts: dict[str, str]
    mentioned: bool


def follow(
    connection: sa.Connection, before: Incident, after: Incident, terms: Terms, now: datetime
) -> None:
    """Ask for the posts that this change of an incident brings; those asked for before stay.

    An incident without its diagnosis brings no event of its verdict.
    """
    events = events_of(before, after) if terms.parts else ()
    more = _successors(before, after, events) if terms.parts else {}
    if not events and not more:
        return
    rows = [
        row
        for at in _places(connection, after.id, now)
        if at.notifier in terms.parts
        for row in (*_told(after, at, events, terms), *_next(after, at, more))
        if row["part"] not in at.parts
    ]
    if rows:
        connection.execute(_INSERT, rows)


def _told(
    after: Incident, at: _Place, events: Sequence[str], terms: Terms
) -> list[dict[str, object]]:
    """A row for each event; the first that may mention the group of this incident does."""
    mention = "" if at.mentioned else _mention(after, at, terms, events)
    rows = []
    for event in events:
        mentions = event.partition(":")[0] in _MENTIONING
        rows.append(_row(after, at, f"{EVENT}{event}", urgent=True, mention=mention * mentions))
        mention = "" if mentions else mention
    return rows


def _next(after: Incident, at: _Place, more: dict[str, str]) -> list[dict[str, object]]:
    """A row for each part that follows on one that was posted here."""
    return [_row(after, at, part) for base, part in more.items() if at.parts.get(base)]


def _successors(before: Incident, after: Incident, events: Sequence[str]) -> dict[str, str]:
    """The parts that follow on a part that stands, by the one that they follow."""
    found = {}
    if any(event.partition(":")[0] in (REVISED, OVERTURNED) for event in events):
        found[CHARTS] = f"{CHARTS}:{after.n}.{after.revision}"
    if after.state is State.RESOLVED and before.state is not State.RESOLVED:
        found[FILE] = f"{FILE}:resolved:{after.episode}"
    return found


def _places(connection: sa.Connection, id: str, now: datetime) -> list[_Place]:
    found: dict[tuple[str, str], _Place] = {}
    rows = connection.execute(_ROWS, {"row_id": id}).all()
    lately = now.timestamp() - MENTION_SECONDS
    for row in rows:
        if row.part:
            continue
        here = [one for one in rows if (one.notifier, one.place) == (row.notifier, row.place)]
        found[row.notifier, row.place] = _Place(
            notifier=row.notifier,
            place=row.place,
            parts={one.part: one.message for one in here},
            mentioned=any(
                one.mention and (one.posted_at <= 0 or one.posted_at > lately) for one in here
            ),
        )
    return list(found.values())


def _mention(after: Incident, at: _Place, terms: Terms, events: Sequence[str]) -> str:
    """The group that the configuration names for this incident as it is now."""
    if not any(event.partition(":")[0] in _MENTIONING for event in events):
        return ""
    here = (at.notifier, at.place)
    named = (
        to.mention for to in terms.destined(after) if (to.place.notifier, to.place.place) == here
    )
    return next(named, "")[:80]


def _row(
    after: Incident, at: _Place, part: str, *, urgent: bool = False, mention: str = ""
) -> dict[str, object]:
    place = Place(at.notifier, at.place)
    row = message_row(after.id, place, after.revision, part=part, urgent=urgent)
    return row | {"mention": mention}
