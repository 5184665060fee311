"""What takes seconds before a post can be made, done while other messages go out."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

SOON_SECONDS = 0.25
"""When to ask again for something that is being made."""

_AT_MOST = 200


class Preparing:
    """Tasks of an event loop by what they make. Each is made once, until it is forgotten."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, tuple[Hashable, asyncio.Task[Any]]] = {}

    async def ready(
        self, key: Hashable, stamp: Hashable, make: Callable[[], Awaitable[T]]
    ) -> T | None:
        """What `make` made; None while it is at work. With another `stamp` it is made anew."""
        was, task = self._tasks.get(key, (None, None))
        if task is None or was != stamp or task.cancelled():
            self.forget(key)
            task = asyncio.ensure_future(_made(make))
            self._tasks[key] = (stamp, task)
            self._bound()
        await asyncio.wait([task], timeout=0.02)
        if not task.done():
            return None
        if task.exception() is not None:
            self.forget(key)
        made: T = task.result()
        return made

    def holds(self, key: Hashable) -> bool:
        """Whether something of this name is being made, or was made and not forgotten."""
        return key in self._tasks

    def forget(self, key: Hashable) -> None:
        """It is not needed any more."""
        _, task = self._tasks.pop(key, (None, None))
        if task is not None:
            task.cancel()

    def close(self) -> None:
        """End whatever is at work."""
        for key in list(self._tasks):
            self.forget(key)

    def _bound(self) -> None:
        """Whoever is never asked for again must not be kept for ever."""
        while len(self._tasks) > _AT_MOST:
            self.forget(next(iter(self._tasks)))


async def _made(make: Callable[[], Awaitable[T]]) -> T:
    return await make()
