"""The load generator: a process of its own that posts webhooks over a few open connections.

`python -m benchmarks.load ADDRESS --load repeats --seconds 5` prints one line of JSON. It stops
after `--seconds` or after `--count` bodies; with `--per-second` it keeps that pace.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from urllib.parse import urlsplit

from benchmarks.bodies import LOADS, Load
from benchmarks.processes import output_of
from benchmarks.rows import Row
from benchmarks.stats import percentile
from benchmarks.wire import Incoming, Message, request

PATH = "/webhook/alertmanager"
CLIENTS = 8
PATIENCE = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to send. `first` is the serial number of the first body; `count` 0 = no limit, then
    `seconds` is one. `per_second` 0 = as fast as it goes.
    """

    load: str
    first: int = 0
    count: int = 0
    seconds: float = 0.0
    per_second: float = 0.0
    clients: int = CLIENTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of it. Times in milliseconds; `failed` counts answers other than 200."""

    sent: int
    failed: int
    seconds: float
    p50: float
    p99: float
    longest: float

    @property
    def per_second(self) -> float:
        """Accepted webhooks a second."""
        return (self.sent - self.failed) / self.seconds


def accepted(of: str, name: str, how: str, pair: tuple[Result, Result]) -> Iterator[Row]:
    """A row for throughput, p50 and p99 of a load; the pair is what was found, and the probe."""
    found, bare = pair
    for what, unit, value, probe in (
        ("", "requests/s", found.per_second, bare.per_second),
        (", p50", "ms", found.p50, bare.p50),
        (", p99", "ms", found.p99, bare.p99),
    ):
        yield Row(
            benchmark=of,
            name=f"{name}{what}",
            value=value,
            unit=unit,
            probe=probe,
            better="less" if unit == "ms" else "more",
            how=how,
            details={"sent": found.sent, "longest_ms": found.longest},
        )


def send(address: str, order: Order) -> Result:
    """Send it from another process; BenchmarkFailed when that fails."""
    arguments = ["-m", "benchmarks.load", address]
    for name, value in asdict(order).items():
        arguments += [f"--{name.replace('_', '-')}", str(value)]
    bound = order.seconds + (order.count / order.per_second if order.per_second else 0) + PATIENCE
    return Result(**json.loads(output_of(arguments, bound)))


@dataclass(slots=True)
class _Book:
    """What all connections share: the numbers that are given out, and the times that came back."""

    load: Load
    order: Order
    begun: float
    next: int = 0
    failed: int = 0
    took: list[float] = field(default_factory=list)

    def body(self) -> tuple[float, bytes] | None:
        """When the next body is due and what it is; None when there is none left."""
        now = time.perf_counter()
        order = self.order
        if order.count and self.next >= order.count:
            return None
        if not order.count and now - self.begun >= order.seconds:
            return None
        due = self.begun + self.next / order.per_second if order.per_second else now
        body = self.load.body(order.first + self.next)
        self.next += 1
        return due, body


class _Client(asyncio.Protocol):
    """One connection: the next request goes out when the answer is there."""

    def __init__(self, book: _Book) -> None:
        self._book = book
        self._done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._incoming = Incoming()
        self._transport: asyncio.Transport | None = None
        self._sent = 0.0

    async def ended(self) -> None:
        """Wait until there is nothing left to send; ConnectionError when the server goes away."""
        await self._done

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._next()

    def data_received(self, data: bytes) -> None:
        """Note each answer."""
        for message in self._incoming.feed(data):
            self._answered(message)

    def connection_lost(self, exc: Exception | None) -> None:
        """The server may not end it."""
        if not self._done.done():
            self._done.set_exception(exc or ConnectionError("the server closed the connection"))

    def _answered(self, message: Message) -> None:
        self._book.took.append(time.perf_counter() - self._sent)
        self._book.failed += message.status != 200
        self._next()

    def _next(self) -> None:
        found = self._book.body()
        if found is None:
            if not self._done.done():
                self._done.set_result(None)
            return
        due, body = found
        wait = due - time.perf_counter()
        if wait > 0:
            asyncio.get_running_loop().call_later(wait, self._write, body)
        else:
            self._write(body)

    def _write(self, body: bytes) -> None:
        assert self._transport is not None
        self._sent = time.perf_counter()
        self._transport.write(request("POST", PATH, body))


async def _run(address: str, order: Order) -> Result:
    loop = asyncio.get_running_loop()
    host, port = urlsplit(address).netloc.split(":")
    book = _Book(LOADS[order.load], order, time.perf_counter())
    pairs = [
        await loop.create_connection(lambda: _Client(book), host, int(port))
        for _ in range(order.clients)
    ]
    await asyncio.gather(*(client.ended() for _, client in pairs))
    seconds = time.perf_counter() - book.begun
    for transport, _ in pairs:
        transport.close()
    return _result(book, seconds)


def _result(book: _Book, seconds: float) -> Result:
    return Result(
        sent=len(book.took),
        failed=book.failed,
        seconds=seconds,
        p50=percentile(book.took, 0.50) * 1000,
        p99=percentile(book.took, 0.99) * 1000,
        longest=max(book.took) * 1000,
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Send, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--load", choices=tuple(LOADS), required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--per-second", type=float, default=0.0)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    values = vars(parser.parse_args(argv))
    address = values.pop("address")
    print(json.dumps(asdict(asyncio.run(_run(address, Order(**values))))))


if __name__ == "__main__":
    main()
