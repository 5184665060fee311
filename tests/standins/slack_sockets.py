"""Socket Mode: several WebSockets, each envelope over one of them, acknowledged within 3 s."""

import asyncio
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from tailhound.slack.local import APP_ID, LocalSlack
from tests.standins.slack_faults import Faults

ACK_SECONDS = 3.0
MOST_SOCKETS = 10
_ANSWERED = ("slash_commands", "view_submission")


@dataclass(frozen=True, slots=True)
class Acked:
    """How an envelope was acknowledged: after how long, and with what.

    `errors` is what the person then sees in the form, by block id.
    """

    seconds: float
    payload: Mapping[str, Any]
    errors: Mapping[str, str] = field(default_factory=dict)


class Sockets:
    """The sockets of the app. Everything but `open` runs in the server's loop."""

    def __init__(self, core: LocalSlack, faults: Faults, changed: threading.Condition) -> None:
        self._core, self._faults, self._changed = core, faults, changed
        self._open: list[web.WebSocketResponse] = []
        self._retired: set[web.WebSocketResponse] = set()
        self._transports: dict[web.WebSocketResponse, asyncio.Transport] = {}
        self._cut: set[str] = set()
        self._acks: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        self._turn = 0
        self.opened = 0
        self.sent: list[int] = []
        self.late: list[str] = []

    @property
    def open(self) -> int:
        """How many stand now."""
        return len(self._open)

    @property
    def ready(self) -> int:
        """How many of them take envelopes."""
        return len(self._open) - len(self._retired)

    async def link(self, request: web.Request) -> web.StreamResponse:
        """One socket, from its ticket to its end."""
        if not self._core.socket_opened(request.query.get("ticket", "")):
            return web.Response(status=401, text="this ticket is not valid, or no longer")
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        assert request.transport is not None
        if self.open >= MOST_SOCKETS:
            await socket.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            await socket.close()
            return socket
        self._transports[socket] = request.transport
        await socket.send_json(self._hello())
        with self._changed:
            self._open.append(socket)
            self.opened += 1
            self._changed.notify_all()
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._acknowledged(json.loads(message.data))
        finally:
            self._gone(socket)
        return socket

    async def send(self, kind: str, payload: Mapping[str, Any], envelope: str) -> Acked:
        """Send one envelope over the next socket in turn, and wait until it is acknowledged."""
        socket = self._next()
        waiting = self._acks[envelope] = asyncio.get_running_loop().create_future()
        begun = time.monotonic()
        answered = kind in _ANSWERED or payload.get("type") in _ANSWERED
        await socket.send_json(
            {
                "envelope_id": envelope,
                "type": kind,
                "accepts_response_payload": answered,
                "payload": dict(payload),
            }
        )
        if self._faults.cut_clicks > 0:
            self._faults.cut_clicks -= 1
            self._cut.add(envelope)
            self._transports[socket].abort()
        try:
            answer = await asyncio.wait_for(waiting, ACK_SECONDS)
        except TimeoutError:
            self.late.append(envelope)
            raise
        finally:
            del self._acks[envelope]
        return Acked(time.monotonic() - begun, answer)

    async def drop(self, reason: str = "") -> None:
        """Break all sockets, or tell why they should go: `warning` or `refresh_requested`.

        After a warning a socket still works for a while; one to be refreshed gets nothing more.
        """
        for socket in list(self._open):
            if not reason:
                self._transports[socket].abort()
                continue
            if reason != "warning":
                self._retired.add(socket)
            note = {"type": "disconnect", "reason": reason, "debug_info": {"host": "local"}}
            await socket.send_json(note)

    def _next(self) -> web.WebSocketResponse:
        ready = [socket for socket in self._open if socket not in self._retired]
        if not ready:
            raise ConnectionError("tailhound has no socket open: a click is lost, as with Slack")
        at = self._turn % len(ready)
        self._turn += 1
        self.sent.append(at)
        return ready[at]

    def _hello(self) -> Mapping[str, Any]:
        return {
            "type": "hello",
            "num_connections": len(self._transports),
            "connection_info": {"app_id": APP_ID},
            "debug_info": {"host": "local", "approximate_connection_time": 18060},
        }

    def _gone(self, socket: web.WebSocketResponse) -> None:
        with self._changed:
            self._open.remove(socket)
            self._retired.discard(socket)
            del self._transports[socket]
            self._changed.notify_all()

    def _acknowledged(self, answer: Mapping[str, Any]) -> None:
        envelope = str(answer.get("envelope_id"))
        if envelope in self._cut:
            return  # its socket is gone: over another one it acknowledges nothing
        waiting = self._acks.get(envelope)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer.get("payload") or {})
