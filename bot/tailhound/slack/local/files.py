"""Files: asked for, uploaded, completed; looked at and shared a moment later, as in Slack."""

import json
import mimetypes
import uuid
from typing import Any

from tailhound.slack import limits
from tailhound.slack.local import messages
from tailhound.slack.local.world import BOT_USER, HOME, File, Json, Refused, World


def upload_url(world: World, arguments: Json) -> Json:
    """`files.getUploadURLExternal`: where to send `length` bytes."""
    name = str(arguments.get("filename") or "")
    length = _number(arguments.get("length"))
    if not name:
        raise Refused("invalid_arguments")
    if length < 1:
        raise Refused("missing_argument")
    alt_text = str(arguments.get("alt_txt") or "")
    if len(alt_text) > limits.FILE_ALT:
        raise Refused("alt_txt_too_large")
    if arguments.get("snippet_type") and length > limits.SNIPPET_BYTES:
        raise Refused("snippet_too_large")
    file = File(world.next_id("F"), uuid.uuid4().hex, name, length, alt_text=alt_text)
    world.files[file.id] = file
    url = f"{world.base}/upload/v1/{file.key}"
    return {"ok": True, "upload_url": url, "file_id": file.id}


def uploaded(world: World, key: str, content: bytes) -> bool:
    """Bytes sent to an upload address; False where there is none, or not for this many bytes."""
    for file in world.files.values():
        if file.key == key and not file.completed and len(content) == file.length:
            file.content = content
            return True
    return False


def complete(world: World, arguments: Json) -> Json:
    """`files.completeUploadExternal`. Its answer names no message: sharing comes later."""
    listed = _listed(arguments.get("files"))
    found = [_ticket(world, str(item.get("id", ""))) for item in listed]
    places = _places(world, arguments)
    for file, item in zip(found, listed, strict=True):
        file.title = str(item.get("title") or file.name)
        file.completed = True
        file.ready_at = world.clock() + world.file_seconds
    if places:
        found[0].to_share = [{**place, "files": [file.id for file in found]} for place in places]
    return {"ok": True, "files": [_shown(world, file) for file in found]}


def info(world: World, arguments: Json) -> Json:
    """`files.info`. Type and shares are empty until Slack has looked at the file."""
    file = world.files.get(str(arguments.get("file", "")))
    if file is None or not file.completed:
        raise Refused("file_not_found")
    return {"ok": True, "file": _shown(world, file), "comments": [], "response_metadata": {}}


def settle(world: World) -> None:
    """Share what is ready by now. Called before anything is answered or looked at."""
    for file in list(world.files.values()):
        if file.to_share and world.clock() >= file.ready_at:
            for place in file.to_share:
                _share(world, place)
            file.to_share = []


def _share(world: World, place: Json) -> None:
    channel = world.channels[place["channel"]]
    if channel.is_archived:
        return
    found = [world.files[id] for id in place["files"]]
    text = str(place.get("comment") or "")
    posted = {"thread_ts": place.get("thread_ts") or "", "text": text or found[0].title}
    message = messages.new_message(world, channel, posted)
    message.update(text=text, subtype="file_share", upload=True)
    for file in found:
        share = {"ts": message["ts"]}
        if "thread_ts" in message:
            share["thread_ts"] = message["thread_ts"]
        file.shares.setdefault(channel.id, []).append(share)
    message["files"] = [_shown(world, file) for file in found]
    messages.put(world, channel, message)


def _places(world: World, arguments: Json) -> list[dict[str, Any]]:
    named = str(arguments.get("channel_id") or arguments.get("channels") or "")
    places = []
    for wanted in filter(None, named.split(",")):
        channel = world.channel({"channel": wanted}, by_id=True)
        if channel.is_archived:
            raise Refused("is_archived")
        if not channel.is_member:
            raise Refused("not_in_channel")
        comment, thread = arguments.get("initial_comment"), arguments.get("thread_ts")
        places.append({"channel": channel.id, "comment": comment, "thread_ts": thread})
    return places


def _ticket(world: World, id: str) -> File:
    file = world.files.get(id)
    if file is None or file.completed or file.content is None:
        raise Refused("file_not_found")
    return file


def _listed(files: Any) -> list[Json]:
    if isinstance(files, str):
        try:
            files = json.loads(files)
        except ValueError:
            raise Refused("invalid_arguments") from None
    fine = isinstance(files, list) and files and all(isinstance(item, dict) for item in files)
    if not fine or len({str(item.get("id")) for item in files}) != len(files):
        raise Refused("invalid_arguments")
    return list(files)


def _shown(world: World, file: File) -> dict[str, Any]:
    ready = world.clock() >= file.ready_at
    kind = (mimetypes.guess_type(file.name)[0] or "text/plain") if ready else ""
    public = {id: list(shares) for id, shares in file.shares.items()}
    return {
        "id": file.id,
        "created": int(file.ready_at),
        "timestamp": int(file.ready_at),
        "name": file.name,
        "title": file.title,
        "alt_txt": file.alt_text,
        "user": BOT_USER,
        "size": file.length,
        "mimetype": kind,
        "filetype": file.name.rpartition(".")[2] if ready else "",
        "permalink": f"{HOME}/files/{BOT_USER}/{file.id}/{file.name}",
        "url_private": f"{HOME}/files-pri/{file.id}/{file.name}",
        "channels": list(public),
        "shares": {"public": public} if public else {},
    }


def _number(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise Refused("invalid_arguments") from None
