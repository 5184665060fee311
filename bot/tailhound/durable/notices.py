"""What an incident's change brings beside the edits of its message: posts, and further channels.

Most changes bring nothing: an edit notifies nobody. Events that people must notice
(`diagnosis.noise`) are posts of their own, and two posts that are never edited have successors:
charts where the verdict names another cause, the file where the incident is resolved.

A channel gets at most NOTIFICATIONS of one incident until somebody has acted on it: what would be
one more is an edit alone, and the timeline says so.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import sqlalchemy as sa

from tailhound.diagnosis.noise import (
    CALLED,
    OVERTURNED,
    PAGED,
    REOPENED,
    REVISED,
    events_of,
    is_loud,
    may_route_anew,
    untold,
)
from tailhound.durable import storm
from tailhound.durable.asking import Destination, Place, Terms, message_row, noted, show
from tailhound.model import Incident, State
from tailhound.notifiers import CHARTS, EVENT, FILE
from tailhound.store import records
from tailhound.store.tables import click, incident, outbox

MENTION_SECONDS = 3600.0
"""An incident mentions a group again once this much has passed."""

NOTIFICATIONS = 2
"""So often a channel is notified of one incident before somebody acts, its first post included."""

_ROWS = (
    sa.select(
        outbox.c.notifier,
        outbox.c.place,
        outbox.c.part,
        outbox.c.message,
        outbox.c.mention,
        outbox.c.posted_at,
        outbox.c.state,
    )
    .where(outbox.c.incident_id == sa.bindparam("row_id"))
    .order_by(outbox.c.id)
)
_INSERT = sa.insert(outbox)
_NOBODY = sa.literal("", literal_execute=True)
_JOINED = sa.select(incident.c.id).where(
    incident.c.joined_into == sa.bindparam("row_id"), incident.c.joined_into != _NOBODY
)
_LAST_ACT = sa.select(sa.func.max(click.c.at)).where(
    click.c.incident_id.in_(
        sa.union_all(sa.select(sa.bindparam("row_id", type_=sa.String)), _JOINED)
    )
)
_MENTIONING = (REOPENED, PAGED, CALLED)


@dataclass(slots=True)
class _Place:
    """One place of an incident: its rows by part, the groups that it mentioned lately, and how
    often it was notified since somebody acted.
    """

    notifier: str
    place: str
    parts: dict[str, str]
    lately: frozenset[str]
    notified: int


@dataclass(slots=True)
class _Follow:
    """What one change asks for: rows, and lines of the timeline."""

    after: Incident
    rows: list[dict[str, object]] = field(default_factory=list)
    lines: dict[str, None] = field(default_factory=dict)

    def post(self, at: _Place, part: str, *, urgent: bool = False, mention: str = "") -> None:
        """Ask for a post, unless it was asked for before."""
        if part in at.parts:
            return
        place = Place(at.notifier, at.place)
        row = message_row(self.after.id, place, self.after.revision, part=part, urgent=urgent)
        self.rows.append(row | {"mention": mention[:80], "thread": ""})

    def tell(self, at: _Place, event: str, mention: str = "") -> bool:
        """Ask for the post of an event; False when it would notify once too often."""
        if f"{EVENT}{event}" in at.parts:
            return True
        notifies = is_loud(event) or bool(mention)
        if notifies and at.notified >= NOTIFICATIONS and not _is_first_page(at, event):
            self.lines[untold(event)] = None
            return False
        at.notified += notifies
        self.post(at, f"{EVENT}{event}", urgent=True, mention=mention)
        return True


def follow(
    connection: sa.Connection, before: Incident, after: Incident, terms: Terms, now: datetime
) -> None:
    """Ask for the posts that this change of an incident brings; those asked for before stay.

    An incident without its diagnosis brings no event of its verdict.
    """
    events = events_of(before, after) if terms.parts else ()
    more = _successors(before, after, events) if terms.parts else {}
    anew = may_route_anew(before, after)
    if not events and not more and not anew:
        return
    whole = _whole(connection, after) if events or anew else after
    destined = terms.destined(whole) if events or anew else ()
    made, places = _Follow(after), _places(connection, after.id, now)
    for at in places:
        if at.notifier in terms.parts:
            _tell(made, at, events, _mention(at, destined))
            for part in (part for base, part in more.items() if at.parts.get(base)):
                made.post(at, part)
    if anew:
        _route_anew(made, places, destined, terms, has_verdict=whole.diagnosis is not None)
    _write(connection, made, now)
    if any(_kind(event) == PAGED for event in events):
        storm.reconsider(connection, after.id)


def _whole(connection: sa.Connection, after: Incident) -> Incident:
    """The incident with its diagnosis, which names an owner."""
    if after.diagnosis is not None:
        return after
    return records.read_whole(connection, after.id) or after


def _tell(made: _Follow, at: _Place, events: Sequence[str], mention: str) -> None:
    """A post for each event; the first that may mention the group of this incident does."""
    left = "" if at.lately else mention
    for event in events:
        mentions = left if _kind(event) in _MENTIONING else ""
        if made.tell(at, event, mentions) and mentions:
            left = ""


def _route_anew(
    made: _Follow,
    places: Sequence[_Place],
    destined: Sequence[Destination],
    terms: Terms,
    *,
    has_verdict: bool,
) -> None:
    """Let channels know that the routes name only now. The message that stands does not move."""
    known = {(at.notifier, at.place) for at in places}
    for to in destined:
        there = (to.place.notifier, to.place.place)
        if there in known:
            continue
        if to.later == "post":
            row = message_row(made.after.id, to.place, made.after.revision)
            made.rows.append(row | {"mention": to.mention[:80], "thread": to.thread[:40]})
            new = _Place(*there, parts={"": ""}, lately=frozenset(), notified=1)
            for part in terms.parts.get(to.place.notifier, ()) if has_verdict else ():
                made.post(new, part)
            made.lines[f"Shown in the channel {to.place.place} too: its route matches now"] = None
        elif to.later == "mention" and to.mention and to.place.notifier in terms.parts:
            _call(made, places, to)


def _call(made: _Follow, places: Sequence[_Place], to: Destination) -> None:
    """Mention a group in the thread of the first message that stands: once in each episode, and not
    within an hour of another mention of it.
    """
    if any(to.mention in at.lately for at in places):
        return
    homes = (at for at in places if at.notifier == to.place.notifier)
    group = hashlib.sha256(to.mention.encode()).hexdigest()[:12]
    first = next(homes, None)
    if first is not None and made.tell(first, f"{CALLED}:{made.after.episode}:{group}", to.mention):
        made.lines[f"The group of the channel {to.place.place} is mentioned: its route matches now"
                   ] = None  # fmt: skip


def _write(connection: sa.Connection, made: _Follow, now: datetime) -> None:
    if made.rows:
        connection.execute(_INSERT, made.rows)
    if not made.lines:
        return

    def edit(record: records.Record) -> records.Record:
        for line in made.lines:
            record = noted(record, now, line)
        return record

    told = records.change(connection, made.after.id, edit, now)
    if told is not None:
        show(connection, [(told, False)])


def _successors(before: Incident, after: Incident, events: Sequence[str]) -> dict[str, str]:
    """The parts that follow on a part that stands, by the one that they follow."""
    found = {}
    if any(_kind(event) in (REVISED, OVERTURNED) for event in events):
        found[CHARTS] = f"{CHARTS}:{after.n}.{after.revision}"
    if after.state is State.RESOLVED and before.state is not State.RESOLVED:
        found[FILE] = f"{FILE}:resolved:{after.episode}"
    return found


def _places(connection: sa.Connection, id: str, now: datetime) -> list[_Place]:
    rows = connection.execute(_ROWS, {"row_id": id}).all()
    acted = connection.execute(_LAST_ACT, {"row_id": id}).scalar() or 0.0
    lately = now.timestamp() - MENTION_SECONDS
    found: list[_Place] = []
    for row in rows:
        if row.part:
            continue
        here = [one for one in rows if (one.notifier, one.place) == (row.notifier, row.place)]
        notifying = [one for one in here if _notifies(one.part, one.mention)]
        found.append(
            _Place(
                notifier=row.notifier,
                place=row.place,
                parts={one.part: one.message for one in here},
                lately=frozenset(
                    one.mention
                    for one in here
                    if one.mention and _is_seen(one.posted_at, one.state, lately)
                ),
                notified=sum(_is_seen(one.posted_at, one.state, acted) for one in notifying),
            )
        )
    return found


def _is_seen(posted_at: float, state: str, after: float) -> bool:
    """Whether people saw a post since then, or are about to: one that a storm holds, or that was
    refused before it stood, is seen by nobody.
    """
    return posted_at > after if posted_at > 0 else state in ("pending", "sending")


def _notifies(part: str, mention: str) -> bool:
    return not part or bool(mention) or (part.startswith(EVENT) and is_loud(_event(part)))


def _is_first_page(at: _Place, event: str) -> bool:
    """Whether this is the first time that an incident which did not page is told to do so: then
    nothing that was told before stands in for it.
    """
    told = (_kind(_event(part)) for part in at.parts if part.startswith(EVENT))
    return _kind(event) == PAGED and PAGED not in told


def _event(part: str) -> str:
    return part.removeprefix(EVENT)


def _kind(event: str) -> str:
    return event.partition(":")[0]


def _mention(at: _Place, destined: Sequence[Destination]) -> str:
    """The group that the configuration names for this incident as it is now."""
    here = (at.notifier, at.place)
    named = (to.mention for to in destined if (to.place.notifier, to.place.place) == here)
    return next(named, "")[:80]
