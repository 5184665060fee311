"""What takes seconds before a post can be made, done while other messages go out."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

SOON_SECONDS = 0.25
"""When to ask again for something that is being made."""

AT_MOST = 200
ABANDONED_SECONDS = 60.0
"""What nobody has asked for so long makes room for others."""


@dataclass(slots=True)
class _Made:
    """Something that is being made or was made, and when it was asked for last."""

    stamp: Hashable
    task: asyncio.Task[Any]
    asked: float


class Preparing:
    """Tasks of an event loop by what they make. Each is made once, until it is forgotten.

    At most AT_MOST are kept: what is asked for beyond that is begun once another is forgotten, or
    abandoned. `clock` is monotonic.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._made: dict[Hashable, _Made] = {}

    async def ready(
        self, key: Hashable, stamp: Hashable, make: Callable[[], Awaitable[T]]
    ) -> T | None:
        """What `make` made; None while it is at work, or waits for room. With another `stamp` it
        is made anew.
        """
        found = self._made.get(key)
        if found is not None and (found.stamp != stamp or found.task.cancelled()):
            self.forget(key)
            found = None
        if found is None:
            if not self._has_room():
                return None
            task = asyncio.ensure_future(_made(make))
            found = self._made[key] = _Made(stamp, task, self._clock())
        found.asked = self._clock()
        await asyncio.wait([found.task], timeout=0.02)
        if not found.task.done() or found.task.cancelled():
            return None
        if found.task.exception() is not None:
            self.forget(key)
        made: T = found.task.result()
        return made

    def holds(self, key: Hashable) -> bool:
        """Whether something of this name is being made, or was made and not forgotten."""
        return key in self._made

    def forget(self, key: Hashable) -> None:
        """It is not needed any more."""
        found = self._made.pop(key, None)
        if found is not None:
            found.task.cancel()

    def close(self) -> None:
        """End whatever is at work."""
        for key in list(self._made):
            self.forget(key)

    def _has_room(self) -> bool:
        if len(self._made) >= AT_MOST:
            before = self._clock() - ABANDONED_SECONDS
            for key in [key for key, made in self._made.items() if made.asked < before]:
                self.forget(key)
        return len(self._made) < AT_MOST


async def _made(make: Callable[[], Awaitable[T]]) -> T:
    return await make()
