"""The bodies of notifications in memory: each bounded, and all of them together."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.requests import Request

BODY_BYTES = 32 * 1024 * 1024
DRAIN_BYTES = 64 * 1024 * 1024
"""How much of a body that is too large is still read, so that its sender sees the 413."""
TOGETHER_BYTES = BODY_BYTES * 3 // 2
"""What all bodies may hold that are read or stored at a time."""


class TooLarge(Exception):
    """The body is larger than BODY_BYTES; `size` is what was announced or seen."""

    def __init__(self, size: int) -> None:
        super().__init__(f"{size} bytes")
        self.size = size


class Body:
    """One body, as far as it came. `is_out`: it had to make room for others."""

    def __init__(self, bodies: "Bodies") -> None:
        self._bodies = bodies
        self._chunks: list[bytes] = []
        self._limit: asyncio.Timeout | None = None
        self.size = 0
        self.is_out = False

    async def read(self, request: Request, seconds: float) -> bytes:
        """All of it, within so many seconds. TimeoutError when it is late, or `is_out`; TooLarge
        after the rest was read and dropped, as far as that is sane.
        """
        async with asyncio.timeout(seconds) as self._limit:
            await self._read(request)
        self._bodies.is_read(self)
        whole = b"".join(self._chunks)
        self._chunks.clear()
        return whole

    async def _read(self, request: Request) -> None:
        announced = request.headers.get("content-length", "")
        expected = int(announced) if announced.isdecimal() and len(announced) < 18 else 0
        seen = 0
        async for chunk in request.stream():
            seen += len(chunk)
            if seen > BODY_BYTES or expected > BODY_BYTES:
                self._bodies.drop(self)
                if seen > DRAIN_BYTES:
                    break
                continue
            self._chunks.append(chunk)
            self._bodies.grow(self, len(chunk))
            if self.is_out:
                raise TimeoutError
        if seen > BODY_BYTES or expected > BODY_BYTES:
            raise TooLarge(max(expected, seen))

    def go_out(self) -> None:
        """Make room: what came is forgotten, and whoever reads it hears of it at once."""
        self.is_out = True
        self._chunks.clear()
        if self._limit is not None:
            self._limit.reschedule(asyncio.get_running_loop().time())


class Bodies:
    """All that are being read, or stored. Beyond `most` bytes the largest that is still being read
    goes: a notification is small beside what it takes to fill the memory.
    """

    def __init__(self, most: int = TOGETHER_BYTES) -> None:
        self._most = most
        self._held = 0
        self._reading: set[Body] = set()

    @property
    def held(self) -> int:
        """Bytes in memory."""
        return self._held

    @property
    def most(self) -> int:
        """How many there may be."""
        return self._most

    @contextmanager
    def one(self) -> Iterator[Body]:
        """One body, from its first byte until it is answered."""
        body = Body(self)
        self._reading.add(body)
        try:
            yield body
        finally:
            self._reading.discard(body)
            self.drop(body)

    def grow(self, body: Body, size: int) -> None:
        """More of it came."""
        body.size += size
        self._held += size
        while self._held > self._most and self._reading:
            largest = max(self._reading, key=lambda one: one.size)
            self._reading.discard(largest)
            largest.go_out()
            self.drop(largest)

    def drop(self, body: Body) -> None:
        """It holds nothing any more."""
        self._held -= body.size
        body.size = 0

    def is_read(self, body: Body) -> None:
        """It is complete: it stays until it is stored."""
        self._reading.discard(body)
