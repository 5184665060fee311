"""Names of hosts, looked up aside: a resolver that hangs must not keep a thread of a pool.

`getaddrinfo` can be neither interrupted nor given a deadline. So it runs in a thread of its own,
at most AT_ONCE of them, and whoever asks waits no longer than its call may take.
"""

import ipaddress
import socket
import threading
from collections.abc import Sequence
from typing import Any

AT_ONCE = 16
"""Look-ups at the same time; a resolver that hangs holds each for its own time-out."""

Address = tuple[int, int, int, str, Any]

_ROOM = threading.BoundedSemaphore(AT_ONCE)


def is_ip(address: str) -> bool:
    """Whether an address needs no name resolution."""
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return False
    return True


class Lookup:
    """One look-up under way. `done` is set when it has ended, and may be set to stop waiting."""

    def __init__(self, host: str, port: int) -> None:
        self.done = threading.Event()
        self._host, self._port = host, port
        self._found: Sequence[Address] | None = None
        self._error: OSError | None = None

    def start(self, seconds: float) -> bool:
        """Begin; False when there was no room for it within this time."""
        if not _ROOM.acquire(timeout=seconds):
            return False
        threading.Thread(target=self._ask, name="tailhound-name", daemon=True).start()
        return True

    def found(self) -> Sequence[Address] | None:
        """The addresses, None when there is no answer yet; OSError when there is none to be had."""
        if self._error is not None:
            raise self._error
        return self._found

    def _ask(self) -> None:
        try:
            self._found = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        except OSError as error:
            self._error = error
        except UnicodeError:  # a label that is empty or too long
            self._error = socket.gaierror(socket.EAI_NONAME, "no such name can be")
        finally:
            _ROOM.release()
            self.done.set()
