"""Which channels an incident goes to, whom its first post mentions, whose thread it joins. Pure.

All of it comes from the configuration and from what labels match there: no label names a channel
or a group by itself, so that nobody who may write an alert may ping whom they like. An annotation
may name a thread, but only in a channel that the configuration names.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tailhound.model import Alert, Incident
from tailhound.settings import Route, Slack

LONGEST = 300
"""Characters of a value that is held against a regular expression."""

THREAD_ANNOTATION = "tailhound_thread"
_THREAD = re.compile(r"(?P<channel>[CGD][A-Z0-9]{2,20})/(?P<ts>\d{10}\.\d{6})")
_PERMALINK = re.compile(
    r"https://[a-z0-9.-]{1,80}/archives/(?P<channel>[CGD][A-Z0-9]{2,20})/p(?P<s>\d{10})(?P<u>\d{6})"
    r"(?:\?[\w=&.%-]{0,200})?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """One channel of an incident. `mention` is a Slack group id, "" = nobody; `thread` is a ts."""

    channel: str
    mention: str = ""
    thread: str = ""


def routed(incident: Incident, slack: Slack) -> tuple[Routed, ...]:
    """The channels of an incident, each once: those of the first route that matches, and of later
    ones where that one says `continue`; the default channel where none matches.
    """
    alert = incident.alerts[0] if incident.alerts else None
    found: dict[str, Routed] = {}
    for route in slack.routes:
        if not _matches(route, alert):
            continue
        channel = route.channel or slack.channel
        found.setdefault(channel, _routed(channel, route, incident))
        if not route.continue_:
            break
    if not found:
        found[slack.channel] = Routed(channel=slack.channel)
    joined = _thread(alert, channels(slack))
    if joined is not None:
        mention = next((to.mention for to in found.values() if to.mention), "")
        return (Routed(channel=joined[0], mention=mention, thread=joined[1]),)
    return tuple(found.values())


def channels(slack: Slack) -> tuple[str, ...]:
    """All channels that the configuration names, each once."""
    named = (slack.channel, *(route.channel for route in slack.routes), slack.fallback_channel)
    return tuple(dict.fromkeys(channel for channel in named if channel))


def _routed(channel: str, route: Route, incident: Incident) -> Routed:
    wanted = incident.severity.lower() in {one.lower() for one in route.mention_for}
    return Routed(channel=channel, mention=route.mention if wanted else "")


def _matches(route: Route, alert: Alert | None) -> bool:
    """Whether all matchers hold; a label that is not there is the empty text, as in Alertmanager.
    `severity` is the one of the severity map.
    """
    labels = dict(alert.labels) if alert else {}
    if alert and alert.severity:
        labels["severity"] = alert.severity
    exact = all(labels.get(name, "") == value for name, value in route.match.items())
    return exact and all(
        _fits(pattern, labels.get(name, "")) for name, pattern in route.match_re.items()
    )


def _fits(pattern: str, value: str) -> bool:
    """A long value fits none: it would take minutes, and no name of anything is that long."""
    return len(value) <= LONGEST and re.fullmatch(pattern, value) is not None


def _thread(alert: Alert | None, known: Sequence[str]) -> tuple[str, str] | None:
    """The channel and the message that the annotation names; None when it names none of ours."""
    text = (alert.annotations.get(THREAD_ANNOTATION, "") if alert else "").strip()
    found = _THREAD.fullmatch(text)
    link = None if found else _PERMALINK.fullmatch(text)
    if found:
        channel, ts = found["channel"], found["ts"]
    elif link:
        channel, ts = link["channel"], f"{link['s']}.{link['u']}"
    else:
        return None
    return (channel, ts) if channel in known else None
