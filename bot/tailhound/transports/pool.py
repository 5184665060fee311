"""A bounded pool of threads, one per transport, driven from asyncio.

The threads are started when they are needed and are daemons: nothing at the end of the process
waits for one. A job that is given up frees its thread because `on_cancel` shuts down the socket
that the thread blocks on.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from tailhound.model import Missing, Reason
from tailhound.transports.sockets import spoken

T = TypeVar("T")
STOPPING = Missing(Reason.SKIPPED, "not asked: tailhound is stopping")


class _Job:
    __slots__ = ("deadline", "future", "on_cancel", "start", "work")

    def __init__(
        self, work: Callable[[], Any], deadline: float, on_cancel: Callable[[], None]
    ) -> None:
        self.work = work
        self.deadline = deadline
        self.on_cancel = on_cancel
        self.start = time.monotonic()
        self.future: Future[Any] = Future()


class Pool:
    """At most `size` threads. `name` is what people read: "Prometheus"."""

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self._limit = size
        self._ready = threading.Condition()
        self._waiting: deque[_Job] = deque()
        self._running: set[_Job] = set()
        self._threads = 0
        self._idle = 0
        self._closed = False

    @property
    def busy(self) -> int:
        """How many threads work on a job now, given up or not."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """How many jobs wait for a slot."""
        return len(self._waiting)

    @property
    def limit(self) -> int:
        """How many jobs may run at once: 1 to `size`."""
        return self._limit

    @limit.setter
    def limit(self, limit: int) -> None:
        with self._ready:
            self._limit = min(max(1, limit), self.size)
            self._ready.notify_all()

    async def run(
        self, work: Callable[[], T], deadline: float, on_cancel: Callable[[], None]
    ) -> T | Missing:
        """Run `work` in a thread; its result, or Missing once `deadline` (monotonic) has passed.

        SKIPPED when no slot came free in time, TIMEOUT when the work did not end; then, and when
        the caller is cancelled, `on_cancel` is called: it must make the work end at once, and may
        not block itself. An exception of the work is raised here.
        """
        job = _Job(work, deadline, on_cancel)
        waiter: asyncio.Future[T] = asyncio.wrap_future(job.future)
        if not self._put(job):
            return STOPPING
        try:
            done, _ = await asyncio.wait({waiter}, timeout=max(0.0, deadline - job.start))
        except asyncio.CancelledError:
            self._give_up(job, waiter)
            raise
        if done:
            return waiter.result()
        if job.future.done():  # in the last moment: its callback has not come round yet
            waiter.cancel()
            return job.future.result()  # type: ignore[no-any-return]
        if self._give_up(job, waiter):
            seconds = spoken(time.monotonic() - job.start)
            return Missing(Reason.TIMEOUT, f"{self.name} did not answer within {seconds}")
        return self._no_slot(job)

    def close(self) -> None:
        """End everything: waiting jobs as SKIPPED, running ones by their `on_cancel`."""
        with self._ready:
            self._closed = True
            waiting, running = list(self._waiting), list(self._running)
            self._waiting.clear()
            self._ready.notify_all()
        for job in waiting:
            if job.future.set_running_or_notify_cancel():
                job.future.set_result(STOPPING)
        for job in running:
            job.on_cancel()

    def _put(self, job: _Job) -> bool:
        with self._ready:
            if self._closed:
                job.future.cancel()
                return False
            self._waiting.append(job)
            if self._idle < len(self._waiting) and self._threads < self.size:
                self._threads += 1
                name = f"{self.name} {self._threads}"
                threading.Thread(target=self._serve, name=name, daemon=True).start()
            self._ready.notify()
        return True

    def _give_up(self, job: _Job, waiter: "asyncio.Future[Any]") -> bool:
        """Stop caring for the job; whether it was running."""
        was_running = not job.future.cancel()
        waiter.cancel()
        if was_running:
            job.on_cancel()
        else:
            with self._ready:
                if job in self._waiting:
                    self._waiting.remove(job)
        return was_running

    def _no_slot(self, job: _Job) -> Missing:
        return Missing(
            Reason.SKIPPED,
            f"not asked: all {self._limit} slots of {self.name} were busy for "
            f"{spoken(time.monotonic() - job.start)}",
        )

    def _serve(self) -> None:
        while job := self._next():
            try:
                result = job.work()
            except BaseException as error:  # noqa: BLE001 - handed to whoever awaits the job
                job.future.set_exception(error)
            else:
                job.future.set_result(result)
            finally:
                with self._ready:
                    self._running.discard(job)
            del job  # and this thread takes the next one itself: nobody needs to be woken

    def _next(self) -> _Job | None:
        """The next job to work on; None when the pool is closed."""
        with self._ready:
            self._idle += 1
            try:
                while not self._closed:
                    if not self._waiting or len(self._running) >= self._limit:
                        self._ready.wait()
                    elif self._begun(job := self._waiting.popleft()):
                        return job
            finally:
                self._idle -= 1
        return None

    def _begun(self, job: _Job) -> bool:
        """Begin the job, unless it was given up or came too late to be asked."""
        if not job.future.set_running_or_notify_cancel():
            return False
        if time.monotonic() >= job.deadline:
            job.future.set_result(self._no_slot(job))
            return False
        self._running.add(job)
        return True
