"""Several processes on one PostgreSQL: each has a lease, and the others take over when it ends.

A lease is a row with a time by the database's clock. Every replica renews its own, looks who holds
none any more, queues again what those were running, and sends what they were sending. All may do so
at the same time: what is taken over names who had it. On SQLite there is nobody else.
"""

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from tailhound.durable import letters
from tailhound.durable.blocking import Blocking
from tailhound.durable.engine import Engine
from tailhound.durable.turns import Turns
from tailhound.errors import StoreUnavailable
from tailhound.store.database import Database
from tailhound.store.tables import outbox, replica

FORGOTTEN_SECONDS = 3600.0
"""How long the row of a replica that is gone is kept, for people to see."""

LEAVE_SECONDS = 1.0

_log = logging.getLogger(__name__)

_NOW = sa.cast(sa.extract("epoch", sa.func.clock_timestamp()), sa.Float)
_UNTIL = _NOW + sa.bindparam("seconds", type_=sa.Float)
_RENEW = (
    insert(replica)
    .values(id=sa.bindparam("own"), until=_UNTIL, started_at=_NOW, host=sa.bindparam("at"))
    .on_conflict_do_update(index_elements=[replica.c.id], set_={"until": _UNTIL})
)
_FORGET = sa.delete(replica).where(replica.c.until < _NOW - FORGOTTEN_SECONDS)
_LEAVE = sa.delete(replica).where(replica.c.id == sa.bindparam("own"))
_LIVING = sa.select(replica.c.id).where(replica.c.until >= _NOW)
_OLDEST = (
    sa.select(replica.c.id)
    .where(replica.c.until >= _NOW)
    .order_by(replica.c.started_at, replica.c.id)
    .limit(1)
)
_ALL = sa.select(replica.c.host, replica.c.until - _NOW).order_by(replica.c.started_at)
_SENDERS = sa.select(outbox.c.boot).where(outbox.c.state == "sending").distinct()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """Seconds: how long a lease holds, and how often it is renewed and the others are looked at."""

    lease: float = 10.0
    beat: float = 2.0


@dataclass(frozen=True, slots=True)
class Peer:
    """A replica as the database shows it: where it runs, and the seconds that its lease still holds
    (below zero: since when it is gone).
    """

    host: str
    left_seconds: float


def clock() -> float:
    """Seconds that go on while a process is stopped or its machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _here() -> str:
    """Where this process is, for people."""
    return f"{socket.gethostname()[:180]} process {os.getpid()}"


class Replicas:
    """This process among those that share the database, which must be PostgreSQL."""

    def __init__(
        self, database: Database, engine: Engine, pulse: Pulse, tick: Callable[[], float] = clock
    ) -> None:
        self._database = database
        self._engine = engine
        self._pulse = pulse
        self._tick = tick
        self._renewal = Blocking("lease", 1)  # its own thread: it waits for nothing else
        self._looking = Blocking("replicas", 1)
        self._holds_until = 0.0
        self._judges_from = 0.0
        self._tasks: list[asyncio.Task[None]] = []

    def holds(self) -> bool:
        """Whether this process may begin what others can see: nobody takes it for dead yet."""
        return self._tick() < self._holds_until

    def leads(self) -> bool:
        """Whether this process does what one alone must do: its lease is the oldest; it blocks."""
        with self._database.reading() as connection:
            return connection.execute(_OLDEST).scalar() == self._engine.executor

    async def join(self) -> None:
        """Take the lease, before anything is run or sent under its name; StoreUnavailable."""
        await self.renew()
        await self._looking.run(self._take_letters)

    def start(self, tell: Callable[[], None]) -> None:
        """Renew it and watch the others from now on; `tell` is called when messages came over."""
        self._tasks = [
            asyncio.create_task(self._renewing(), name="lease"),
            asyncio.create_task(self._watching(tell), name="replicas"),
        ]

    async def leave(self) -> None:
        """Give the lease back: others take over at once. Nothing may be run or sent after this."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._holds_until = 0.0
        try:
            async with asyncio.timeout(LEAVE_SECONDS):
                await self._renewal.run(self._end)
        except (StoreUnavailable, TimeoutError) as error:
            _log.warning("the lease of this replica runs out by itself: %s", error)
        for pool in (self._renewal, self._looking):
            pool.close()

    async def renew(self) -> None:
        """Hold the lease for as long again; StoreUnavailable."""
        await self._renewal.run(self._renew)

    async def look(self) -> bool:
        """Take over from those who have no lease any more; whether messages came over."""
        if not self.holds() or self._tick() < self._judges_from:
            return False
        owners = set((await self._engine.owned()).values())
        living = await self._looking.run(self._living)  # after: who owns had a lease before
        gone = owners - living
        if gone:
            taken = await self._looking.run(self._engine.recover, gone)
            _log.warning("%d investigations of %d replicas that are gone go on", taken, len(gone))
        return await self._looking.run(self._take_letters) > 0

    def peers(self) -> tuple[Peer, ...]:
        """All replicas, the oldest first, those that are gone for a while too; it blocks."""
        with self._database.reading() as connection:
            return tuple(Peer(host, float(left)) for host, left in connection.execute(_ALL))

    async def _renewing(self) -> None:
        turns = Turns("the lease of this replica")
        while True:
            await asyncio.sleep(self._pulse.beat)
            await turns.take(self.renew())

    async def _watching(self, tell: Callable[[], None]) -> None:
        turns = Turns("the look at other replicas")
        while True:
            await asyncio.sleep(self._pulse.beat)
            if await turns.take(self.look()):
                tell()

    def _renew(self) -> None:
        began = self._tick()
        with self._database.pulsing() as connection:
            own = {"own": self._engine.executor, "seconds": self._pulse.lease}
            connection.execute(_RENEW, own | {"at": _here()})
            connection.execute(_FORGET)
        if 0.0 < self._holds_until <= began:
            # what kept this one from renewing may have kept the others: they get the time to
            self._judges_from = began + self._pulse.lease
        self._holds_until = began + self._pulse.lease

    def _living(self) -> frozenset[str]:
        with self._database.pulsing() as connection:
            return frozenset(connection.execute(_LIVING).scalars()) | {self._engine.executor}

    def _take_letters(self) -> int:
        """Make messages pending that somebody was sending who is gone; how many."""
        with self._database.reading() as connection:
            senders = set(connection.execute(_SENDERS).scalars())
        if senders <= self._living():
            return 0
        with self._database.writing() as connection:
            living = set(connection.execute(_LIVING).scalars()) | {self._engine.executor}
            return letters.take_over(connection, living)

    def _end(self) -> None:
        with self._database.pulsing() as connection:
            connection.execute(_LEAVE, {"own": self._engine.executor})
