"""GET /api/stream: one poller watches the revision for all clients and tells them when it grew."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from tailhound.errors import StoreUnavailable

CLIENTS_AT_MOST = 100
POLL_SECONDS = 1.0
HEARTBEAT_SECONDS = 15.0


class Stream:
    """Server-sent events. A client gets the revision when it comes and each newer one after that.

    When the database stops answering, all streams end: the page says that it is not live, and
    comes back.
    """

    def __init__(
        self,
        revision: Callable[[], Awaitable[int]],
        *,
        poll_seconds: float = POLL_SECONDS,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        clients_at_most: int = CLIENTS_AT_MOST,
    ) -> None:
        self._revision = revision
        self._poll_seconds = poll_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._clients_at_most = clients_at_most
        self._clients: set[asyncio.Queue[int | None]] = set()
        self._poller: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def clients(self) -> int:
        """How many listen."""
        return len(self._clients)

    async def get(self, _request: Request) -> Response:
        """The endpoint; 503 when too many listen or the database does not answer."""
        if self._closed or len(self._clients) >= self._clients_at_most:
            return JSONResponse({"error": "too many pages are live; this one is not"}, 503)
        await self._revision()
        return StreamingResponse(
            self._events(),
            media_type="text/event-stream",
            headers={"cache-control": "no-store", "x-accel-buffering": "no"},
        )

    def close(self) -> None:
        """End all streams."""
        self._closed = True
        self._end()

    def _end(self) -> None:
        for client in self._clients:
            _put(client, None)

    async def _events(self) -> AsyncIterator[bytes]:
        news: asyncio.Queue[int | None] = asyncio.Queue(maxsize=1)
        self._clients.add(news)  # before the revision is read: no change falls in between
        try:
            if len(self._clients) > self._clients_at_most:
                return  # many came at one moment, and all of them were let in
            revision = await self._revision()
            if self._poller is None or self._poller.done():
                self._poller = asyncio.create_task(self._poll(revision))
            yield b"retry: 3000\n\n" + _event(revision)
            while (told := await self._next(news)) is not None:
                yield told
        except StoreUnavailable:
            return  # the page says that it is not live and comes back
        finally:
            self._clients.discard(news)
            if not self._clients and self._poller is not None:
                self._poller.cancel()
                self._poller = None

    async def _next(self, news: asyncio.Queue[int | None]) -> bytes | None:
        """The next event, a comment when nothing happened for a while, None at the end."""
        if self._closed:
            return None
        try:
            revision = await asyncio.wait_for(news.get(), self._heartbeat_seconds)
        except TimeoutError:
            return b": still here\n\n"
        return None if revision is None else _event(revision)

    async def _poll(self, seen: int) -> None:
        while True:
            await asyncio.sleep(self._poll_seconds)
            try:
                revision = await self._revision()
            except StoreUnavailable:
                self._end()
                return
            if revision != seen:
                seen = revision
                for client in self._clients:
                    _put(client, revision)


def _put(client: asyncio.Queue[int | None], told: int | None) -> None:
    """Only the newest counts: a slow client skips what it has not read yet."""
    if client.full():
        client.get_nowait()
    client.put_nowait(told)


def _event(revision: int) -> bytes:
    return f"event: revision\ndata: {revision}\n\n".encode()
