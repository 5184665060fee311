"""Who of the backends answers: noted at every question, told on the health page.

Nothing is stored. What was asked last counts: an answer that is half an hour old says only what was
so then, so its age is told. A page that opens asks those that nobody has asked for a while.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum
from itertools import islice
from statistics import median
from typing import Any

from tailhound.flow import Request, Transport, Turn
from tailhound.model import Missing, Reason
from tailhound.model.unanswered import SPARED
from tailhound.requests import GetObject, Query

HOSTS_AT_MOST = 2000
LATENCIES = 20
REFUSALS = 20
LOOK_AGAIN = timedelta(seconds=30)
LOOK_SECONDS = 3.0
REMEMBERED = timedelta(hours=1)
"""How long a refusal counts after which nothing was refused any more."""


class Mood(Enum):
    """How a backend stands; the values are what people read."""

    ANSWERS = "answers"
    REFUSES = "refuses"
    SWAMPED = "refuses most requests"
    SILENT = "does not answer in time"
    GONE = "can't be reached"


MOODS = {
    Reason.TIMEOUT: Mood.SILENT,
    Reason.UNREACHABLE: Mood.GONE,
    Reason.FORBIDDEN: Mood.REFUSES,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known of one backend ("prometheus", "kubernetes", "ssh HOST").

    `since` is when its mood began, `at` when it was asked last. `seconds` is the median time of its
    last answers, None without any. `detail` says what was wrong last, "" while it answers.
    `refused` are questions that it refused within the last hour although it answers others.
    """

    backend: str
    mood: Mood
    since: datetime
    at: datetime
    seconds: float | None = None
    detail: str = ""
    refused: tuple[str, ...] = ()


@dataclass(slots=True)
class _Note:
    mood: Mood
    since: datetime
    at: datetime
    detail: str = ""
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=LATENCIES))
    refused: dict[str, datetime] = field(default_factory=dict)


class Board:
    """Remembers how each backend answered. Safe to use from several threads."""

    def __init__(
        self, clock: Callable[[], datetime], *, look_seconds: float = LOOK_SECONDS
    ) -> None:
        self._clock = clock
        self._look_seconds = look_seconds
        self._lock = threading.Lock()
        self._notes: dict[str, _Note] = {}
        self._watched: list[Transport] = []
        self._looking: asyncio.Task[None] | None = None

    def watched(self, transports: Iterable[Transport]) -> tuple[Transport, ...]:
        """The same transports, with each answer noted here."""
        found = tuple(transports)
        self._watched = list(found)
        return tuple(Watched(one, self) for one in found)

    def note(self, backend: str, reply: Any, seconds: float) -> None:
        """One question came back so; what was not asked says nothing about the backend, unless it
        was not because the backend refuses nearly everything.
        """
        missing = reply if isinstance(reply, Missing) else None
        mood = MOODS.get(missing.reason, Mood.ANSWERS) if missing else Mood.ANSWERS
        detail = missing.detail if missing else ""
        if missing is not None and missing.reason is Reason.SKIPPED:
            if not detail.startswith(SPARED):
                return
            mood, detail = Mood.SWAMPED, detail.removeprefix("not asked: ")
        with self._lock:
            self._noted(backend, mood, detail, seconds)

    def standings(self) -> tuple[Standing, ...]:
        """All backends that were asked since the start, by name."""
        now = self._clock()
        with self._lock:
            return tuple(_standing(name, note, now) for name, note in sorted(self._notes.items()))

    async def look(self) -> None:
        """Ask those that nobody has asked for a while one small question each."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        await asyncio.shield(self._looking)

    async def _look(self) -> None:
        asked = [request for request in _SMALL if self._is_stale(request.backend)]
        turn = Turn(asyncio.get_running_loop().time() + self._look_seconds, self._clock())
        pairs = [
            (one, request)
            for request in asked
            for one in self._watched
            if isinstance(request, one.handles)
        ]
        await asyncio.gather(*(self._ask(one, request, turn) for one, request in pairs))

    async def _ask(self, transport: Transport, request: Request[Any], turn: Turn) -> None:
        started = time.monotonic()
        left = max(0.0, turn.deadline - asyncio.get_running_loop().time())
        try:
            async with asyncio.timeout(left):
                reply = await transport.ask(request, turn)
        except TimeoutError:
            reply = Missing(Reason.TIMEOUT, f"no answer within {self._look_seconds:g} s")
        if isinstance(reply, Missing) and _answers(request, reply):
            reply = replace(reply, reason=Reason.EMPTY)
        self.note(request.backend, reply, time.monotonic() - started)

    def _is_stale(self, backend: str) -> bool:
        with self._lock:
            note = self._notes.get(backend)
        return note is None or self._clock() - note.at > LOOK_AGAIN

    def _noted(self, backend: str, mood: Mood, detail: str, seconds: float) -> None:
        now = self._clock()
        note = self._notes.get(backend)
        if note is None:
            if len(self._notes) >= HOSTS_AT_MOST:
                del self._notes[min(self._notes, key=lambda name: self._notes[name].at)]
            note = self._notes[backend] = _Note(mood=mood, since=now, at=now)
        if mood is Mood.REFUSES:
            note.refused = dict(islice(({detail: now} | note.refused).items(), REFUSALS))
            if note.mood is Mood.ANSWERS and note.latencies:
                mood = Mood.ANSWERS  # it refuses this question, not all of them
        if mood is not note.mood:
            note.mood, note.since = mood, now
        if mood is Mood.ANSWERS:
            note.latencies.append(seconds)
        note.at, note.detail = now, "" if mood is Mood.ANSWERS else detail


class Watched:
    """A transport whose answers are noted."""

    def __init__(self, inner: Transport, board: Board) -> None:
        self.handles = inner.handles
        self._inner = inner
        self._board = board

    async def ask(self, request: Request[Any], turn: Turn) -> Any:
        """As the inner one; a question that is given up at its deadline had no answer in time."""
        started = time.monotonic()
        try:
            reply = await self._inner.ask(request, turn)
        except asyncio.CancelledError:
            if asyncio.get_running_loop().time() >= turn.deadline:
                late = Missing(Reason.TIMEOUT, "no answer before the deadline of an incident")
                self._board.note(request.backend, late, time.monotonic() - started)
            raise
        self._board.note(request.backend, reply, time.monotonic() - started)
        return reply

    def close(self) -> None:
        """Close the inner one."""
        self._inner.close()


_SMALL: Sequence[Request[Any]] = (
    Query(promql="vector(1)"),
    GetObject(api="v1", resource="namespaces", name="default"),
)


def _answers(request: Request[Any], reply: Missing) -> bool:
    """An API server that knows who we are, and lets nobody read this one, is well.

    Any other refusal is of the account itself: nothing else would be answered.
    """
    is_ours = isinstance(request, GetObject) and reply.detail.startswith("may not ")
    return is_ours and reply.reason is Reason.FORBIDDEN


def _standing(name: str, note: _Note, now: datetime) -> Standing:
    kept = [detail for detail, at in note.refused.items() if now - at < REMEMBERED]
    return Standing(
        backend=name,
        mood=note.mood,
        since=note.since,
        at=note.at,
        seconds=median(note.latencies) if note.latencies else None,
        detail=note.detail,
        refused=tuple(kept[:3]) if note.mood is Mood.ANSWERS else (),
    )
