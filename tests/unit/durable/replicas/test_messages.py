"""Messages of several replicas: one for each incident, sent by who has a lease."""

import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable import outbox as sending
from tailhound.durable.boot import Boot
from tailhound.durable.outbox import Outbox
from tailhound.durable.replicas import Pulse, Replicas
from tailhound.errors import StoreUnavailable
from tailhound.store.database import Database, open_database
from tailhound.store.tables import outbox as table
from tests.databases import url_of
from tests.unit.durable import kit
from tests.unit.durable.fakes import Chat
from tests.unit.durable.kit import CHANNEL, alert
from tests.unit.durable.replicas.kit import engine, expire, never, replica

pytestmark = pytest.mark.postgres


async def _sending_by(database: Database, folder: Path, name: str) -> str:
    """An incident whose first post somebody was about to send; its id."""
    async with kit.intake_alone(folder) as desk:
        (id,) = (await desk.accept(alert())).incidents
    with database.writing() as connection:
        connection.execute(sa.update(table).values(state="sending", boot=name, attempt=1))
    return id


def _row(database: Database) -> sa.Row[tuple[object, ...]]:
    with database.reading() as connection:
        return connection.execute(sa.select(table)).one()


def test_a_lease_is_renewed_while_a_look_at_the_others_waits_for_who_writes(
    database: Database, folder: Path
) -> None:
    async def scene() -> None:
        await _sending_by(database, folder, "gone")
        async with engine(folder, never) as running:
            one = Replicas(database, running, Pulse(lease=1.0, beat=0.1), time.monotonic)
            await one.renew()
            with database.writing():
                begun = time.monotonic()
                one.start(lambda: None)
                await kit.until(lambda: time.monotonic() > begun + 2.5 or not one.holds())
                assert one.holds()
            await kit.until(lambda: _row(database).state == "pending")
            await one.leave()

    kit.run(scene())


def test_what_a_living_replica_is_sending_is_left_to_it(database: Database, folder: Path) -> None:
    async def scene() -> None:
        await replica(database, "one").join()
        await _sending_by(database, folder, "one")
        await replica(database, "two").join()
        assert _row(database).state == "sending"
        expire(database, "one")
        await replica(database, "three").join()
        assert (_row(database).state, _row(database).unsure) == ("pending", True)

    kit.run(scene())


def test_two_senders_send_one_message_for_each_incident(database: Database, folder: Path) -> None:
    async def scene() -> None:
        chat = Chat(delay=0.002)
        other = open_database(url_of(folder))
        senders = [
            Outbox(each, {"chat": chat}, [CHANNEL], Boot(id=name))
            for each, name in ((database, "one"), (other, "two"))
        ]
        for name in ("one", "two"):
            await replica(database, name).join()
        for sender in senders:
            await sender.start()
        async with kit.intake_alone(folder) as desk:
            ids: list[str] = []
            for i in range(30):
                ids += (await desk.accept(alert(f"w{i}", fingerprint=f"f{i}"))).incidents
                for sender in senders:
                    sender.wake()
        await kit.until(lambda: set(chat.sent) == set(ids))
        for sender in senders:
            await sender.stop()
        other.close()
        assert [len(chat.posts(id)) for id in ids] == [1] * 30
        assert all(count.incidents == 0 for count in await _no_troubles(database, chat))

    kit.run(scene())


async def _no_troubles(database: Database, chat: Chat) -> list[sending.Trouble]:
    idle = Outbox(database, {"chat": chat}, [CHANNEL], Boot())
    return list(await idle.troubles())


def test_what_one_replica_accepts_another_one_posts_within_its_poll(
    database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "IDLE_SECONDS", 0.05)

    async def scene() -> None:
        chat = Chat()
        sender = Outbox(database, {"chat": chat}, [CHANNEL], Boot())
        await sender.start()
        async with kit.intake_alone(folder) as desk:
            (id,) = (await desk.accept(alert())).incidents
            await kit.until(lambda: chat.posts(id))
        await sender.stop()

    kit.run(scene())


def test_who_has_no_lease_sends_nothing(database: Database, folder: Path) -> None:
    async def scene() -> None:
        chat, holding = Chat(), False
        sender = Outbox(database, {"chat": chat}, [CHANNEL], Boot(holds=lambda: holding))
        async with kit.intake_alone(folder) as desk:
            (id,) = (await desk.accept(alert())).incidents
            await sender.start()
            await kit.until(lambda: "taken for dead" in str(_row(database).error))
            assert not chat.messages
            holding = True
            await kit.until(lambda: chat.posts(id))
        await sender.stop()

    kit.run(scene())


def test_a_claim_that_nobody_knows_of_is_taken_back(database: Database, folder: Path) -> None:
    class Cut(Outbox):
        """A sender that loses the database once, right after it has claimed."""

        cuts = 1

        def _opened(self, *args: object) -> object:  # type: ignore[override]
            if self.cuts:
                self.cuts -= 1
                raise StoreUnavailable("the connection is gone")
            return super()._opened(*args)  # type: ignore[arg-type]

    async def scene() -> None:
        chat = Chat()
        sender = Cut(database, {"chat": chat}, [CHANNEL], Boot())
        async with kit.intake_alone(folder) as desk:
            (id,) = (await desk.accept(alert())).incidents
            await sender.start()
            await kit.until(lambda: _row(database).state == "sent")
        await sender.stop()
        assert len(chat.posts(id)) == 1

    kit.run(scene())
