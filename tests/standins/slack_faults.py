"""What can go wrong between tailhound and Slack, and how it looks on the wire."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tailhound.slack.local import Reply


@dataclass
class Faults:
    """What goes wrong from now on. Counters count down by themselves.

    `methods` are those that faults hit; socket opening is spared unless it is named.
    """

    methods: frozenset[str] = frozenset({"chat.postMessage", "chat.update"})
    down: bool = False  # every connection breaks, whatever the method
    one_a_second: bool = False
    every_second_call: bool = False
    lose_answers: int = 0  # done, then the connection breaks
    hold_answers: int = 0  # done, then no answer comes
    lose_calls: int = 0  # the connection breaks, nothing is done
    hang: int = 0  # nothing is done, nothing is answered
    statuses: list[int] = field(default_factory=list)  # 5xx or 429, nothing is done
    errors: list[str] = field(default_factory=list)  # the next answers, nothing is done
    retry_after: int = 1
    cut_clicks: int = 0  # the socket breaks as soon as a click was sent over it

    def __post_init__(self) -> None:
        self.refused: list[str] = []
        self._calls = 0
        self._last_post: dict[str, float] = {}

    async def before(
        self, request: web.Request, method: str, arguments: Mapping[str, Any]
    ) -> web.StreamResponse | None:
        """The answer that a fault gives in place of the right one; None where none is on."""
        if self.down:
            return broken(request)
        if method not in self.methods:
            return None
        self._calls += 1
        if self.hang > 0:
            self.hang -= 1
            await asyncio.Event().wait()
        if self.lose_calls > 0:
            self.lose_calls -= 1
            return broken(request)
        if self.statuses:
            wait = {"Retry-After": str(self.retry_after)} if self.statuses[0] == 429 else {}
            return web.Response(status=self.statuses.pop(0), text="upstream trouble", headers=wait)
        if self.errors:
            self.refused.append(self.errors[0])
            return web.json_response({"ok": False, "error": self.errors.pop(0)})
        return self._limited(method, str(arguments.get("channel", "")))

    async def after(
        self, request: web.Request, method: str, reply: Reply
    ) -> web.StreamResponse | None:
        """What becomes of the answer of a call that was done; None where it arrives."""
        if method not in self.methods or not reply.body["ok"]:
            return None
        if self.lose_answers > 0:
            self.lose_answers -= 1
            return broken(request)
        if self.hold_answers > 0:
            self.hold_answers -= 1
            await asyncio.sleep(3600)
        return None

    def _limited(self, method: str, channel: str) -> web.StreamResponse | None:
        limited = self.every_second_call and self._calls % 2 == 0
        if self.one_a_second and method == "chat.postMessage":
            now = time.monotonic()
            limited = limited or now - self._last_post.get(channel, -9.0) < 0.95
            if not limited:
                self._last_post[channel] = now
        if not limited:
            return None
        self.refused.append("ratelimited")
        return web.json_response(
            {"ok": False, "error": "ratelimited"},
            status=429,
            headers={"Retry-After": str(self.retry_after)},
        )


def broken(request: web.Request) -> web.StreamResponse:
    """Break the connection in place of an answer."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
