"""Block Kit's blocks as tailhound draws them: no emoji codes, nothing linked by Slack itself. Pure.

A block without text is None, so that a slot with nothing to say is left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Block: TypeAlias = Mapping[str, Any]


def plain(text: str) -> Block:
    """Text that is drawn as it is: `:name:` stays text."""
    return {"type": "plain_text", "text": text, "emoji": False}


def mrkdwn(text: str) -> Block:
    """`verbatim`: Slack links no address, host or channel name in it by itself."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def header(slot: str, text: str) -> Block | None:
    """The line on top."""
    return {"type": "header", "block_id": slot, "text": plain(text)} if text else None


def section(
    slot: str, text: str, *, expand: bool = False, accessory: Block | None = None
) -> Block | None:
    """A paragraph. `expand`: Slack folds nothing of it away; `accessory` stands beside it."""
    if not text:
        return None
    block: Block = {"type": "section", "block_id": slot, "text": mrkdwn(text)}
    more = {"accessory": accessory} if accessory else {}
    return {**block, **({"expand": True} if expand else {}), **more}


def actions(slot: str, buttons: Sequence[Block]) -> Block | None:
    """A row of buttons."""
    return {"type": "actions", "block_id": slot, "elements": list(buttons)} if buttons else None


def context(slot: str, text: str) -> Block | None:
    """Small print."""
    return {"type": "context", "block_id": slot, "elements": [mrkdwn(text)]} if text else None


def button(label: str, action_id: str, **more: str) -> Block:
    """A button with a `value`, or a link with a `url`."""
    return {"type": "button", "text": plain(label), "action_id": action_id, **more}
