"""A message that stands in another channel than its own: it says which one that is. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tailhound.model.names import plural
from tailhound.slack.blocks import SlackMessage
from tailhound.slack.kit import context

_NAMED: Final = 3


def in_place_of(shown: SlackMessage, channels: Sequence[str]) -> SlackMessage:
    """The message with a line below its head that names the channels that refuse it.

    `channels` are ids from the configuration. Where the message has no blocks, its text says so.
    """
    if not channels:
        return shown
    told = f"{shown.text}\nFor {_listed(channels, '{}')}, where Slack refuses messages."
    if not shown.blocks:
        return replace(shown, text=told)
    line = context("O", f"For {_listed(channels, '<#{}>')}, where Slack refuses messages")
    mark = str(shown.blocks[0].get("block_id", "")).partition(":")[2]
    block = {**(line or {}), "block_id": f"O:{mark}"}
    return SlackMessage(text=told, blocks=(shown.blocks[0], block, *shown.blocks[1:]))


def _listed(channels: Sequence[str], form: str) -> str:
    named = [form.format(channel) for channel in channels[:_NAMED]]
    left = len(channels) - len(named)
    return ", ".join([*named, plural(left, "more channel")] if left else named)
