"""Blocking calls of the event loop: those of the database on a small pool of our own.

`asyncio.to_thread` would share the engine's pool: a slow call there would stop all workflows.
"""

import asyncio
import contextlib
import functools
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from tailhound.errors import StoreUnavailable

OUTAGE_SECONDS = 1.0
"""Between two tries of a call that waits for the database."""

_log = logging.getLogger(__name__)

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

    async def insist(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """As `run`, for what must not be lost to an outage: it waits until the database answers.

        An answer that was lost may have been a success: the call must bear to be made twice.
        """
        is_told = False
        while True:
            try:
                return await self.run(function, *args, **kwargs)
            except StoreUnavailable as error:
                if not is_told:
                    _log.warning("waiting for the database: %s", error)
                is_told = True
                await asyncio.sleep(OUTAGE_SECONDS)

    def close(self) -> None:
        """Take no more calls; those that run are not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)


async def at_most(seconds: float, work: Callable[[], None]) -> None:
    """Wait for blocking work on a thread of its own, but no longer than this."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()

    def run() -> None:
        try:
            work()
        finally:
            loop.call_soon_threadsafe(done.set)

    threading.Thread(target=run, name="tailhound-stop", daemon=True).start()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await done.wait()
