"""The durable part as one thing: intake, engine, outbox and sweep over one database."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from tailhound.durable.acts import Acts, Click
from tailhound.durable.arrivals import ReadGroup
from tailhound.durable.asking import INVESTIGATE, LATE, Terms
from tailhound.durable.blocking import Blocking
from tailhound.durable.boot import Boot
from tailhound.durable.by_hand import AskedByHand
from tailhound.durable.cases import Cases
from tailhound.durable.desk import Desk
from tailhound.durable.engine import Engine
from tailhound.durable.intake import Intake
from tailhound.durable.investigating import InvestigatorFor
from tailhound.durable.joins import Joining
from tailhound.durable.known import Accepted
from tailhound.durable.outbox import Manners, Outbox
from tailhound.durable.replicas import Pulse, Replicas
from tailhound.durable.silences import Silences, Wish
from tailhound.durable.silencing import Silencer, Silencing
from tailhound.durable.sweep import Sweeper
from tailhound.durable.switch import Switch
from tailhound.durable.tasks import Queue, Task
from tailhound.durable.tidy import TICK, Tidying
from tailhound.durable.wishes import Wishes
from tailhound.durable.workflow import Investigations, Workshop
from tailhound.errors import StoreUnavailable
from tailhound.notifiers import Notifier
from tailhound.store.database import Database

R = TypeVar("R")

LATE_CONCURRENCY = 50
"""A late run waits nearly all of its time, and asks a silent backend one question in 30 s."""

TICK_POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the durable part is given: the database, the settings' terms, and who does the work.

    The database must stay open until `Durable.stop` has returned. `poll_seconds` is how often the
    queue of investigations is looked at. `pulse` is that of a replica on PostgreSQL. Without a
    `silencer` no silence is set. While `stop_file` exists all changes are stopped.
    """

    database: Database
    terms: Callable[[], Terms]
    investigator_for: InvestigatorFor
    read_group: ReadGroup
    notifiers: Mapping[str, Notifier] = field(default_factory=dict)
    boot: Boot = field(default_factory=Boot)
    manners: Manners = field(default_factory=Manners)
    poll_seconds: float = 0.1
    pulse: Pulse = field(default_factory=Pulse)
    silencer: Silencer | None = None
    stop_file: Path | None = None


class Durable:
    """Accepts alerts, investigates them and shows what came of it, whatever kills the process."""

    def __init__(self, given: Surroundings) -> None:
        terms, database = given.terms(), given.database
        self._given = given
        self.engine = Engine(database, given.boot.id)
        self.replicas = None if database.is_sqlite else Replicas(database, self.engine, given.pulse)
        boot = replace(given.boot, holds=self.replicas.holds) if self.replicas else given.boot
        self._boot = boot
        self.outbox = Outbox(database, given.notifiers, terms.places, boot, given.manners)
        self._desk = Desk(database, given.terms, self.engine.enqueue, boot)
        self.intake = Intake(database, given.terms, self.engine.enqueue, given.read_group, boot)
        self._blocking = Blocking("cases", 2)
        self._people = Blocking("people", 2)  # a click never queues behind investigations
        self.sweeper = Sweeper(
            self.engine, self._desk, self._blocking, self.intake.ear, self.intake.closed
        )
        self.silencing = self._silencing(given.silencer)
        self.by_hand = AskedByHand(database, boot, self._blocking, self.ask)
        self._tasks: list[asyncio.Task[None]] = []

    def _silencing(self, silencer: Silencer | None) -> Silencing | None:
        if silencer is None:
            return None
        return Silencing(Silences(self._desk), silencer, self._blocking, self._desk)

    async def start(self) -> None:
        """Take up what an earlier life left; ready to accept when this returns.

        Workflows and sender run on the event loop that this is called from.
        """
        shop = Workshop(
            cases=Cases(self._desk),
            joining=Joining(self._desk, self.intake.joined),
            terms=self._given.terms,
            investigator_for=self._given.investigator_for,
            boot=self._boot,
            tell=self.outbox.wake,
            blocking=self._blocking,
        )
        bodies = Investigations(self.engine, shop)
        poll = self._given.poll_seconds
        queues = (
            Queue(INVESTIGATE, self._given.terms().incidents.concurrency, poll),
            Queue(LATE, LATE_CONCURRENCY, 5 * poll),
            Queue(TICK, 1, TICK_POLL_SECONDS),
        )
        tidying = Tidying(self.engine, self._desk, self._blocking)
        await self._blocking.run(self.engine.prepare, queues)
        if self.replicas:
            await self.replicas.join()
        await self.outbox.start()
        await self.engine.start(
            {INVESTIGATE: bodies.investigate, LATE: bodies.late, TICK: tidying.tick}
        )
        if self.replicas:
            self.replicas.start(self.outbox.wake)
        tell = self.outbox.wake
        self._tasks = [asyncio.create_task(self.sweeper.run(tell), name="sweep")]
        if self.silencing:
            self._tasks.append(asyncio.create_task(self.silencing.run(tell), name="silences"))
        self._tasks.append(asyncio.create_task(self.by_hand.run(), name="by hand"))
        self.intake.start(self.outbox.wake)

    async def stop(self) -> None:
        """Stop within 5 s; what is cut off goes on in the next life."""
        await self.intake.stop()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await asyncio.gather(self.outbox.stop(), self.engine.stop())
        if self.replicas:
            await self.replicas.leave()
        for pool in (self._people, self._blocking):
            pool.close()

    def living(self) -> int:
        """How many processes serve this database, this one included; 0 = not known now. Blocks."""
        if self.replicas is None:
            return 1
        try:
            peers = self.replicas.peers()
        except StoreUnavailable:
            return 0
        return max(1, sum(1 for peer in peers if peer.left_seconds >= 0))

    async def accept(self, body: bytes) -> Accepted:
        """See `Intake.accept`."""
        return await self.intake.accept(body)

    async def ask(self, body: bytes) -> Accepted:
        """As `accept`, for what a person asked (`durable.by_hand.body_of`)."""
        return await self.intake.accept(body, by_hand=True)

    async def tick(self, job: str, due: datetime) -> None:
        """Queue a scheduled job under an id made of its time: replicas queue it once."""
        seconds = int(due.timestamp())
        task = Task(
            workflow=TICK, id=f"{TICK}:{job}:{seconds}", queue=TICK, args=(job, seconds, "")
        )

        def put() -> None:
            with self._given.database.writing() as connection:
                self.engine.enqueue(connection, task)

        await self._blocking.run(put)

    async def act(self, act: Callable[[Acts], R]) -> R:
        """Do what a person asked for (`durable.acts`), and let it be shown.

        LookupError when there is no such incident; StoreUnavailable when nothing was stored.
        """
        done = await self._people.run(lambda: act(Acts(self._desk)))
        self.outbox.wake()
        return done

    async def switch(self, move: Callable[[Switch], R]) -> R:
        """Read or move the stop switch (`durable.switch`)."""
        return await self._people.run(lambda: move(Switch(self._desk, self._given.stop_file)))

    async def silence(self, pressed: Click, wish: Wish) -> bool:
        """Store a silence that somebody wants; it is set in Alertmanager a moment later.

        False when that very click was known. LookupError, StoreUnavailable as for `act`.
        """
        stored = await self._people.run(Silences(self._desk).ask, pressed, wish)
        if self.silencing:
            self.silencing.wake()
        return stored

    async def end_silence(self, pressed: Click, remote_id: str) -> bool:
        """Store that a silence shall end; False when it has ended already.

        LookupError when it is none of the incident's; StoreUnavailable as for `act`.
        """
        stored = await self._people.run(Silences(self._desk).end, pressed, remote_id)
        if self.silencing:
            self.silencing.wake()
        return stored

    async def check_now(self, incident_id: str) -> bool:
        """Start the investigation that waits its turn; False when none waits.

        The incident gets its own message too.
        """
        n = await self._people.run(Wishes(self._desk).waiting, incident_id)
        if n is not None:
            await self.engine.take_up(f"{INVESTIGATE}:{incident_id}:{n}")
        self.outbox.wake()
        return n is not None

    async def recheck(self, incident_id: str, by: str, envelope_id: str) -> bool | str:
        """Ask for another investigation; False when this very click was known already, a sentence
        that says why not where the incident is over.

        LookupError when there is no such incident; StoreUnavailable when nothing was stored.
        """
        asked = await self._people.run(Wishes(self._desk).recheck, incident_id, by, envelope_id)
        self.outbox.wake()
        return asked
