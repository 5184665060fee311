"""How an incident begins, grows, ends and begins again: pure edits of its record."""

from dataclasses import replace
from datetime import datetime

from tailhound.durable.arrivals import Item
from tailhound.durable.asking import noted
from tailhound.model import Alert, AlertStatus, Incident, State
from tailhound.model.wording import clock
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
    record = noted(Record(incident=fresh, ordinal=ordinal), now, "First alert received")
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
    return noted(Record(incident=fresh, done=fresh.n), now, "A body arrived that can't be read")


def reopened(record: Record, now: datetime) -> Record:
    """A resolved incident that fires again: the next episode, with the alerts of this one only."""
    it = record.incident
    since = f" at {clock(it.resolved_at)}" if it.resolved_at else ""
    again = record.edited(
        state=State.INVESTIGATING,
        episode=it.episode + 1,
        previous_resolved_at=it.resolved_at,
        resolved_at=None,
        alerts=(),
        truncated_alerts=0,
    )
    return noted(again, now, f"Fired again; it had been resolved{since}")


def with_alert(record: Record, alert: Alert, truncated: int) -> Record:
    """The record with this alert in its newest form; beyond the limit it is only counted."""
    it = record.incident
    same = (alert.fingerprint, alert.starts_at)
    if any((a.fingerprint, a.starts_at) == same for a in it.alerts):
        alerts = tuple(alert if (a.fingerprint, a.starts_at) == same else a for a in it.alerts)
        return record.edited(alerts=alerts)
    if alert.status is AlertStatus.RESOLVED:
        return record
    hidden = max(it.truncated_alerts, truncated)
    if len(it.alerts) >= ALERTS_SHOWN:
        return record.edited(truncated_alerts=hidden + 1)
    return record.edited(alerts=(*it.alerts, alert), truncated_alerts=hidden)


def resolved_now(record: Record, now: datetime) -> Record:
    """The record when nothing of it fires any more; the end is what the alerts say, if credible."""
    it = record.incident
    ends = [alert.ends_at for alert in it.alerts if alert.ends_at is not None]
    credible = [at for at in ends if it.since <= at <= now]
    resolved = replace(record, waiting="").edited(
        state=State.RESOLVED, resolved_at=max(credible, default=now), asked_until=None
    )
    return noted(resolved, now, "All alerts are resolved")
