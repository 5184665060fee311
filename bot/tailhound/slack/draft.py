"""A message on its way to Slack: what it says, where it goes, how much people wait for it. Pure."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tailhound.notifiers import STORM, Delivery
from tailhound.slack.blocks import SlackMessage
from tailhound.slack.pace import Rank

EVENT_TYPE: Final = "tailhound_incident"
"""The type of the metadata that each message carries: incident, revision, part."""

_UNTOLD: Final = frozenset({"block_id", "value"})
"""What changes with every revision, and nobody sees."""

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Draft:
    """A message on its way: its wordings, the richest first, for where Slack refuses the blocks.

    `anew` is what a message says that takes the place of one that is gone, None = the same.
    """

    delivery: Delivery
    wordings: tuple[SlackMessage, ...]
    broadcast: bool = False
    anew: tuple[SlackMessage, ...] | None = None

    @property
    def seen(self) -> str:
        """A short hash of what people see."""
        shown = self.wordings[0]
        told = json.dumps([shown.text, _told(shown.blocks)], ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]

    @property
    def rank(self) -> Rank:
        """How much people wait for it."""
        delivery = self.delivery
        if delivery.urgent:
            return Rank.PRESSING
        if is_reply(delivery):
            return Rank.PART
        return Rank.PROGRESS if delivery.message else Rank.PRESSING

    def arguments(self, wording: SlackMessage) -> dict[str, Any]:
        """What posting and editing have in common."""
        incident = self.delivery.incident
        payload: dict[str, str | int] = {"incident": incident.id, "revision": incident.revision}
        if self.delivery.part:
            payload["part"] = self.delivery.part
        return {
            **saying(self.delivery.place, wording),
            "metadata": {"event_type": EVENT_TYPE, "event_payload": payload},
        }

    def posting(self, wording: SlackMessage) -> dict[str, Any]:
        """What a post has beyond an edit: its thread, and whether the channel sees it too."""
        more: dict[str, Any] = {}
        if self.delivery.thread:
            more["thread_ts"] = self.delivery.thread
        if self.broadcast:
            more["reply_broadcast"] = True
        return {**self.arguments(wording), **more}


def saying(channel: str, wording: SlackMessage) -> dict[str, Any]:
    """What every message of ours is sent with: nothing in it is expanded or linked by Slack."""
    return {
        "channel": channel,
        "text": wording.text,
        "blocks": list(wording.blocks),
        "unfurl_links": False,
        "unfurl_media": False,
        "link_names": False,
        "parse": "none",
    }


def _told(value: Any) -> Any:
    """Blocks without what changes although nobody sees it."""
    if isinstance(value, Mapping):
        return {key: _told(inner) for key, inner in value.items() if key not in _UNTOLD}
    return [_told(inner) for inner in value] if isinstance(value, list | tuple) else value


def is_reply(delivery: Delivery) -> bool:
    """Whether it is a post in the thread of an incident's own message."""
    return delivery.part not in ("", STORM)


def key_of(delivery: Delivery) -> Key:
    """What a message is known by while this process lives."""
    return delivery.place, delivery.incident.id, delivery.part
