"""How much of an investigation's time each step may use, and how often it shows progress."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, TypeVar

from tailhound.durable.investigating import Sketch
from tailhound.flow import Turn
from tailhound.model import Progress

R = TypeVar("R")

RESOLVE_SHARE = 0.2
COLLECT_SHARE = 0.9
"""The questions of `when:` get the rest."""

GRACE_SECONDS = 2.0
"""An investigator that overruns its turn by more than this is cut off: it has a bug."""

MARGIN = 0.25
"""Seconds before its end from which on a turn counts as used up."""

PROGRESS_AT_MOST = 3
PROGRESS_APART_SECONDS = 2.0
QUIET_SECONDS = PROGRESS_APART_SECONDS + 0.5
"""No progress so shortly before the deadline: a message is edited once in two seconds, and the
verdict must not wait for that."""


class Clockwork:
    """The deadline of one run, fixed when its first step begins in this process.

    Who comes too late, after a restart or a long wait in the queue, gets `fresh` seconds: the
    verdict is late then, but there is one. Nobody gets more than `at_most`, whatever the clock says
    of whoever set `verdict_by`.
    """

    def __init__(self, verdict_by: datetime, now: datetime, fresh: float, at_most: float) -> None:
        left = (verdict_by - now).total_seconds()
        self.total = max(min(left, at_most), fresh)
        self.began = asyncio.get_running_loop().time()

    @property
    def quiet_from(self) -> float:
        """From when on, in the loop's time, no progress is shown."""
        return self.began + self.total - QUIET_SECONDS

    def turn(self, share: float, as_of: datetime) -> Turn:
        """The turn of a step that may use the run's time up to this share of it."""
        return Turn(deadline=self.began + share * self.total, as_of=as_of)


async def within(turn: Turn, work: Coroutine[Any, Any, R]) -> tuple[R, bool]:
    """The result of a step's work, and whether it used up its whole turn; TimeoutError when worse.

    A step whose turn is over before it begins still gets its grace.
    """
    loop = asyncio.get_running_loop()
    end = max(turn.deadline, loop.time()) + GRACE_SECONDS
    async with asyncio.timeout_at(end):
        result = await work
    return result, ran_out(turn)


def ran_out(turn: Turn) -> bool:
    """Whether a turn is used up: a verdict after it is one "at the deadline"."""
    return asyncio.get_running_loop().time() >= turn.deadline - MARGIN


class Progressing:
    """Lets a few progress reports through, well apart, the newest each time; `write` may take long.

    `quiet_from` is the time of the event loop from which on none is let through.
    """

    def __init__(
        self, write: Callable[[Sketch], Coroutine[Any, Any, None]], quiet_from: float
    ) -> None:
        self._write = write
        self._quiet_from = quiet_from
        self._left = PROGRESS_AT_MOST
        self._next = asyncio.get_running_loop().time() + PROGRESS_APART_SECONDS
        self._newest: Sketch | None = None
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self, _counts: Progress, sketch: Sketch) -> None:
        """Report progress; called on the event loop as often as one likes."""
        self._newest = sketch
        self._offer()

    def _offer(self) -> None:
        """Write the newest report when it is time, else see to it that this is tried then."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if self._left <= 0 or self._newest is None or now >= self._quiet_from:
            return
        if now < self._next:
            if self._timer is None:
                self._timer = loop.call_at(self._next, self._on_time)
            return
        if self._task is not None and not self._task.done():
            return
        sketch, self._newest = self._newest, None
        self._left -= 1
        self._next = now + PROGRESS_APART_SECONDS
        self._task = asyncio.create_task(self._write(sketch))

    def _on_time(self) -> None:
        self._timer = None
        self._offer()

    async def finish(self) -> None:
        """Wait for the report that is being written."""
        self._left = 0
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            await self._task
