"""What intake says of a webhook, and what is on record of its alerts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import sqlalchemy as sa

from tailhound.model import AlertStatus
from tailhound.store import records
from tailhound.store.tables import alert


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of one webhook: the incidents it belongs to, and how many of its alerts were new.

    `dropped` counts the alerts that start nothing, by reason.
    """

    incidents: tuple[str, ...]
    new: int
    repeats: int
    dropped: MappingProxyType[str, int] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Known:
    """An alert row: what was last heard of one alert, and when."""

    incident_id: str
    status: AlertStatus
    changed_at: float


_KNOWN = sa.select(
    alert.c.ident,
    alert.c.incident_id,
    alert.c.status,
    alert.c.changed_at,
).where(alert.c.ident.in_(sa.bindparam("idents", expanding=True)))


def known_of(connection: sa.Connection, idents: Sequence[str]) -> dict[str, Known]:
    """What is on record of these alerts."""
    known = {}
    for chunk in records.chunks(idents):
        for ident, incident_id, status, changed_at in connection.execute(_KNOWN, {"idents": chunk}):
            known[ident] = Known(incident_id, AlertStatus(status), changed_at)
    return known
