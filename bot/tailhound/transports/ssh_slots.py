"""How many sessions one connection carries at once: a count that waits, and that can shrink."""

import asyncio
import threading
from collections import deque


class Slots:
    """At most `limit` holders. sshd's MaxSessions may allow less: then the limit shrinks."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._taken = 0
        self._lock = threading.Lock()
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    @property
    def taken(self) -> int:
        """How many are held now."""
        return self._taken

    @property
    def limit(self) -> int:
        """How many may be held at once."""
        return self._limit

    async def take(self) -> None:
        """Wait for a slot and hold it until `give`. Cancelling stops the waiting."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._taken < self._limit:
                self._taken += 1
                return
            turn = loop.create_future()
            self._waiting.append((loop, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give()
            raise

    def give(self) -> None:
        """Let go of a slot; who waits longest gets it."""
        with self._lock:
            self._taken -= 1
            self._hand_over()

    def shrink(self) -> bool:
        """The host refused one more session than the others hold: keep below that.

        False when this was the only one, so that fewer would mean none.
        """
        with self._lock:
            if self._taken <= 1:
                self._limit = 1
                return False
            self._limit = max(1, min(self._limit, self._taken - 1))
            return True

    def _hand_over(self) -> None:
        while self._waiting and self._taken < self._limit:
            loop, turn = self._waiting.popleft()
            if turn.cancelled() or loop.is_closed():
                continue
            self._taken += 1
            loop.call_soon_threadsafe(self._wake, turn)

    def _wake(self, turn: "asyncio.Future[None]") -> None:
        if turn.cancelled():
            self.give()
        else:
            turn.set_result(None)
