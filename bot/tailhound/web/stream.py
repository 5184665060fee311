"""GET /api/stream: one poller watches the revision for all clients and tells them when it grew."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from tailhound.errors import StoreUnavailable
from tailhound.web.pool import OneAtATime
from tailhound.web.visitor import Visitors

POLL_SECONDS = 1.0
HEARTBEAT_SECONDS = 15.0


FULL_SECONDS = 60
"""When a page that found no room asks again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How many may listen: all together, and of one visitor, so that nobody can take the live pages
    from everybody else.
    """

    everybody: int = 100
    one: int = 20
    visitors: Visitors = field(default_factory=lambda: Visitors(""))


class Stream:
    """Server-sent events. A client gets the revision when it comes and each newer one after that.

    One for whom there is no room is told so, by an event `full` with a sentence. When the database
    stops answering, all streams end: the page says that it is not live, and comes back.
    """

    def __init__(
        self,
        revision: Callable[[], Awaitable[int]],
        *,
        poll_seconds: float = POLL_SECONDS,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        room: Room | None = None,
    ) -> None:
        self._revision = OneAtATime(revision)
        self._newest = 0
        self._poll_seconds = poll_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._room = room or Room()
        self._clients: dict[asyncio.Queue[int | None], str] = {}
        self._poller: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def clients(self) -> int:
        """How many listen."""
        return len(self._clients)

    async def get(self, request: Request) -> Response:
        """The endpoint; 503 when the server ends or the database does not answer."""
        if self._closed:
            return JSONResponse({"error": "this server is ending"}, 503)
        if not self._polls:
            await self._revision.answer()
        return StreamingResponse(
            self._events(self._room.visitors.who(request)),
            media_type="text/event-stream",
            headers={"cache-control": "no-store", "x-accel-buffering": "no"},
        )

    def _full(self, who: str) -> str:
        """Why there is no room for one more, "" when there is; the new one is counted already."""
        if len(self._clients) > self._room.everybody:
            return f"{self._room.everybody} pages are live already, of everybody together"
        if list(self._clients.values()).count(who) > self._room.one:
            return f"{self._room.one} pages of your address are live already"
        return ""

    def close(self) -> None:
        """End all streams."""
        self._closed = True
        self._end()

    def _end(self) -> None:
        for client in self._clients:
            _put(client, None)

    async def _events(self, who: str) -> AsyncIterator[bytes]:
        news: asyncio.Queue[int | None] = asyncio.Queue(maxsize=1)
        self._clients[news] = who  # before the revision is read: no change falls in between
        try:
            if why := self._full(who):
                del self._clients[news]
                yield f"retry: {FULL_SECONDS}000\n\nevent: full\ndata: {why}\n\n".encode()
                return
            if not self._polls:
                await self._begin()
            yield b"retry: 3000\n\n" + _event(self._newest)
            while (told := await self._next(news)) is not None:
                yield told
        except StoreUnavailable:
            return  # the page says that it is not live and comes back
        finally:
            self._clients.pop(news, None)
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

    @property
    def _polls(self) -> bool:
        return self._poller is not None and not self._poller.done()

    async def _begin(self) -> None:
        """Poll from now on; of several who come at once one begins."""
        revision = await self._revision.answer()
        if not self._polls:
            self._newest = revision
            self._poller = asyncio.create_task(self._poll())

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(self._poll_seconds)
            try:
                revision = await self._revision.answer()
            except StoreUnavailable:
                self._end()
                return
            if revision != self._newest:
                self._newest = revision
                for client in self._clients:
                    _put(client, revision)


def _put(client: asyncio.Queue[int | None], told: int | None) -> None:
    """Only the newest counts: a slow client skips what it has not read yet."""
    if client.full():
        client.get_nowait()
    client.put_nowait(told)


def _event(revision: int) -> bytes:
    return f"event: revision\ndata: {revision}\n\n".encode()
