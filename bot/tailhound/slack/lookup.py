"""Looking for a message whose post nobody answered: where it would stand, and how it is known."""

from collections.abc import Callable, Mapping
from typing import Any

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from tailhound.notifiers import Delivery
from tailhound.slack.calls import Said
from tailhound.slack.draft import EVENT_TYPE

Matches = Callable[[Mapping[str, Any]], bool]


def reading(delivery: Delivery, cursor: str) -> Callable[[WebClient], SlackResponse]:
    """A page of where the message would stand: its thread, or the channel since the incident."""
    page: dict[str, Any] = {
        "channel": delivery.place,
        "cursor": cursor or None,
        "limit": 200,
        "include_all_metadata": True,
    }
    oldest = f"{delivery.incident.received_at.timestamp() - 60:.6f}"

    def read(web: WebClient) -> SlackResponse:
        if delivery.thread:
            return web.conversations_replies(ts=delivery.thread, **page)
        return web.conversations_history(oldest=oldest, **page)

    return read


def is_of(message: Mapping[str, Any], delivery: Delivery) -> bool:
    """Whether its metadata names this message. Whoever posts may write that."""
    metadata = message.get("metadata") or {}
    payload = metadata.get("event_payload") or {}
    return (
        metadata.get("event_type") == EVENT_TYPE
        and payload.get("incident") == delivery.incident.id
        and payload.get("part", "") == delivery.part
    )


def is_by(message: Mapping[str, Any], ours: frozenset[str]) -> bool:
    """Whether Slack signs it with one of these ids, of a bot or of its user."""
    return message.get("bot_id") in ours or message.get("user") in ours


def ts_of(outcome: Said, delivery: Delivery, matches: Matches) -> str:
    """The first that matches; not the one that is known and can't be edited."""
    for found in outcome.data.get("messages", ()):
        ts = str(found.get("ts", ""))
        if ts and ts != delivery.message and matches(found):
            return ts
    return ""
