"""Runs the application: bounded connections, impatient with slow clients, quick to end."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Generator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from tailhound.errors import SettingsError

HEADER_SECONDS = 10.0
HEADER_BYTES = 64 * 1024
CONNECTIONS = 500
GRACE_SECONDS = 2
KEEP_ALIVE_SECONDS = 30


class Impatient(asyncio.Protocol):
    """Closes a connection whose next request is not there in time, or whose head is too large.

    Mixed into uvicorn's protocols, which wait for a head without end. `cycle` is the request that
    is being answered.
    """

    header_seconds = HEADER_SECONDS
    header_bytes = HEADER_BYTES
    cycle: Any
    transport: Any
    _timer: asyncio.TimerHandle | None = None
    _unanswered = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client came: its first request must be there in time."""
        super().connection_made(transport)
        self._arm()

    def data_received(self, data: bytes) -> None:
        """Bytes came: they began a request, or are one more piece of a head."""
        super().data_received(data)
        if self._busy():
            self._disarm()
            return
        self._unanswered += len(data)
        self._arm()
        if self._unanswered > self.header_bytes:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._disarm()
        super().connection_lost(exc)

    def _busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _arm(self) -> None:
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self.header_seconds, self._too_late)

    def _disarm(self) -> None:
        self._unanswered = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_late(self) -> None:
        self._timer = None
        if not self._busy():
            self.transport.close()


def _protocol(header_seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's fastest HTTP protocol that is installed, made impatient."""
    return type("Http", (Impatient, AutoHTTPProtocol), {"header_seconds": header_seconds})


class _Server(uvicorn.Server):
    """Ends live streams first, so that nobody waits for them. Leaves signals to the caller."""

    def __init__(self, config: uvicorn.Config, app: Starlette, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._app = app
        self._tell_started = started

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Who called `serve` decides what a signal means."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        self._tell_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop within GRACE_SECONDS, then cancel what still runs."""
        self._app.state.stream.close()
        await super().shutdown(sockets)


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 = a free one. SettingsError when the address can't be had."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind, protocol)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
            sock.setblocking(False)
        except BaseException:
            sock.close()
            raise
    except OSError as error:
        raise SettingsError(
            f"can't listen on {host}:{port}: {error.strerror}; set listen.host and listen.port"
        ) from error
    return sock


async def serve(
    app: Starlette,
    sock: socket.socket,
    stop: asyncio.Event,
    *,
    started: Callable[[], None] = lambda: None,
    header_seconds: float = HEADER_SECONDS,
) -> None:
    """Serve on a socket of `bind` until `stop` is set; then it takes at most three seconds.

    `started` is called when the first request can be answered.
    """
    config = uvicorn.Config(
        app,
        http=_protocol(header_seconds),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS,
        backlog=CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        h11_max_incomplete_event_size=HEADER_BYTES,
    )
    server = _Server(config, app, started)
    stopping = asyncio.create_task(_stop(server, stop))
    try:
        await server.serve(sockets=[sock])
    finally:
        stopping.cancel()


async def _stop(server: uvicorn.Server, stop: asyncio.Event) -> None:
    await stop.wait()
    server.should_exit = True
