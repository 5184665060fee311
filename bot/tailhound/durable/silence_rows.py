"""One silence as its row holds it, and which row is worked at next."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from tailhound.actions.silence import Matcher, Silence
from tailhound.store.tables import silence as table

CLAIM_SECONDS = 30.0
"""A row that somebody began to set this long ago was left by a process that is gone."""


@dataclass(frozen=True, slots=True)
class Row:
    """One silence, and how far it is; `claimed_at` tells whether it is still ours."""

    silence: Silence
    incident: str
    alerts: int
    state: str
    remote_id: str
    was_begun: bool
    asked_at: datetime
    claimed_at: float
    error: str


def due_at(now: float) -> sa.Select[Any]:
    """The row that has waited longest: nobody works at it, or whoever did is gone."""
    ahead = table.c.claimed_at > now + CLAIM_SECONDS  # only by a clock that was set back
    stale = sa.or_(table.c.claimed_at < now - CLAIM_SECONDS, ahead)
    due = sa.or_(table.c.claimed_at <= now, ahead)
    wanted = sa.or_(
        sa.and_(table.c.state.in_(("asked", "ending")), due),
        sa.and_(table.c.state == "setting", stale),
    )
    return (
        sa.select(table)
        .where(wanted)
        .order_by(table.c.asked_at)
        .limit(1)
        .with_for_update(skip_locked=True)
    )


def row_of(row: sa.RowMapping) -> Row:
    """The silence that a row of the table holds."""
    return Row(
        silence=Silence(
            id=row["id"],
            matchers=tuple(Matcher(n, v, bool(r)) for n, v, r in json.loads(row["matchers"])),
            starts=datetime.fromtimestamp(row["asked_at"], UTC),
            ends=datetime.fromtimestamp(row["until"], UTC),
            by=row["name"],
            why=row["comment"],
        ),
        incident=row["incident_id"],
        alerts=row["alerts"],
        state=row["state"],
        remote_id=row["remote_id"],
        was_begun=row["state"] == "setting",
        asked_at=datetime.fromtimestamp(row["asked_at"], UTC),
        claimed_at=row["claimed_at"],
        error=row["error"],
    )
