"""Intake: a webhook body is on disk, once, before anybody is told that it was accepted.

One writer thread batches the waiting webhooks into one transaction: alert rows, incidents, their
workflows and their outbox rows. Who waits gets an answer after the commit. Deliveries that bring
nothing new are answered from what this process has seen committed; the database is the truth.
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

import sqlalchemy as sa

from tailhound.durable.admission import Admission, items_of
from tailhound.durable.arrivals import Arrival, ReadGroup, clean, read_arrival
from tailhound.durable.asking import Enqueue, Terms
from tailhound.durable.blocking import Blocking
from tailhound.durable.boot import Boot
from tailhound.durable.entries import Part
from tailhound.durable.hearing import Ear
from tailhound.durable.known import Accepted, Known, known_of
from tailhound.durable.line import STOPPING, Line
from tailhound.durable.memory import Heard, Memory
from tailhound.durable.turns import Turns
from tailhound.errors import StoreUnavailable
from tailhound.settings import Incidents
from tailhound.store.database import Database
from tailhound.store.records import add_repeats

BATCH = 200
"""Webhooks of one transaction; `line.ALERTS` bounds their alerts."""

LARGE = 256 * 1024
"""Bodies above this many bytes are read off the event loop."""

REMEMBERED = 50_000
FLUSH_SECONDS = 5.0
STOP_SECONDS = 2.0

__all__ = ["Accepted", "Intake", "Totals"]


@dataclass(frozen=True, slots=True)
class Totals:
    """What came in since the start, in alerts; `bodies` in webhooks."""

    bodies: int
    new: int
    repeats: int
    dropped: MappingProxyType[str, int]


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
        self._line = Line()
        self.ear = Ear(boot.clock())
        self._totals: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._tell: Callable[[], object] = lambda: None
        self._thread: threading.Thread | None = None
        self._flush_at = 0.0
        self._closed = False

    def start(self, on_news: Callable[[], None]) -> None:
        """Start the writer; `on_news` is called on this event loop after a commit with news."""
        loop = asyncio.get_running_loop()
        self.ear.since = self._boot.clock()
        self._tell = lambda: loop.call_soon_threadsafe(on_news)
        self._thread = threading.Thread(target=self._write, name="tailhound-intake", daemon=True)
        self._thread.start()

    async def stop(self) -> None:
        """Take nothing more; what was taken is written first."""
        self._closed = True
        self._reading.close()
        self._line.end()
        thread = self._thread
        deadline = asyncio.get_running_loop().time() + STOP_SECONDS
        while thread and thread.is_alive() and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.01)

    async def accept(self, body: bytes, *, by_hand: bool = False) -> Accepted:
        """Store a body and what follows from it; returns after the commit.

        `by_hand`: it was made in this process, of what a person asked (`durable.by_hand`).
        StoreUnavailable: nothing was stored, and the sender must try again.
        """
        if self._closed:
            raise StoreUnavailable(STOPPING)
        repeated = self._repeated(self._memory.said_in(body))
        if repeated is not None:
            return repeated
        arrival = await self._read(body, by_hand)
        if arrival.is_nothing:
            accepted = Accepted((), 0, 0, arrival.dropped)
        else:
            accepted = await asyncio.wrap_future(self._line.join(arrival))
        self._count(accepted)
        return accepted

    def not_ready(self) -> Sequence[str]:
        """Why nothing can be accepted, though the database answers; () when all is well."""
        if self._closed or (self._thread and self._thread.is_alive()):
            return ()
        return ("the thread that stores alerts does not run: restart tailhound",)

    def joined(self, id: str, into: str) -> None:
        """An incident has joined another one: what comes in for it belongs to that one."""
        self._memory.joined(id, into)

    def closed(self, id: str) -> None:
        """An incident counts as over although nobody said so of its alerts."""
        self._memory.closed(id)

    def totals(self) -> Totals:
        """The counts since the start."""
        count = self._totals
        return Totals(
            count["bodies"], count["new"], count["repeats"], MappingProxyType(dict(self._dropped))
        )

    async def _read(self, body: bytes, by_hand: bool) -> Arrival:
        settings, now = self._terms().incidents, self._boot.clock()
        if len(body) <= LARGE:
            return read_arrival(body, now, settings, self._read_group, by_hand)
        return await self._reading.run(self._read_large, body, now, settings, by_hand)

    def _read_large(
        self, body: bytes, now: datetime, settings: Incidents, by_hand: bool
    ) -> Arrival:
        with self._line.reading(body):
            return read_arrival(body, now, settings, self._read_group, by_hand)

    def _repeated(self, said: Sequence[Heard]) -> Accepted | None:
        incidents = self._memory.known(said)
        if incidents is None:
            return None
        self.ear.heard(incidents)
        accepted = Accepted(tuple(dict.fromkeys(incidents)), 0, len(said))
        self._count(accepted)
        return accepted

    def _count(self, accepted: Accepted) -> None:
        self._totals.update(bodies=1, new=accepted.new, repeats=accepted.repeats)
        self._dropped.update(accepted.dropped)

    def _write(self) -> None:
        turns = Turns("taking alerts in")
        while not self._is_last_turn(turns):
            pass

    def _is_last_turn(self, turns: Turns) -> bool:
        """One batch. A turn of its own, so that nothing is held of it while the next is awaited."""
        batch, is_last = self._line.batch(BATCH, FLUSH_SECONDS)
        with turns.one():
            self._take_in(batch, is_last=is_last)
        for part in batch:
            part.refuse(StoreUnavailable("tailhound failed; send it again"))
        return is_last

    def _take_in(self, batch: Sequence[Part], *, is_last: bool) -> None:
        news = self._answered(batch)
        if news:
            self._commit(news)
        elif self.ear.has_repeats and time.monotonic() >= self._flush_at:
            self._flush_repeats()
        if is_last and self.ear.has_repeats:
            self._flush_repeats()

    def _answered(self, batch: Sequence[Part]) -> Sequence[Part]:
        """What is left of a batch once those are answered that bring nothing new.

        On SQLite the memory has done so. Where other replicas write too, the database is asked: a
        look costs no lock and no flush of the disk.
        """
        if not batch or self._database.is_sqlite:
            return batch
        idents = [item.ident for part in batch for item in items_of(part.arrival)]
        try:
            with self._database.reading() as connection:
                known = known_of(connection, idents)
        except StoreUnavailable as error:
            for part in batch:
                part.refuse(error)
            return []
        return [part for part in batch if not self._is_answered(part, known)]

    def _is_answered(self, part: Part, known: Mapping[str, Known]) -> bool:
        items = items_of(part.arrival)
        found = [known.get(item.ident) for item in items]
        incidents = [
            there.incident_id
            for item, there in zip(items, found, strict=True)
            if there is not None and there.status is item.alert.status
        ]
        if len(incidents) < len(items):
            return False
        self.ear.heard(incidents)
        told = tuple(dict.fromkeys(incidents))
        part.tell(Accepted(told, 0, len(items), part.arrival.dropped))
        return True

    def _commit(self, batch: Sequence[Part]) -> None:
        """Write a batch; when one of several webhooks spoils it, each is written by itself."""
        try:
            admission, answers = self._admit([part.arrival for part in batch])
        except StoreUnavailable as error:
            for part in batch:
                part.refuse(error)
        except Exception as error:  # noqa: BLE001 (becomes an answer to the one that caused it)
            if len(batch) == 1:
                self._spoiled(batch[0], error)
            else:
                for part in batch:
                    self._commit([part])
        else:
            self._committed(batch, admission, answers)

    def _committed(
        self, batch: Sequence[Part], admission: Admission, answers: Sequence[Accepted]
    ) -> None:
        self._boot.hook("after_accept")
        if admission.has_news:
            self._tell()
        for part, accepted in zip(batch, answers, strict=True):
            self._memory.learn(part.arrival, admission)
            if part.is_last:
                self._memory.hold(part.entry.arrival)
            part.tell(accepted)

    def _admit(self, arrivals: Sequence[Arrival]) -> tuple[Admission, tuple[Accepted, ...]]:
        with self.ear.repeats() as repeats, self._database.accepting() as connection:
            hearing = self.ear.hearing(self._boot.clock())
            admission = Admission(connection, self._terms(), self._enqueue, hearing)
            answers = admission.admit(arrivals)
            add_repeats(connection, dict(repeats + admission.repeats), hearing.now)
        return admission, answers

    def _spoiled(self, part: Part, error: Exception) -> None:
        """Keep what can't be admitted as a body that can't be read: nothing is lost."""
        arrival = part.arrival
        why = f"tailhound failed to take it in: {type(error).__name__}: {error}"
        if arrival.unreadable or isinstance(error, sa.exc.IntegrityError):
            part.refuse(StoreUnavailable(f"{why}; send it again"))
        else:
            part.arrival = Arrival(body=arrival.body, at=arrival.at, unreadable=clean(why)[:400])
            self._commit([part])

    def _flush_repeats(self) -> None:
        self._flush_at = time.monotonic() + FLUSH_SECONDS
        with (
            suppress(StoreUnavailable),  # they are written with the next batch that can be
            self.ear.repeats() as repeats,
            self._database.accepting() as connection,
        ):
            add_repeats(connection, dict(repeats), self._boot.clock())
