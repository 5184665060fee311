"""Blocking reads, off the event loop: few threads, a short queue, a deadline, none asked twice."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Generic, TypeVar

from tailhound.errors import StoreUnavailable

T = TypeVar("T")
THREADS = 4
WAITING_AT_MOST = 64
SECONDS = 5.0


class Pool:
    """Runs blocking callables. StoreUnavailable when one takes too long or too many wait."""

    def __init__(self, threads: int = THREADS, seconds: float = SECONDS) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="web")
        self._seconds = seconds
        self._waiting = 0

    async def run(self, read: Callable[..., T], *args: Any, **named: Any) -> T:
        """The result of `read`; its exceptions pass through."""
        if self._waiting >= WAITING_AT_MOST:
            raise StoreUnavailable(f"{WAITING_AT_MOST} reads are waiting already; try again")
        self._waiting += 1
        loop = asyncio.get_running_loop()
        try:
            call = loop.run_in_executor(self._threads, partial(read, *args, **named))
            return await asyncio.wait_for(call, self._seconds)
        except TimeoutError as error:
            raise StoreUnavailable(
                f"the database gave no answer within {self._seconds:g} s; try again"
            ) from error
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Let go of the threads; reads that wait are dropped."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class OneAtATime(Generic[T]):
    """One question at a time: who asks while it is under way gets its answer too."""

    def __init__(self, ask: Callable[[], Awaitable[T]]) -> None:
        self._ask = ask
        self._asking: asyncio.Future[T] | None = None

    async def answer(self) -> T:
        """The answer; the question's exceptions pass through, to all who wait."""
        if self._asking is None:
            self._asking = asyncio.ensure_future(self._ask())
            self._asking.add_done_callback(self._asked)
        return await asyncio.shield(self._asking)

    def _asked(self, asking: "asyncio.Future[T]") -> None:
        self._asking = None
        if not asking.cancelled():
            asking.exception()  # seen, although everybody who waited may have left
