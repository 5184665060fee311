"""The webhooks that wait to be written: in the order in which they came, and bounded in memory.

Who waits gives up after a while and sends again; what waited stays, and is written when the
database can be. So it is this line that grows while the database hangs, not the requests.
"""

import queue
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from tailhound.durable.arrivals import Arrival
from tailhound.durable.entries import Batch, Entry, Part
from tailhound.durable.known import Accepted
from tailhound.errors import StoreUnavailable

WAITING_BYTES = 96 * 1024 * 1024
"""What all that waits, or is being written, may take in memory."""

ALERTS = 400
"""Alerts of the small webhooks of one transaction, and of one part of a large one: some tenths of a
second."""

STOPPING = "tailhound is stopping; send it again"

_ALERT_BYTES = 760
_TEXT_BYTES = 60
"""What an alert takes beside its texts, and each of its labels and annotations beside its own."""
_READING = 6
"""How many times its bytes a body of small alerts takes while it is read."""


def weight(arrival: Arrival) -> int:
    """About how many bytes an arrival takes in memory: its body, and what was read of it."""
    texts = sum(len(i.alert.labels) + len(i.alert.annotations) for i in arrival.items)
    read = 1 if arrival.items else 0
    return len(arrival.body) * (1 + read) + len(arrival.items) * _ALERT_BYTES + texts * _TEXT_BYTES


class Line:
    """Many put in, one thread takes out. Thread-safe.

    An entry of more than `alerts` alerts is taken out in parts of so many. Others get their turn
    between the parts, but for those that tell of an incident of which a part still waits.
    """

    def __init__(self, most: int = WAITING_BYTES, alerts: int = ALERTS) -> None:
        self._most = most
        self._alerts = alerts
        self._queue: queue.SimpleQueue[Entry | None] = queue.SimpleQueue()
        self._waiting: deque[Entry] = deque()  # the writer's alone
        self._is_closed = self._is_ended = False  # for who joins; for the writer, who comes later
        self._lock = threading.Lock()
        self._bytes = 0

    def join(self, arrival: Arrival) -> Future[Accepted]:
        """One more; StoreUnavailable when too much waits already."""
        size = weight(arrival)
        self._take(size)
        entry = Entry(arrival, self._alerts, lambda: self._give(size))
        self._queue.put(entry)
        return entry.answer

    @contextmanager
    def reading(self, body: bytes) -> Iterator[None]:
        """Room to read a large body; StoreUnavailable when too much waits already."""
        size = len(body) * _READING
        self._take(size)
        try:
            yield
        finally:
            self._give(size)

    def end(self) -> None:
        """Nothing comes behind this."""
        with self._lock:
            self._is_closed = True
        self._queue.put(None)

    def batch(self, most: int, seconds: float) -> tuple[list[Part], bool]:
        """What waits, at most so many; nothing after so long without any. True = that was all.

        Each takes its room until it is answered.
        """
        self._listen(0 if self._waiting else seconds)
        if self._is_ended:
            self._stop()
        found = self._in_turn(most)
        return found, self._is_ended and not self._waiting

    def _listen(self, seconds: float) -> None:
        """Let in what has joined."""
        try:
            entry = self._queue.get(timeout=seconds) if seconds else self._queue.get_nowait()
            while entry is not None:
                self._waiting.append(entry)
                entry = self._queue.get_nowait()
            self._is_ended = True
        except queue.Empty:
            pass  # the next batch begins with what comes next

    def _in_turn(self, most: int) -> list[Part]:
        batch, waiting = Batch(self._alerts), self._waiting
        while waiting and len(batch.parts) < most and batch.takes(waiting[0]):
            waiting.popleft()
        waiting.extendleft(reversed(batch.held))
        return batch.parts

    def _stop(self) -> None:
        """What would take long is left to be sent again."""
        for entry in self._waiting:
            if entry.is_large:
                entry.refuse(StoreUnavailable(STOPPING))

    def _take(self, size: int) -> None:
        with self._lock:
            if self._is_closed:
                raise StoreUnavailable(STOPPING)
            if self._bytes and self._bytes + size > self._most:
                raise StoreUnavailable(
                    f"notifications that take {self._bytes} bytes wait to be written already"
                )
            self._bytes += size

    def _give(self, size: int) -> None:
        with self._lock:
            self._bytes -= size
