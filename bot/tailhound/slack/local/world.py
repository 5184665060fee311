"""What the stand-in of Slack holds: channels, people, groups, files, views, and its clock."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tailhound.slack import limits

Json: TypeAlias = Mapping[str, Any]

TEAM, BOT_USER, BOT_ID, APP_ID = "T0LOCAL", "U0TAILHOUND", "B0TAILHOUND", "A0TAILHOUND"
HOME = "https://local.example"


class Refused(Exception):
    """Slack says no: the `error` of its answer, with whatever it adds."""

    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.body: Json = {"ok": False, "error": error, **more}

    @classmethod
    def for_faults(cls, error: str, faults: Iterable[str]) -> "Refused":
        """A refusal that names each place, as Slack does."""
        found = list(faults)
        messages = [f"[ERROR] {fault}" for fault in found]
        return cls(error, errors=found, response_metadata={"messages": messages})


@dataclass
class Channel:
    """One conversation: its messages by ts, in the order they came. `whispers` one user sees.

    `kind` is `channel`, `private`, `im` or `mpim`; replies lie among the messages, with the
    `thread_ts` of their root.
    """

    id: str
    name: str
    is_member: bool = True
    is_archived: bool = False
    kind: str = "channel"
    members: set[str] = field(default_factory=set)
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)
    whispers: list[dict[str, Any]] = field(default_factory=list)

    @property
    def top(self) -> list[dict[str, Any]]:
        """What the channel shows: roots, lone messages, and replies that were broadcast."""
        return [m for m in self.messages.values() if not is_reply(m) or _broadcast(m)]

    def thread(self, ts: str) -> list[dict[str, Any]]:
        """A root and its replies, oldest first; without the root when that was never there."""
        return [m for m in self.messages.values() if ts in (m["ts"], m.get("thread_ts"))]

    def shown_to(self, user: str, ts: str) -> dict[str, Any] | None:
        """A message, or what was said to this one person alone; None where neither is there."""
        mine = (one for one in self.whispers if (one["user"], one["ts"]) == (user, ts))
        return self.messages.get(ts) or next(mine, None)


def is_reply(message: Json) -> bool:
    """Whether a message stands in a thread and is not its root."""
    return str(message.get("thread_ts", message["ts"])) != str(message["ts"])


def _broadcast(message: Json) -> bool:
    return message.get("subtype") == "thread_broadcast"


@dataclass
class Person:
    """Somebody of the workspace, or a guest or stranger in it."""

    id: str
    name: str
    deleted: bool = False
    is_bot: bool = False
    is_restricted: bool = False
    is_stranger: bool = False
    team: str = TEAM


@dataclass
class Group:
    """A user group: who is in it."""

    id: str
    handle: str
    users: list[str]
    disabled: bool = False


@dataclass
class File:
    """A file on its way: asked for, uploaded, completed; processed at `ready_at` (Unix seconds)."""

    id: str
    key: str
    name: str
    length: int
    title: str = ""
    alt_text: str = ""
    content: bytes | None = None
    completed: bool = False
    ready_at: float = 0.0
    to_share: list[dict[str, Any]] = field(default_factory=list)
    shares: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


@dataclass
class View:
    """An open modal, or a home tab. `values` is what the person has put in, by block and action."""

    id: str
    user: str
    body: dict[str, Any]
    hash: str
    root: str
    previous: str = ""
    values: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """`modal` or `home`."""
        return str(self.body["type"])

    def shown(self) -> dict[str, Any]:
        """The view as answers and payloads carry it."""
        return {
            "private_metadata": "",
            "callback_id": "",
            "external_id": "",
            "clear_on_close": False,
            "notify_on_close": False,
            **self.body,
            "id": self.id,
            "team_id": TEAM,
            "app_id": APP_ID,
            "bot_id": BOT_ID,
            "hash": self.hash,
            "root_view_id": self.root,
            "previous_view_id": self.previous or None,
            "state": {"values": {block: dict(values) for block, values in self.values.items()}},
        }


@dataclass
class Trigger:
    """A click's right to open one view. `view` is where the click was, if in a view."""

    user: str
    until: float
    view: str = ""
    used: bool = False


@dataclass
class ResponseUrl:
    """Where a click's answers go: five of them, within half an hour."""

    channel: str
    user: str
    until: float
    ts: str = ""
    left: int = limits.RESPONSES


class World:
    """All of it. `clock` is Unix seconds; `changed` grows when something visible changes."""

    def __init__(self, clock: Callable[[], float], scopes: frozenset[str]) -> None:
        self.clock, self.scopes = clock, scopes
        self.base = HOME
        self.changed = 0
        self.file_seconds = 1.0
        self.home_enabled = True
        self.channels: dict[str, Channel] = {}
        self.people: dict[str, Person] = {}
        self.groups: dict[str, Group] = {}
        self.files: dict[str, File] = {}
        self.stacks: dict[str, list[View]] = {}
        self.homes: dict[str, View] = {}
        self.triggers: dict[str, Trigger] = {}
        self.response_urls: dict[str, ResponseUrl] = {}
        self.invalid: list[str] = []
        self._last = 0
        self._ids = 0

    def next_ts(self) -> str:
        """Slack's ids are times: strictly growing, six digits behind the point."""
        self._last = max(self._last + 1, int(self.clock() * 1_000_000))
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def next_id(self, letter: str) -> str:
        """A new id: `F0000000001`."""
        self._ids += 1
        return f"{letter}{self._ids:010d}"

    def next_hash(self) -> str:
        """What tells one state of a view from the next."""
        return f"{int(self.clock())}.{uuid.uuid4().hex[:8]}"

    def need(self, *any_of: str) -> None:
        """Refuse unless the app has one of these scopes."""
        if not any_of or set(any_of) & self.scopes:
            return
        provided = ",".join(sorted(self.scopes)) or "none"
        raise Refused("missing_scope", needed=",".join(any_of), provided=provided)

    def person(self, user: str) -> Person:
        """Somebody who has an account, if nobody said otherwise an ordinary member."""
        return self.people.setdefault(user, Person(user, user.lower()))

    def channel(self, arguments: Json, key: str = "channel", *, by_id: bool = False) -> Channel:
        """The channel that a call names; a user's id means the direct messages with that user."""
        wanted = str(arguments.get(key, ""))
        if not by_id and wanted in self.people:
            return self.direct((wanted,))
        for channel in self.channels.values():
            named = not by_id and wanted.lstrip("#") == channel.name
            if (wanted == channel.id or named) and not self._hidden(channel):
                return channel
        raise Refused("channel_not_found")

    def _hidden(self, channel: Channel) -> bool:
        """Whether the bot is not supposed to know of it."""
        return channel.kind != "channel" and not channel.is_member

    def direct(self, users: tuple[str, ...]) -> Channel:
        """The direct messages between the bot and these people."""
        members = {BOT_USER, *users}
        for channel in self.channels.values():
            if channel.kind in ("im", "mpim") and channel.members == members:
                return channel
        kind, letter = ("im", "D") if len(users) == 1 else ("mpim", "G")
        made = Channel(self.next_id(letter), "-".join(users).lower(), kind=kind, members=members)
        self.channels[made.id] = made
        return made

    def view(self, id: str = "", external_id: str = "") -> View | None:
        """An open view by its id or by the app's own."""
        every = [view for stack in self.stacks.values() for view in stack]
        for view in (*every, *self.homes.values()):
            named = external_id and view.body.get("external_id") == external_id
            if named or (id and view.id == id):
                return view
        return None

    def touch(self) -> None:
        """Something that people see has changed."""
        self.changed += 1
