"""Answers to what people did: what a `response_url` or the acknowledgement of a command shows."""

from tailhound.slack import limits
from tailhound.slack.local import messages
from tailhound.slack.local.clicks import At
from tailhound.slack.local.world import Json, World


def said(world: World, at: At, body: Json) -> None:
    """Replace or delete the message that was clicked, tell everybody, or only who clicked."""
    original = at.channel.shown_to(at.user, at.ts)
    if body.get("delete_original") and at.ts in at.channel.messages:
        messages.remove(world, at.channel, at.ts)
        return
    content = messages.checked(world, body, limits.MESSAGE_TEXT)
    if body.get("replace_original") and original is not None:
        original.update(content)
    elif body.get("response_type") == "in_channel":
        messages.put(world, at.channel, messages.new_message(world, at.channel, body))
    else:
        signed = {"user": at.user, "ts": world.next_ts(), "is_ephemeral": True}
        at.channel.whispers.append({**body, **signed})
    world.touch()
