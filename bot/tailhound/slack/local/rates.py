"""Slack's rate limits: so many calls a minute of each method, one message a second a channel."""

from collections import deque
from collections.abc import Callable
from math import ceil

POST = "chat.postMessage"
POSTS_AT_ONCE = 5
"""Slack tolerates "short bursts" of posts to one channel, and says no number; this is ours."""

_MINUTE = 60.0


class Rates:
    """Calls of the last minute by method. `clock` is Unix seconds; time may be set, never slept."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._calls: dict[str, deque[float]] = {}
        self._posts: dict[str, tuple[float, float]] = {}

    def wait(self, method: str, per_minute: int, channel: str = "") -> int:
        """Seconds until Slack would take this call; 0 when it takes it, which then counts."""
        wait = self._until_tier(method, per_minute)
        if wait == 0 and method == POST:
            wait = self._until_post(channel)
        if wait == 0:
            self._calls.setdefault(method, deque()).append(self._clock())
        return wait

    def _until_tier(self, method: str, per_minute: int) -> int:
        now, calls = self._clock(), self._calls.setdefault(method, deque())
        while calls and calls[0] <= now - _MINUTE:
            calls.popleft()
        if not per_minute or len(calls) < per_minute:
            return 0
        return max(1, ceil(calls[0] + _MINUTE - now))

    def _until_post(self, channel: str) -> int:
        """One a second into a channel, with a few in hand after a quiet while."""
        now = self._clock()
        left, at = self._posts.get(channel, (float(POSTS_AT_ONCE), now))
        left = min(float(POSTS_AT_ONCE), left + now - at)
        if left < 1.0:
            return 1
        self._posts[channel] = (left - 1.0, now)
        return 0
