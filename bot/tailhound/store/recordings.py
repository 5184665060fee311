"""What investigations asked, as recordings: bytes here, their meaning is `durable`'s.

An investigation keeps one part for each of its steps, so that a step that runs again after a crash
replaces what it had kept.
"""

import zlib
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from tailhound.store.tables import investigation, recording

AT_MOST = 4 * 1024 * 1024
"""Bytes, compressed, of all parts of one investigation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One step's part. `content` is None when it was too large; `size` counts compressed bytes."""

    n: int
    part: str
    asked_at: datetime
    size: int
    content: bytes | None


def keep_part(
    connection: sa.Connection, step: tuple[str, int, str], asked_at: datetime, content: bytes
) -> bool:
    """Store one part in place of an earlier one of this name; False when it is too large.

    `step` is the incident, the investigation `n` and the name of the part. That it was too large is
    kept too, so that a replay can tell.
    """
    id, n, part = step
    connection.execute(
        sa.delete(recording).where(
            recording.c.incident_id == id, recording.c.n == n, recording.c.part == part
        )
    )
    taken = connection.execute(
        sa.select(sa.func.coalesce(sa.func.sum(recording.c.size), 0)).where(
            recording.c.incident_id == id, recording.c.n == n, recording.c.content.is_not(None)
        )
    ).scalar()
    compressed = zlib.compress(content, 6)
    fits = int(taken or 0) + len(compressed) <= AT_MOST
    connection.execute(
        sa.insert(recording).values(
            incident_id=id,
            n=n,
            part=part,
            asked_at=asked_at.timestamp(),
            size=len(compressed),
            content=compressed if fits else None,
        )
    )
    return fits


def forget_earlier(connection: sa.Connection, id: str, n: int) -> None:
    """Delete the recordings of investigations before `n`: its verdict has taken their place."""
    connection.execute(sa.delete(recording).where(recording.c.incident_id == id, recording.c.n < n))


def read_parts(connection: sa.Connection, id: str) -> tuple[Part, ...]:
    """The parts behind the verdict that stands, oldest first; () when nothing was kept."""
    decided = (
        sa.select(sa.func.max(investigation.c.n))
        .where(investigation.c.incident_id == id, investigation.c.resolved.is_not(None))
        .scalar_subquery()
    )
    wanted = (
        sa.select(recording)
        .where(recording.c.incident_id == id, recording.c.n == decided)
        .order_by(recording.c.asked_at, recording.c.part)
    )
    return tuple(
        Part(
            n=row.n,
            part=row.part,
            asked_at=datetime.fromtimestamp(row.asked_at, UTC),
            size=row.size,
            content=None if row.content is None else zlib.decompress(row.content),
        )
        for row in connection.execute(wanted)
    )
