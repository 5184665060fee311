"""A breaker per target: who did not answer several times in a row is left alone for a while."""

import threading
from collections.abc import Callable

from tailhound.model import Missing, Reason


class Breaker:
    """Opens for `open_seconds` after `limit` abandoned reads of one target without an answer.

    When the time is over one read is let through; until it has answered or was abandoned, and at
    most for another `open_seconds`, the breaker stays open for the others. `clock` counts seconds
    and never goes back (`time.monotonic`).
    """

    def __init__(
        self, clock: Callable[[], float], *, limit: int = 3, open_seconds: float = 30.0
    ) -> None:
        self._clock = clock
        self._limit = limit
        self._open_seconds = open_seconds
        self._lock = threading.Lock()
        self._abandoned: dict[str, int] = {}
        self._open_until: dict[str, float] = {}

    def why_open(self, target: str) -> Missing | None:
        """Why the target is not asked now; None when it may be asked."""
        with self._lock:
            until = self._open_until.get(target)
            if until is None:
                return None
            left = until - self._clock()
            if left <= 0:
                self._open_until[target] = self._clock() + self._open_seconds
                return None
            count = self._abandoned.get(target, self._limit)
        return Missing(
            Reason.SKIPPED,
            f"not asked: {target} left {count} reads in a row without an answer; "
            f"it is asked again in {left:.0f} s",
        )

    def abandoned(self, target: str) -> None:
        """A read of the target was given up: no answer came in time."""
        with self._lock:
            count = self._abandoned.get(target, 0) + 1
            self._abandoned[target] = count
            if count >= self._limit:
                self._open_until[target] = self._clock() + self._open_seconds

    def answered(self, target: str) -> None:
        """The target answered, whatever it said (also "refused"): close its breaker."""
        with self._lock:
            self._abandoned.pop(target, None)
            self._open_until.pop(target, None)

    def open_targets(self) -> tuple[str, ...]:
        """The targets that are left alone now, in order of name."""
        with self._lock:
            now = self._clock()
            return tuple(sorted(name for name, until in self._open_until.items() if until > now))
