"""The server on a real socket: slow clients, live streams, a quick end."""

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from tailhound.errors import SettingsError
from tailhound.web.connections import Patience
from tailhound.web.server import bind
from tests.unit.web.running import Running, running
from tests.unit.web.shelf import Intake, Shelf, parts


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running(parts(), Patience(header_seconds=0.3)) as started:
        yield started


def until_closed(sock: socket.socket) -> bytes:
    """Everything until the server closes; a reset is a close too."""
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := sock.recv(65536):
            received += piece
    return received


def test_a_page_comes_over_a_real_socket(server: Running) -> None:
    status, headers, body = server.get("/incidents")
    assert status == 200
    assert b"<h1>Incidents</h1>" in body
    assert "server" not in headers


def test_a_client_that_drips_its_head_is_cut_off_and_blocks_nobody(server: Running) -> None:
    slow = [server.connect() for _ in range(50)]
    for sock in slow:
        sock.sendall(b"POST /webhook/alertmanager HTTP/1.1\r\nHost: localhost\r\nX-Drip: ")
    started = time.monotonic()
    assert server.get("/healthz")[0] == 200
    assert time.monotonic() - started < 0.3
    for sock in slow:
        until_closed(sock)  # 10 s would be a timeout error
        sock.close()


def test_a_drip_in_between_does_not_buy_time(server: Running) -> None:
    sock = server.connect()
    sock.sendall(b"GET /healthz HTTP/1.1\r\nX-Drip: ")
    closed = threading.Event()

    def drip() -> None:
        with contextlib.suppress(OSError):
            while not closed.wait(0.05):
                sock.sendall(b"x")

    dripping = threading.Thread(target=drip)
    dripping.start()
    try:
        until_closed(sock)
    finally:
        closed.set()
        dripping.join(5)
        sock.close()


def test_a_connection_that_says_nothing_is_closed(server: Running) -> None:
    with server.connect() as sock:
        assert until_closed(sock) == b""


def test_a_head_without_end_is_refused(server: Running) -> None:
    with server.connect() as sock, contextlib.suppress(OSError):
        sock.sendall(b"GET /healthz HTTP/1.1\r\n" + b"X-Long: " + b"x" * 200_000)
        assert b"200 OK" not in until_closed(sock)


def test_a_second_request_on_the_same_connection_is_answered(server: Running) -> None:
    with server.connect() as sock:
        for _ in range(3):
            sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert whole(sock).startswith(b"HTTP/1.1 200 OK")


def whole(sock: socket.socket) -> bytes:
    """One answer of /healthz."""
    received = b""
    while not received.endswith(b"ok\n"):
        piece = sock.recv(65536)
        assert piece, "closed before the answer was complete"
        received += piece
    return received


def test_a_slow_second_request_is_cut_off_too(server: Running) -> None:
    with server.connect() as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert whole(sock).startswith(b"HTTP/1.1 200 OK")
        sock.sendall(b"GET /healthz HTTP/1.1\r\n")
        until_closed(sock)


def test_a_body_that_takes_longer_than_a_head_may_is_still_taken() -> None:
    intake = Intake()
    with (
        running(parts(intake=intake), Patience(header_seconds=0.1)) as server,
        server.connect() as sock,
    ):
        sock.sendall(
            b"POST /webhook/alertmanager HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n\r\n"
        )
        for _ in range(8):
            threading.Event().wait(0.03)  # together longer than a head may take
            sock.sendall(b"x")
        assert b"200 OK" in sock.recv(65536)
    assert intake.bodies == [b"xxxxxxxx"]


def test_what_is_no_http_gets_no_traceback(server: Running) -> None:
    with server.connect() as sock:
        sock.sendall(b"\x16\x03\x01\x00\xa5\x01\x00\x00\r\n\r\n")
        assert b"400 Bad Request" in until_closed(sock)


def test_an_unexpected_error_is_500_with_the_security_headers() -> None:
    def fail(_incident: object) -> dict[str, object]:
        raise KeyError("a bug")

    with running(parts(as_json=fail)) as server:
        status, headers, body = server.get("/api/incidents/8R5W")
    assert status == 500
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert b"a bug" not in body


def test_live_streams_end_at_once_when_the_server_stops() -> None:
    shelf = Shelf()
    with running(parts(shelf)) as server, server.connect() as sock:
        sock.sendall(b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        received = b""
        while b"data: 41" not in received:
            received += sock.recv(65536)
        shelf.at = 42
        while b"data: 42" not in received:
            received += sock.recv(65536)
        assert server.stop() < 1.5


def test_a_request_that_hangs_does_not_hold_up_the_end() -> None:
    async def hang(_body: bytes) -> object:
        return await asyncio.Event().wait()

    with running(parts(accept=hang)) as server, server.connect() as sock:
        sock.sendall(
            b"POST /webhook/alertmanager HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx"
        )
        assert server.get("/healthz")[0] == 200
        assert server.stop() < 3.5


def test_an_address_in_use_says_what_to_set() -> None:
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError, match=rf"can't listen on 127\.0\.0\.1:{port}: .*port"):
            bind("127.0.0.1", port)


def test_a_host_that_does_not_exist_says_so() -> None:
    with pytest.raises(SettingsError, match="can't listen on"):
        bind("256.256.256.256", 0)
