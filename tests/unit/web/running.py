"""The web application on a real socket, in a thread, for tests."""

import asyncio
import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from tailhound.web.app import create_app
from tailhound.web.connections import Patience
from tailhound.web.parts import Parts
from tailhound.web.server import PATIENCE, bind, serve
from tailhound.web.strays import HOOK


@dataclass(slots=True)
class Running:
    """A server in a thread of its own."""

    given: Parts
    patience: Patience = PATIENCE
    port: int = 0
    _loop: asyncio.AbstractEventLoop | None = None
    _stop: asyncio.Event | None = None
    _up: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Listen; on a free port unless one is set."""
        sock = bind("127.0.0.1", self.port)
        self.port = sock.getsockname()[1]
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run(sock)))
        self._thread.start()
        assert self._up.wait(10)

    async def _run(self, sock: socket.socket) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        await serve(
            create_app(self.given),
            sock,
            self._stop,
            started=self._up.set,
            patience=self.patience,
        )

    def stop(self) -> float:
        """Stop it; the seconds that it took."""
        started = time.monotonic()
        assert self._loop is not None
        assert self._stop is not None
        assert self._thread is not None
        with contextlib.suppress(RuntimeError):  # stopped already
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        assert not self._thread.is_alive(), "the server does not end"
        return time.monotonic() - started

    def connect(self) -> socket.socket:
        """A connection that gives up after 10 s."""
        sock = socket.create_connection(("127.0.0.1", self.port), 10)
        sock.settimeout(10)
        return sock

    def post(self, body: bytes) -> int:
        """Send a notification on a connection of its own; the status."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("POST", HOOK, body)
        status = connection.getresponse().status
        connection.close()
        return status

    def get(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers in lower case, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, body


@contextlib.contextmanager
def running(given: Parts, patience: Patience = PATIENCE) -> Iterator[Running]:
    """A server for the time of a test."""
    server = Running(given, patience)
    server.start()
    try:
        yield server
    finally:
        server.stop()
