"""The durable part as one thing: intake, engine, outbox and sweep over one database."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from tailhound.durable.acts import Acts
from tailhound.durable.admission import Accepted
from tailhound.durable.arrivals import ReadGroup
from tailhound.durable.asking import INVESTIGATE, LATE, Terms
from tailhound.durable.blocking import Blocking
from tailhound.durable.boot import Boot
from tailhound.durable.cases import Cases
from tailhound.durable.desk import Desk
from tailhound.durable.engine import Engine, Queue, Task
from tailhound.durable.intake import Intake
from tailhound.durable.investigating import InvestigatorFor
from tailhound.durable.joins import Joining
from tailhound.durable.outbox import Manners, Outbox
from tailhound.durable.sweep import Sweeper
from tailhound.durable.switch import Switch
from tailhound.durable.tidy import TICK, Tidying
from tailhound.durable.wishes import Wishes
from tailhound.durable.workflow import Investigations, Workshop
from tailhound.notifiers import Notifier
from tailhound.store.database import Database

R = TypeVar("R")

LATE_CONCURRENCY = 10
TICK_POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the durable part is given: the database, the settings' terms, and who does the work.

    The database must stay open until `Durable.stop` has returned. `poll_seconds` is how often the
    queue of investigations is looked at.
    """

    database: Database
    terms: Callable[[], Terms]
    investigator_for: InvestigatorFor
    read_group: ReadGroup
    notifiers: Mapping[str, Notifier] = field(default_factory=dict)
    boot: Boot = field(default_factory=Boot)
    manners: Manners = field(default_factory=Manners)
    poll_seconds: float = 0.1


class Durable:
    """Accepts alerts, investigates them and shows what came of it, whatever kills the process."""

    def __init__(self, given: Surroundings) -> None:
        terms = given.terms()
        self._given = given
        self.engine = Engine(given.database)
        self.outbox = Outbox(
            given.database, given.notifiers, terms.places, given.boot, given.manners
        )
        self._desk = Desk(given.database, given.terms, self.engine.enqueue, given.boot)
        self.intake = Intake(
            given.database, given.terms, self.engine.enqueue, given.read_group, given.boot
        )
        self._blocking = Blocking("cases", 2)
        self.sweeper = Sweeper(
            self.engine, self._desk, self._blocking, is_alone=given.database.is_sqlite
        )
        self._sweep: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Take up what an earlier life left; ready to accept when this returns.

        Workflows and sender run on the event loop that this is called from.
        """
        shop = Workshop(
            cases=Cases(self._desk),
            joining=Joining(self._desk),
            terms=self._given.terms,
            investigator_for=self._given.investigator_for,
            boot=self._given.boot,
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
        tidying = Tidying(self.engine, self._given.database, self._given.boot, self._blocking)
        await self._blocking.run(self.engine.prepare, queues)
        await self.outbox.start()
        await self.engine.start(
            {INVESTIGATE: bodies.investigate, LATE: bodies.late, TICK: tidying.tick}
        )
        self._sweep = asyncio.create_task(self.sweeper.run(self.outbox.wake), name="sweep")
        self.intake.start(self.outbox.wake)

    async def stop(self) -> None:
        """Stop within 5 s; what is cut off goes on in the next life."""
        await self.intake.stop()
        if self._sweep is not None:
            self._sweep.cancel()
            await asyncio.wait([self._sweep])
        await asyncio.gather(self.outbox.stop(), self.engine.stop())
        self._blocking.close()

    async def accept(self, body: bytes) -> Accepted:
        """See `Intake.accept`."""
        return await self.intake.accept(body)

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
        done = await self._blocking.run(lambda: act(Acts(self._desk)))
        self.outbox.wake()
        return done

    async def switch(self, move: Callable[[Switch], R]) -> R:
        """Read or move the stop switch (`durable.switch`)."""
        return await self._blocking.run(lambda: move(Switch(self._desk)))

    async def check_now(self, incident_id: str) -> bool:
        """Start the investigation that waits its turn; False when none waits.

        The incident gets its own message too.
        """
        n = await self._blocking.run(Wishes(self._desk).waiting, incident_id)
        if n is not None:
            await self.engine.take_up(f"{INVESTIGATE}:{incident_id}:{n}")
        self.outbox.wake()
        return n is not None

    async def recheck(self, incident_id: str, by: str, envelope_id: str) -> bool:
        """Ask for another investigation; False when this very click was known already.

        LookupError when there is no such incident; StoreUnavailable when nothing was stored.
        """
        asked = await self._blocking.run(Wishes(self._desk).recheck, incident_id, by, envelope_id)
        self.outbox.wake()
        return asked
