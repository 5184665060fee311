"""How fast investigations are done when many wait: 20 questions each, every answer after 50 ms."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote

import aiohttp

from benchmarks.load import Order, send
from benchmarks.processes import BenchmarkFailed, Child
from benchmarks.questions import READ_SECONDS, reads_runbook, waves
from benchmarks.rows import Row
from benchmarks.site import Site, fetched, site
from benchmarks.sizes import Sizes
from tailhound.settings import Incidents, Prometheus

PATIENCE = 900.0
DEFAULT_AT_ONCE = Prometheus().concurrency
MANY_AT_ONCE = 50

Ask = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Drained:
    """How long it took from the first alert to the last verdict, and what was asked."""

    incidents: int
    seconds: float
    questions: float

    @property
    def per_second(self) -> float:
        """Verdicts a second."""
        return self.incidents / self.seconds


def run(sizes: Sizes) -> Iterator[Row]:
    """A row for answers in the process, and one for each width of the connection to Prometheus."""
    yield _row("answers in the process", _replayed(sizes.drained), _waited(sizes.drained), "")
    for at_once in (DEFAULT_AT_ONCE, MANY_AT_ONCE):
        few = max(1, min(sizes.drained, sizes.drained * at_once // MANY_AT_ONCE))
        yield _row(
            f"real client, {at_once} at once",
            _asked(few, at_once),
            _fetched(few, at_once),
            f", prometheus.concurrency {at_once}{' (default)' * (at_once == DEFAULT_AT_ONCE)}",
        )


def _row(name: str, drained: Drained, probe: Drained, more: str) -> Row:
    each = f"{drained.questions:.0f} questions of {READ_SECONDS * 1000:.0f} ms each"
    return Row(
        benchmark="drain",
        name=name,
        value=drained.per_second,
        unit="incidents/s",
        probe=probe.per_second,
        better="more",
        how=f"{drained.incidents} incidents, {each}{more}; probe: asyncio alone, the same waits",
        details={"incidents": drained.incidents, "questions_each": drained.questions},
    )


@contextmanager
def _backend() -> Iterator[str]:
    """A stand-in of Prometheus; its address."""
    with (
        site() as made,
        made.child("-m", "benchmarks.backends", "--delay", str(READ_SECONDS)) as backend,
    ):
        yield backend.address()


def _replayed(incidents: int) -> Drained:
    with site() as made:
        made.configure(runbooks=[reads_runbook(made.folder / "runbooks")])
        slow = made.child("-m", "benchmarks.served", str(made.config), "--delay", str(READ_SECONDS))
        with slow:
            seconds = _drained(made, slow, incidents)
            slow.stop()
            return Drained(incidents, seconds, _asked_in(slow) / incidents)


def _asked_in(child: Child) -> int:
    return int(child.printed().rpartition("asked ")[2].split()[0])


def _asked(incidents: int, at_once: int) -> Drained:
    with site() as made, _backend() as prometheus:
        made.configure(
            runbooks=[reads_runbook(made.folder / "runbooks")],
            prometheus={"url": prometheus, "concurrency": at_once},
        )
        with made.tailhound() as server:
            seconds = _drained(made, server, incidents)
        asked = fetched(f"{prometheus}/count")
        return Drained(incidents, seconds, asked["questions"] / incidents)


def _drained(made: Site, server: Child, incidents: int) -> float:
    """Seconds from the first alert to the last verdict."""
    address = server.address()
    begun = time.perf_counter()
    sent = send(address, Order(load="each its own incident", count=incidents))
    if sent.failed:
        raise BenchmarkFailed(f"{sent.failed} of {incidents} webhooks were refused")
    made.wait_for_verdicts(incidents, PATIENCE)
    return time.perf_counter() - begun


def _waited(incidents: int) -> Drained:
    """The same waits without anything around them."""

    async def ask() -> None:
        await asyncio.sleep(READ_SECONDS)

    return asyncio.run(_all(incidents, ask, waves()))


def _fetched(incidents: int, at_once: int) -> Drained:
    """The same questions over HTTP by aiohttp, without anything around them."""

    groups = waves()

    async def fetch(prometheus: str) -> Drained:
        connector = aiohttp.TCPConnector(limit=at_once)
        async with aiohttp.ClientSession(connector=connector) as session:
            url = f"{prometheus}/api/v1/query?query={quote('sum(rate(benchmark_total[5m]))')}"

            async def ask() -> None:
                async with session.get(url) as answer:
                    await answer.json()

            return await _all(incidents, ask, groups)

    with _backend() as prometheus:
        return asyncio.run(fetch(prometheus))


async def _all(incidents: int, ask: Ask, groups: tuple[int, ...]) -> Drained:
    slots = asyncio.Semaphore(Incidents().concurrency)

    async def one() -> None:
        async with slots:
            for wave in groups:
                await asyncio.gather(*(ask() for _ in range(wave)))

    begun = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(incidents)))
    return Drained(incidents, time.perf_counter() - begun, sum(groups))
