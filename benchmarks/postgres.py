"""Durable webhook accept on PostgreSQL, two replicas; and the bare server beside it.

`python -m benchmarks.postgres URL` is one bare server: it keeps bodies in that database, and prints
its address.
"""

import argparse
import asyncio
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import psycopg

from benchmarks.bare import Disk, serve, tell
from benchmarks.bodies import LOADS, REPEATED
from benchmarks.load import CLIENTS, Order, Result, accepted, send
from benchmarks.processes import BenchmarkFailed
from benchmarks.questions import READ_SECONDS, reads_runbook
from benchmarks.rows import Row
from benchmarks.site import site
from benchmarks.sizes import Sizes
from tests.lab.postgres import Postgres

REPLICAS = 2
APART = 5_000_000
"""Between the serial numbers of what the replicas are sent."""

WARM_FROM = 50_000_000

_HOW = (
    f"{REPLICAS} processes on one PostgreSQL (fsync and synchronous_commit on), {CLIENTS} "
    "connections, one alert a body, answered after its commit, all on the same cores; "
    "probe: as many bare ASGI apps on uvicorn, each with one batching PostgreSQL writer"
)


def run(sizes: Sizes, loads: Sequence[str] = tuple(LOADS)) -> Iterator[Row]:
    """A row for throughput, p50 and p99 of each load."""
    for load in loads:
        pair = _tailhound(load, sizes), _bare(load, sizes)
        yield from accepted("postgres", f"{load}, two replicas", _HOW, pair)


def _tailhound(load: str, sizes: Sizes) -> Result:
    with Postgres(durable=True) as server, site() as made, ExitStack() as running:
        made.configure(
            runbooks=[reads_runbook(made.folder / "runbooks")],
            store={"url": server.create("tailhound")},
        )
        argv = ("-m", "benchmarks.served", str(made.config), "--delay", str(READ_SECONDS))
        children = [running.enter_context(made.child(*argv)) for _ in range(REPLICAS)]
        return _measured([child.address() for child in children], load, sizes)


def _bare(load: str, sizes: Sizes) -> Result:
    with Postgres(durable=True) as server, site() as made, ExitStack() as running:
        url = server.create("bare")
        server.run("CREATE TABLE body (id BIGSERIAL PRIMARY KEY, content BYTEA)", "bare")
        argv = ("-m", "benchmarks.postgres", url)
        children = [running.enter_context(made.child(*argv)) for _ in range(REPLICAS)]
        return _measured([child.address() for child in children], load, sizes)


def _measured(addresses: Sequence[str], load: str, sizes: Sizes) -> Result:
    """The load on all of them at once, after a few bodies that nobody times."""
    each = CLIENTS // len(addresses)
    warm = Order(load=load, first=WARM_FROM, count=REPEATED * each, clients=each)
    order = Order(load=load, seconds=sizes.seconds, clients=each)
    return _failing(_at_once(addresses, warm), load, _at_once(addresses, order))


def _at_once(addresses: Sequence[str], order: Order) -> Sequence[Result]:
    with ThreadPoolExecutor(len(addresses)) as pool:
        sent = [
            pool.submit(send, address, replace(order, first=order.first + i * APART))
            for i, address in enumerate(addresses)
        ]
        return [one.result() for one in sent]


def _failing(warm: Sequence[Result], load: str, found: Sequence[Result]) -> Result:
    """The results as one; BenchmarkFailed when any webhook was refused."""
    failed = sum(one.failed for one in (*warm, *found))
    if failed:
        raise BenchmarkFailed(f"{failed} webhooks were refused ({load})")
    return Result(
        sent=sum(one.sent for one in found),
        failed=0,
        seconds=max(one.seconds for one in found),
        p50=sum(one.p50 for one in found) / len(found),
        p99=max(one.p99 for one in found),
        longest=max(one.longest for one in found),
    )


class Table(Disk):
    """Commits bodies to PostgreSQL, those that wait together at once."""

    def __init__(self, url: str) -> None:
        self._url = url
        super().__init__(Path())

    def _write(self) -> None:
        with psycopg.connect(self._url) as connection:
            while batch := self._batch():
                rows = [(body,) for body, _ in batch]
                connection.cursor().executemany("INSERT INTO body (content) VALUES (%s)", rows)
                connection.commit()
                self._loop.call_soon_threadsafe(tell, batch)


async def _serve(url: str) -> None:
    await serve(Table(url))


def main() -> None:
    """Serve until told to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    options = parser.parse_args()
    try:
        asyncio.run(_serve(options.url))
    except KeyboardInterrupt:  # uvicorn raises the signal again that ended it
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
