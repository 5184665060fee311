"""Which methods the stand-in answers: what runs, which scopes it wants, how often it may be called.

Scopes and tiers are those of Slack's reference: 1 = one a minute and more, 2 = 20, 3 = 50,
4 = 100; 0 = no limit of its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tailhound.slack.local import conversations, files, messages, views
from tailhound.slack.local.rates import POST
from tailhound.slack.local.world import BOT_ID, BOT_USER, HOME, TEAM, Json, World

OPEN_SOCKET = "apps.connections.open"
OPEN_SOCKET_PER_MINUTE = 20
"""Slack documents tier 1; a client that reconnects after each disconnect is not held to that."""

Run = Callable[[World, Json], Json]


@dataclass(frozen=True, slots=True)
class Method:
    """One method. `scopes`: all of them are needed; `per_minute` 0 = no limit."""

    run: Run
    scopes: tuple[str, ...] = ()
    per_minute: int = 0


def auth_test(world: World, arguments: Json) -> Json:
    """`auth.test`."""
    return {
        "ok": True,
        "url": f"{HOME}/",
        "team": "local",
        "user": "tailhound",
        "team_id": TEAM,
        "user_id": BOT_USER,
        "bot_id": BOT_ID,
        "is_enterprise_install": False,
    }


METHODS: Mapping[str, Method] = {
    "auth.test": Method(auth_test),
    POST: Method(messages.post_message, ("chat:write",)),
    "chat.update": Method(messages.update, ("chat:write",), 50),
    "chat.delete": Method(messages.delete, ("chat:write",), 50),
    "chat.postEphemeral": Method(messages.post_ephemeral, ("chat:write",), 100),
    "chat.getPermalink": Method(messages.permalink),
    "conversations.history": Method(conversations.history, (), 50),
    "conversations.replies": Method(conversations.replies, (), 50),
    "conversations.info": Method(conversations.info, (), 50),
    "conversations.members": Method(conversations.members, (), 100),
    "conversations.open": Method(conversations.open_direct, (), 50),
    "files.getUploadURLExternal": Method(files.upload_url, ("files:write",), 100),
    "files.completeUploadExternal": Method(files.complete, ("files:write",), 100),
    "files.info": Method(files.info, ("files:read",), 100),
    "views.open": Method(views.open_view, (), 100),
    "views.push": Method(views.push, (), 100),
    "views.update": Method(views.update, (), 100),
    "views.publish": Method(views.publish, (), 100),
    "users.info": Method(conversations.user_info, ("users:read",), 100),
    "usergroups.users.list": Method(conversations.group_users, ("usergroups:read",), 20),
}
