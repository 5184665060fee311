"""Case files: a recording together with the incidents and the verdicts that were made of it.

From a stored incident, the parts that its investigation kept become one recording again.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from tailhound.errors import RecordingUnreadable
from tailhound.model import Alert, Incident
from tailhound.model.redaction import scrubbed
from tailhound.store.codec import incident_from_json, incident_to_json
from tailhound.store.recordings import AT_MOST, Part
from tailhound.transports.recording import Recorder, Recording, parsed

_ENDLESS = "0001-01-01T00:00:00Z"
_MIB = 1024 * 1024


def with_incidents(recording: Recording, incidents: Iterable[Incident]) -> Recording:
    """The recording with what was made of it; redacted, and without names of people."""
    return replace(recording, incidents=tuple(_plain(incident) for incident in incidents))


def incidents_in(recording: Recording) -> tuple[Incident, ...]:
    """The incidents of a case file, () without; RecordingUnreadable when they are wrong."""
    try:
        return tuple(incident_from_json(json.dumps(item)) for item in recording.incidents)
    except ValueError as error:
        raise RecordingUnreadable(f"incidents: {str(error).splitlines()[0]}") from error


def stored(incident: Incident, parts: Sequence[Part]) -> Recording:
    """What was asked for the verdict of a stored incident.

    RecordingUnreadable says why there is nothing to replay.
    """
    if not parts:
        raise RecordingUnreadable(
            f"{incident.id}: what was asked is not kept: it is older than 30 days, or nothing was "
            "asked, or an older tailhound asked it"
        )
    large = [part for part in parts if part.content is None]
    if large:
        size = sum(part.size for part in parts) / _MIB
        raise RecordingUnreadable(
            f"{incident.id}: what was asked takes {size:.1f} MiB, more than the {AT_MOST // _MIB} "
            "MiB that are kept: the answers are with the incident, but it can't be replayed"
        )
    recorder = Recorder(parts[0].asked_at, body_of(incident))
    for part in parts:
        for answer in parsed((part.content or b"").decode()).answers:
            recorder.record(answer.request, answer.reply, answer.took)
    return recorder.recording()


def body_of(incident: Incident) -> dict[str, Any]:
    """The alerts of an incident as Alertmanager would send them."""
    return {
        "version": "4",
        "groupKey": incident.key,
        "truncatedAlerts": incident.truncated_alerts,
        "status": "firing" if incident.firing else "resolved",
        "receiver": "tailhound",
        "alerts": [_alert(alert) for alert in incident.alerts],
    }


def _alert(alert: Alert) -> dict[str, Any]:
    return {
        "status": alert.status.value,
        "labels": dict(alert.labels),
        "annotations": dict(alert.annotations),
        "startsAt": alert.starts_at.isoformat(),
        "endsAt": alert.ends_at.isoformat() if alert.ends_at else _ENDLESS,
        "fingerprint": alert.fingerprint,
    }


def _plain(incident: Incident) -> Any:
    """As JSON; without the evidence, which the answers hold, and the timeline with its names."""
    diagnosis = incident.diagnosis
    lean = replace(
        incident,
        timeline=(),
        progress=None,
        diagnosis=replace(diagnosis, evidence=()) if diagnosis else None,
    )
    return scrubbed(json.loads(incident_to_json(lean)))
