"""Calls an ASGI application without a socket: one request, one whole response."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from starlette.types import ASGIApp, Message


@dataclass(frozen=True, slots=True)
class Response:
    """What came back. Header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()


def request(
    app: ASGIApp,
    path: str,
    *,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    chunks: Sequence[bytes] = (b"",),
) -> Response:
    """One request from start to end; exceptions of the application pass through."""
    return asyncio.run(ask(app, path, method=method, headers=headers, chunks=chunks))


async def ask(
    app: ASGIApp,
    path: str,
    *,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    chunks: Sequence[bytes] = (b"",),
) -> Response:
    """The same inside a running loop."""
    sent: list[Message] = []
    waiting = list(chunks)

    async def receive() -> Message:
        if not waiting:
            await asyncio.Event().wait()  # a client that sends no more and stays
        chunk = waiting.pop(0)
        return {"type": "http.request", "body": chunk, "more_body": bool(waiting)}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(_scope(path, method, headers or {}), receive, send)
    start = next(m for m in sent if m["type"] == "http.response.start")
    body = b"".join(m.get("body", b"") for m in sent if m["type"] == "http.response.body")
    return Response(
        status=start["status"],
        headers={name.decode(): value.decode() for name, value in start["headers"]},
        body=body,
    )


def _scope(path: str, method: str, headers: dict[str, str]) -> dict[str, Any]:
    plain, _, query = path.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(plain),
        "raw_path": plain.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8080),
        "state": {},
    }
