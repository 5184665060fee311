"""An outbox with its chat service, without intake's engine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from tailhound.durable.asking import noted, show
from tailhound.durable.boot import Boot
from tailhound.durable.engine import Engine
from tailhound.durable.outbox import Manners, Outbox
from tailhound.durable.replicas import Pulse, Replicas
from tailhound.notifiers import Delivery, Later, Posted, Refusal
from tailhound.store import records
from tailhound.store.tables import outbox as table
from tests.unit.durable import kit
from tests.unit.durable.fakes import Chat
from tests.unit.durable.kit import CHANNEL, Desk, alert


@dataclass
class Post:
    """Intake, and a sender beside it."""

    desk: Desk
    chat: Chat
    sender: Outbox

    def change(self, id: str, *, urgent: bool, **changes: object) -> int:
        """Change what people see of an incident; its new revision."""
        now = self.desk.clock.now
        with self.desk.database.writing() as connection:
            after = records.change(
                connection, id, lambda r: noted(r.edited(**changes), now, "a change"), now
            )
            assert after is not None
            show(connection, [(after, urgent)])
        self.sender.wake()
        return after.incident.revision

    def row(self, id: str) -> sa.Row[tuple[object, ...]]:
        """The outbox row of an incident."""
        with self.desk.database.reading() as connection:
            return connection.execute(sa.select(table).where(table.c.incident_id == id)).one()

    async def settled(self, id: str) -> None:
        """Wait until the row has nothing to send."""
        await kit.until(lambda: self.row(id).state in ("sent", "broken"))


@dataclass
class Choking(Chat):
    """A service that has no answer for one incident, and asks to be left alone each time."""

    chokes_on: str = ""

    async def deliver(self, delivery: Delivery) -> Posted | Later | Refusal:
        if delivery.incident.id == self.chokes_on:
            return Later(0.2, "internal_error")
        return await super().deliver(delivery)


@asynccontextmanager
async def post(
    folder: Path, *answers: str, boot: Boot | None = None, call_seconds: float = 5.0
) -> AsyncIterator[Post]:
    async with kit.intake_alone(folder) as desk:
        chat = Chat(answers=list(answers))
        boot = boot or Boot()
        manners = Manners(call_seconds=call_seconds)
        sender = Outbox(desk.database, {"chat": chat}, [CHANNEL], boot, manners)
        if not desk.database.is_sqlite:
            await Replicas(desk.database, Engine(desk.database, boot.id), Pulse()).join()
        await sender.start()
        try:
            yield Post(desk, chat, sender)
        finally:
            await sender.stop()


async def accept(at: Post, workload: str = "llm-70b") -> str:
    """An incident that the sender has news of; its id."""
    (id,) = (await at.desk.accept(alert(workload, fingerprint=workload))).incidents
    at.sender.wake()
    return id
