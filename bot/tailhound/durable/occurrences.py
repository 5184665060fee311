"""What fires of the incidents that a batch touches: the rows of one alert, by its fingerprint.

One alert has several rows where two Alertmanagers know it by different starts. While any of them
fires it is the same alert, and when it ends all of them do.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

import sqlalchemy as sa

from tailhound.model import Alert
from tailhound.store.tables import alert

_AT_ONCE = 400
_SAME = sa.select(alert.c.incident_id, alert.c.fingerprint, alert.c.ident, alert.c.starts_at).where(
    alert.c.status == "firing",
    alert.c.incident_id.in_(sa.bindparam("ids", expanding=True)),
    alert.c.fingerprint.in_(sa.bindparam("fingerprints", expanding=True)),
)
_COUNT = sa.select(sa.func.count()).where(
    alert.c.incident_id == sa.bindparam("id"), alert.c.status == "firing"
)
_END = (
    sa.update(alert)
    .where(alert.c.ident == sa.bindparam("row"))
    .values(status="resolved", ends_at=sa.bindparam("end"), changed_at=sa.bindparam("now"))
)
_END_ALL = (
    sa.update(alert)
    .where(alert.c.incident_id == sa.bindparam("id"), alert.c.status == "firing")
    .values(status="resolved", changed_at=sa.bindparam("now"))
)

Key = tuple[str, str]
"""An incident's id, and an alert's fingerprint."""


def end_all(connection: sa.Connection, id: str, heard_at: float) -> None:
    """Let nothing of an incident fire any more; who says later that it does is heard at once."""
    connection.execute(_END_ALL, {"id": id, "now": heard_at})


class Firing:
    """The rows that fire, as they are while a batch is applied."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection
        self._rows: dict[Key, dict[str, float]] = defaultdict(dict)

    def load(self, keys: Iterable[Key]) -> None:
        """Read what fires of these alerts."""
        wanted = sorted(set(keys))
        for first in range(0, len(wanted), _AT_ONCE):
            part = wanted[first : first + _AT_ONCE]
            values = {
                "ids": sorted({id for id, _ in part}),
                "fingerprints": sorted({fingerprint for _, fingerprint in part}),
            }
            for id, fingerprint, ident, starts_at in self._connection.execute(_SAME, values):
                self._rows[id, fingerprint][ident] = starts_at

    def add(self, id: str, ident: str, found: Alert) -> None:
        """A row of an alert fires."""
        self._rows[id, found.fingerprint][ident] = found.starts_at.timestamp()

    def fires(self, id: str, found: Alert) -> bool:
        """Whether a row of this alert fires."""
        return bool(self._rows.get((id, found.fingerprint)))

    def ends(self, id: str, over: Alert) -> tuple[str, ...]:
        """The rows that this end ends: those that began before it."""
        rows = self._rows.get((id, over.fingerprint), {})
        end = (over.ends_at or over.starts_at).timestamp()
        return tuple(ident for ident, starts_at in rows.items() if starts_at <= end)

    def ended(self, id: str, over: Alert) -> tuple[str, ...]:
        """As `ends`; they fire no more."""
        found = self.ends(id, over)
        for ident in found:
            del self._rows[id, over.fingerprint][ident]
        return found

    def is_all_before(self, id: str, found: Alert, seconds: float) -> bool:
        """Whether only this alert fires in an incident, and all its rows began so much earlier."""
        rows = self._rows.get((id, found.fingerprint), {})
        if not rows or found.starts_at.timestamp() - max(rows.values()) <= seconds:
            return False
        return self._connection.execute(_COUNT, {"id": id}).scalar_one() == len(rows)

    def write_ends(self, idents: Sequence[str], end: datetime, now: datetime) -> None:
        """Write that these rows ended."""
        rows = [{"row": i, "end": end.timestamp(), "now": now.timestamp()} for i in idents]
        if rows:
            self._connection.execute(_END, rows)

    def end_all(self, id: str, heard_at: float) -> None:
        """Let nothing of an incident fire any more, since nothing was heard of it since then."""
        end_all(self._connection, id, heard_at)
        for key in [key for key in self._rows if key[0] == id]:
            del self._rows[key]
