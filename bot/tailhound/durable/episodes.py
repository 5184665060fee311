"""How an incident begins, grows, ends and begins again: pure edits of its record."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from tailhound.durable.arrivals import Item
from tailhound.durable.asking import noted
from tailhound.model import Alert, AlertStatus, Incident, Recheck, State
from tailhound.model.wording import clock, day_clock
from tailhound.store.records import Record

ALERTS_SHOWN = 100
"""Alerts that an incident lists; more are counted (`truncated_alerts`), and all have their row."""


def opened(item: Item, id: str, ordinal: int, now: datetime, mode: str) -> Record:
    """A new incident with its first alert; no investigation has been asked for yet."""
    fresh = Incident(
        id=id,
        key=item.key,
        subject=item.subject,
        state=State.INVESTIGATING,
        alerts=(),
        received_at=now,
        n=0,
        mode=mode,
    )
    begun = Record(incident=fresh, ordinal=ordinal, heard_at=now.timestamp())
    record = noted(begun, now, "First alert received")
    return with_alert(record, item.alert, 0)


def unread(item: Item, id: str, why: str, now: datetime, mode: str) -> Record:
    """The incident that stands for a body that can't be read: it says so, and asks nothing."""
    fresh = Incident(
        id=id,
        key=item.key,
        subject=item.subject,
        state=State.FAILED,
        alerts=(),
        received_at=now,
        mode=mode,
        unreadable=why,
        failed_because=f"what arrived can't be read: {why}",
    )
    kept = Record(incident=fresh, done=fresh.n, heard_at=now.timestamp())
    return noted(kept, now, "A body arrived that can't be read")


def reopened(record: Record, now: datetime) -> Record:
    """A resolved incident that fires again: the next episode, with the alerts of this one only."""
    it = record.incident
    since = f" at {clock(it.resolved_at)}" if it.resolved_at else ""
    again = record.edited(
        state=State.INVESTIGATING,
        episode=it.episode + 1,
        previous_resolved_at=it.resolved_at,
        resolved_at=None,
        unheard=False,
        recheck=None,
        alerts=(),
        truncated_alerts=0,
    )
    return noted(again, now, f"Fired again; it had been resolved{since}")


def with_alert(record: Record, alert: Alert, truncated: int, *, is_known: bool = False) -> Record:
    """The record with this alert in its newest form; beyond the limit it is only counted.

    `is_known`: it was counted before, by another start.
    """
    it = record.incident
    others = tuple(a for a in it.alerts if not is_same(a, alert))
    if len(others) < len(it.alerts):
        first = next(a for a in it.alerts if is_same(a, alert))
        start = min(a.starts_at for a in (alert, *it.alerts) if is_same(a, alert))
        newest = replace(alert, starts_at=start)
        return record.edited(
            alerts=tuple(
                newest if a is first else a for a in it.alerts if a is first or a in others
            )
        )
    if is_known or alert.status is AlertStatus.RESOLVED:
        return record
    hidden = max(it.truncated_alerts, truncated)
    if len(it.alerts) >= ALERTS_SHOWN:
        return record.edited(truncated_alerts=hidden + 1)
    return record.edited(alerts=(*it.alerts, alert), truncated_alerts=hidden)


def is_same(one: Alert, other: Alert) -> bool:
    """Whether two are the same alert: its fingerprint is, and neither began after the other's end.

    Two Alertmanagers, or one before and after a restart, may tell different starts.
    """
    if one.fingerprint != other.fingerprint:
        return False
    return one.starts_at == other.starts_at or (
        (one.ends_at is None or other.starts_at <= one.ends_at)
        and (other.ends_at is None or one.starts_at <= other.ends_at)
    )


def home(record: Record, read: Callable[[str], Record | None]) -> Record:
    """The incident that this one has joined, or that one's, and so on; itself when it has not."""
    seen: set[str] = set()
    while record.incident.joined_into and record.incident.id not in seen:
        seen.add(record.incident.id)
        into = read(record.incident.joined_into)
        if into is None:
            break
        record = into
    return record


def _heard(record: Record) -> datetime:
    heard = record.heard_at or record.incident.received_at.timestamp()
    return datetime.fromtimestamp(heard, UTC)


def last_heard(record: Record) -> datetime:
    """When something was heard of an incident last; while it is silenced, nothing can be."""
    heard = _heard(record)
    set_ = (one for one in record.incident.silences if one.id)
    return max((heard, *(one.ended_at or one.until for one in set_)))


def unheard_now(record: Record, now: datetime) -> Record:
    """The record when it counts as over, because nothing was heard of it for too long.

    It ended no later than it was heard of last, as far as anybody knows: nobody said so.
    """
    heard = _heard(record)
    over = replace(record, waiting="").edited(
        state=State.RESOLVED,
        resolved_at=max(heard, record.incident.since),
        unheard=True,
        asked_until=None,
        recheck=_begun(record),
    )
    since = day_clock(heard, now)
    return noted(over, now, f"Nothing was heard of it since {since}: it counts as over")


def resolved_now(record: Record, now: datetime) -> Record:
    """The record when nothing of it fires any more; the end is what the alerts say, if credible."""
    it = record.incident
    ends = [alert.ends_at for alert in it.alerts if alert.ends_at is not None]
    credible = [at for at in ends if it.since <= at <= now]
    resolved = replace(record, waiting="").edited(
        state=State.RESOLVED,
        resolved_at=max(credible, default=now),
        asked_until=None,
        recheck=_begun(record),
    )
    return noted(resolved, now, "All alerts are resolved")


def _begun(record: Record) -> Recheck | None:
    """The check of its verdict, unless it still waited behind another one: it never begins."""
    found = record.incident.recheck
    return found if found is not None and found.n <= record.incident.n else None
