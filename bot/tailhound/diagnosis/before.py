"""What changed before the symptom began, out of the evidence: context for people, no verdict."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from tailhound.model import Cause, Evidence
from tailhound.model.facts import number_of
from tailhound.model.verdict import Changed

CHANGES = "kubernetes.recent_changes"
"""The collector whose evidence every incident gets, whatever the runbooks ask."""

LOOK_BACK_SECONDS = 3600.0
"""An hour: as long as events live, and as the shortest usual moment lies back. Our own default."""

ONSETS_APART_SECONDS = 60.0
"""How far an onset may lie off, as a series is asked for once a minute: our own default."""

TOLD_AT_MOST = 10
"""The changes nearest to the onset are told."""

_LATEST = 253402300799.0  # the last second that a datetime can be


def beginning_of(chain: Iterable[str], causes: Iterable[Cause]) -> datetime | None:
    """When the first link of a chain began; None where nobody knows, or nothing is confirmed."""
    links = frozenset(chain)
    return min((one.onset for one in causes if one.runbook in links and one.onset), default=None)


def changed_before(
    evidence: Iterable[Evidence], onset: datetime | None, began: datetime | None = None
) -> tuple[Changed, ...]:
    """The changes within the hour before the onset, in the order of time; () without an onset.

    `began` is when the first cause did: what changed after that follows from it, as a node does
    that is lost. What still holds since nobody knows when is told after them.
    """
    if onset is None:
        return ()
    until = onset.timestamp()
    if began is not None:
        until = min(until, began.timestamp() + ONSETS_APART_SECONDS)
    rows = [row for item in evidence if item.collector == CHANGES for row in _rows(item)]
    timed = [(at, row) for row in rows if (at := _at(row)) is not None]
    within = [(at, row) for at, row in timed if until - LOOK_BACK_SECONDS <= at <= until]
    found = [_changed(row, at) for at, row in sorted(within, key=lambda pair: pair[0])]
    named = [row for row in rows if isinstance(row.get("what"), str)]
    still = [_changed(row, None) for row in named if row.get("at") is None]
    return tuple([*found, *still[:TOLD_AT_MOST]][-TOLD_AT_MOST:])


def _changed(row: Mapping[str, Any], at: float | None) -> Changed:
    return Changed(
        at=None if at is None else datetime.fromtimestamp(at, UTC),
        kind=str(row.get("kind") or ""),
        what=str(row.get("what") or ""),
        by=str(row.get("by") or ""),
    )


def _rows(item: Evidence) -> list[Mapping[str, Any]]:
    rows = item.facts.get("changes")
    known = rows if isinstance(rows, tuple | list) else ()
    return [row for row in known if isinstance(row, Mapping)]


def _at(row: Mapping[str, Any]) -> float | None:
    at = number_of(row.get("at"))
    return at if at is not None and 0 <= at <= _LATEST else None
