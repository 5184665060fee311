"""Which mock-up a message follows. Pure."""

from enum import Enum

from tailhound.model import Incident, Outlook, State


class Look(Enum):
    """Which mock-up a message follows."""

    FIRST = "first"
    COLLECTING = "collecting"
    BACK = "back"
    CONFIRMED = "confirmed"
    TWO_FIT = "two fit"
    UNKNOWN = "unknown"
    BLIND = "blind"
    RESOLVED = "resolved"
    DEFERRED = "deferred"
    JOINED = "joined"
    FAILED = "failed"
    UNREADABLE = "unreadable"


WORDS = {
    Look.FIRST: "🔎 Investigating",
    Look.COLLECTING: "🔎 Investigating",
    Look.BACK: "🔁 Back again",
    Look.CONFIRMED: "🎯 Cause found",
    Look.TWO_FIT: "⚖️ Two causes fit",
    Look.UNKNOWN: "❔ No cause confirmed",
    Look.BLIND: "🔌 Cannot see",
    Look.RESOLVED: "✅ Resolved",
    Look.DEFERRED: "⏸️ Waiting its turn",
    Look.JOINED: "Joined",
    Look.FAILED: "tailhound failed",
    Look.UNREADABLE: "Unreadable alert",
}
"""The state in words, with a glyph that differs in shape."""

_BY_STATE = {
    State.DEFERRED: Look.DEFERRED,
    State.RESOLVED: Look.RESOLVED,
    State.JOINED: Look.JOINED,
    State.FAILED: Look.FAILED,
}
_BY_OUTLOOK = {
    Outlook.CAUSE_FOUND: Look.CONFIRMED,
    Outlook.TWO_FIT: Look.TWO_FIT,
    Outlook.NONE_CONFIRMED: Look.UNKNOWN,
    Outlook.BLIND: Look.BLIND,
}


def look_of(incident: Incident) -> Look:
    """The mock-up of an incident as it stands: its verdict's, as long as that stands, for people
    act on it also while it is checked again, and where that has failed.
    """
    if incident.state is State.JOINED:
        return Look.JOINED
    if incident.unreadable:
        return Look.UNREADABLE
    diagnosis = incident.diagnosis
    if diagnosis is not None and incident.state is not State.RESOLVED and incident.verdict_stands:
        return _BY_OUTLOOK[diagnosis.outlook]
    if incident.state in _BY_STATE:
        return _BY_STATE[incident.state]
    if incident.state is State.INVESTIGATING or diagnosis is None:
        return _before_the_verdict(incident)
    return _BY_OUTLOOK[diagnosis.outlook]


def _before_the_verdict(incident: Incident) -> Look:
    if incident.episode > 1:
        return Look.BACK
    return Look.COLLECTING if incident.progress else Look.FIRST
