"""The `conversations.*` methods, and who people are: `users.info`, `usergroups.users.list`."""

from math import inf
from typing import Any

from tailhound.slack.local.world import BOT_USER, Channel, Json, Refused, World

_HISTORY = {"channel": "channels", "private": "groups", "im": "im", "mpim": "mpim"}
_ALL = ("channels", "groups", "mpim", "im")
_MOST = 999


def info(world: World, arguments: Json) -> Json:
    """`conversations.info`."""
    channel = _readable(world, arguments, "read")
    return {"ok": True, "channel": _shown(channel)}


def members(world: World, arguments: Json) -> Json:
    """`conversations.members`."""
    channel = _readable(world, arguments, "read")
    bot = {BOT_USER} if channel.is_member else set()
    everybody = sorted(channel.members | bot)
    return {"ok": True, "members": everybody, "response_metadata": {"next_cursor": ""}}


def open_direct(world: World, arguments: Json) -> Json:
    """`conversations.open`: direct messages with one to eight people."""
    named = arguments.get("users")
    users = named if isinstance(named, list) else str(named or "").split(",")
    wanted = tuple(dict.fromkeys(user.strip() for user in map(str, users) if user.strip()))
    if not wanted:
        raise Refused("users_list_not_supplied")
    if len(wanted) > 8:
        raise Refused("too_many_users")
    for user in wanted:
        if user not in world.people:
            raise Refused("user_not_found")
        if world.people[user].deleted:
            raise Refused("user_disabled")
    world.need("im:write" if len(wanted) == 1 else "mpim:write")
    return {"ok": True, "channel": {"id": world.direct(wanted).id}}


def history(world: World, arguments: Json) -> Json:
    """`conversations.history`: what the channel shows, newest first, replies left out."""
    channel = _readable(world, arguments, "history")
    if not channel.is_member:
        raise Refused("not_in_channel")
    oldest, latest = _span(arguments)
    found = [m for m in channel.top if oldest <= float(m["ts"]) < latest]
    limit = _limit(arguments)
    page = found[-limit:][::-1]
    return _paged(arguments, page, left=len(found) > limit)


def replies(world: World, arguments: Json) -> Json:
    """`conversations.replies`: a root and its replies, oldest first."""
    channel = _readable(world, arguments, "history")
    root = channel.messages.get(str(arguments.get("ts", "")))
    if root is None:
        raise Refused("thread_not_found")
    thread = channel.thread(str(root.get("thread_ts", root["ts"])))
    after = _time(arguments, "cursor", 0.0, "invalid_cursor")
    found = [m for m in thread if float(m["ts"]) > after]
    limit = _limit(arguments)
    return _paged(arguments, found[:limit], left=len(found) > limit)


def user_info(world: World, arguments: Json) -> Json:
    """`users.info`."""
    person = world.people.get(str(arguments.get("user", "")))
    if person is None:
        raise Refused("user_not_found")
    shown = {
        "id": person.id,
        "team_id": person.team,
        "name": person.name,
        "real_name": person.name,
        "deleted": person.deleted,
        "is_bot": person.is_bot,
        "is_app_user": False,
        "is_restricted": person.is_restricted,
        "is_ultra_restricted": False,
        "is_stranger": person.is_stranger,
        "profile": {"display_name": person.name, "real_name": person.name},
    }
    return {"ok": True, "user": shown}


def group_users(world: World, arguments: Json) -> Json:
    """`usergroups.users.list`."""
    group = world.groups.get(str(arguments.get("usergroup", "")))
    if group is None:
        raise Refused("no_such_subteam")
    return {"ok": True, "users": [] if group.disabled else list(group.users)}


def _readable(world: World, arguments: Json, what: str) -> Channel:
    """The channel, when a scope lets the bot read this of it."""
    world.need(*(f"{kind}:{what}" for kind in _ALL))
    channel = world.channel(arguments, by_id=True)
    world.need(f"{_HISTORY[channel.kind]}:{what}")
    return channel


def _span(arguments: Json) -> tuple[float, float]:
    oldest = _time(arguments, "oldest", 0.0, "invalid_ts_oldest")
    latest = _time(arguments, "latest", inf, "invalid_ts_latest")
    return oldest, min(latest, _time(arguments, "cursor", inf, "invalid_cursor"))


def _time(arguments: Json, key: str, otherwise: float, error: str) -> float:
    """A ts among the arguments as a number; `otherwise` where none is given."""
    try:
        return float(arguments.get(key) or otherwise)
    except (TypeError, ValueError):
        raise Refused(error) from None


def _limit(arguments: Json) -> int:
    try:
        return max(1, min(int(arguments.get("limit") or 100), _MOST))
    except (TypeError, ValueError, OverflowError):
        raise Refused("invalid_limit") from None


def _paged(arguments: Json, page: list[dict[str, Any]], *, left: bool) -> Json:
    shown = [dict(message) for message in page]
    if not arguments.get("include_all_metadata"):
        for message in shown:
            message.pop("metadata", None)
    return {
        "ok": True,
        "messages": shown,
        "has_more": left,
        "response_metadata": {"next_cursor": page[-1]["ts"] if left else ""},
    }


def _shown(channel: Channel) -> Json:
    return {
        "id": channel.id,
        "name": channel.name,
        "is_channel": channel.kind == "channel",
        "is_private": channel.kind != "channel",
        "is_im": channel.kind == "im",
        "is_mpim": channel.kind == "mpim",
        "is_archived": channel.is_archived,
        "is_member": channel.is_member,
    }
