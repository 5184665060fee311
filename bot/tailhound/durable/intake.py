"""Intake: a webhook body is on disk, once, before anybody is told that it was accepted.

One writer thread batches the waiting webhooks into one transaction: alert rows, incidents, their
workflows and their outbox rows. Who waits gets an answer after the commit. Deliveries that bring
nothing new are answered from what this process has seen committed; the database is the truth.
"""

import asyncio
import hashlib
import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import MappingProxyType

import sqlalchemy as sa

from tailhound.durable.admission import Accepted, Admission
from tailhound.durable.arrivals import Arrival, Item, ReadGroup, clean, read_arrival
from tailhound.durable.asking import Enqueue, Terms
from tailhound.durable.blocking import Blocking
from tailhound.durable.boot import Boot
from tailhound.errors import StoreUnavailable
from tailhound.model import AlertStatus
from tailhound.store.database import Database
from tailhound.store.records import add_repeats

BATCH = 200
"""Webhooks of one transaction."""

LARGE = 256 * 1024
"""Bodies above this many bytes are read off the event loop."""

REMEMBERED = 50_000
FLUSH_SECONDS = 5.0
STOP_SECONDS = 2.0

Entry = tuple[Arrival, Future[Accepted]]

__all__ = ["Accepted", "Intake", "Totals"]


@dataclass(frozen=True, slots=True)
class Totals:
    """What came in since the start, in alerts; `bodies` in webhooks."""

    bodies: int
    new: int
    repeats: int
    dropped: MappingProxyType[str, int]


Heard = tuple[str, AlertStatus]
"""An alert's identity, and what a delivery says of it."""


def heard(items: Sequence[Item]) -> tuple[Heard, ...]:
    """What a delivery says, in short."""
    return tuple((item.ident, item.alert.status) for item in items)


class Memory:
    """What was seen committed, as far as it is remembered: only ever a shortcut.

    The writer thread adds; the event loop looks.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._alerts: dict[str, tuple[AlertStatus, str]] = {}
        self._bodies: dict[bytes, tuple[Heard, ...]] = {}

    def known(self, said: Sequence[Heard]) -> tuple[str, ...] | None:
        """One incident for each alert when all are repeats; None when any of them may be news."""
        incidents = []
        for ident, status in said:
            known, incident = self._alerts.get(ident, (None, ""))
            if known is not status:
                return None
            incidents.append(incident)
        return tuple(incidents) or None

    def said_in(self, body: bytes) -> tuple[Heard, ...]:
        """What a body says that was read before, byte by byte the same; else nothing."""
        return self._bodies.get(_digest(body), ())

    def learn(self, arrival: Arrival, admission: Admission) -> None:
        """Remember what an arrival brought, after its commit."""
        if not self._size or arrival.dropped or arrival.is_nothing or arrival.unreadable:
            return
        for item in arrival.items:
            known = admission.known.get(item.ident)
            if known is None:
                return
            self._alerts[item.ident] = (known.status, known.incident_id)
        self._bodies[_digest(arrival.body)] = heard(arrival.items)
        while len(self._alerts) > self._size:
            self._alerts.pop(next(iter(self._alerts)))
        while len(self._bodies) > self._size // 10:
            self._bodies.pop(next(iter(self._bodies)))


class Intake:
    """Accepts webhook bodies durably, in batches, on a thread of its own."""

    def __init__(
        self,
        database: Database,
        terms: Callable[[], Terms],
        enqueue: Enqueue,
        read_group: ReadGroup,
        boot: Boot,
    ) -> None:
        self._database = database
        self._terms = terms
        self._enqueue = enqueue
        self._read_group = read_group
        self._boot = boot
        self._reading = Blocking("read", 1)
        self._memory = Memory(REMEMBERED if database.is_sqlite else 0)
        self._waiting: queue.SimpleQueue[Entry | None] = queue.SimpleQueue()
        self._lock = threading.Lock()  # of the repeats, which loop and writer both count
        self._repeats: Counter[str] = Counter()
        self._totals: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._tell: Callable[[], object] = lambda: None
        self._thread: threading.Thread | None = None
        self._closed = False

    def start(self, on_news: Callable[[], None]) -> None:
        """Start the writer; `on_news` is called on this event loop after a commit with news."""
        loop = asyncio.get_running_loop()
        self._tell = lambda: loop.call_soon_threadsafe(on_news)
        self._thread = threading.Thread(target=self._write, name="tailhound-intake", daemon=True)
        self._thread.start()

    async def stop(self) -> None:
        """Take nothing more; what was taken is written first."""
        self._closed = True
        self._reading.close()
        self._waiting.put(None)
        thread = self._thread
        deadline = asyncio.get_running_loop().time() + STOP_SECONDS
        while thread and thread.is_alive() and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.01)

    async def accept(self, body: bytes) -> Accepted:
        """Store a body and what follows from it; returns after the commit.

        StoreUnavailable: nothing was stored, and the sender must try again.
        """
        if self._closed:
            raise StoreUnavailable("tailhound is stopping; send it again")
        repeated = self._repeated(self._memory.said_in(body))
        if repeated is not None:
            return repeated
        arrival = await self._read(body)
        if arrival.is_nothing:
            accepted = Accepted((), 0, 0, arrival.dropped)
        else:
            answer: Future[Accepted] = Future()
            self._waiting.put((arrival, answer))
            accepted = await asyncio.wrap_future(answer)
        self._count(accepted)
        return accepted

    def totals(self) -> Totals:
        """The counts since the start."""
        count = self._totals
        return Totals(
            count["bodies"], count["new"], count["repeats"], MappingProxyType(dict(self._dropped))
        )

    async def _read(self, body: bytes) -> Arrival:
        settings = self._terms().incidents
        if len(body) <= LARGE:
            return read_arrival(body, self._boot.clock(), settings, self._read_group)
        return await self._reading.run(
            read_arrival, body, self._boot.clock(), settings, self._read_group
        )

    def _repeated(self, said: Sequence[Heard]) -> Accepted | None:
        incidents = self._memory.known(said)
        if incidents is None:
            return None
        with self._lock:
            self._repeats.update(incidents)
        accepted = Accepted(tuple(dict.fromkeys(incidents)), 0, len(said))
        self._count(accepted)
        return accepted

    def _count(self, accepted: Accepted) -> None:
        self._totals.update(bodies=1, new=accepted.new, repeats=accepted.repeats)
        self._dropped.update(accepted.dropped)

    def _write(self) -> None:
        while True:
            batch, is_last = self._next_batch()
            if batch:
                self._commit(batch)
            elif self._repeats:
                self._flush_repeats()
            if is_last:
                return

    def _next_batch(self) -> tuple[list[Entry], bool]:
        """What waits, at most BATCH webhooks; nothing after FLUSH_SECONDS without any."""
        batch: list[Entry] = []
        try:
            entry = self._waiting.get(timeout=FLUSH_SECONDS)
            while entry is not None:
                batch.append(entry)
                if len(batch) >= BATCH:
                    return batch, False
                entry = self._waiting.get_nowait()
        except queue.Empty:
            return batch, False
        return batch, True

    def _commit(self, batch: Sequence[Entry]) -> None:
        """Write a batch; when one of several webhooks spoils it, each is written by itself."""
        try:
            admission, answers = self._admit([arrival for arrival, _ in batch])
        except StoreUnavailable as error:
            for _, answer in batch:
                _refuse(answer, error)
        except Exception as error:  # noqa: BLE001 (becomes an answer to the one that caused it)
            if len(batch) == 1:
                self._spoiled(batch[0], error)
            else:
                for entry in batch:
                    self._commit([entry])
        else:
            self._committed(batch, admission, answers)

    def _committed(
        self, batch: Sequence[Entry], admission: Admission, answers: Sequence[Accepted]
    ) -> None:
        self._boot.hook("after_accept")
        if admission.has_news:
            self._tell()
        for (arrival, answer), accepted in zip(batch, answers, strict=True):
            self._memory.learn(arrival, admission)
            if answer.set_running_or_notify_cancel():
                answer.set_result(accepted)

    def _admit(self, arrivals: Sequence[Arrival]) -> tuple[Admission, tuple[Accepted, ...]]:
        with self._counted_repeats() as repeats, self._database.accepting() as connection:
            admission = Admission(connection, self._terms(), self._enqueue, self._boot.clock())
            answers = admission.admit(arrivals)
            add_repeats(connection, dict(repeats + admission.repeats))
        return admission, answers

    def _spoiled(self, entry: Entry, error: Exception) -> None:
        """Keep what can't be admitted as a body that can't be read: nothing is lost."""
        arrival, answer = entry
        why = f"tailhound failed to take it in: {type(error).__name__}: {error}"
        if arrival.unreadable or isinstance(error, sa.exc.IntegrityError):
            _refuse(answer, StoreUnavailable(f"{why}; send it again"))
        else:
            raw = Arrival(body=arrival.body, at=arrival.at, unreadable=clean(why)[:400])
            self._commit([(raw, answer)])

    @contextmanager
    def _counted_repeats(self) -> Iterator[Counter[str]]:
        """The repeats that were not written yet; they come back when the writing fails."""
        with self._lock:
            repeats, self._repeats = self._repeats, Counter()
        try:
            yield repeats
        except BaseException:
            with self._lock:
                self._repeats.update(repeats)
            raise

    def _flush_repeats(self) -> None:
        with (
            suppress(StoreUnavailable),  # they are written with the next batch that can be
            self._counted_repeats() as repeats,
            self._database.accepting() as connection,
        ):
            add_repeats(connection, dict(repeats))


def _refuse(answer: Future[Accepted], error: StoreUnavailable) -> None:
    if answer.set_running_or_notify_cancel():
        answer.set_exception(error)


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=16).digest()
