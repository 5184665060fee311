"""A TCP proxy with a valve: while it is shut, connections are taken and nothing passes."""

import contextlib
import socket
import threading
from types import TracebackType


class Valve:
    """Stands before a server on loopback. Shut at first; `open` lets everything through.

    with Valve(prometheus_port) as valve:
        ...  # whoever asks `valve.port` waits
        valve.open()
    """

    def __init__(self, behind: int) -> None:
        self._behind = behind
        self._opened = threading.Event()
        self._over = False
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._server = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port: int = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, name="valve", daemon=True)

    def __enter__(self) -> "Valve":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._over = True
            for one in (self._server, *self._sockets):
                _end(one)
        self._opened.set()
        self._thread.join(5)

    def open(self) -> None:
        """Let what waits, and all that comes, through."""
        self._opened.set()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed at the end
            while True:
                client, _ = self._server.accept()
                self._start(self._join, client)

    def _join(self, client: socket.socket) -> None:
        if not self._kept(client):
            return
        self._opened.wait()
        with contextlib.suppress(OSError):
            server = socket.create_connection(("127.0.0.1", self._behind), timeout=10)
            server.settimeout(None)
            if self._kept(server):
                self._start(_pump, server, client)
                _pump(client, server)

    def _kept(self, one: socket.socket) -> bool:
        """Whether it goes on; at the end it is closed at once."""
        with self._lock:
            if self._over:
                _end(one)
            else:
                self._sockets.append(one)
            return not self._over

    def _start(self, work: object, *args: socket.socket) -> None:
        threading.Thread(target=work, args=args, daemon=True).start()  # type: ignore[arg-type]


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):  # either side may go at any time
        while data := source.recv(65536):
            target.sendall(data)
    for one in (source, target):
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


def _end(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
