"""Which channels an incident goes to, whom its first post mentions, whose thread it joins. Pure.

All of it comes from the configuration and from what labels match there: no label names a channel
or a group by itself, so that nobody who may write an alert may ping whom they like. The labels that
count are those of the worst alert. An annotation of it, or of one that is as bad, may name a
thread, but only in a channel that the incident goes to anyway.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import parse_qs

from tailhound.model import Alert, Incident
from tailhound.settings import Belated, Route, Slack

LONGEST = 300
"""Characters of a value that is held against a regular expression."""

THREAD_ANNOTATION = "tailhound_thread"
_TS = r"\d{10}\.\d{6}"
_CHANNEL = r"[CGD][A-Z0-9]{2,20}"
_THREAD = re.compile(rf"(?P<channel>{_CHANNEL})/(?P<ts>{_TS})")
_PERMALINK = re.compile(
    rf"https://[a-z0-9.-]{{1,80}}/archives/(?P<channel>{_CHANNEL})/p(?P<s>\d{{10}})(?P<u>\d{{6}})"
    r"(?:\?(?P<query>[\w=&.%-]{0,200}))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """One channel of an incident. `mention` is a Slack group id, "" = nobody; `thread` is a ts.

    `later` is what its route wants where it matches only after the first post.
    """

    channel: str
    mention: str = ""
    thread: str = ""
    later: Belated = "post"


def routed(incident: Incident, slack: Slack) -> tuple[Routed, ...]:
    """The channels of an incident, each once: those of the first route that matches, and of later
    ones where that one says `continue`; the default channel where none matches.
    """
    found = _channels_of(incident, slack)
    channel, ts = _thread(incident)
    if channel in found and ts:
        found[channel] = replace(found[channel], thread=ts)
    return tuple(found.values())


def why_no_thread(incident: Incident, slack: Slack) -> str:
    """Why the thread that an annotation names is not joined; "" when it is, or none is named."""
    if not _named(incident):
        return ""
    channel, ts = _thread(incident)
    if not ts:
        return f"{THREAD_ANNOTATION} names no message: CHANNEL/1700000000.000100, or its link"
    if channel not in _channels_of(incident, slack):
        return f"{THREAD_ANNOTATION} names a thread in {channel}, where this incident does not go"
    return ""


def channels(slack: Slack) -> tuple[str, ...]:
    """All channels that the configuration names for incidents, each once."""
    named = (slack.channel, *(route.channel for route in slack.routes), slack.fallback_channel)
    return tuple(dict.fromkeys(channel for channel in named if channel))


def _channels_of(incident: Incident, slack: Slack) -> dict[str, Routed]:
    found: dict[str, Routed] = {}
    for route in slack.routes:
        if not _matches(route, incident):
            continue
        channel = route.channel or slack.channel
        found.setdefault(channel, _routed(channel, route, incident))
        if not route.continue_:
            break
    return found or {slack.channel: Routed(channel=slack.channel)}


def _routed(channel: str, route: Route, incident: Incident) -> Routed:
    wanted = incident.severity.lower() in {one.lower() for one in route.mention_for}
    mention = route.mention if wanted else ""
    return Routed(channel=channel, mention=mention, later=route.later)


def _matches(route: Route, incident: Incident) -> bool:
    """Whether all matchers hold; a label that is not there is the empty text, as in Alertmanager.
    `severity` is the one of the severity map.
    """
    if route.owner and route.owner not in incident.owners:
        return False
    labels = _labels(incident.worst)
    exact = all(labels.get(name, "") == value for name, value in route.match.items())
    return exact and all(
        _fits(pattern, labels.get(name, "")) for name, pattern in route.match_re.items()
    )


def _labels(alert: Alert | None) -> dict[str, str]:
    if alert is None:
        return {}
    told = {"severity": alert.severity} if alert.severity else {}
    return {**alert.labels, **told}


def _fits(pattern: str, value: str) -> bool:
    """A long value fits none: it would take minutes, and no name of anything is that long."""
    return len(value) <= LONGEST and re.fullmatch(pattern, value) is not None


def _named(incident: Incident) -> str:
    """The thread that an annotation names, as it stands there. A lesser alert names none: it could
    bury a page below some old message.
    """
    texts: Iterator[str] = (
        one.annotations.get(THREAD_ANNOTATION, "").strip() for one in incident.worst_ones
    )
    return next(filter(None, texts), "")


def _thread(incident: Incident) -> tuple[str, str]:
    """The channel and the message of the thread that is named; empty where it is no thread."""
    text = _named(incident)
    if found := _THREAD.fullmatch(text):
        return found["channel"], found["ts"]
    link = _PERMALINK.fullmatch(text)
    if link is None:
        return "", ""
    asked = parse_qs(link["query"] or "").get("thread_ts", [""])[0]
    root = asked if re.fullmatch(_TS, asked) else f"{link['s']}.{link['u']}"
    return link["channel"], root
