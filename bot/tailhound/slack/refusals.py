"""Slack's error codes: what each means for a message, and what a person must do about it."""

from enum import Enum
from typing import Final

from tailhound.slack.calls import No


class Meaning(Enum):
    """What the notifier does about an error code."""

    WAIT = "wait"
    SHORTEN = "shorten"
    POST_ANEW = "post anew"
    REFUSED = "refused"
    TROUBLE = "trouble"
    UNKNOWN = "unknown"


_MEANINGS: Final = {
    "ratelimited": Meaning.WAIT,
    "rate_limited": Meaning.WAIT,
    "message_limit_exceeded": Meaning.WAIT,
    "msg_too_long": Meaning.SHORTEN,
    "msg_blocks_too_long": Meaning.SHORTEN,
    "invalid_blocks": Meaning.SHORTEN,
    "invalid_blocks_format": Meaning.SHORTEN,
    "invalid_attachments": Meaning.SHORTEN,
    "message_not_found": Meaning.POST_ANEW,
    "cant_update_message": Meaning.POST_ANEW,
    "edit_window_closed": Meaning.POST_ANEW,
    "internal_error": Meaning.TROUBLE,
    "service_unavailable": Meaning.TROUBLE,
    "request_timeout": Meaning.TROUBLE,
    "team_added_to_org": Meaning.TROUBLE,
}

_TODO: Final = {
    "not_in_channel": "invite the app to the channel: /invite @tailhound",
    "channel_not_found": "put the id of a channel that the app is in under slack.channel "
    "(private channels need an invitation first: /invite @tailhound)",
    "is_inactive": "the channel is archived: unarchive it, or put another one under slack.channel",
    "is_archived": "the channel is archived: unarchive it, or put another one under slack.channel",
    "restricted_action": "the workspace does not let the app post there: ask its administrators",
    "token_revoked": "the app was removed or its token revoked: install it again and put the new "
    "token where slack.bot_token points",
    "token_expired": "the token has expired: put a new one where slack.bot_token points",
    "account_inactive": "the app's account is switched off: install it again",
    "invalid_auth": "the token is not valid: put the right one where slack.bot_token points",
    "not_authed": "there is no token: put one where slack.bot_token points",
    "not_allowed_token_type": "this is another kind of token: slack.bot_token takes xoxb-...",
}
_OF_THE_CHANNEL: Final = frozenset(
    {"not_in_channel", "channel_not_found", "is_archived", "is_inactive"}
)
_DEAD: Final = frozenset(
    {"token_revoked", "token_expired", "account_inactive", "invalid_auth", "not_authed"}
)


def meaning_of(error: str) -> Meaning:
    """What to do about an error code; UNKNOWN for one that nobody has seen before."""
    if error in _TODO or error == "missing_scope" or error.startswith("restricted_action"):
        return Meaning.REFUSED
    return _MEANINGS.get(error, Meaning.UNKNOWN)


def is_dead(error: str) -> bool:
    """Whether no call at all can succeed until a person has done something."""
    return error in _DEAD


def is_everywhere(error: str) -> bool:
    """Whether it is true of every message to that channel, not just of this one."""
    return error in _OF_THE_CHANNEL or is_dead(error)


def todo(no: No, channel: str) -> str:
    """One sentence: what Slack refused, and what a person must do."""
    if no.error == "missing_scope":
        needed = str(no.more.get("needed") or "chat:write")
        fix = f"add the scope {needed} in the app's settings and install it again"
    else:
        base = "restricted_action" if no.error.startswith("restricted_action") else no.error
        fix = _TODO.get(base, "look the code up in Slack's documentation of chat.postMessage")
    return f"Slack refuses messages to {channel} ({no.error}): {fix}"
