"""Work on threads that nobody waits for, and that keep no process from ending."""

import logging
import threading
from collections.abc import Callable

_LOG = logging.getLogger(__name__)


class Behind:
    """At most so much goes on at any moment; `name` is what its threads are called."""

    def __init__(self, name: str, at_once: int) -> None:
        self._name = name
        self._slots = threading.BoundedSemaphore(at_once)
        self._closed = False

    def do(self, work: Callable[[], None]) -> bool:
        """Begin it; False when too much goes on already, or tailhound ends."""
        if self._closed or not self._slots.acquire(blocking=False):
            return False
        threading.Thread(target=self._run, args=(work,), name=self._name, daemon=True).start()
        return True

    def close(self) -> None:
        """Begin nothing more."""
        self._closed = True

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:  # noqa: BLE001  nobody waits for it: a bug must be seen in the log
            _LOG.exception("what a click asked for was not done")
        finally:
            self._slots.release()
