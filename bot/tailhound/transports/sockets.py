"""One question under way: its absolute deadline, and the socket that giving up shuts down."""

import contextlib
import os
import socket
import threading
import time
from collections.abc import Sequence

from tailhound.transports.names import Address, Lookup, is_ip


class Call:
    """One blocking question, run in a thread of a pool and given up from outside.

    A timeout per read is not enough: a peer that drips a byte a second passes it for ever. So
    `cancel`, called from any thread, shuts the socket down, and whatever blocks on it ends at once.
    `deadline` is monotonic. `stage` says how far the peer let us come, for the message.
    """

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.begun: float | None = None
        self.answered = False  # a whole answer has come
        self.reused = False  # the request went out on a kept connection
        self.heard = False  # the head of an answer has come
        self.stage = "did not accept a connection"
        self.cancelled = False
        self._lock = threading.Lock()
        self._handle: socket.socket | None = None
        self._lookup: Lookup | None = None

    def remaining(self) -> float:
        """Seconds left. TimeoutError when there are none, or when the call was given up."""
        left = self.deadline - time.monotonic()
        if left <= 0 or self.cancelled:
            raise TimeoutError("the deadline of the call has passed")
        return left

    @property
    def seconds(self) -> float:
        """How long the call has been running; 0 before it begins."""
        return time.monotonic() - self.begun if self.begun is not None else 0.0

    def attach(self, sock: socket.socket) -> None:
        """This socket is the one to shut down. TimeoutError when the call was given up already.

        A duplicate of the descriptor is kept: TLS takes the socket object itself apart.
        """
        handle = socket.socket(fileno=os.dup(sock.fileno()))
        with self._lock:
            old, self._handle = self._handle, handle
        if old is not None:
            old.close()
        if self.cancelled:
            self.cancel()
            raise TimeoutError("the call was given up")

    def cancel(self) -> None:
        """Give the call up: shut its socket down. Never blocks; may be called more than once."""
        with self._lock:
            self.cancelled = True
            if self._lookup is not None:
                self._lookup.done.set()
            if self._handle is not None:
                with contextlib.suppress(OSError):  # the peer was faster, or it never connected
                    self._handle.shutdown(socket.SHUT_RDWR)

    def addresses(self, host: str, port: int) -> Sequence[Address]:
        """The addresses of a host. TimeoutError in time, though a resolver hangs; OSError."""
        if is_ip(host):
            return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        stage, self.stage = self.stage, "has a name that was not resolved"
        lookup = Lookup(host, port)
        with self._lock:
            self._lookup = lookup
        if lookup.start(self.remaining()):
            lookup.done.wait(self.remaining())
        found = lookup.found()
        if found is None:
            raise TimeoutError(f"the name {host} was not resolved in time")
        self.stage = stage
        return found

    def end(self) -> None:
        """The call is over: let go of the socket (it may live on in a connection pool)."""
        with self._lock:
            handle, self._handle = self._handle, None
        if handle is not None:
            handle.close()


def connect(host: str, port: int, call: Call) -> socket.socket:
    """A connected TCP socket without Nagle's delay, within what is left of the call.

    The addresses of the name are tried in turn, each with its share of the time. OSError of the
    last one (`socket.gaierror` when the name does not resolve, TimeoutError in time).
    """
    addresses = call.addresses(host, port)
    error: OSError = socket.gaierror(f"no address for {host}")
    for index, (family, kind, protocol, _, address) in enumerate(addresses):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.settimeout(call.remaining() / (len(addresses) - index))
            call.attach(sock)
            sock.connect(address)
            sock.settimeout(call.remaining())
        except OSError as failed:
            error = failed
            sock.close()
            continue
        call.stage = "accepted the connection and sent nothing"
        return sock
    raise error


def spoken(seconds: float) -> str:
    """A time for a message: "0.2 s", "30 s"."""
    return f"{round(seconds, 1):g} s"
