"""A strict stand-in of Slack's API on a real port, with faults that a test switches on.

What it answers is `tailhound.slack.local`; here are the server, Socket Mode and what people do. A
call that tailhound has no business making is kept in `unknown_calls`: a test checks that it is
empty.

    with SlackStandin() as slack:
        slack.add_channel("C1", "alerts")
        web = client("xoxb-local", slack.api_url, 2)
        slack.faults.lose_answers = 1
        ...
        ack = slack.click("silence", channel="C1")
        slack.submit("U0ANA", {"hours": "2"})

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
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from aiohttp import web

from tailhound.slack.local import SCOPES, LocalSlack, Put, Reply, View
from tests.standins.slack_faults import Faults
from tests.standins.slack_sockets import Acked, Sockets

__all__ = ["Acked", "Done", "Faults", "SlackStandin"]

T = TypeVar("T")
_ANA = "U0ANA"


@dataclass(frozen=True, slots=True)
class Done:
    """One call that was done: method, arguments, answer, seconds of the monotonic clock."""

    method: str
    arguments: Mapping[str, Any]
    answer: Mapping[str, Any]
    at: float


class SlackStandin:
    """Slack on 127.0.0.1, in a thread with its own loop. With `rates` it limits calls as Slack."""

    def __init__(
        self,
        *,
        port: int = 0,
        log: Path | None = None,
        scopes: frozenset[str] = SCOPES,
        rates: bool = False,
    ) -> None:
        self.core = LocalSlack(time.time, scopes=scopes, rates=rates)
        self.core.world.file_seconds = 0.1
        self.faults = Faults()
        self.done: list[Done] = []
        self.bound_port = port
        self._log = log
        self._changed = threading.Condition()
        self._sockets = Sockets(self.core, self.faults, self._changed)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="slack-standin")
        self._runner: web.AppRunner | None = None

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

    @property
    def refused(self) -> list[str]:
        """The error codes that were answered."""
        return self.faults.refused

    @property
    def late_acks(self) -> list[str]:
        """Envelopes that nobody acknowledged within three seconds."""
        return self._sockets.late

    @property
    def opened(self) -> int:
        """How many sockets were ever opened."""
        return self._sockets.opened

    @property
    def turns(self) -> list[int]:
        """Over which of the open sockets each envelope went."""
        return self._sockets.sent

    def add_channel(self, id: str, name: str = "alerts") -> None:
        """A channel of which the bot is a member."""
        self.core.add_channel(id, name)

    def messages(self, channel: str) -> list[dict[str, Any]]:
        """What the channel shows, oldest first: replies only where they were broadcast."""
        return self.core.messages(channel)

    def thread(self, channel: str, ts: str) -> list[dict[str, Any]]:
        """A root message and its replies, oldest first."""
        return self.core.thread(channel, ts)

    def modal(self, user: str = _ANA) -> View | None:
        """The modal that a person sees now."""
        return self.core.modal(user)

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
        self.wait_for(lambda: self._sockets.ready >= sockets, timeout)

    def click(
        self,
        action_id: str,
        *,
        channel: str,
        ts: str = "",
        user: str = _ANA,
        value: str | None = None,
        envelope: str = "",
    ) -> Acked:
        """A person presses a button of a message (the last one, unless `ts` names another)."""
        ts = ts or self.core.messages(channel)[-1]["ts"]
        payload = self.core.press(channel, ts, action_id, user)
        if value is not None:
            payload["actions"][0]["value"] = value
        return self.envelope("interactive", payload, envelope)

    def use(
        self, action_id: str, put: Put | None = None, *, user: str = _ANA, home: bool = False
    ) -> Acked | None:
        """A person presses or chooses in the modal (or home tab); None where nobody is told."""
        payload = self.core.use(user, action_id, put, home=home)
        return self.envelope("interactive", payload) if payload else None

    def submit(self, values: Mapping[str, Put] | None = None, *, user: str = _ANA) -> Acked:
        """A person fills in the modal, by action id, and sends it.

        NotFilled when Slack's client would not send it; Refused when the app's answer makes no
        sense to Slack ("We had some trouble connecting").
        """
        for action_id, put in (values or {}).items():
            self.use(action_id, put, user=user)
        payload = self.core.submit(user)
        acked = self.envelope("interactive", payload)
        return replace(acked, errors=self.core.submitted(payload, acked.payload))

    def close(self, *, user: str = _ANA, everything: bool = False) -> Acked | None:
        """A person closes the modal; None where the app did not ask to be told."""
        payload = self.core.close(user, everything=everything)
        return self.envelope("interactive", payload) if payload else None

    def command(self, text: str, *, channel: str, user: str = _ANA) -> Acked:
        """A person types `/tailhound text`; the answer is in the acknowledgement."""
        payload = self.core.command(text, channel, user)
        acked = self.envelope("slash_commands", payload)
        reply = self.core.acknowledged(payload, acked.payload)
        if not reply.body["ok"]:
            self.faults.refused.append(str(reply.body["error"]))
        return acked

    def open_home(self, *, user: str = _ANA) -> Acked:
        """A person looks at the app's home tab."""
        return self.envelope("events_api", self.core.home_opened(user))

    def envelope(self, kind: str, payload: Mapping[str, Any], envelope: str = "") -> Acked:
        """Send one envelope over one of the sockets and wait for its acknowledgement."""
        return self._do(self._sockets.send(kind, payload, envelope or str(uuid.uuid4())))

    def drop_sockets(self, *, politely: bool = False, reason: str = "") -> None:
        """Break all connections; `politely` sends Slack's disconnect message first."""
        self._do(self._sockets.drop(reason or ("refresh_requested" if politely else "")))

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=30)

    async def _serve(self) -> None:
        app = web.Application(client_max_size=40_000_000)
        app.router.add_route("*", "/api/{method}", self._api)
        app.router.add_get("/link", self._sockets.link)
        app.router.add_post("/response/{key:.+}", self._response)
        app.router.add_route("*", "/upload/v1/{key}", self._upload)
        app.router.add_route("*", "/{other:.*}", self._other)
        self._runner = web.AppRunner(app, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.bound_port)
        await site.start()
        self.bound_port = self._runner.addresses[0][1]
        self.core.serve_at(self.url)
        self.core.socket_url = f"ws://127.0.0.1:{self.bound_port}/link"

    async def _shut(self) -> None:
        await self._sockets.drop()
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
        spoiled = await self.faults.before(request, method, arguments)
        if spoiled is not None:
            return spoiled
        reply = self.core.call(method, token, arguments)
        self._keep(method, arguments, reply)
        return await self.faults.after(request, method, reply) or _http(reply)

    def _keep(self, method: str, arguments: Mapping[str, Any], reply: Reply) -> None:
        with self._changed:
            if not reply.body["ok"]:
                self.faults.refused.append(str(reply.body["error"]))
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

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        content = await _content(request)
        if not self.core.upload(request.match_info["key"], content):
            return web.Response(status=404, text="no such upload, or not of this length")
        return web.Response(text=f"OK - {len(content)}")

    async def _other(self, request: web.Request) -> web.StreamResponse:
        self.core.unknown_calls.append(request.path)
        return web.Response(status=404, text="Slack has no such page")


async def _arguments(request: web.Request) -> dict[str, Any]:
    if request.content_type == "application/json":
        found = await request.json()
        return found if isinstance(found, dict) else {}
    form = await request.post()
    sent = {**request.query, **{key: str(value) for key, value in form.items()}}
    return {key: str(value) for key, value in sent.items()}


async def _content(request: web.Request) -> bytes:
    """The bytes of an upload: the body itself, or the one file of a form."""
    if request.content_type != "multipart/form-data":
        return await request.read()
    for value in (await request.post()).values():
        if isinstance(value, web.FileField):
            return value.file.read()
    return b""


def _http(reply: Reply) -> web.Response:
    return web.json_response(reply.body, status=reply.status, headers=reply.headers)


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
