"""A local stand-in of Slack: its Web API's answers, its channels, what people do. No network here.

It answers the methods that tailhound uses as Slack answers them, refusals included, and counts a
call of any other method in `unknown_calls`. The demo shows its channels as a page
(`slack.local_app`); the tests put a server in front of it, with faults.

Everything is guarded by one lock: servers and tests may call from any thread.
"""

import threading
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tailhound.slack.local import answers, clicks, files, forms, messages, views
from tailhound.slack.local.calls import Reply, parsed
from tailhound.slack.local.methods import METHODS, OPEN_SOCKET, OPEN_SOCKET_PER_MINUTE
from tailhound.slack.local.rates import Rates
from tailhound.slack.local.world import Channel, File, Group, Json, Person, Refused, View, World

SCOPES = frozenset(
    {"chat:write", "commands", "files:read", "files:write", "usergroups:read", "users:read"}
)
"""What the shipped app manifest asks for. `channels:history` is optional."""

_TICKET_SECONDS = 30.0


class LocalSlack:
    """One workspace. `clock` is Unix seconds; with `rates`, calls are limited as Slack does it."""

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        bot_token: str = "xoxb-local",  # noqa: S107  of a stand-in that lives in this process
        app_token: str = "xapp-local",  # noqa: S107
        scopes: frozenset[str] = SCOPES,
        rates: bool = False,
    ) -> None:
        self._clock = clock
        self._lock = threading.RLock()
        self._rates = Rates(clock) if rates else None
        self._tickets: dict[str, float] = {}
        self.world = World(clock, scopes)
        self.bot_token, self.app_token = bot_token, app_token
        self.token_error = ""
        self.socket_url = ""
        self.unknown_calls: list[str] = []

    @property
    def now(self) -> datetime:
        """The time of day by its clock."""
        return datetime.fromtimestamp(self._clock(), UTC)

    @property
    def scopes(self) -> frozenset[str]:
        """What the app may do."""
        return self.world.scopes

    @scopes.setter
    def scopes(self, scopes: frozenset[str]) -> None:
        self.world.scopes = scopes

    @property
    def channels(self) -> dict[str, Channel]:
        """The conversations by id."""
        return self.world.channels

    @property
    def invalid(self) -> list[str]:
        """Everything that was ever wrong with blocks and views."""
        return self.world.invalid

    @property
    def changed(self) -> int:
        """Grows whenever something that people see changes."""
        with self._lock:
            files.settle(self.world)
            return self.world.changed

    def serve_at(self, base: str) -> None:
        """Where it is reached: response and upload addresses begin with this."""
        self.world.base = base.rstrip("/")

    def add_channel(self, id: str, name: str, *, kind: str = "channel") -> Channel:
        """A channel of which the bot is a member; `kind` "private" hides it from others."""
        with self._lock:
            return self.channels.setdefault(id, Channel(id=id, name=name, kind=kind))

    def add_person(self, person: Person) -> None:
        """Somebody with an account; who acts without one is an ordinary member."""
        with self._lock:
            self.world.people[person.id] = person

    def add_group(self, id: str, handle: str, users: list[str]) -> Group:
        """A user group."""
        with self._lock:
            return self.world.groups.setdefault(id, Group(id, handle, users))

    def messages(self, channel: str) -> list[dict[str, Any]]:
        """Copies of what a channel shows, oldest first: replies only where they were broadcast."""
        with self._lock:
            files.settle(self.world)
            return [dict(message) for message in self.channels[channel].top]

    def thread(self, channel: str, ts: str) -> list[dict[str, Any]]:
        """Copies of a root message and its replies, oldest first."""
        with self._lock:
            files.settle(self.world)
            return [dict(message) for message in self.channels[channel].thread(ts)]

    def delete(self, channel: str, ts: str) -> None:
        """A person deletes a message."""
        with self._lock:
            messages.remove(self.world, self.channels[channel], ts)

    def modal(self, user: str) -> View | None:
        """The modal that a person sees now: the topmost."""
        with self._lock:
            stack = self.world.stacks.get(user)
            return stack[-1] if stack else None

    def home(self, user: str) -> View | None:
        """The home tab that was published for a person."""
        with self._lock:
            return self.world.homes.get(user)

    def file(self, id: str) -> File | None:
        """An uploaded file."""
        with self._lock:
            return self.world.files.get(id)

    def call(self, method: str, token: str, arguments: Json) -> Reply:
        """Answer one call of the Web API. JSON texts among the arguments may be parsed or not."""
        with self._lock:
            files.settle(self.world)
            try:
                limited = self._allowed(method, token, arguments)
                return limited or self._reply(self._answer(method, parsed(arguments)))
            except Refused as refusal:
                return self._reply(refusal.body)

    def _reply(self, body: Json) -> Reply:
        """An answer with what the token may do, as Slack says in each."""
        return Reply(body, headers={"X-OAuth-Scopes": ",".join(sorted(self.scopes))})

    def upload(self, key: str, content: bytes) -> bool:
        """Bytes sent to an upload address; False where Slack would refuse them."""
        with self._lock:
            return files.uploaded(self.world, key, content)

    def press(  # noqa: PLR0913 - who, where, and which element
        self,
        channel: str,
        ts: str,
        action_id: str,
        user: str,
        put: forms.Put | None = None,
        *,
        block_id: str = "",
    ) -> dict[str, Any]:
        """The payload of a person's click (or choice `put`) in a message.

        `block_id` tells buttons apart that share an action id.
        """
        with self._lock:
            at = clicks.At(self.channels[channel], ts, user, block_id)
            return clicks.press(self.world, at, action_id, put)

    def use(
        self, user: str, action_id: str, put: forms.Put | None = None, *, home: bool = False
    ) -> dict[str, Any] | None:
        """The payload of a person's click or choice in the open modal, or in the home tab."""
        with self._lock:
            return clicks.use(self.world, self._open(user, home=home), action_id, put)

    def submit(self, user: str) -> dict[str, Any]:
        """The payload of sending the open modal; NotFilled when Slack's client holds it back."""
        with self._lock:
            return clicks.submit(self.world, self._open(user))

    def submitted(self, payload: Json, answer: Json) -> Json:
        """Do what the acknowledgement of a submission says; the errors that the person sees."""
        with self._lock:
            view = self.world.view(str(payload["view"]["id"]))
            return views.answered(self.world, view, answer) if view else {}

    def close(self, user: str, *, everything: bool = False) -> dict[str, Any] | None:
        """A person closes the modal; the payload, where the app wants one."""
        with self._lock:
            view = self._open(user)
            views.close(self.world, view, everything=everything)
            return clicks.closed(view, cleared=everything)

    def command(self, text: str, channel: str, user: str) -> dict[str, Any]:
        """The payload of `/tailhound text`."""
        with self._lock:
            return clicks.command(self.world, text, self.channels[channel], user)

    def home_opened(self, user: str) -> dict[str, Any]:
        """The event that a person looks at the home tab."""
        with self._lock:
            return clicks.home_opened(self.world, user)

    def expire_triggers(self) -> None:
        """Slack was slow: no click that was made until now opens a view any more."""
        with self._lock:
            for trigger in self.world.triggers.values():
                trigger.until = 0.0

    def response_key(self, channel: str, user: str, ts: str = "") -> str:
        """A new key for a `response_url`: good for five answers within 30 minutes."""
        with self._lock:
            return clicks.response_key(self.world, channel, user, ts)

    def respond(self, key: str, body: Json) -> Reply:
        """An answer to a click or a command, sent to its `response_url`."""
        with self._lock:
            url = self.world.response_urls.get(key)
            if url is None or self._clock() > url.until:
                return Reply({"ok": False, "error": "expired_url"}, status=404)
            if url.left == 0:
                return Reply({"ok": False, "error": "used_url"}, status=404)
            url.left -= 1
            return self._said(clicks.At(self.channels[url.channel], url.ts, url.user), body)

    def acknowledged(self, payload: Json, answer: Json) -> Reply:
        """What the acknowledgement of a slash command makes people see."""
        with self._lock:
            if not answer:
                return Reply({"ok": True})
            channel = self.channels[payload["channel_id"]]
            return self._said(clicks.At(channel, "", payload["user_id"]), answer)

    def socket_opened(self, ticket: str) -> bool:
        """Whether a socket with this ticket may stand: each is good once, for half a minute."""
        with self._lock:
            return self._clock() <= self._tickets.pop(ticket, -1.0)

    def _said(self, at: clicks.At, body: Json) -> Reply:
        try:
            answers.said(self.world, at, parsed(body))
        except Refused as refusal:
            return Reply(refusal.body, status=400 if str(refusal) == "no_text" else 404)
        return Reply({"ok": True})

    def _open(self, user: str, *, home: bool = False) -> View:
        view = self.home(user) if home else self.modal(user)
        if view is None:
            raise LookupError(f"{user} has no {'home tab' if home else 'modal'} open")
        return view

    def _allowed(self, method: str, token: str, arguments: Json) -> Reply | None:
        """Refuse a strange method, a wrong token, a missing scope; 429 when called too often."""
        known = METHODS.get(method)
        if known is None and method != OPEN_SOCKET:
            self.unknown_calls.append(method)
            raise Refused("unknown_method", req_method=method)
        self._authentic(method, token)
        wait = self._wait(method, str(arguments.get("channel", "")))
        if wait:
            return Reply({"ok": False, "error": "ratelimited"}, 429, {"Retry-After": str(wait)})
        for scope in known.scopes if known else ():
            self.world.need(scope)
        return None

    def _authentic(self, method: str, token: str) -> None:
        right, other = self.bot_token, self.app_token
        if method == OPEN_SOCKET:
            right, other = other, right
        if not token:
            raise Refused("not_authed")
        if token == other:
            raise Refused("not_allowed_token_type")
        if token != right:
            raise Refused("invalid_auth")
        if self.token_error:
            raise Refused(self.token_error)

    def _wait(self, method: str, channel: str) -> int:
        if self._rates is None:
            return 0
        known = METHODS.get(method)
        return self._rates.wait(
            method, known.per_minute if known else OPEN_SOCKET_PER_MINUTE, channel
        )

    def _answer(self, method: str, arguments: Json) -> Json:
        if method != OPEN_SOCKET:
            return METHODS[method].run(self.world, arguments)
        if not self.socket_url:
            raise Refused("internal_error")
        ticket = uuid.uuid4().hex
        self._tickets[ticket] = self._clock() + _TICKET_SECONDS
        return {"ok": True, "url": f"{self.socket_url}?ticket={ticket}"}
