"""10,000 alerts in one minute: none may be lost, and each needs an outcome that people see."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from benchmarks.load import Order, Result, send
from benchmarks.processes import BenchmarkFailed, Child
from benchmarks.questions import READ_SECONDS, READS, reads_runbook
from benchmarks.rows import Row
from benchmarks.site import Site, rows_in, site
from benchmarks.sizes import Sizes

LOOK_SECONDS = 0.5
PATIENCE = 1800.0
VISIBLE = ("diagnosed", "failed", "resolved", "joined")


@dataclass(frozen=True, slots=True, kw_only=True)
class Weathered:
    """What became of a storm: alerts that are on record, incidents without an outcome that was
    shown, MiB at most, seconds from the first alert to the last outcome.
    """

    recorded: int
    open: int
    most_memory: float
    seconds: float
    sent: Result


def run(sizes: Sizes) -> Iterator[Row]:
    """Four rows; none when the storm is left out."""
    if not sizes.storm_alerts:
        return
    found, bare = _tailhound(sizes), _bare(sizes)
    alerts = sizes.storm_alerts
    about = (
        f"{alerts:,} alerts in {sizes.storm_seconds:g} s, each its own incident of {READS} "
        "questions; the console is the only place"
    )
    figures = (
        ("lost", "alerts", alerts - found.recorded, alerts - bare.recorded, "rows on record"),
        ("without a visible outcome", "incidents", found.open, 0, "no verdict, or not shown"),
        ("most memory", "MiB", found.most_memory, bare.most_memory, f"PSS, each {LOOK_SECONDS} s"),
        ("until the last verdict", "s", found.seconds, bare.seconds, "from the first alert"),
    )
    for name, unit, value, probe, how in figures:
        yield Row(
            benchmark="storm",
            name=name,
            value=value,
            unit=unit,
            probe=probe,
            better="less",
            how=f"{about}; {how}; probe: the bare server under the same storm",
            details={"refused": found.sent.failed, "p99_ms": found.sent.p99},
        )


def _tailhound(sizes: Sizes) -> Weathered:
    with site() as made:
        made.configure(runbooks=[reads_runbook(made.folder / "runbooks")])
        arguments = ("-m", "benchmarks.served", str(made.config), "--delay", str(READ_SECONDS))
        with made.child(*arguments) as server:
            return _weathered(server, sizes, made.alerts, lambda: _open(made))


def _bare(sizes: Sizes) -> Weathered:
    with site() as made:
        database = made.folder / "bare.db"
        with made.child("-m", "benchmarks.bare", str(database)) as server:
            return _weathered(server, sizes, lambda: rows_in(database, "body"), lambda: 0)


def _open(made: Site) -> int:
    """Incidents without an outcome, or with one that was not shown yet."""
    waiting = sum(count for state, count in made.states().items() if state not in VISIBLE)
    return waiting + made.unsent()


def _weathered(
    server: Child, sizes: Sizes, recorded: Callable[[], int], unseen: Callable[[], int]
) -> Weathered:
    order = Order(
        load="each its own incident",
        count=sizes.storm_alerts,
        per_second=sizes.storm_alerts / sizes.storm_seconds,
    )
    address = server.address()
    most = server.memory()
    begun = time.monotonic()
    with ThreadPoolExecutor(1) as sender:
        sending = sender.submit(send, address, order)
        while not sending.done() or unseen():
            if time.monotonic() - begun > PATIENCE:
                raise BenchmarkFailed(f"after {PATIENCE:g} s {unseen()} incidents are still open")
            most = max(most, server.memory())
            time.sleep(LOOK_SECONDS)
    return Weathered(
        recorded=recorded(),
        open=unseen(),
        most_memory=most,
        seconds=time.monotonic() - begun,
        sent=sending.result(),
    )
