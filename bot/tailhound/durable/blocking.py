"""Database calls of the event loop, on a small pool of our own.

`asyncio.to_thread` would share the engine's pool: a slow call there would stop all workflows.
"""

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Blocking:
    """Runs blocking calls on at most `threads` threads."""

    def __init__(self, name: str, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"tailhound-{name}")

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The result of a blocking call. When the caller is cancelled the call still ends."""
        call = functools.partial(function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    def close(self) -> None:
        """Take no more calls; those that run are not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)
