"""How many calls a server gets at once, by how it does: the bot must not add to its trouble."""

import threading
from collections.abc import Callable

from tailhound.transports.pool import Pool

SLOW_SECONDS = 1.0
WAIT_AT_MOST = 60.0


class Gate:
    """Halves the calls that may run at once when the server is slow or says "too many requests".

    As many quick answers in a row as calls may run give one more back. Calls that began before the
    last halving don't halve again: they met the same trouble. `clock` is monotonic.
    """

    def __init__(self, pool: Pool, clock: Callable[[], float]) -> None:
        self._pool = pool
        self._clock = clock
        self._lock = threading.Lock()
        self._changed = clock()
        self._good = 0
        self._wait_until = 0.0
        self.calls = 0
        self.slowed = 0

    def note(self, begun: float, *, is_bad: bool = False) -> None:
        """A call that began at `begun` is over now; `is_bad` = it failed, whatever it took."""
        now = self._clock()
        with self._lock:
            self.calls += 1
            if is_bad or now - begun > SLOW_SECONDS:
                self._slow(begun, now)
            else:
                self._recover()

    def wait(self, seconds: float) -> None:
        """The server asked to be left alone for so long (at most a minute is believed)."""
        with self._lock:
            until = self._clock() + min(max(0.0, seconds), WAIT_AT_MOST)
            self._wait_until = max(self._wait_until, until)

    def wait_left(self) -> float:
        """Seconds for which the server still wants to be left alone; 0 when it doesn't."""
        return max(0.0, self._wait_until - self._clock())

    def _slow(self, begun: float, now: float) -> None:
        self._good = 0
        if begun < self._changed:
            return
        self._changed = now
        self.slowed += 1
        self._pool.limit //= 2

    def _recover(self) -> None:
        self._good += 1
        if self._good >= self._pool.limit < self._pool.size:
            self._good = 0
            self._pool.limit += 1
