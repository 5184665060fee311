"""Alertmanager's stand-in and an office, for the tests of silences."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.actions.silence import Matcher, Silence
from tailhound.durable.acts import Click, Person
from tailhound.durable.blocking import Blocking
from tailhound.durable.boot import Boot
from tailhound.durable.desk import Desk
from tailhound.durable.joins import Joining
from tailhound.durable.silences import Silences, Wish
from tailhound.durable.silencing import Silencing
from tailhound.durable.tasks import Task
from tailhound.model import Incident, Missing, Reason
from tailhound.store.database import Database
from tailhound.store.incidents import IncidentReader
from tailhound.store.tables import silence as table
from tests.unit.durable import kit
from tests.unit.durable.kit import Clock, alert

ANA = Person("U1", "ana")


OTHER = "other"


WISH = Wish(matchers=(Matcher("namespace", "prod"),), hours=2.0, why="Known, being fixed", alerts=3)


@dataclass
class Fake:
    """Alertmanager as it behaves: a silence that is sent twice stands twice."""

    answers: list[str] = field(default_factory=list)
    stands: dict[str, Silence] = field(default_factory=dict)
    looks: list[str | Missing] = field(default_factory=list)
    ends: list[Missing] = field(default_factory=list)

    async def set(self, silence: Silence, deadline: float) -> str | Missing:
        answer = self.answers.pop(0) if self.answers else "ok"
        if answer == "refuse":
            return Missing(Reason.FORBIDDEN, "HTTP 403: these credentials may not set silences")
        if answer == "down":
            return Missing(Reason.UNREACHABLE, "am:9093 refused the connection")
        id = f"remote-{len(self.stands) + 1}"
        self.stands[id] = silence
        return id if answer == "ok" else Missing(Reason.TIMEOUT, "am:9093 sent nothing for 5 s")

    async def find(self, silence: str, deadline: float) -> str | Missing:
        if self.looks:
            return self.looks.pop(0)
        return next((id for id, one in self.stands.items() if one.id == silence), "")

    async def is_active(self, remote_id: str, deadline: float) -> bool | Missing:
        return remote_id in self.stands

    async def end(self, remote_id: str, deadline: float) -> Missing | None:
        if self.ends:
            return self.ends.pop(0)
        self.stands.pop(remote_id, None)
        return None


@dataclass
class Office:
    """One incident, Alertmanager, and the loop between them (not running)."""

    silences: Silences
    loop: Silencing
    remote: Fake
    database: Database
    clock: Clock
    id: str
    other: str
    joining: Joining

    def incident(self, id: str = "") -> Incident:
        """The incident as people see it."""
        found = IncidentReader.of(self.database).get(id or self.id)
        assert found is not None
        return found

    def join(self) -> None:
        """The incident turns out to be about the workload of the other one, which came first."""
        assert self.joining.join(self.id, f"workload:/prod/{OTHER}") == self.other

    def ask(self, envelope: str = "e1") -> bool:
        """Somebody wants the silence."""
        return self.silences.ask(Click(self.id, ANA, envelope), WISH)

    def state(self) -> str:
        """Where the one silence stands."""
        with self.database.reading() as connection:
            return str(connection.execute(sa.select(table.c.state)).scalar_one())

    def later(self, seconds: float) -> None:
        """So much time goes by, also for the database's own clock."""
        self.clock.advance(seconds)
        if not self.database.is_sqlite:
            with self.database.writing() as connection:
                earlier = table.c.claimed_at - seconds
                connection.execute(sa.update(table).values(claimed_at=earlier))

    async def until(self, state: str) -> None:
        """Run the loop until the silence is in this state."""
        task = asyncio.create_task(self.loop.run(lambda: None))
        try:
            await kit.until(lambda: self.state() == state)
        finally:
            task.cancel()
            await asyncio.wait([task])


@asynccontextmanager
async def opened(
    folder: Path, *answers: str, holds: Callable[[], bool] = lambda: True
) -> AsyncIterator[Office]:
    async with kit.intake_alone(folder) as intake:
        (other,) = (await intake.accept(alert(OTHER))).incidents
        intake.clock.advance(1)
        (id,) = (await intake.accept(alert())).incidents

        def nothing(_connection: sa.Connection, *_tasks: Task) -> None:
            raise AssertionError("a silence asks for no investigation")

        desk = Desk(intake.database, kit.terms, nothing, Boot(clock=intake.clock, holds=holds))
        silences, remote = Silences(desk), Fake(list(answers))
        blocking = Blocking("silences", 1)
        loop = Silencing(silences, remote, blocking, desk)
        yield Office(
            silences, loop, remote, intake.database, intake.clock, id, other, Joining(desk)
        )
        blocking.close()


FORBIDDEN = Missing(Reason.FORBIDDEN, "HTTP 403: grant them writing")


GONE = Missing(Reason.UNREACHABLE, "am:9093 refused the connection")


on_both = pytest.mark.usefixtures("each_database")
