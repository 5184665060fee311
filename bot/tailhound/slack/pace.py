"""How fast tailhound may speak to Slack: Slack's rate limits, kept before Slack has to refuse.

`chat.postMessage`: one message a second in a channel, and a ceiling for the workspace.
`chat.update`: 50 a minute for the workspace; the last of them are kept for what matters (verdict,
resolve), progress waits. One edit of a message in two seconds. A 429 holds the method back for the
time that Slack asked for.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

POST, UPDATE = "chat.postMessage", "chat.update"
HISTORY, AUTH = "conversations.history", "auth.test"

_POSTS_A_SECOND_IN_A_CHANNEL: Final = 1.0
_POSTS_A_SECOND: Final = 4.0
_UPDATES_A_SECOND: Final = 40 / 60
_UPDATES_AT_ONCE: Final = 10
_KEPT_FOR_URGENT: Final = 4
_EDIT_GAP_SECONDS: Final = 2.0
_REMEMBERED: Final = 2_000


@dataclass
class _Bucket:
    """Tokens that come back with time. `wait` does not take one, `take` does."""

    per_second: float
    size: float
    tokens: float = field(init=False)
    at: float = 0.0

    def __post_init__(self) -> None:
        self.tokens = self.size

    def wait(self, now: float, needed: float = 1.0) -> float:
        self.tokens = min(self.size, self.tokens + max(0.0, now - self.at) * self.per_second)
        self.at = now
        return max(0.0, (needed - self.tokens) / self.per_second)

    def take(self) -> None:
        self.tokens -= 1.0


class Pace:
    """Says how many seconds to wait; 0 means go, and counts the call. `clock` is monotonic."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._posts = _Bucket(_POSTS_A_SECOND, 4)
        self._updates = _Bucket(_UPDATES_A_SECOND, _UPDATES_AT_ONCE)
        self._channels: dict[str, _Bucket] = {}
        self._edited: dict[str, float] = {}
        self._held: dict[str, float] = {}

    def before_post(self, channel: str) -> float:
        """Seconds until a new message may go to the channel."""
        with self._lock:
            now = self._clock()
            bucket = self._channels.setdefault(channel, _Bucket(_POSTS_A_SECOND_IN_A_CHANNEL, 1))
            wait = max(self._hold(POST, now), bucket.wait(now), self._posts.wait(now))
            if wait == 0.0:
                bucket.take()
                self._posts.take()
                self._forget(now)
            return wait

    def before_update(self, message: str, *, urgent: bool) -> float:
        """Seconds until a message may be edited. What is not urgent leaves some edits over."""
        with self._lock:
            now = self._clock()
            needed = 1.0 if urgent else 1.0 + _KEPT_FOR_URGENT
            gap = self._edited.get(message, now - _EDIT_GAP_SECONDS) + _EDIT_GAP_SECONDS - now
            wait = max(self._hold(UPDATE, now), gap, self._updates.wait(now, needed))
            if wait <= 0.0:
                self._updates.take()
                self._edited[message] = now
                self._forget(now)
            return max(0.0, wait)

    def hold(self, method: str, seconds: float) -> None:
        """Slack refused the method for that long."""
        with self._lock:
            self._held[method] = max(self._held.get(method, 0.0), self._clock() + seconds)

    def _hold(self, method: str, now: float) -> float:
        return max(0.0, self._held.get(method, 0.0) - now)

    def _forget(self, now: float) -> None:
        """Channels and messages that are quiet need no memory."""
        if len(self._edited) > _REMEMBERED:
            recent = {key: at for key, at in self._edited.items() if now - at < _EDIT_GAP_SECONDS}
            self._edited = recent
        if len(self._channels) > _REMEMBERED:
            busy = {key: b for key, b in self._channels.items() if b.wait(now) > 0.0}
            self._channels = busy
