"""Work on threads that nobody waits for, and that keep no process from ending."""

import threading
from collections import deque
from collections.abc import Callable

from tailhound.durable.turns import Turns


class Behind:
    """At most so much goes on at any moment; `name` is what its threads are called.

    `waiting` is how much more may wait its turn.
    """

    def __init__(self, name: str, at_once: int, waiting: int = 0) -> None:
        self._name = name
        self._at_once, self._room = at_once, waiting
        self._lock = threading.Lock()
        self._queue: deque[Callable[[], None]] = deque()
        self._busy = 0
        self._closed = False

    def do(self, work: Callable[[], None]) -> bool:
        """Begin it, or let it wait; False when too much goes on already, or tailhound ends."""
        with self._lock:
            if self._closed:
                return False
            if self._busy >= self._at_once:
                fits = len(self._queue) < self._room
                if fits:
                    self._queue.append(work)
                return fits
            self._busy += 1
        threading.Thread(target=self._run, args=(work,), name=self._name, daemon=True).start()
        return True

    def close(self) -> None:
        """Begin nothing more."""
        with self._lock:
            self._closed = True
            self._queue.clear()

    def _run(self, work: Callable[[], None] | None) -> None:
        while work is not None:
            with Turns("what a click asked for").one():
                work()
            work = self._next()

    def _next(self) -> Callable[[], None] | None:
        """What waits longest; None, and a thread less, when nothing does."""
        with self._lock:
            if self._queue:
                return self._queue.popleft()
            self._busy -= 1
            return None
