"""What `diagnose` reads: one alert, or a whole Alertmanager v4 body."""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tailhound.diagnosis.group import key_of, subject_of, why_ignored
from tailhound.durable.names import short_name
from tailhound.errors import AlertUnreadable, SettingsError
from tailhound.model import Alert, AlertGroup, Incident, State
from tailhound.settings import Incidents, Settings
from tailhound.sources.alertmanager import read_group


def read_body(where: str) -> bytes:
    """The bytes of a file, or of standard input for "-"."""
    if where == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(where).read_bytes()
    except OSError as error:
        raise SettingsError(f"{where}: can't be read: {error.strerror}") from error


def group_of(body: bytes, where: str) -> AlertGroup:
    """The alerts of a body. A single alert (an object with `labels`) counts as a group of one."""
    try:
        return read_group(_as_group(body))
    except AlertUnreadable as error:
        raise SettingsError(f"{where}: {error}") from error


def with_labels(labels: Mapping[str, str], now: datetime) -> AlertGroup:
    """An alert that stands for what a person says."""
    alert = {"status": "firing", "labels": dict(labels), "startsAt": now.isoformat()}
    return group_of(json.dumps(alert).encode(), "--input")


def incidents_of(
    group: AlertGroup, settings: Settings, now: datetime
) -> tuple[tuple[Incident, ...], Mapping[str, int]]:
    """The incidents that these alerts make, and how many alerts start nothing, by reason."""
    rules = settings.incidents
    alerts: dict[str, list[Alert]] = {}
    ignored: dict[str, int] = {}
    for alert in group.alerts:
        reason = why_ignored(alert, rules)
        if reason:
            ignored[reason] = ignored.get(reason, 0) + 1
            continue
        key = key_of(subject_of(alert, rules), group)
        alerts.setdefault(key, []).append(alert)
    made = tuple(_incident(key, members, group, rules, now) for key, members in alerts.items())
    return made, ignored


def to_diagnose(group: AlertGroup, settings: Settings, now: datetime) -> tuple[Incident, ...]:
    """The incidents of these alerts; SettingsError when none of them starts one.

    What starts none is told on standard error, with the reason.
    """
    found, ignored = incidents_of(group, settings, now)
    for reason, count in ignored.items():
        sys.stderr.write(f"{count} not diagnosed: {reason}\n")
    if not found:
        raise SettingsError("no alert of it is to be diagnosed")
    return found


def _incident(
    key: str, alerts: Sequence[Alert], group: AlertGroup, rules: Incidents, now: datetime
) -> Incident:
    return Incident(
        id=short_name(key, 0, lambda _name: False),
        key=key,
        subject=subject_of(alerts[0], rules),
        state=State.INVESTIGATING,
        alerts=tuple(alerts),
        received_at=now,
        truncated_alerts=group.truncated_alerts,
    )


def _as_group(body: bytes) -> bytes:
    """A v4 body as it is; a single alert wrapped into one."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        return body
    if not isinstance(value, dict) or "labels" not in value or "alerts" in value:
        return body
    alert = {"status": "firing", "annotations": {}, **value}
    alert.setdefault("startsAt", datetime.now(UTC).isoformat())
    name = value["labels"].get("alertname", "") if isinstance(value["labels"], dict) else ""
    return json.dumps(
        {
            "version": "4",
            "groupKey": f'{{}}:{{alertname="{name}"}}',
            "receiver": "tailhound diagnose",
            "status": alert["status"],
            "alerts": [alert],
        }
    ).encode()
