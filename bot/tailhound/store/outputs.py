"""Raw answers and compiled runbook sets: kept compressed, with an upper bound."""

import hashlib
import zlib
from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from tailhound.store.incidents import RawOutput
from tailhound.store.tables import body, compiled, investigation, output

EACH_AT_MOST = 256 * 1024
INCIDENT_AT_MOST = 4 * 1024 * 1024
"""Bytes before compression: of one answer, and of all answers of one incident."""


_AT_ONCE = 400

_KNOWN_BODIES = sa.select(body.c.sha).where(body.c.sha.in_(sa.bindparam("shas", expanding=True)))
_INSERT_BODY = sa.insert(body)


def keep_outputs(
    connection: sa.Connection, incident_id: str, n: int, outputs: Sequence[RawOutput]
) -> None:
    """Store raw answers as far as the incident's share allows.

    What investigation `n` had stored before (it ran again after a crash) is replaced. Room is made
    by what earlier investigations heard, the oldest first. An answer that does not fit all the same
    keeps its question, and says that more came.
    """
    connection.execute(
        sa.delete(output).where(
            output.c.incident_id == incident_id,
            output.c.n == n,
            output.c.question.in_([raw.question for raw in outputs]),
        )
    )
    contents = [raw.text.encode("utf-8", "replace") for raw in outputs]
    wanted = sum(min(len(content), EACH_AT_MOST) for content in contents)
    left = _make_room(connection, incident_id, n, wanted)
    rows = []
    for raw, content in zip(outputs, contents, strict=True):
        kept = content[:EACH_AT_MOST] if min(len(content), EACH_AT_MOST) <= left else b""
        left -= len(kept)
        rows.append(
            {
                "incident_id": incident_id,
                "n": n,
                "question": raw.question,
                "backend": raw.backend[:300],
                "asked_at": raw.asked_at.timestamp(),
                "size": len(kept),
                "truncated": raw.truncated or len(kept) < len(content),
                "content": zlib.compress(kept, 6),
            }
        )
    if rows:
        connection.execute(sa.insert(output), rows)


def _make_room(connection: sa.Connection, incident_id: str, n: int, wanted: int) -> int:
    """How many bytes an incident has left, once enough of earlier investigations is deleted."""
    found = connection.execute(
        sa.select(output.c.id, output.c.n, output.c.size)
        .where(output.c.incident_id == incident_id)
        .order_by(output.c.n, output.c.id)
    ).all()
    left: int = INCIDENT_AT_MOST - sum(row.size for row in found)
    gone = []
    for row in found:
        if left >= wanted or row.n >= n:
            break
        gone.append(row.id)
        left += row.size
    for first in range(0, len(gone), _AT_ONCE):
        part = gone[first : first + _AT_ONCE]
        connection.execute(sa.delete(output).where(output.c.id.in_(part)))
    return left


def keep_compiled(connection: sa.Connection, content: bytes, now: datetime) -> str:
    """Store a compiled set once; its sha256, which is its name."""
    sha = hashlib.sha256(content).hexdigest()
    known = connection.execute(sa.select(compiled.c.sha).where(compiled.c.sha == sha)).scalar()
    if known is None:
        connection.execute(
            sa.insert(compiled).values(
                sha=sha, content=zlib.compress(content, 6), kept_at=now.timestamp()
            )
        )
    return sha


def read_compiled(connection: sa.Connection, sha: str) -> bytes | None:
    """A compiled set by its sha256; None when it was never stored."""
    content = connection.execute(
        sa.select(compiled.c.content).where(compiled.c.sha == sha)
    ).scalar()
    return None if content is None else zlib.decompress(content)


def forget_compiled(connection: sa.Connection, before: float, current: str) -> int:
    """Delete the sets that nobody runs by, kept before a moment (Unix seconds); how many."""
    named = sa.exists().where(investigation.c.sha == compiled.c.sha)
    gone = sa.delete(compiled).where(compiled.c.kept_at < before, compiled.c.sha != current, ~named)
    return connection.execute(gone).rowcount


def keep_bodies(connection: sa.Connection, bodies: dict[str, bytes], now: datetime) -> None:
    """Store webhook bodies by their sha256; those that are known stay as they are."""
    if not bodies:
        return
    known = set(connection.execute(_KNOWN_BODIES, {"shas": list(bodies)}).scalars())
    rows = [
        {
            "sha": sha,
            "received_at": now.timestamp(),
            "size": len(content),
            "content": zlib.compress(content, 1),
        }
        for sha, content in bodies.items()
        if sha not in known
    ]
    if rows:
        connection.execute(_INSERT_BODY, rows)


def read_body(connection: sa.Connection, sha: str) -> bytes | None:
    """A webhook body by its sha256; None when it was not kept."""
    content = connection.execute(sa.select(body.c.content).where(body.c.sha == sha)).scalar()
    return None if content is None else zlib.decompress(content)
