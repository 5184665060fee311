"""A browser without a socket: one request after the other, straight to an ASGI application."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.types import ASGIApp, Message


@dataclass(frozen=True, slots=True)
class Page:
    """What came back."""

    status_code: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()


class Browser:
    """Requests to one application at `host`. Nothing is followed, nothing is kept."""

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app, self._host = app, host

    def get(self, path: str) -> Page:
        """One page."""
        return asyncio.run(self._ask("GET", path, b"", {}))

    def post(self, path: str, fields: Mapping[str, str], *, origin: str = "") -> Page:
        """A form, sent from a page of `origin` (the application's own unless said)."""
        headers = {"origin": origin or f"http://{self._host}"}
        return asyncio.run(self._ask("POST", path, urlencode(fields).encode(), headers))

    async def _ask(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Page:
        named = {"host": self._host, **headers}
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in named.items()],
            "server": ("127.0.0.1", 8080),
            "client": ("127.0.0.1", 1),
        }
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        start = next(m for m in sent if m["type"] == "http.response.start")
        got = b"".join(m.get("body", b"") for m in sent if m["type"] == "http.response.body")
        told = {name.decode(): value.decode() for name, value in start["headers"]}
        return Page(int(start["status"]), told, got)
