"""Runs the application: bounded connections, impatient with slow clients, quick to end."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Generator

import uvicorn
from starlette.applications import Starlette

from tailhound.errors import SettingsError
from tailhound.web.connections import Patience, impatient

PATIENCE = Patience()
GRACE_SECONDS = 2
KEEP_ALIVE_SECONDS = 30
ACCEPTED_AT_ONCE = 100
"""How many connections come in between two looks at what those before have sent: few beside
CONNECTIONS, so that a crowd never drives out somebody whose request has just arrived."""
BACKLOG = 1024
"""How many may wait to be accepted; the kernel may keep it lower."""


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
        for sock in sockets or ():
            sock.listen(BACKLOG)  # asyncio takes one number for this and for ACCEPTED_AT_ONCE
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
    patience: Patience = PATIENCE,
) -> None:
    """Serve on a socket of `bind` until `stop` is set; then it takes at most three seconds.

    `started` is called when the first request can be answered.
    """
    config = uvicorn.Config(
        app,
        http=impatient(patience),
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",  # its warnings are of single clients; `web.connections` counts them
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=ACCEPTED_AT_ONCE,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
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
