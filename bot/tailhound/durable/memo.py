"""The answers of one investigation, shared by all who ask the same."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tailhound.flow import Request
from tailhound.model import Missing, Reason

MORE_SECONDS = 0.5
"""A question without an answer is asked again by who has so much more time for it."""

_WITHOUT_ANSWER = (Reason.TIMEOUT, Reason.SKIPPED)


class Memo:
    """The answers of one investigation: an equal question is asked once, also while it is open.

    Share it between the waves of one investigation, never between two. Used on one event loop.
    """

    def __init__(self) -> None:
        self._open: dict[Request[Any], _Open] = {}
        self._dropped: set[asyncio.Task[Any]] = set()

    async def reply(
        self, request: Request[Any], ask: Callable[[], Awaitable[Any]], deadline: float
    ) -> "Settled | None":
        """The settled question, asked now if nobody did; None when the deadline passes first.

        One that came to nothing for want of time is asked again by who has more of it. When the
        last one who waits goes away, the question is cancelled.
        """
        while True:
            found = self._open.get(request)
            if found is None or found.is_worth_asking_by(deadline):
                task = asyncio.ensure_future(_settled(ask))
                found = self._open[request] = _Open(task, deadline)
            settled = await self._waited(request, found, deadline)
            if settled is None or not found.is_worth_asking_by(deadline):
                return settled

    async def _waited(
        self, request: Request[Any], found: "_Open", deadline: float
    ) -> "Settled | None":
        found.waiters += 1
        try:
            if not found.task.done():
                left = max(0.0, deadline - asyncio.get_running_loop().time())
                await asyncio.wait({found.task}, timeout=left)
        finally:
            found.waiters -= 1
            if not found.task.done() and not found.waiters:
                self._drop(request, found.task)
        return found.task.result() if found.task.done() else None

    async def settle(self, seconds: float) -> None:
        """Wait for cancelled questions to end, at most so long."""
        if self._dropped:
            await asyncio.wait(self._dropped, timeout=seconds)

    def _drop(self, request: Request[Any], task: "asyncio.Task[Any]") -> None:
        del self._open[request]
        self._dropped.add(task)
        task.add_done_callback(self._dropped.discard)
        task.cancel()


@dataclass(frozen=True, slots=True)
class Settled:
    """A question that was asked: its reply, and how long it took."""

    reply: Any
    seconds: float


@dataclass(slots=True)
class _Open:
    task: "asyncio.Task[Settled]"
    deadline: float
    waiters: int = 0

    def is_worth_asking_by(self, deadline: float) -> bool:
        """Whether it came to nothing for want of time, and there is clearly more until then."""
        if not self.task.done() or deadline < self.deadline + MORE_SECONDS:
            return False
        reply = self.task.result().reply
        return isinstance(reply, Missing) and reply.reason in _WITHOUT_ANSWER


async def _settled(ask: Callable[[], Awaitable[Any]]) -> Settled:
    clock = asyncio.get_running_loop().time
    start = clock()
    reply = await ask()
    return Settled(reply, clock() - start)
