"""The webhooks that wait to be written: in the order in which they came, and bounded in memory.

Who waits gives up after a while and sends again; what waited stays, and is written when the
database can be. So it is this line that grows while the database hangs, not the requests.
"""

import queue
import threading
from concurrent.futures import Future

from tailhound.durable.arrivals import Arrival
from tailhound.durable.known import Accepted
from tailhound.errors import StoreUnavailable

WAITING_BYTES = 128 * 1024 * 1024

Entry = tuple[Arrival, Future[Accepted]]


class Line:
    """Many put in, one thread takes out. Thread-safe."""

    def __init__(self, most: int = WAITING_BYTES) -> None:
        self._most = most
        self._queue: queue.SimpleQueue[Entry | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._bytes = 0

    def join(self, arrival: Arrival) -> Future[Accepted]:
        """One more; StoreUnavailable when too much waits already."""
        size = len(arrival.body)
        with self._lock:
            if self._bytes and self._bytes + size > self._most:
                raise StoreUnavailable(
                    f"bodies of {self._bytes} bytes wait to be written already; send it again"
                )
            self._bytes += size
        answer: Future[Accepted] = Future()
        self._queue.put((arrival, answer))
        return answer

    def end(self) -> None:
        """Nothing comes behind this."""
        self._queue.put(None)

    def batch(self, most: int, seconds: float) -> tuple[list[Entry], bool]:
        """What waits, at most so many; nothing after so long without any. True = that was all."""
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
        with self._lock:
            self._bytes -= sum(len(arrival.body) for arrival, _ in found)
        return found, is_last
