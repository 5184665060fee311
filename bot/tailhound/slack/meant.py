"""Which incident somebody means who types a command: by its id, by a link to it, by what is ill, or
by where they type. Values are escaped; each call reads the store.
"""

import difflib
import re
from collections.abc import Sequence
from typing import Final

from tailhound.model import OPEN_STATES, Incident
from tailhound.slack import escape
from tailhound.slack.deeds import Deeds

_PAGE: Final = re.compile(r"https?://[^\s|>]{1,300}?/incidents/(?P<id>[0-9A-Za-z]{4,52})(?![\w-])")
_MESSAGE: Final = re.compile(
    r"https?://[^\s|>/]{1,200}/archives/(?P<channel>[CGD][A-Z0-9]{2,40})/p(?P<ts>\d{16})(?!\d)"
)
_THREAD: Final = re.compile(r"thread_ts=(?P<ts>\d{10}\.\d{6})(?!\d)")
_ANCHOR: Final = re.compile(r"https?://[^\s|>]{1,300}#m(?P<ts>\d{10}\.\d{1,6})(?!\d)")
_ID: Final = re.compile(r"[0-9A-Z]{4,52}")
_MISREAD: Final = str.maketrans("OIL", "011")
"""Signs that no id holds, and what they are read for."""

_NAMED: Final = 5
_NEAR: Final = 3
_SHORTEST_NAME: Final = 3
_OPEN: Final = "`/tailhound status` lists what is open."


def meant(words: Sequence[str], channel: str, deeds: Deeds, command: str) -> Incident | str:
    """The incident; what to say to who typed `command`, otherwise."""
    usage = f"`/tailhound {command} INCIDENT`"
    if not words:
        return _only_one(deeds.whereabouts.here(channel), usage)
    if len(words) > 1:
        return f"One incident at a time: write {usage}. {_OPEN}"
    word = words[0]
    if "://" in word:
        found = _linked(word, channel, deeds)
        return found or f"No incident is known of which {escape.code(word)} is a link. {_OPEN}"
    id = word.strip("#.,:`*").upper()
    for spelled in dict.fromkeys((id, id.translate(_MISREAD))):
        found = deeds.incident(spelled) if _ID.fullmatch(spelled) else None
        if found is not None:
            return found
    return _named(word, id, deeds)


def _only_one(here: Sequence[Incident], usage: str) -> Incident | str:
    """The one that is open where it was typed."""
    if len(here) == 1:
        return here[0]
    if not here:
        return f"Nothing that is open stands in this channel. Write {usage}. {_OPEN}"
    return f"{len(here)} incidents are open in this channel: {_list(here)}. Write {usage}."


def _linked(word: str, channel: str, deeds: Deeds) -> Incident | None:
    """The incident of a page's address, or of a message's as Slack copies it."""
    if page := _PAGE.search(word):
        return deeds.incident(page["id"].upper())
    places = [
        (one["channel"], f"{one['ts'][:10]}.{one['ts'][10:]}") for one in _MESSAGE.finditer(word)
    ]
    where = places[0][0] if places else channel
    places += [(where, one["ts"]) for one in (_THREAD.search(word), _ANCHOR.search(word)) if one]
    ids = (deeds.whereabouts.at(*place) for place in places)
    id = next(filter(None, ids), "")
    return deeds.incident(id) if id else None


def _named(word: str, id: str, deeds: Deeds) -> Incident | str:
    """The open incident of a workload, pod or node; else those that come near."""
    known, name = deeds.whereabouts.lately(), word.lower()
    exact = [one for one in known if one.state in OPEN_STATES and name in _names(one)]
    if len(exact) == 1:
        return deeds.incident(exact[0].id) or exact[0]
    if exact:
        return f"{len(exact)} incidents of {escape.code(word)} are open: {_list(exact)}."
    close = difflib.get_close_matches(id, [one.id for one in known], n=_NEAR, cutoff=0.6)
    near = [one for one in known if one.id in close]
    if len(name) >= _SHORTEST_NAME:
        near += [one for one in known if name in one.subject.where.lower() and one not in near]
    hint = f" Did you mean {_list(near[:_NEAR], ' or ')}?" if near else ""
    return f"No incident {escape.code(word)} is known.{hint} {_OPEN}"


def _names(one: Incident) -> set[str]:
    it = one.subject
    return {text.lower() for text in (it.where, it.workload, it.pod, it.node) if text}


def _list(found: Sequence[Incident], between: str = ", ") -> str:
    """`7F3K (prod/llm-70b), 8R5W (llm/chat-json) + 2 more`."""
    shown = [f"{escape.value(one.id)} ({where_text(one)})" for one in found[:_NAMED]]
    left = len(found) - len(shown)
    return between.join(shown) + (f" + {left} more" if left > 0 else "")


def where_text(incident: Incident) -> str:
    """`llm/chat-json (eu-1)`: with its cluster, where the labels name one."""
    where, cluster = escape.value(incident.subject.where), escape.value(incident.subject.cluster)
    return f"{where} ({cluster})" if cluster else where
