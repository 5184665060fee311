"""A server that refuses most requests is not asked but for one now and then, which finds out."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from tailhound.model import Missing, Reason
from tailhound.model.unanswered import SPARED

LEAST = 5
LAST = 10
WITHIN_SECONDS = 30.0
MOST_PERCENT = 80
PROBE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that is under way since `begun`. `is_probe`: it finds out whether others may be."""

    begun: float
    is_probe: bool = False


class Sparing:
    """Spares a server once more than 80 % of its last 10 requests of 30 s failed, of at least 5.

    From then on one request at a time is let through, at most one in 10 s, and the first success
    of what was sent since ends it. It is looked at twice: who comes is told at once that nothing is
    asked now (`why_not`), or waits for the request that finds out, and who is about to send looks
    again (`begin`). `clock` is monotonic; should it leap, what it told before counts no more.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._recent: deque[tuple[float, bool]] = deque(maxlen=LAST)
        self._changed = clock()
        self._probed = 0.0
        self._is_probing = False
        self._is_on = False

    @property
    def is_on(self) -> bool:
        """Whether the server is spared now."""
        return self._is_on

    @property
    def refusal(self) -> Missing | None:
        """What is told of a question that is not asked for that; None while nothing is spared."""
        with self._lock:
            return self._told() if self._is_on else None

    def why_not(self, *, must_wait: bool = False) -> Missing | None:
        """Why nothing is asked now; None when it may be, or when that is being found out.

        `must_wait`: the server asked to be left alone, so nobody finds out either.
        """
        with self._lock:
            may = not self._is_on or self._is_probing or (self._is_due() and not must_wait)
            return None if may else self._told()

    def begin(self, *, is_needed: bool = False, must_wait: bool = False) -> Sent | Missing:
        """The request that is sent now; Missing when it is not to be sent.

        `is_needed`: it is sent in any case, and is not what finds out, though it may.
        """
        with self._lock:
            now = self._clock()
            self._changed = min(self._changed, now)
            if is_needed or not self._is_on:
                return Sent(now)
            if self._is_probing or must_wait or not self._is_due():
                return self._told()
            self._is_probing, self._probed = True, now
            return Sent(now, is_probe=True)

    def end(self, sent: Sent, answered: bool | None) -> bool:
        """A request is over; whether the server is spared from now on.

        `answered` False = refused or timed out, None = it does not tell how the server does. What
        was sent before the last change does not tell how the server does now.
        """
        with self._lock:
            if sent.is_probe:
                self._is_probing = False
            if answered is None or sent.begun < self._changed:
                return False
            now = self._clock()
            self._recent.append((now, not answered))
            if self._is_on:
                if answered:
                    self._turn(now, is_on=False)
                return False
            self._forget(now)
            if self._is_most():
                self._turn(now, is_on=True)
            return self._is_on

    def _forget(self, now: float) -> None:
        kept = [one for one in self._recent if 0 <= now - one[0] <= WITHIN_SECONDS]
        self._recent = deque(kept, maxlen=LAST)

    def _is_most(self) -> bool:
        failed, count = self._counted()
        return count >= LEAST and failed * 100 > count * MOST_PERCENT

    def _counted(self) -> tuple[int, int]:
        return sum(failed for _, failed in self._recent), len(self._recent)

    def _turn(self, now: float, *, is_on: bool) -> None:
        self._is_on, self._changed, self._probed = is_on, now, now
        if not is_on:
            self._recent.clear()

    def _is_due(self) -> bool:
        return not 0 <= self._clock() - self._probed < PROBE_SECONDS

    def _told(self) -> Missing:
        failed, count = self._counted()
        return Missing(
            Reason.SKIPPED,
            f"{SPARED} ({failed} of the last {count}). Fix: it is asked again when it answers",
        )
