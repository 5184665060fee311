"""Durable webhook accept: three loads, with an empty queue and while a backlog drains."""

from collections.abc import Iterator, Sequence

from benchmarks.bodies import LOADS, REPEATED
from benchmarks.load import CLIENTS, Order, Result, accepted, send
from benchmarks.processes import BenchmarkFailed
from benchmarks.questions import READ_SECONDS, reads_runbook
from benchmarks.rows import Row
from benchmarks.site import site
from benchmarks.sizes import Sizes

BACKLOG_FROM = 10_000_000
"""Serial numbers of the backlog, far from those of the measured load."""

_HOW = (
    f"{CLIENTS} connections, one alert a body, answered after its commit (synchronous=FULL); "
    "probe: a bare ASGI app on uvicorn with one batching SQLite writer"
)
IDLE, DRAINING = "empty queue", "while draining"


def run(sizes: Sizes, loads: Sequence[str] = tuple(LOADS)) -> Iterator[Row]:
    """A row for throughput, p50 and p99 of each load and state."""
    for load in loads:
        bare = _bare(load, sizes)
        for state in (IDLE, DRAINING):
            found = _tailhound(load, state, sizes)
            yield from accepted("intake", f"{load}, {state}", _HOW, (found, bare))


def _tailhound(load: str, state: str, sizes: Sizes) -> Result:
    """A server of its own for each figure: none pays for what an earlier one left."""
    with site() as made:
        made.configure(runbooks=[reads_runbook(made.folder / "runbooks")])
        with made.child(
            "-m", "benchmarks.served", str(made.config), "--delay", str(READ_SECONDS)
        ) as server:
            address = server.address()
            if state == DRAINING:
                _fill(address, sizes.backlog)
            return _measured(address, load, sizes)


def _bare(load: str, sizes: Sizes) -> Result:
    with (
        site() as made,
        made.child("-m", "benchmarks.bare", str(made.folder / "bare.db")) as server,
    ):
        return _measured(server.address(), load, sizes)


def _fill(address: str, incidents: int) -> None:
    one_each = "each its own incident"
    filled = send(address, Order(load=one_each, first=BACKLOG_FROM, count=incidents))
    if filled.failed:
        raise BenchmarkFailed(f"{filled.failed} webhooks of the backlog were refused")


def _measured(address: str, load: str, sizes: Sizes) -> Result:
    """The load, after a few bodies that nobody times."""
    warm = send(address, Order(load=load, first=BACKLOG_FROM * 2, count=REPEATED * CLIENTS))
    found = send(address, Order(load=load, seconds=sizes.seconds))
    if warm.failed or found.failed:
        raise BenchmarkFailed(f"{warm.failed + found.failed} webhooks were refused ({load})")
    return found
