"""Admission: a batch of arrivals -> alert rows, incidents, investigations and outbox rows.

One object admits one batch within one transaction. It loads what the batch touches, applies the
arrivals in their order to records in memory, and writes what has changed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType

import sqlalchemy as sa

from tailhound.durable.alert_rows import AlertRows
from tailhound.durable.arrivals import Arrival, Item, unreadable_item
from tailhound.durable.asking import Enqueue, Terms, announce, asked, put, show
from tailhound.durable.common_ground import placed
from tailhound.durable.episodes import (
    home,
    opened,
    reopened,
    resolved_now,
    unheard_now,
    unread,
    with_alert,
)
from tailhound.durable.hearing import Hearing
from tailhound.durable.known import Accepted
from tailhound.durable.names import short_name
from tailhound.durable.notices import follow
from tailhound.durable.occurrences import Firing
from tailhound.durable.queueing import Crowd, deferred
from tailhound.durable.unheard import is_old, is_unheard
from tailhound.model import Alert, AlertStatus, Incident, State
from tailhound.store import records
from tailhound.store.outputs import keep_bodies
from tailhound.store.records import Record

UNSEEN = "resolved before it was seen firing"


class Admission:
    """Admits one batch.

    Afterwards `alerts` holds what is known of every alert of the batch, and of others that ended
    with one of them, and `closed` the incidents that counted as over.
    """

    def __init__(
        self, connection: sa.Connection, terms: Terms, enqueue: Enqueue, hearing: Hearing
    ) -> None:
        self._connection = connection
        self._terms = terms
        self._enqueue = enqueue
        self._hearing = hearing
        self._now = hearing.now
        self._records: dict[str, Record] = {}
        self._latest: dict[str, str] = {}
        self._created: dict[str, None] = {}
        self._changed: dict[str, bool] = {}  # id -> whether the news is urgent
        self._begun: dict[str, str] = {}  # id -> why an investigation was asked for
        self._bodies: dict[str, bytes] = {}
        self._crowd: Crowd | None = None
        self._before: dict[str, Incident] = {}
        self._firing = Firing(connection)
        self.alerts = AlertRows(connection, self._firing, hearing.now)
        self.closed: list[str] = []
        self._touched: set[str] = set()
        self.repeats: Counter[str] = Counter()

    @property
    def has_news(self) -> bool:
        """Whether there is anything to show."""
        return bool(self._created or self._changed)

    def admit(self, arrivals: Sequence[Arrival]) -> tuple[Accepted, ...]:
        """Apply and write all arrivals; one answer for each, in their order."""
        batches = [items_of(arrival) for arrival in arrivals]
        self._load([item for items in batches for item in items])
        answers = tuple(
            self._take(arrival, items) for arrival, items in zip(arrivals, batches, strict=True)
        )
        self._write()
        return answers

    def _load(self, items: Sequence[Item]) -> None:
        known = self.alerts.load(item.ident for item in items)
        news = [item for item in items if not self.alerts.is_repeat(item)]
        for record in records.read_latest(self._connection, [i.key for i in news]).values():
            self._records[record.incident.id] = record
            self._latest[record.incident.key] = record.incident.id
        ids = [known[i.ident].incident_id for i in news if i.ident in known]
        missing = [id for id in ids if id not in self._records]
        self._records |= records.read_ids(self._connection, missing)
        homes = ((self._home_of(item), item.alert.fingerprint) for item in news)
        self._firing.load((id, fingerprint) for id, fingerprint in homes if id)
        fires = (i for i in items if i.alert.status is AlertStatus.FIRING and i.ident in known)
        self._touched |= {known[i.ident].incident_id for i in fires if self.alerts.is_repeat(i)}
        self._before = {id: record.incident for id, record in self._records.items()}

    def _take(self, arrival: Arrival, items: Sequence[Item]) -> Accepted:
        dropped = Counter(arrival.dropped)
        incidents: dict[str, None] = {}
        new = repeats = 0
        for item in items:
            if self.alerts.is_repeat(item):
                id = self.alerts.known[item.ident].incident_id
                self.repeats[id] += 1
                repeats += 1
            elif self._is_unseen(item):
                dropped[UNSEEN] += 1
                continue
            else:
                id = self._apply(item, arrival)
                new += 1
            incidents[id] = None
        if new:
            self._bodies[arrival.sha] = arrival.body
        return Accepted(tuple(incidents), new, repeats, MappingProxyType(dict(dropped)))

    def _home_of(self, item: Item) -> str:
        """The incident in which an alert is looked for; "" when there is none of its key."""
        known, latest = self.alerts.known.get(item.ident), self._latest.get(item.key)
        if known is not None:
            return known.incident_id
        return self._followed(latest).incident.id if latest else ""

    def _is_unseen(self, item: Item) -> bool:
        """Whether an alert is over of which nothing fires, by this start or by another one."""
        if item.alert.status is AlertStatus.FIRING or item.ident in self.alerts.known:
            return False
        home = self._home_of(item)
        return not home or not self._firing.ends(home, item.alert)

    def _apply(self, item: Item, arrival: Arrival) -> str:
        if arrival.unreadable:
            id = self._create_unreadable(item, arrival)
        elif item.alert.status is AlertStatus.RESOLVED:
            id = self._followed(self._home_of(item)).incident.id
            self._keep(with_alert(self._records[id], item.alert, 0))
            self.alerts.end_same(id, item)
        else:
            id = self._fired(item, arrival)
        self._records[id] = replace(self._records[id], heard_at=self._now.timestamp())
        self.alerts.hear(id, item, arrival.sha)
        self._touched.add(id)
        return id

    def _fired(self, item: Item, arrival: Arrival) -> str:
        id = self._home(item)
        is_known = self._firing.fires(id, item.alert)
        after = with_alert(
            self._records[id], item.alert, arrival.truncated_alerts, is_known=is_known
        )
        self._keep(after)
        if after.incident.state is State.FAILED or (
            not is_known and is_old(after, self._now, self._terms.incidents)
        ):
            self._begin(after, "another alert")
            self._changed[id] = True
        self._firing.add(id, item.ident, item.alert)
        return id

    def _home(self, item: Item) -> str:
        """The incident that a firing alert belongs to: open, opened again, or new."""
        latest = self._latest.get(item.key)
        if latest is None:
            return self._create(item, 0)
        record = self._followed(latest)
        if record.is_open and not self._is_unheard(record, item.alert):
            return record.incident.id
        if record.is_open:
            self._close(record)
            return self._create(item, self._records[latest].ordinal + 1)
        resolved_at = record.incident.resolved_at
        window = timedelta(minutes=self._terms.incidents.reopen_minutes)
        if resolved_at is not None and self._now - resolved_at <= window:
            self._changed[record.incident.id] = True
            self._begin(reopened(record, self._now), "it fired again")
            return record.incident.id
        return self._create(item, self._records[latest].ordinal + 1)

    def _is_unheard(self, record: Record, fired: Alert) -> bool:
        """Whether an open incident must have ended without anybody saying so."""
        if record.incident.id in self._touched:
            return False
        return is_unheard(record, fired, self._firing, self._hearing, self._terms.incidents)

    def _close(self, record: Record) -> None:
        """End an incident that nobody ends."""
        id = record.incident.id
        self._records[id] = unheard_now(record, self._now)
        self._changed[id] = False
        self.alerts.end_all(id, record.heard_at)
        self.closed.append(id)

    def _followed(self, id: str) -> Record:
        """The incident, or the one that it has joined."""
        return home(self._record(id), self._record)

    def _record(self, id: str) -> Record:
        if id not in self._records:
            self._records |= records.read_ids(self._connection, [id])
            self._before[id] = self._records[id].incident
        return self._records[id]

    def _create(self, item: Item, ordinal: int) -> str:
        id = short_name(item.key, ordinal, self._is_taken)
        record = opened(item, id, ordinal, self._now, self._terms.mode)
        self._created[id] = None
        self._latest[item.key] = id
        self._begin(record, "the alert")
        return id

    def _create_unreadable(self, item: Item, arrival: Arrival) -> str:
        id = short_name(item.key, 0, self._is_taken)
        self._records[id] = unread(item, id, arrival.unreadable, self._now, self._terms.mode)
        self._created[id] = None
        return id

    def _begin(self, record: Record, reason: str) -> None:
        after = asked(record, reason, self._now, self._terms)
        if after.incident.n > record.incident.n:
            self._begun[after.incident.id] = reason
            after = self._in_turn(after)
        self._records[after.incident.id] = after

    def _in_turn(self, record: Record) -> Record:
        """The record, waiting its turn when as many investigations run as may run at once."""
        if self._crowd is None:
            self._crowd = Crowd.of(self._connection, self._now)
        place = self._crowd.active + len(self._begun) - self._terms.incidents.concurrency
        if place <= 0 or record.incident.state is not State.INVESTIGATING:
            return record
        crowd = Crowd(
            self._crowd.active + len(self._begun), self._crowd.alerts + self.alerts.count + 1
        )
        return deferred(record, crowd, place, self._now, self._terms)

    def _keep(self, record: Record) -> None:
        id = record.incident.id
        if record != self._records[id]:
            self._records[id] = record
            self._changed.setdefault(id, False)

    def _is_taken(self, id: str) -> bool:
        return id in self._records or records.is_taken(self._connection, id)

    def _write(self) -> None:
        asked_for = {id: self._records[id] for id in self._begun}
        self._records |= placed(self._connection, asked_for)
        ending = self._ending()
        touched = list(dict.fromkeys((*self._created, *self._changed, *ending)))
        if not touched:
            return
        first = records.raise_revision(self._connection, len(touched))
        for i, id in enumerate(touched):
            self._records[id] = self._records[id].edited(revision=first + i)
        created = [self._records[id] for id in self._created]
        closed = [self._records[id] for id in self.closed]
        records.update(self._connection, closed, self._now)  # before another of its key is opened
        records.insert(self._connection, created, self._now)
        self.alerts.write()
        ended = self._end(ending)
        rewritten = [id for id in touched if id in self._changed and id not in self._created]
        again = [self._records[id] for id in dict.fromkeys((*rewritten, *ended))]
        records.update(self._connection, again, self._now)
        announce(self._connection, created, self._terms)
        show(self._connection, [(r, self._changed.get(r.incident.id, False)) for r in again])
        self._tell(again)
        to_run = [(self._records[id], reason) for id, reason in self._begun.items()]
        put(self._connection, to_run, self._now, self._terms, self._enqueue)
        keep_bodies(self._connection, self._bodies, self._now)

    def _tell(self, changed: Sequence[Record]) -> None:
        """Ask for posts about what people must notice: it is back, it pages now, it is over."""
        for record in changed:
            before = self._before.get(record.incident.id)
            if before is not None:
                follow(self._connection, before, record.incident, self._terms, self._now)

    def _ending(self) -> list[str]:
        """The open incidents of which an alert was resolved."""
        return sorted(id for id in self.alerts.resolved if self._records[id].is_open)

    def _end(self, ids: Sequence[str]) -> list[str]:
        """Resolve those of these incidents of which no alert fires any more."""
        ended = self.alerts.silent(ids)
        for id in ended:
            self._records[id] = resolved_now(self._records[id], self._now)
            self._changed[id] = True
        return ended


def items_of(arrival: Arrival) -> tuple[Item, ...]:
    """The alerts of an arrival; one that can't be read has one that stands for it."""
    return (unreadable_item(arrival),) if arrival.unreadable else arrival.items
