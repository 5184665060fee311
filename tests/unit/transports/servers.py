"""Servers on loopback that misbehave, or that answer what a test scripts."""

import contextlib
import gc
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Behaviour = Callable[[socket.socket, threading.Event], None]


def accepts_and_never_answers(peer: socket.socket, stop: threading.Event) -> None:
    """Reads nothing, says nothing; also what a TLS client sees of a handshake that hangs."""
    stop.wait()


def drips_a_byte_a_second(peer: socket.socket, stop: threading.Event) -> None:
    """A correct head, then the body of an answer, one byte a second."""
    peer.recv(65536)
    peer.sendall(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n"
    )
    while not stop.wait(1):
        peer.sendall(b" ")


def sends_headers_without_end(peer: socket.socket, stop: threading.Event) -> None:
    """One header line after the other, slowly, for ever."""
    peer.recv(65536)
    peer.sendall(b"HTTP/1.1 200 OK\r\n")
    while not stop.wait(0.02):
        peer.sendall(b"X-More: x\r\n" if time.monotonic() % 1 > 0.98 else b"X")


def drips_its_status_line(peer: socket.socket, stop: threading.Event) -> None:
    """The status line never ends."""
    while not stop.wait(0.1):
        peer.sendall(b"H")


def says_100_continue_for_ever(peer: socket.socket, stop: threading.Event) -> None:
    """An interim answer after the other."""
    while not stop.wait(0.01):
        peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")


def sends_half_and_hangs_up(peer: socket.socket, stop: threading.Event) -> None:
    """Promises 999 bytes and closes after a few."""
    peer.recv(65536)
    peer.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{"status":')


def speaks_no_http(peer: socket.socket, stop: threading.Event) -> None:
    """Another protocol."""
    peer.sendall(b"SSH-2.0-OpenSSH_9.2p1\r\n")
    peer.recv(65536)


@contextlib.contextmanager
def cut_short_in_tls() -> Iterator[None]:
    """A socket that is shut down while CPython wraps it for TLS is closed by its collection alone.

    `ssl.SSLSocket._create` raises between taking the descriptor and having an owner for it. The
    collection is made here, where its warning is known to be about that.
    """
    yield
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "unclosed <ssl.SSLSocket", ResourceWarning)
        gc.collect()


@contextlib.contextmanager
def misbehaving(behaviour: Behaviour) -> Iterator[int]:
    """A TCP server on a free port; its connections are closed at the end."""
    stop = threading.Event()
    peers: list[socket.socket] = []
    server = socket.create_server(("127.0.0.1", 0))

    def serve(peer: socket.socket) -> None:
        with contextlib.suppress(OSError), peer:
            behaviour(peer, stop)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while not stop.is_set():
                peer, _ = server.accept()
                peers.append(peer)
                threading.Thread(target=serve, args=(peer,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield server.getsockname()[1]
    finally:
        stop.set()
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
        for peer in peers:
            with contextlib.suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)
        thread.join(2)


@contextlib.contextmanager
def black_hole() -> Iterator[int]:
    """A port whose queue of connections is full: a new one is not accepted, nor refused."""
    server = socket.socket()
    fillers: list[socket.socket] = []
    try:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        port = server.getsockname()[1]
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
            fillers.append(filler)
        yield port
    finally:
        for filler in fillers:
            filler.close()
        server.close()


@dataclass
class Scripted:
    """What a scripted HTTP server answers, and what it was asked."""

    answer: Callable[["Scripted", BaseHTTPRequestHandler, bytes], None]
    port: int = 0
    asked: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)


def reply(
    handler: BaseHTTPRequestHandler,
    status: int,
    body: bytes | str,
    **headers: str,
) -> None:
    """Send one answer; underscores in header names stand for dashes."""
    data = body.encode() if isinstance(body, str) else body
    handler.send_response(status)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    for name, value in ({"Content-Type": "application/json"} | sent).items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


@contextlib.contextmanager
def scripted(
    answer: Callable[[Scripted, BaseHTTPRequestHandler, bytes], None],
    wrap: Callable[[socket.socket], socket.socket] | None = None,
) -> Iterator[Scripted]:
    """An HTTP/1.1 server whose every answer is made by `answer(script, handler, body)`."""
    script = Scripted(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            script.asked.append(f"{self.command} {self.path}")
            script.headers.append({key.lower(): value for key, value in self.headers.items()})
            script.bodies.append(body)
            with contextlib.suppress(ConnectionError):
                script.answer(script, self, body)

        do_POST = do_GET

        def log_message(self, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *args: object) -> None:
            pass  # a client that hung up, or a handshake that failed: the test's own doing

    server = Server(("127.0.0.1", 0), Handler)
    if wrap is not None:
        server.socket = wrap(server.socket)
    script.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join(2)
