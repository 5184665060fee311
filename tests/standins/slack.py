"""A strict stand-in of Slack's API on a real port, with faults that a test switches on.

What it answers is `tailhound.slack.local`; here are the server, Socket Mode and the faults. A call
that tailhound has no business making is kept in `unknown_calls`: a test checks that it is empty.

    with SlackStandin() as slack:
        slack.add_channel("C1", "alerts")
        web = client("xoxb-local", slack.api_url, 2)
        slack.faults.lose_answers = 1
        ...
        ack = slack.click("recheck", channel="C1")

`python -m tests.standins.slack --port 0 --log FILE` runs one for other processes and prints its
address; FILE gets a line of JSON for each call that was done.
"""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from aiohttp import WSMsgType, web

from tailhound.slack.local import APP_ID, TEAM, LocalSlack, Reply, block_action

T = TypeVar("T")
ACK_SECONDS = 3.0


@dataclass
class Faults:
    """What goes wrong from now on. Counters count down by themselves.

    `methods` are those that faults hit; socket opening is spared unless it is named.
    """

    methods: frozenset[str] = frozenset({"chat.postMessage", "chat.update"})
    one_a_second: bool = False
    every_second_call: bool = False
    lose_answers: int = 0  # done, then the connection breaks
    hold_answers: int = 0  # done, then no answer comes
    lose_calls: int = 0  # the connection breaks, nothing is done
    hang: int = 0  # nothing is done, nothing is answered
    statuses: list[int] = field(default_factory=list)  # 5xx or 429, nothing is done
    errors: list[str] = field(default_factory=list)  # the next answers, nothing is done
    retry_after: int = 1


@dataclass(frozen=True, slots=True)
class Done:
    """One call that was done: method, arguments, answer, seconds of the monotonic clock."""

    method: str
    arguments: Mapping[str, Any]
    answer: Mapping[str, Any]
    at: float


@dataclass(frozen=True, slots=True)
class Acked:
    """How an envelope was acknowledged: after how long, and with what."""

    seconds: float
    payload: Mapping[str, Any]


class SlackStandin:
    """Slack on 127.0.0.1, in a thread with its own loop."""

    def __init__(
        self,
        *,
        port: int = 0,
        log: Path | None = None,
        scopes: frozenset[str] = frozenset({"chat:write", "commands"}),
    ) -> None:
        self.core = LocalSlack(time.time, scopes=scopes)
        self.faults = Faults()
        self.done: list[Done] = []
        self.refused: list[str] = []
        self.late_acks: list[str] = []
        self.opened = 0
        self.bound_port = port
        self._log = log
        self._sockets: list[web.WebSocketResponse] = []
        self._transports: dict[web.WebSocketResponse, asyncio.Transport] = {}
        self._acks: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        self._last_post: dict[str, float] = {}
        self._calls = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="slack-standin")
        self._runner: web.AppRunner | None = None
        self._changed = threading.Condition()

    def __enter__(self) -> "SlackStandin":
        self._thread.start()
        self._do(self._serve())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._do(self._shut())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.bound_port}"

    @property
    def api_url(self) -> str:
        """The base address for slack_sdk's client."""
        return f"{self.url}/api/"

    @property
    def unknown_calls(self) -> list[str]:
        """Methods that were called and that tailhound does not use."""
        return self.core.unknown_calls

    def add_channel(self, id: str, name: str = "alerts") -> None:
        """A channel of which the bot is a member."""
        self.core.add_channel(id, name)

    def messages(self, channel: str) -> list[dict[str, Any]]:
        """The channel's messages, oldest first."""
        return self.core.messages(channel)

    def posts(self, channel: str | None = None) -> int:
        """How many messages were posted, whoever knows about it."""
        return sum(
            1
            for call in self.done
            if call.method == "chat.postMessage" and channel in (None, call.answer["channel"])
        )

    def whispers(self, channel: str) -> list[dict[str, Any]]:
        """What single users were told."""
        return list(self.core.channels[channel].whispers)

    def wait_for(self, condition: Any, timeout: float = 5.0) -> None:
        """Until `condition()` holds; it is looked at again after each call and connection."""
        with self._changed:
            if not self._changed.wait_for(condition, timeout):
                raise TimeoutError(f"{condition} did not come true within {timeout} s")

    def wait_connected(self, sockets: int = 1, timeout: float = 5.0) -> None:
        """Until so many sockets are open."""
        self.wait_for(lambda: len(self._sockets) >= sockets, timeout)

    def click(
        self,
        action_id: str,
        *,
        channel: str,
        ts: str = "",
        user: str = "U0ANA",
        value: str | None = None,
        envelope: str = "",
    ) -> Acked:
        """A person presses a button of a message (the last one, unless `ts` names another)."""
        found = self.core.channels[channel]
        message = found.messages[ts] if ts else list(found.messages.values())[-1]
        payload = block_action(message, found, action_id, user)
        if value is not None:
            payload["actions"][0]["value"] = value
        payload["response_url"] = f"{self.url}/response/{self.core.response_key(channel, user)}"
        return self.envelope("interactive", payload, envelope)

    def command(self, text: str, *, channel: str, user: str = "U0ANA") -> Acked:
        """A person types `/tailhound text`."""
        payload = {
            "command": "/tailhound",
            "text": text,
            "user_id": user,
            "user_name": user.lower(),
            "channel_id": channel,
            "channel_name": self.core.channels[channel].name,
            "team_id": TEAM,
            "team_domain": "local",
            "api_app_id": APP_ID,
            "trigger_id": "1.1.1",
            "response_url": f"{self.url}/response/{self.core.response_key(channel, user)}",
        }
        return self.envelope("slash_commands", payload)

    def envelope(self, kind: str, payload: Mapping[str, Any], envelope: str = "") -> Acked:
        """Send one envelope over one of the sockets and wait for its acknowledgement."""
        return self._do(self._send(kind, payload, envelope or str(uuid.uuid4())))

    def drop_sockets(self, *, politely: bool = False) -> None:
        """Break all connections; `politely` sends Slack's disconnect message first."""
        self._do(self._drop(politely))

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=30)

    async def _serve(self) -> None:
        app = web.Application(client_max_size=4_000_000)
        app.router.add_post("/api/{method}", self._api)
        app.router.add_get("/link", self._link)
        app.router.add_post("/response/{key:.+}", self._response)
        app.router.add_route("*", "/{other:.*}", self._other)
        self._runner = web.AppRunner(app, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.bound_port)
        await site.start()
        self.bound_port = self._runner.addresses[0][1]
        self.core.socket_url = f"ws://127.0.0.1:{self.bound_port}/link?ticket=local"

    async def _shut(self) -> None:
        await self._drop(False)
        if self._runner is not None:
            await self._runner.cleanup()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _api(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        arguments = await _arguments(request)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        spoiled = await self._fault(request, method, arguments)
        if spoiled is not None:
            return spoiled
        reply = self.core.call(method, token, arguments)
        self._keep(method, arguments, reply)
        if method in self.faults.methods and self.faults.lose_answers > 0 and reply.body["ok"]:
            self.faults.lose_answers -= 1
            return _broken(request)
        if method in self.faults.methods and self.faults.hold_answers > 0 and reply.body["ok"]:
            self.faults.hold_answers -= 1
            await asyncio.sleep(3600)
        return _http(reply)

    async def _fault(
        self, request: web.Request, method: str, arguments: Mapping[str, Any]
    ) -> web.StreamResponse | None:
        """The answer that a fault gives in place of the right one; None where none is on."""
        faults = self.faults
        if method not in faults.methods:
            return None
        self._calls += 1
        if faults.hang > 0:
            faults.hang -= 1
            await asyncio.Event().wait()
        if faults.lose_calls > 0:
            faults.lose_calls -= 1
            return _broken(request)
        if faults.statuses:
            status = faults.statuses.pop(0)
            return web.Response(status=status, text="upstream trouble")
        if faults.errors:
            error = faults.errors.pop(0)
            self.refused.append(error)
            return web.json_response({"ok": False, "error": error})
        return self._limited(method, str(arguments.get("channel", "")))

    def _limited(self, method: str, channel: str) -> web.StreamResponse | None:
        limited = self.faults.every_second_call and self._calls % 2 == 0
        if self.faults.one_a_second and method == "chat.postMessage":
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
            headers={"Retry-After": str(self.faults.retry_after)},
        )

    def _keep(self, method: str, arguments: Mapping[str, Any], reply: Reply) -> None:
        with self._changed:
            if not reply.body["ok"]:
                self.refused.append(str(reply.body["error"]))
            elif method != "apps.connections.open":
                self.done.append(Done(method, arguments, reply.body, time.monotonic()))
                self._write(method, arguments, reply)
            self._changed.notify_all()

    def _write(self, method: str, arguments: Mapping[str, Any], reply: Reply) -> None:
        if self._log is None:
            return
        line = {"method": method, "arguments": dict(arguments), "ts": reply.body.get("ts", "")}
        handle = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, json.dumps(line).encode() + b"\n")
        finally:
            os.close(handle)

    async def _response(self, request: web.Request) -> web.StreamResponse:
        reply = self.core.respond(request.match_info["key"], await _arguments(request))
        with self._changed:
            self._changed.notify_all()
        return _http(reply)

    async def _other(self, request: web.Request) -> web.StreamResponse:
        self.core.unknown_calls.append(request.path)
        return web.Response(status=404, text="Slack has no such page")

    async def _link(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        assert request.transport is not None
        self._transports[socket] = request.transport
        await socket.send_json(
            {
                "type": "hello",
                "num_connections": len(self._sockets) + 1,
                "connection_info": {"app_id": APP_ID},
                "debug_info": {"host": "local", "approximate_connection_time": 18060},
            }
        )
        with self._changed:
            self._sockets.append(socket)
            self.opened += 1
            self._changed.notify_all()
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._acknowledged(json.loads(message.data))
        finally:
            with self._changed:
                self._sockets.remove(socket)
                del self._transports[socket]
                self._changed.notify_all()
        return socket

    def _acknowledged(self, answer: Mapping[str, Any]) -> None:
        waiting = self._acks.get(str(answer.get("envelope_id")))
        if waiting is not None and not waiting.done():
            waiting.set_result(answer.get("payload") or {})

    async def _send(self, kind: str, payload: Mapping[str, Any], envelope: str) -> Acked:
        if not self._sockets:
            raise ConnectionError("tailhound has no socket open: a click is lost, as with Slack")
        waiting = self._acks[envelope] = self._loop.create_future()
        begun = time.monotonic()
        await self._sockets[-1].send_json(
            {
                "envelope_id": envelope,
                "type": kind,
                "accepts_response_payload": kind == "slash_commands",
                "payload": dict(payload),
            }
        )
        try:
            answer = await asyncio.wait_for(waiting, ACK_SECONDS)
        except TimeoutError:
            self.late_acks.append(envelope)
            raise
        finally:
            del self._acks[envelope]
        return Acked(time.monotonic() - begun, answer)

    async def _drop(self, politely: bool) -> None:
        for socket in list(self._sockets):
            if politely:
                await socket.send_json({"type": "disconnect", "reason": "refresh_requested"})
                continue
            self._transports[socket].abort()


async def _arguments(request: web.Request) -> dict[str, Any]:
    if request.content_type == "application/json":
        found = await request.json()
        return found if isinstance(found, dict) else {}
    form = await request.post()
    return {key: str(value) for key, value in form.items()}


def _http(reply: Reply) -> web.Response:
    return web.json_response(reply.body, status=reply.status, headers=reply.headers)


def _broken(request: web.Request) -> web.StreamResponse:
    """Break the connection in place of an answer."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def main() -> None:
    """Run a stand-in until the process is told to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--channel", action="append", default=["C0ALERTS"])
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
    with SlackStandin(port=options.port, log=options.log) as slack:
        for channel in options.channel:
            slack.add_channel(channel, channel.lower())
        sys.stdout.write(f"{slack.api_url}\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
