"""How fast tailhound may speak to Slack: Slack's rate limits, kept before Slack has to refuse.

`chat.postMessage`: one message a second in a channel, and a ceiling for the workspace. Slack
tolerates short bursts: an incident's message need not wait for the second after a post in a
thread, because such a post always leaves one over in the channel. Slack names no number: once it
refuses a post, no channel gets more than one a second for a while.
`chat.update`: 50 a minute for the workspace. What people wait for (verdict, click, resolve) goes
first: progress leaves some calls over for it, and posts in threads leave more. One edit of a
message in two seconds; what is not urgent and was edited ten times within the hour is edited once
in six minutes from then on, posts in threads thirty times and once in two. Uploads keep below their
tier. A 429 holds the method back for the time that Slack asked for.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

POST, UPDATE = "chat.postMessage", "chat.update"
HISTORY, AUTH = "conversations.history", "auth.test"
REPLIES = "conversations.replies"
UPLOAD_URL, COMPLETE = "files.getUploadURLExternal", "files.completeUploadExternal"
FILE_INFO = "files.info"

_POSTS_A_SECOND_IN_A_CHANNEL: Final = 1.0
_POSTS_AT_ONCE_IN_A_CHANNEL: Final = 2
_NO_BURSTS_SECONDS: Final = 600.0
"""How long no channel gets two posts at once after Slack has refused one."""
_POSTS_A_SECOND: Final = 4.0
_UPDATES_A_SECOND: Final = 40 / 60
_UPDATES_AT_ONCE: Final = 10
_UPLOADS_A_SECOND: Final = 80 / 60
_UPLOADS_AT_ONCE: Final = 12
_EDIT_GAP_SECONDS: Final = 2.0
_HOUR: Final = 3_600.0
_REMEMBERED: Final = 2_000


class Rank(Enum):
    """How much people wait for something: how many edits and posts of the workspace's share, and
    posts of the channel's, it leaves to others, and how many edits of one message in an hour are
    at its ease (0 = any).
    """

    PRESSING = (0, 0, 0, 0)
    PROGRESS = (4, 0, 0, 10)
    PART = (6, 2, 1, 30)

    @property
    def leaves_edits(self) -> int:
        """Edits that it leaves over."""
        return self.value[0]

    @property
    def leaves_posts(self) -> int:
        """Posts that it leaves over."""
        return self.value[1]

    @property
    def leaves_in_channel(self) -> int:
        """Posts in the channel that it leaves over."""
        return self.value[2]

    @property
    def edits_an_hour(self) -> int:
        """Edits of one message before they are made to wait, 0 = as many as there are."""
        return self.value[3]


RATE_LIMIT: Final = "Slack's rate limit"
"""How the reason begins for which a call waits that Slack has limited."""


@dataclass
class _Bucket:
    """Tokens that come back with time. `wait` does not take one, `take` does."""

    per_second: float
    size: float
    tokens: float = field(init=False)
    at: float = 0.0

    def __post_init__(self) -> None:
        self.tokens = self.size

    def wait(self, now: float, needed: float = 1.0, size: float = 0.0) -> float:
        self.tokens = min(
            size or self.size, self.tokens + max(0.0, now - self.at) * self.per_second
        )
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
        self._uploads = _Bucket(_UPLOADS_A_SECOND, _UPLOADS_AT_ONCE)
        self._channels: dict[str, _Bucket] = {}
        self._edited: dict[str, deque[float]] = {}
        self._held: dict[str, float] = {}
        self._no_bursts_until = 0.0

    def before_post(self, channel: str, rank: Rank = Rank.PRESSING) -> float:
        """Seconds until a new message may go to the channel."""
        with self._lock:
            now = self._clock()
            here = self._channels.setdefault(
                channel, _Bucket(_POSTS_A_SECOND_IN_A_CHANNEL, _POSTS_AT_ONCE_IN_A_CHANNEL)
            )
            everywhere = self._posts.wait(now, 1.0 + rank.leaves_posts)
            in_channel = (
                here.wait(now, size=1.0)
                if now < self._no_bursts_until
                else here.wait(now, 1.0 + rank.leaves_in_channel)
            )
            wait = max(self._hold(POST, now), in_channel, everywhere)
            if wait == 0.0:
                here.take()
                self._posts.take()
                self._forget(now)
            return wait

    def before_update(self, message: str, rank: Rank = Rank.PRESSING) -> float:
        """Seconds until a message may be edited. What is not urgent leaves some edits over."""
        with self._lock:
            now = self._clock()
            edits = self._edited.setdefault(message, deque())
            while edits and edits[0] <= now - _HOUR:
                edits.popleft()
            gap = edits[-1] + _EDIT_GAP_SECONDS - now if edits else 0.0
            if rank.edits_an_hour and len(edits) >= rank.edits_an_hour:
                gap = max(gap, edits[-1] + _HOUR / rank.edits_an_hour - now)
            share = self._updates.wait(now, 1.0 + rank.leaves_edits)
            wait = max(self._hold(UPDATE, now), gap, share)
            if wait <= 0.0:
                self._updates.take()
                edits.append(now)
                self._forget(now)
            return max(0.0, wait)

    def before_upload(self) -> float:
        """Seconds until a file may be uploaded."""
        with self._lock:
            now = self._clock()
            held = max(self._hold(method, now) for method in (UPLOAD_URL, COMPLETE, FILE_INFO))
            wait = max(held, self._uploads.wait(now))
            if wait == 0.0:
                self._uploads.take()
            return wait

    def held(self, method: str) -> float:
        """Seconds for which Slack still refuses the method."""
        with self._lock:
            return self._hold(method, self._clock())

    def hold(self, method: str, seconds: float) -> None:
        """Slack refused the method for that long."""
        with self._lock:
            now = self._clock()
            self._held[method] = max(self._held.get(method, 0.0), now + seconds)
            if method == POST:
                self._no_bursts_until = now + _NO_BURSTS_SECONDS

    def _hold(self, method: str, now: float) -> float:
        return max(0.0, self._held.get(method, 0.0) - now)

    def _forget(self, now: float) -> None:
        """Channels and messages that are quiet need no memory."""
        if len(self._edited) > _REMEMBERED:
            quiet = now - _EDIT_GAP_SECONDS
            recent = {key: at for key, at in self._edited.items() if at and at[-1] > quiet}
            self._edited = recent
        if len(self._channels) > _REMEMBERED:
            busy = {key: b for key, b in self._channels.items() if b.wait(now) > 0.0}
            self._channels = busy
