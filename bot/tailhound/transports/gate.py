"""How many calls a server gets at once, by how it does: the bot must not add to its trouble."""

import threading
from collections.abc import Callable

from tailhound.model import Missing
from tailhound.transports.pool import Pool
from tailhound.transports.sparing import Sent, Sparing

SLOW_SECONDS = 1.0
WAIT_AT_MOST = 60.0


class Gate:
    """Halves the calls that may run at once when the server is slow or says "too many requests".

    As many quick answers in a row as calls may run give one more back. Calls that began before the
    last halving don't halve again: they met the same trouble. A server that refuses most of them is
    spared (see `Sparing`); when it answers again, calls begin anew with one at once. `clock` is
    monotonic.
    """

    def __init__(self, pool: Pool, clock: Callable[[], float]) -> None:
        self._pool = pool
        self._clock = clock
        self._lock = threading.Lock()
        self._changed = clock()
        self._good = 0
        self._wait_until = 0.0
        self._sparing = Sparing(clock)
        self.calls = 0
        self.slowed = 0
        self.spared = 0

    @property
    def refusal(self) -> Missing | None:
        """What is told of a question that the server is spared; None while it is not spared."""
        return self._sparing.refusal

    def why_not(self) -> Missing | None:
        """Why the server is spared a call now; None when it may be asked or will be in a moment."""
        return self._sparing.why_not(must_wait=self.wait_left() > 0)

    def begin(self, *, is_needed: bool = False) -> Sent | Missing:
        """The call that begins now, or why the server is spared it. `is_needed`: it never is."""
        return self._sparing.begin(is_needed=is_needed, must_wait=self.wait_left() > 0)

    def end(self, sent: Sent, *, answered: bool | None = True) -> None:
        """A call is over now. `answered` False = the server refused it or did not answer in time,
        None = it failed in another way.
        """
        now = self._clock()
        with self._lock:
            self.calls += 1
            if self._sparing.end(sent, answered):
                self._changed, self._good, self._pool.limit = now, 0, 1
            elif not answered or now - sent.begun > SLOW_SECONDS:
                self._slow(sent.begun, now)
            elif not self._sparing.is_on:
                self._recover()

    def spare(self) -> None:
        """Count a question that was not asked because the server is spared."""
        with self._lock:
            self.spared += 1

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
