"""Which envelopes of Socket Mode were seen: Slack may deliver one twice after a reconnect."""

import threading
from collections import OrderedDict
from typing import Final

_REMEMBERED: Final = 10_000


class Envelopes:
    """The last 10,000 envelope ids of this process. Thread-safe.

    The store remembers those of clicks on an incident, of `stop` and of `resume`, for other
    replicas and after a restart. The rest may come twice unharmed: *Check this one now* is done
    once, a form sets one silence, `diagnose` finds the incident that it opened, `run` stores
    nothing.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def is_new(self, envelope: str) -> bool:
        """Whether this is its first delivery; from now on it is not."""
        with self._lock:
            if envelope in self._seen:
                return False
            self._seen[envelope] = None
            while len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)
            return True

    def forget(self, envelope: str) -> None:
        """What was not recorded may be delivered again."""
        with self._lock:
            self._seen.pop(envelope, None)
