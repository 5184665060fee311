"""The rows of the alerts of one batch: what is on record, what was heard, what ended with it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

import sqlalchemy as sa

from tailhound.durable.arrivals import Item
from tailhound.durable.known import Known, known_of
from tailhound.durable.occurrences import Firing
from tailhound.model import AlertStatus
from tailhound.store import records
from tailhound.store.tables import alert as alert_table

LATE_COPY_SECONDS = 60.0
"""A firing copy of an alert that was resolved this recently is a slower Alertmanager's, no re-fire
(docs/decisions)."""

_IDENTS = alert_table.c.ident.in_(sa.bindparam("idents", expanding=True))
_FORGET = sa.delete(alert_table).where(_IDENTS)
_INSERT = sa.insert(alert_table)
_FIRING = (
    sa.select(alert_table.c.incident_id)
    .where(
        alert_table.c.incident_id.in_(sa.bindparam("ids", expanding=True)),
        alert_table.c.status == "firing",
    )
    .distinct()
)


class AlertRows:
    """What is heard of the alerts of one batch, until it is written.

    `known` holds what is known of every alert of the batch, `ended` what is known of others that
    ended with one of them.
    """

    def __init__(self, connection: sa.Connection, firing: Firing, now: datetime) -> None:
        self._connection = connection
        self._firing = firing
        self._now = now
        self._stored: frozenset[str] = frozenset()
        self._rows: dict[str, tuple[Item, str]] = {}
        self._over: dict[datetime, list[str]] = defaultdict(list)  # end -> rows that it ended
        self.known: dict[str, Known] = {}
        self.ended: dict[str, Known] = {}

    @property
    def count(self) -> int:
        """How many alerts were news."""
        return len(self._rows)

    @property
    def resolved(self) -> frozenset[str]:
        """The incidents of which an alert was resolved."""
        return frozenset(
            self.known[ident].incident_id
            for ident, (item, _) in self._rows.items()
            if item.alert.status is AlertStatus.RESOLVED
        )

    def load(self, idents: Iterable[str]) -> dict[str, Known]:
        """Read what is on record of these alerts."""
        self.known = known_of(self._connection, list(idents))
        self._stored = frozenset(self.known)
        return self.known

    def is_repeat(self, item: Item) -> bool:
        """Whether this is no news of the alert."""
        known = self.known.get(item.ident)
        if known is None:
            return False
        if known.status is item.alert.status:
            return True
        quiet = self._now.timestamp() - known.changed_at
        return item.alert.status is AlertStatus.FIRING and quiet < LATE_COPY_SECONDS

    def hear(self, id: str, item: Item, sha: str) -> None:
        """An alert of an incident is news, by the body of this hash."""
        self._rows[item.ident] = (item, sha)
        self.known[item.ident] = Known(id, item.alert.status, self._now.timestamp())

    def end_same(self, id: str, over: Item) -> None:
        """End all other rows of an alert that is over."""
        end = over.alert.ends_at or self._now
        for ident in self._firing.ended(id, over.alert):
            if ident == over.ident:
                continue
            self.known[ident] = self.ended[ident] = Known(
                id, AlertStatus.RESOLVED, self._now.timestamp()
            )
            if ident in self._rows:
                item, sha = self._rows[ident]
                ended = replace(item.alert, status=AlertStatus.RESOLVED, ends_at=end)
                self._rows[ident] = (replace(item, alert=ended), sha)
            else:
                self._over[end].append(ident)

    def end_all(self, id: str, heard_at: float) -> None:
        """End all rows of an incident that nobody ends."""
        self._firing.end_all(id, heard_at)
        for ident, known in self.known.items():
            if known.incident_id == id and known.status is AlertStatus.FIRING:
                self.known[ident] = Known(id, AlertStatus.RESOLVED, heard_at)

    def write(self) -> None:
        """Write what was heard."""
        rows = [self._row(ident, item, sha) for ident, (item, sha) in self._rows.items()]
        for chunk in records.chunks(ident for ident in self._rows if ident in self._stored):
            self._connection.execute(_FORGET, {"idents": chunk})
        if rows:
            self._connection.execute(_INSERT, rows)
        for end, idents in self._over.items():
            self._firing.write_ends(idents, end, self._now)

    def _row(self, ident: str, item: Item, sha: str) -> dict[str, str | float | None]:
        alert = item.alert
        return {
            "ident": ident,
            "incident_id": self.known[ident].incident_id,
            "name": alert.name[:200],
            "fingerprint": alert.fingerprint[:200],
            "status": alert.status.value,
            "starts_at": alert.starts_at.timestamp(),
            "ends_at": alert.ends_at.timestamp() if alert.ends_at else None,
            "changed_at": self._now.timestamp(),
            "body_sha": sha,
        }

    def silent(self, ids: Sequence[str]) -> list[str]:
        """Those of these incidents of which no row fires any more."""
        firing: set[str] = set()
        for chunk in records.chunks(ids):
            firing |= set(self._connection.execute(_FIRING, {"ids": chunk}).scalars())
        return [id for id in ids if id not in firing]
