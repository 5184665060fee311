"""The webhooks that wait to be written: in the order in which they came, and bounded in memory.

Who waits gives up after a while and sends again; what waited stays, and is written when the
database can be. So it is this line that grows while the database hangs, not the requests.
"""

import queue
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass

from tailhound.durable.arrivals import Arrival
from tailhound.durable.known import Accepted
from tailhound.errors import StoreUnavailable

WAITING_BYTES = 96 * 1024 * 1024
"""What all that waits, or is being written, may take in memory."""

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


@dataclass(slots=True, eq=False)
class Entry:
    """One webhook in the line, until it is answered."""

    arrival: Arrival
    answer: Future[Accepted]
    line: "Line"
    weight: int
    is_answered: bool = False

    def tell(self, accepted: Accepted) -> None:
        """It is on disk."""
        if self._is_heard():
            self.answer.set_result(accepted)

    def refuse(self, error: StoreUnavailable) -> None:
        """It is not stored, and must be sent again."""
        if self._is_heard():
            # an error of its own: the traceback of the other holds all that was in the batch
            self.answer.set_exception(StoreUnavailable(str(error)))

    def _is_heard(self) -> bool:
        """Whether somebody still waits for the answer; in any case it leaves the line."""
        if self.is_answered:
            return False
        self.is_answered = True
        self.line.leave(self)
        return self.answer.set_running_or_notify_cancel()


class Line:
    """Many put in, one thread takes out. Thread-safe."""

    def __init__(self, most: int = WAITING_BYTES) -> None:
        self._most = most
        self._queue: queue.SimpleQueue[Entry | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._bytes = 0

    def join(self, arrival: Arrival) -> Future[Accepted]:
        """One more; StoreUnavailable when too much waits already."""
        size = weight(arrival)
        self._take(size)
        entry = Entry(arrival, Future(), self, size)
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

    def leave(self, entry: Entry) -> None:
        """It is answered: there is room for others."""
        self._give(entry.weight)

    def end(self) -> None:
        """Nothing comes behind this."""
        self._queue.put(None)

    def batch(self, most: int, seconds: float) -> tuple[list[Entry], bool]:
        """What waits, at most so many; nothing after so long without any. True = that was all.

        Each takes its room until it is answered.
        """
        found: list[Entry] = []
        is_last = False
        try:
            entry = self._queue.get(timeout=seconds)
            while entry is not None:
                found.append(entry)
                if len(found) >= most:
                    break
                entry = self._queue.get_nowait()
            is_last = entry is None
        except queue.Empty:
            pass  # the next batch begins with what comes next
        return found, is_last

    def _take(self, size: int) -> None:
        with self._lock:
            if self._bytes and self._bytes + size > self._most:
                raise StoreUnavailable(
                    f"notifications that take {self._bytes} bytes wait to be written already"
                )
            self._bytes += size

    def _give(self, size: int) -> None:
        with self._lock:
            self._bytes -= size
