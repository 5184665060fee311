"""What `diagnose` reads: one alert, several, or a whole Alertmanager v4 body."""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tailhound.diagnosis.group import at_site, key_of, subject_of, why_ignored
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
    """The alerts of a body. An object with `labels` alone counts as a group of one alert, a list of
    them (`amtool alert query -o json`, `/api/v2/alerts`) as a group.
    """
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
        alerts.setdefault(key, []).append(at_site(alert, rules))
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
    """A v4 body as it is; one alert, or a list of them as Alertmanager's API gives it, made one."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        return body
    found = value if isinstance(value, list) else [value]
    if not found or not all(isinstance(one, dict) and "labels" in one for one in found):
        return body
    if any("alerts" in one for one in found):
        return body
    alerts = [_as_sent(one) for one in found]
    labels = found[0]["labels"]
    name = labels.get("alertname", "") if isinstance(labels, dict) else ""
    return json.dumps(
        {
            "version": "4",
            "groupKey": f'{{}}:{{alertname="{name}"}}',
            "receiver": "tailhound diagnose",
            "status": "firing",
            "alerts": alerts,
        }
    ).encode()


def _as_sent(alert: dict[str, Any]) -> dict[str, Any]:
    """One alert as a webhook sends it. The API's status is an object, and its end a guess."""
    made = {"status": "firing", "annotations": {}, **alert}
    if isinstance(made["status"], dict):
        made["status"] = "firing"
        made.pop("endsAt", None)
    made.setdefault("startsAt", datetime.now(UTC).isoformat())
    return made
