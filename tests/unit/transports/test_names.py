"""Names that a resolver does not answer for: told as such, in time, and nothing else waits."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tailhound.flow import Turn
from tailhound.model import Missing, Reason
from tailhound.requests import Query
from tailhound.settings import Prometheus
from tailhound.transports import names
from tailhound.transports.prometheus import PrometheusTransport

UP = Query(promql="up")
NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A resolver that answers for nothing but addresses, until the event is set."""
    over, real = threading.Event(), socket.getaddrinfo

    def slow(host: str, *args: Any, **options: Any) -> Any:
        if names.is_ip(host):
            return real(host, *args, **options)
        over.wait(30)
        raise socket.gaierror(socket.EAI_AGAIN, "the resolver gave up")

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    yield over
    over.set()
    for _ in range(names.AT_ONCE):  # the next test finds all the room there is
        names._ROOM.acquire()
    for _ in range(names.AT_ONCE):
        names._ROOM.release()


async def asked(transport: PrometheusTransport, seconds: float) -> Missing:
    got = await transport.ask(UP, Turn(time.monotonic() + seconds, NOW))
    assert isinstance(got, Missing), got
    return got


@pytest.mark.usefixtures("hanging")
def test_a_resolver_that_hangs_is_a_timeout_that_names_it_and_frees_the_thread() -> None:
    transport = PrometheusTransport(Prometheus(url="http://prometheus.monitoring:9090"))

    async def scene() -> Missing:
        begun = time.monotonic()
        got = await asked(transport, 0.3)
        assert time.monotonic() - begun < 0.8
        while transport._asking.pool.busy:
            assert time.monotonic() - begun < 1.0
            await asyncio.sleep(0.01)
        return got

    got = asyncio.run(scene())
    transport.close()
    assert got.reason is Reason.TIMEOUT
    assert "prometheus.monitoring:9090 has a name that was not resolved for" in got.detail


@pytest.mark.usefixtures("hanging")
def test_hanging_look_ups_are_bounded_and_addresses_need_none() -> None:
    transport = PrometheusTransport(
        Prometheus(url="http://prometheus.monitoring:9090", concurrency=32)
    )

    async def many() -> list[Missing]:
        return await asyncio.gather(*(asked(transport, 0.3) for _ in range(names.AT_ONCE + 8)))

    found = asyncio.run(many())
    transport.close()
    assert {missing.reason for missing in found} <= {Reason.TIMEOUT, Reason.SKIPPED}
    assert sum(t.name == "tailhound-name" for t in threading.enumerate()) <= names.AT_ONCE
    closed = socket.create_server(("127.0.0.1", 0))
    port = closed.getsockname()[1]
    closed.close()
    direct = PrometheusTransport(Prometheus(url=f"http://127.0.0.1:{port}"))
    assert "refused the connection" in asyncio.run(asked(direct, 2)).detail
    direct.close()


@pytest.mark.parametrize("host", ["no-such-name.invalid", "a" * 64 + ".example", "a..b"])
def test_a_name_that_cannot_be_is_unreachable_and_says_so(host: str) -> None:
    transport = PrometheusTransport(Prometheus(url=f"http://{host}:9090"))
    got = asyncio.run(asked(transport, 5))
    transport.close()
    assert got.reason is Reason.UNREACHABLE
    assert "does not resolve" in got.detail or "UnicodeError" in got.detail
