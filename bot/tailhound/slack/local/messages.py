"""The `chat.*` methods: posts, edits, threads."""

from typing import Any

from tailhound.slack import limits, validate
from tailhound.slack.local.world import (
    APP_ID,
    BOT_ID,
    BOT_USER,
    HOME,
    Channel,
    Json,
    Refused,
    World,
    is_reply,
)

_TRUE = (True, 1, "1", "true", "True")


def post_message(world: World, arguments: Json) -> Json:
    """`chat.postMessage`. Under a root that is gone it becomes a message of its own."""
    channel = world.channel(arguments)
    may_write(world, channel)
    message = new_message(world, channel, arguments)
    put(world, channel, message)
    return {"ok": True, "channel": channel.id, "ts": message["ts"], "message": dict(message)}


def may_write(world: World, channel: Channel) -> None:
    """Refuse where the bot can't post."""
    if channel.is_archived:
        raise Refused("is_archived")
    if not channel.is_member and "chat:write.public" not in world.scopes:
        raise Refused("not_in_channel")


def new_message(world: World, channel: Channel, arguments: Json) -> dict[str, Any]:
    """The message that a post makes, with a new ts, in the thread that it names."""
    content = checked(world, arguments, limits.MESSAGE_TEXT)
    message = {**_signed(world.next_ts()), **content}
    root = channel.messages.get(str(arguments.get("thread_ts", "")))
    if root is None:
        return message
    message["thread_ts"] = str(root.get("thread_ts", root["ts"]))
    if arguments.get("reply_broadcast") in _TRUE:
        message["subtype"] = "thread_broadcast"
    return message


def put(world: World, channel: Channel, message: dict[str, Any]) -> None:
    """Add a message to a channel, and count it at its root."""
    channel.messages[message["ts"]] = message
    if is_reply(message):
        root = channel.messages[str(message["thread_ts"])]
        root["reply_count"] = root.get("reply_count", 0) + 1
        root.update(thread_ts=root["ts"], latest_reply=message["ts"])
    world.touch()


def _signed(ts: str) -> dict[str, Any]:
    return {"type": "message", "ts": ts, "user": BOT_USER, "bot_id": BOT_ID, "app_id": APP_ID}


def update(world: World, arguments: Json) -> Json:
    """`chat.update`: of the bot's own messages, by channel id. Blocks not sent are gone."""
    channel = world.channel(arguments, by_id=True)
    ts = str(arguments.get("ts", ""))
    old = channel.messages.get(ts)
    if old is None or old.get("subtype") == "tombstone":
        raise Refused("message_not_found")
    if old.get("bot_id") != BOT_ID:
        raise Refused("cant_update_message")
    if channel.is_archived:
        raise Refused("is_inactive")
    content = checked(world, arguments, limits.UPDATED_TEXT)
    kept = {k: v for k, v in old.items() if k not in ("text", "blocks")}
    message = {**kept, **content, "edited": {"user": BOT_USER, "ts": world.next_ts()}}
    if arguments.get("reply_broadcast") in _TRUE:
        if not is_reply(old):
            raise Refused("cant_broadcast_message")
        message["subtype"] = "thread_broadcast"
    channel.messages[ts] = message
    world.touch()
    return {"ok": True, "channel": channel.id, "ts": ts, "text": message["text"]}


def delete(world: World, arguments: Json) -> Json:
    """`chat.delete`, by the bot: its own messages only."""
    channel = world.channel(arguments, by_id=True)
    found = channel.messages.get(str(arguments.get("ts", "")))
    if found is None:
        raise Refused("message_not_found")
    if found.get("bot_id") != BOT_ID:
        raise Refused("cant_delete_message")
    remove(world, channel, found["ts"])
    return {"ok": True, "channel": channel.id, "ts": found["ts"]}


def remove(world: World, channel: Channel, ts: str) -> None:
    """Take a message away, whoever does it. A root with replies leaves a stone in its place."""
    gone = channel.messages[ts]
    if gone.get("reply_count"):
        kept = {k: v for k, v in gone.items() if k in ("type", "ts", "thread_ts", "reply_count")}
        stone = {"subtype": "tombstone", "user": "USLACKBOT", "text": "This message was deleted."}
        channel.messages[ts] = {**kept, **stone, "blocks": []}
    else:
        del channel.messages[ts]
        root = channel.messages.get(str(gone.get("thread_ts", "")))
        if root is not None:
            left = [m["ts"] for m in channel.thread(root["ts"]) if m is not root]
            root.update(reply_count=len(left), latest_reply=left[-1] if left else None)
    world.touch()


def post_ephemeral(world: World, arguments: Json) -> Json:
    """`chat.postEphemeral`: only one member of the channel sees it, and nobody can edit it."""
    channel = world.channel(arguments)
    may_write(world, channel)
    user = str(arguments.get("user", ""))
    if user not in world.people:
        raise Refused("user_not_found")
    if user not in channel.members:
        raise Refused("user_not_in_channel")
    content = checked(world, arguments, limits.MESSAGE_TEXT)
    whisper = {**_signed(world.next_ts()), **content, "user": user, "is_ephemeral": True}
    if arguments.get("thread_ts"):
        whisper["thread_ts"] = str(arguments["thread_ts"])
    channel.whispers.append(whisper)
    world.touch()
    return {"ok": True, "message_ts": whisper["ts"]}


def permalink(world: World, arguments: Json) -> Json:
    """`chat.getPermalink`."""
    channel = world.channel(arguments, by_id=True)
    found = channel.messages.get(str(arguments.get("message_ts", "")))
    if found is None:
        raise Refused("message_not_found")
    link = f"{HOME}/archives/{channel.id}/p{found['ts'].replace('.', '')}"
    if is_reply(found):
        link += f"?thread_ts={found['thread_ts']}&cid={channel.id}"
    return {"ok": True, "channel": channel.id, "permalink": link}


def checked(world: World, arguments: Json, most: int) -> dict[str, Any]:
    """Text, blocks and metadata of a message, when Slack takes them."""
    text, blocks = arguments.get("text") or "", arguments.get("blocks") or []
    if not text and not blocks:
        raise Refused("no_text")
    if len(str(text)) > most:
        raise Refused("msg_too_long")
    _refuse(world, "invalid_blocks", validate.faults(blocks) or bad_files(world, blocks))
    if validate.tables(blocks) > 1:
        _refuse(world, "invalid_attachments", ["only_one_table_allowed"])
    if validate.too_long(blocks):
        raise Refused("msg_blocks_too_long")
    content = {"text": str(text), "blocks": blocks}
    metadata = arguments.get("metadata")
    return {**content, "metadata": _metadata(metadata)} if metadata is not None else content


def _refuse(world: World, error: str, faults: list[str]) -> None:
    if faults:
        world.invalid += faults
        raise Refused.for_faults(error, faults)


def bad_files(world: World, blocks: list[Any], at: str = "/blocks") -> list[str]:
    """The images whose file Slack doesn't have, or has not looked at yet."""
    found = []
    for number, block in enumerate(blocks):
        places = {"": block, "/accessory": block.get("accessory")}
        places |= {f"/elements/{n}": e for n, e in enumerate(block.get("elements") or ())}
        for place, element in places.items():
            if isinstance(element, dict) and _is_bad_file(world, element.get("slack_file")):
                path = f"{at}/{number}{place}/slack_file"
                found.append(validate.fault(path, "invalid slack file"))
    return found


def _is_bad_file(world: World, named: Any) -> bool:
    if not isinstance(named, dict):
        return False
    wanted = str(named.get("id") or str(named.get("url", "")).rstrip("/").split("/")[-2])
    file = world.files.get(wanted)
    if file is None or not file.completed or world.clock() < file.ready_at:
        return True
    return not (file.content or b"").startswith((b"\x89PNG", b"\xff\xd8\xff", b"GIF8"))


def _metadata(metadata: Any) -> Json:
    if not isinstance(metadata, dict) or not isinstance(metadata.get("event_type"), str):
        raise Refused("invalid_metadata_format")
    payload = metadata.get("event_payload")
    if not isinstance(payload, dict):
        raise Refused("invalid_metadata_format")
    return {"event_type": metadata["event_type"], "event_payload": payload}
