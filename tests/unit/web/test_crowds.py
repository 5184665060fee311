"""Whoever takes all connections: alerts, probes and people still come in."""

import asyncio
import contextlib
import logging
import socket
import threading
import time
from collections import deque
from collections.abc import Coroutine, Iterator, Sequence
from typing import Any

import pytest

from tailhound.settings import Settings
from tailhound.web.app import create_app
from tailhound.web.connections import CONNECTIONS, SPARE, House, Patience
from tailhound.web.share import AT_ONCE
from tailhound.web.webhook import STORING_AT_MOST, Webhook
from tests.unit.web.asgi import Response, ask
from tests.unit.web.running import Running, running
from tests.unit.web.shelf import RECORD, Intake, Receipt, Shelf, parts
from tests.unit.web.test_webhook import request_of

CROWD = CONNECTIONS + 100
WEBHOOK = b"POST /webhook/alertmanager HTTP/1.1\r\nHost: localhost\r\n"
SAYING = {
    "nothing": b"",
    "half a head": b"GET /incidents HTTP/1.1\r\nX-Drip: ",
    "half a body": WEBHOOK + b"Content-Length: 1000\r\n\r\n{",
    "a request, and nothing more": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


@contextlib.contextmanager
def crowd(server: Running, first: bytes, many: int = CROWD) -> Iterator[Sequence[socket.socket]]:
    """Many connections of one address that stay open, each with the same first bytes sent."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(server.connect()) for _ in range(many)]
        for one in sockets:
            with contextlib.suppress(OSError):  # some are closed already: they had to go
                one.sendall(first)
        yield sockets


@pytest.mark.parametrize("kind", SAYING)
def test_600_connections_of_one_address_keep_nobody_out(kind: str) -> None:
    intake = Intake()
    with running(parts(intake=intake)) as server, crowd(server, SAYING[kind]):
        began = time.monotonic()
        for n in range(5):
            assert server.post(b"%d" % n) == 200
            assert server.get("/healthz")[0] == 200
            assert server.get("/readyz")[0] == 200
            assert server.get("/incidents")[0] == 200
        assert time.monotonic() - began < 5.0
    assert intake.bodies == [b"0", b"1", b"2", b"3", b"4"]


def test_a_crowd_that_goes_on_coming_keeps_nobody_out() -> None:
    enough = threading.Event()
    with running(parts()) as server:

        def come() -> None:
            open_ones: deque[socket.socket] = deque()
            while not enough.is_set():
                with contextlib.suppress(OSError):
                    open_ones.append(server.connect())
                    open_ones[-1].sendall(b"GET / HTTP/1.1\r\nX: ")
                if len(open_ones) > CROWD:
                    open_ones.popleft().close()
            for one in open_ones:
                one.close()

        coming = threading.Thread(target=come)
        coming.start()
        try:
            for _ in range(5):
                assert server.post(b"{}") == 200
                assert server.get("/readyz")[0] == 200
        finally:
            enough.set()
            coming.join(10)


def test_who_waits_longest_goes_and_the_log_says_whose_it_was(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    with running(parts()) as server, crowd(server, b"", CONNECTIONS + 2) as sockets:
        assert server.get("/healthz")[0] == 200
        assert sockets[0].recv(1) == b""
        assert sockets[1].recv(1) == b""
        sockets[-1].sendall(SAYING["a request, and nothing more"])
        assert sockets[-1].recv(100).startswith(b"HTTP/1.1 200 OK")
    (told,) = [line for line in caplog.messages if "connections" in line]
    assert "more than 500 connections: one that waited for its client was closed" in told
    assert "of 127.0.0.1, who has 501" in told


class Caller:
    """A connection, as the house sees it."""

    def __init__(self, address: str, since: float | None) -> None:
        self.address = address
        self.waits_since = since
        self.is_dropped = False

    def drop(self) -> None:
        """It is sent away."""
        self.is_dropped = True


def test_of_the_address_that_has_most_the_oldest_goes_first() -> None:
    house = House(most=4)
    alone, first, second = Caller("a", 1.0), Caller("b", 2.0), Caller("b", 3.0)
    answered = Caller("b", None)
    for caller in (alone, second, answered, first, Caller("c", 9.0)):
        house.enter(caller)
    assert first.is_dropped
    assert not any(caller.is_dropped for caller in (alone, second, answered))
    assert len(house) == 4


def test_while_all_are_being_answered_some_more_come_in_and_not_without_end() -> None:
    house = House(most=4)
    callers = [Caller("a", None) for _ in range(4 + SPARE)]
    for caller in callers:
        house.enter(caller)
    late = Caller("b", 0.0)
    house.enter(late)
    assert late.is_dropped
    assert not any(caller.is_dropped for caller in callers)
    house.leave(callers[0])
    house.leave(callers[0])
    again = Caller("b", 0.0)
    house.enter(again)
    assert not again.is_dropped


def small(server: Running) -> socket.socket:
    """A connection that takes very little at once."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    sock.settimeout(10)
    sock.connect(("127.0.0.1", server.port))
    return sock


@pytest.mark.parametrize("ending", [b"", b"Connection: close\r\n"], ids=["stays", "closes"])
def test_who_does_not_take_the_answer_is_cut_off(ending: bytes) -> None:
    shelf = Shelf()
    large = parts(shelf, as_json=lambda _incident: {"text": "x" * 20_000_000})
    asking = b"GET /api/incidents/8R5W HTTP/1.1\r\nHost: localhost\r\n" + ending + b"\r\n"
    with running(large, Patience(unread_seconds=0.2)) as server, small(server) as sock:
        sock.sendall(asking)
        assert sock.recv(12) == b"HTTP/1.1 200"
        until_reset(sock)
        assert server.get("/healthz")[0] == 200


def until_reset(sock: socket.socket) -> None:
    """Until the other side is gone; nothing is taken of what it sent."""
    end = time.monotonic() + 10
    while True:
        assert time.monotonic() < end, "still connected after 10 s"
        with contextlib.suppress(TimeoutError):
            try:
                sock.sendall(b"\r\n")
            except OSError:
                return
        time.sleep(0.01)


def test_thousands_of_requests_in_one_go_close_the_connection() -> None:
    with running(parts()) as server, server.connect() as sock:
        with contextlib.suppress(OSError):
            sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 5000)
        received = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := sock.recv(65536):
                received += piece
        assert received.count(b"200 OK") <= 1
        assert server.get("/healthz")[0] == 200


def test_a_few_requests_in_one_go_are_answered_in_their_order() -> None:
    with running(parts()) as server, server.connect() as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 10)
        received = b""
        while received.count(b"ok\n") < 10:
            received += sock.recv(65536)


def test_what_is_no_http_is_told_in_the_log_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    upgrade = (
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    )
    with running(parts()) as server:
        for said in (b"\x16\x03\x01\r\n\r\n", upgrade) * 20:
            with server.connect() as sock:
                sock.sendall(said)
                assert sock.recv(100)
    assert caplog.messages == ["127.0.0.1 sent what is no HTTP request"]


def test_one_visitor_leaves_some_readers_to_others_and_behind_a_proxy_each_counts_alone() -> None:
    release = threading.Event()
    given = parts(
        settings=Settings.model_validate({"listen": {"client_header": "x-real-ip"}}),
        accuracy=lambda _since: release.wait(10) and RECORD,
    )
    app = create_app(given)

    def reads(who: str) -> Coroutine[Any, Any, Response]:
        return ask(app, "/accuracy", headers={"x-real-ip": who})

    async def scenario() -> None:
        greedy = [asyncio.create_task(reads("10.0.0.1")) for _ in range(100)]
        other = asyncio.create_task(reads("10.0.0.2"))
        done, _ = await asyncio.wait(greedy, timeout=0.2)
        release.set()
        assert len(done) == 100 - AT_ONCE
        refused = next(iter(done)).result()
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert (await other).status == 200
        assert {one.status for one in await asyncio.gather(*greedy)} == {200, 503}
        assert (await reads("10.0.0.1")).status == 200

    asyncio.run(scenario())


def test_while_the_database_hangs_there_is_room_left_for_probes() -> None:
    async def scenario() -> None:
        release = asyncio.Event()

        async def hang(_body: bytes) -> Receipt:
            await release.wait()
            return Receipt()

        hook = Webhook(parts(accept=hang))
        waiting = [
            asyncio.create_task(hook.post(request_of(b"{}"))) for _ in range(STORING_AT_MOST)
        ]
        await asyncio.sleep(0)
        answer = await hook.post(request_of(b"{}"))
        assert answer.status_code == 503
        assert b"300 notifications are waiting already; send it again" in answer.body
        release.set()
        assert {one.status_code for one in await asyncio.gather(*waiting)} == {200}
        assert (await hook.post(request_of(b"{}"))).status_code == 200

    asyncio.run(scenario())


def test_readers_of_pages_do_not_stand_before_a_probe() -> None:
    shelf, release = Shelf(), threading.Event()

    def hang(_since: object) -> None:
        release.wait(10)

    app = create_app(parts(shelf, accuracy=hang))

    async def scenario() -> None:
        readers = [asyncio.create_task(ask(app, "/accuracy")) for _ in range(80)]
        await asyncio.sleep(0.05)
        try:
            probes = await asyncio.gather(*(ask(app, "/readyz") for _ in range(80)))
            assert {probe.status for probe in probes} == {200}
        finally:
            release.set()
        await asyncio.gather(*readers, return_exceptions=True)

    asyncio.run(scenario())
