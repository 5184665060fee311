"""A local stand-in of Slack: its Web API's answers, its channels, its clicks. No network here.

It answers the methods that tailhound uses as Slack answers them, refusals included, and counts a
call of any other method in `unknown_calls`. The demo shows its channels as a page
(`slack.channel_page`); the tests put a server in front of it, with faults.

Everything is guarded by one lock: servers and tests may call from any thread.
"""

import json
import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tailhound.slack import limits, validate

Json = Mapping[str, Any]
SCOPES = frozenset({"chat:write", "commands"})
"""What the shipped app manifest asks for. `channels:history` is optional."""

_RESPONSE_SECONDS = 1_800.0

TEAM, BOT_USER, BOT_ID, APP_ID = "T0LOCAL", "U0TAILHOUND", "B0TAILHOUND", "A0TAILHOUND"


@dataclass
class Channel:
    """One channel: its messages by ts, in the order they came. `whispers` only one user sees."""

    id: str
    name: str
    is_member: bool = True
    is_archived: bool = False
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)
    whispers: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class _ResponseUrl:
    channel: str
    user: str
    until: float
    left: int = 5


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer: status, headers, JSON body."""

    body: Json
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class Refused(Exception):
    """Slack says no: the `error` of its answer, with whatever it adds."""

    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.body: Json = {"ok": False, "error": error, **more}


class LocalSlack:
    """Channels, messages and the Web API over them. `clock` is Unix seconds."""

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        bot_token: str = "xoxb-local",  # noqa: S107  of a stand-in that lives in this process
        app_token: str = "xapp-local",  # noqa: S107
        scopes: frozenset[str] = SCOPES,
    ) -> None:
        self._clock = clock
        self._lock = threading.RLock()
        self._last = 0
        self.bot_token, self.app_token, self.scopes = bot_token, app_token, scopes
        self.socket_url = ""
        self.channels: dict[str, Channel] = {}
        self.unknown_calls: list[str] = []
        self.invalid: list[str] = []
        self.changed = 0
        self._response_urls: dict[str, _ResponseUrl] = {}
        self._methods: dict[str, Callable[[Json], Json]] = {
            "auth.test": self._auth_test,
            "chat.postMessage": self._post_message,
            "chat.update": self._update,
            "conversations.history": self._history,
        }

    @property
    def now(self) -> datetime:
        """The time of day by its clock."""
        return datetime.fromtimestamp(self._clock(), UTC)

    def add_channel(self, id: str, name: str) -> Channel:
        """A channel of which the bot is a member."""
        with self._lock:
            return self.channels.setdefault(id, Channel(id=id, name=name))

    def messages(self, channel: str) -> list[dict[str, Any]]:
        """Copies of a channel's messages, oldest first."""
        with self._lock:
            return [dict(message) for message in self.channels[channel].messages.values()]

    def call(self, method: str, token: str, arguments: Json) -> Reply:
        """Answer one call of the Web API. JSON texts among the arguments may be parsed or not."""
        with self._lock:
            try:
                return Reply(self._answer(method, token, _parsed(arguments)))
            except Refused as refusal:
                return Reply(refusal.body)

    def response_key(self, channel: str, user: str) -> str:
        """A new key for a `response_url`: good for five answers within 30 minutes."""
        with self._lock:
            key = f"{len(self._response_urls) + 1}/{uuid.uuid4().hex}"
            until = self._clock() + _RESPONSE_SECONDS
            self._response_urls[key] = _ResponseUrl(channel, user, until)
            return key

    def respond(self, key: str, body: Json) -> Reply:
        """An answer to a click, sent to its `response_url`."""
        with self._lock:
            url = self._response_urls.get(key)
            if url is None or self._clock() > url.until:
                return Reply({"ok": False, "error": "expired_url"}, status=404)
            if url.left == 0:
                return Reply({"ok": False, "error": "used_url"}, status=404)
            url.left -= 1
            if not body.get("text") and not body.get("blocks"):
                return Reply({"ok": False, "error": "no_text"}, status=400)
            whisper = {**body, "user": url.user, "ts": self._next_ts()}
            self.channels[url.channel].whispers.append(whisper)
            self.changed += 1
            return Reply({"ok": True})

    def _answer(self, method: str, token: str, arguments: Json) -> Json:
        if method == "apps.connections.open":
            return self._connections_open(token)
        run = self._methods.get(method)
        if run is None:
            self.unknown_calls.append(method)
            raise Refused("unknown_method", req_method=method)
        if not token:
            raise Refused("not_authed")
        if token != self.bot_token:
            raise Refused("invalid_auth")
        return run(arguments)

    def _connections_open(self, token: str) -> Json:
        if token != self.app_token:
            raise Refused("not_allowed_token_type" if token == self.bot_token else "invalid_auth")
        if not self.socket_url:
            raise Refused("internal_error")
        return {"ok": True, "url": self.socket_url}

    def _auth_test(self, arguments: Json) -> Json:
        return {
            "ok": True,
            "url": "https://local.example/",
            "team": "local",
            "user": "tailhound",
            "team_id": TEAM,
            "user_id": BOT_USER,
            "bot_id": BOT_ID,
        }

    def _post_message(self, arguments: Json) -> Json:
        self._need("chat:write")
        channel = self._channel(arguments)
        if channel.is_archived:
            raise Refused("is_archived")
        if not channel.is_member and "chat:write.public" not in self.scopes:
            raise Refused("not_in_channel")
        message = self._message(arguments, self._next_ts())
        channel.messages[message["ts"]] = message
        self.changed += 1
        return {"ok": True, "channel": channel.id, "ts": message["ts"], "message": message}

    def _update(self, arguments: Json) -> Json:
        self._need("chat:write")
        channel = self._channel(arguments, by_id=True)
        ts = str(arguments.get("ts", ""))
        old = channel.messages.get(ts)
        if old is None:
            raise Refused("message_not_found")
        if old.get("bot_id") != BOT_ID:
            raise Refused("cant_update_message")
        message = {**self._message(arguments, ts), "edited": {"user": BOT_USER, "ts": ts}}
        if "metadata" not in arguments and "metadata" in old:
            message["metadata"] = old["metadata"]
        channel.messages[ts] = message
        self.changed += 1
        return {"ok": True, "channel": channel.id, "ts": ts, "text": message["text"]}

    def _history(self, arguments: Json) -> Json:
        if not {"channels:history", "groups:history"} & self.scopes:
            raise Refused(
                "missing_scope",
                needed="channels:history,groups:history",
                provided=",".join(sorted(self.scopes)),
            )
        channel = self._channel(arguments)
        limit = min(int(arguments.get("limit", 100)), 999)
        oldest = float(arguments.get("oldest", 0))
        latest = float(arguments.get("cursor") or "inf")
        found = [m for m in channel.messages.values() if oldest <= float(m["ts"]) < latest]
        page = found[-limit:][::-1]
        left = len(found) > limit
        if not arguments.get("include_all_metadata"):
            page = [{k: v for k, v in message.items() if k != "metadata"} for message in page]
        cursor = page[-1]["ts"] if left else ""
        return {
            "ok": True,
            "messages": page,
            "has_more": left,
            "response_metadata": {"next_cursor": cursor},
        }

    def _need(self, scope: str) -> None:
        if scope not in self.scopes:
            raise Refused(
                "missing_scope", needed=scope, provided=",".join(sorted(self.scopes)) or "none"
            )

    def _channel(self, arguments: Json, *, by_id: bool = False) -> Channel:
        wanted = str(arguments.get("channel", ""))
        for channel in self.channels.values():
            if wanted == channel.id or (not by_id and wanted.lstrip("#") == channel.name):
                return channel
        raise Refused("channel_not_found")

    def _message(self, arguments: Json, ts: str) -> dict[str, Any]:
        text, blocks = arguments.get("text", ""), arguments.get("blocks", [])
        if not text and not blocks:
            raise Refused("no_text")
        if len(str(text)) > limits.MESSAGE_TEXT:
            raise Refused("msg_too_long")
        found = validate.faults(blocks)
        if found:
            self.invalid += found
            raise Refused("invalid_blocks", errors=found)
        if validate.too_long(blocks):
            raise Refused("msg_blocks_too_long")
        message = {
            "type": "message",
            "ts": ts,
            "user": BOT_USER,
            "bot_id": BOT_ID,
            "app_id": APP_ID,
            "text": str(text),
            "blocks": blocks,
        }
        metadata = arguments.get("metadata")
        return {**message, "metadata": _metadata(metadata)} if metadata is not None else message

    def _next_ts(self) -> str:
        """Slack's ids are times: strictly growing, six digits behind the point."""
        self._last = max(self._last + 1, int(self._clock() * 1_000_000))
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"


def block_action(message: Json, channel: Channel, action_id: str, user: str) -> dict[str, Any]:
    """The payload of a click on a button of a message; LookupError when it has no such button."""
    for block in message.get("blocks", ()):
        for element in block.get("elements", ()):
            if element.get("action_id") == action_id:
                return _payload(message, channel, block, element, user)
    raise LookupError(f"the message {message.get('ts')} has no button {action_id!r}")


def _payload(
    message: Json, channel: Channel, block: Json, element: Json, user: str
) -> dict[str, Any]:
    action = {
        "type": "button",
        "action_id": element["action_id"],
        "block_id": block["block_id"],
        "text": element["text"],
        "value": element.get("value", ""),
        "action_ts": message["ts"],
    }
    return {
        "type": "block_actions",
        "team": {"id": TEAM, "domain": "local"},
        "user": {"id": user, "username": user.lower(), "name": user.lower(), "team_id": TEAM},
        "api_app_id": APP_ID,
        "container": {
            "type": "message",
            "message_ts": message["ts"],
            "channel_id": channel.id,
            "is_ephemeral": False,
        },
        "channel": {"id": channel.id, "name": channel.name},
        "message": dict(message),
        "actions": [action],
    }


def _parsed(arguments: Json) -> dict[str, Any]:
    """Arguments with `blocks` and `metadata` as JSON values: forms carry them as text."""
    result = dict(arguments)
    for key in ("blocks", "metadata"):
        if isinstance(result.get(key), str):
            try:
                result[key] = json.loads(result[key])
            except ValueError:
                raise Refused(f"invalid_{key}_format") from None
    return result


def _metadata(metadata: Any) -> Json:
    if not isinstance(metadata, dict) or not isinstance(metadata.get("event_type"), str):
        raise Refused("invalid_metadata_format")
    payload = metadata.get("event_payload")
    if not isinstance(payload, dict):
        raise Refused("invalid_metadata_format")
    return {"event_type": metadata["event_type"], "event_payload": payload}
