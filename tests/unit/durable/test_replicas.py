"""Replicas on one PostgreSQL: leases, who takes over what, and who must keep still."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable import outbox as sending
from tailhound.durable.boot import Boot
from tailhound.durable.engine import Engine
from tailhound.durable.intake import Intake
from tailhound.durable.outbox import Outbox
from tailhound.durable.replicas import Pulse, Replicas
from tailhound.durable.tasks import Fate, Queue, Task, Workflow
from tailhound.errors import StoreUnavailable
from tailhound.sources.alertmanager import read_group
from tailhound.store.database import Database, open_database
from tailhound.store.incidents import IncidentReader
from tailhound.store.tables import outbox as table
from tests.databases import on_postgres, the_server, url_of
from tests.unit.durable import kit
from tests.unit.durable.kit import CHANNEL, Chat, alert, body

pytestmark = pytest.mark.postgres

QUEUE = Queue("inv", 50, 0.02)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    server = the_server()
    url = server.copied()
    on_postgres(tmp_path, url)
    yield tmp_path
    server.drop(url)


@pytest.fixture
def database(folder: Path) -> Iterator[Database]:
    opened = open_database(url_of(folder))
    yield opened
    opened.close()


class Tick:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def replica(database: Database, name: str, tick: Tick | None = None) -> Replicas:
    """A replica that only has its lease, and beats when it is told to."""
    return Replicas(database, Engine(database, name), Pulse(), tick or Tick())


async def beat(one: Replicas) -> None:
    """What a replica does again and again, once."""
    await one.renew()
    await one.look()


def _expire(database: Database, name: str) -> None:
    with database.writing() as connection:
        connection.execute(sa.text("UPDATE th_replica SET until = 0 WHERE id = :id"), {"id": name})


# --- the lease ---


def test_a_lease_holds_until_it_runs_out_and_again_once_it_is_renewed(database: Database) -> None:
    async def scene() -> None:
        tick = Tick()
        one = replica(database, "one", tick)
        assert not one.holds()
        await one.join()
        tick.now += 9.9
        assert one.holds()
        tick.now += 0.2
        assert not one.holds()
        await one.join()
        assert one.holds()
        await one.leave()
        assert not one.holds()

    kit.run(scene())


def test_a_lease_counts_from_before_it_was_asked_for(database: Database) -> None:
    async def scene() -> None:
        tick = Tick()

        def slow() -> float:
            tick.now += 3.0  # each look at the clock: the database took its time
            return tick.now

        one = Replicas(database, Engine(database, "one"), Pulse(), slow)
        await one.join()
        assert one._holds_until == 1013.0

    kit.run(scene())


def test_the_oldest_that_lives_leads_and_when_it_is_gone_the_next(database: Database) -> None:
    async def scene() -> None:
        one, two = replica(database, "one"), replica(database, "two")
        await one.join()
        await two.join()
        assert (one.leads(), two.leads()) == (True, False)
        _expire(database, "one")
        assert (one.leads(), two.leads()) == (False, True)

    kit.run(scene())


def test_people_see_who_lives_and_who_is_gone(database: Database) -> None:
    async def scene() -> None:
        one, two = replica(database, "one"), replica(database, "two")
        await one.join()
        await two.join()
        _expire(database, "one")
        gone, living = one.peers()
        assert gone.left_seconds < 0 < living.left_seconds <= 10
        await two.leave()
        assert len(one.peers()) == 1

    kit.run(scene())


# --- messages ---


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
        async with engine(folder, _never) as running:
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
        _expire(database, "one")
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


# --- investigations ---


@asynccontextmanager
async def engine(folder: Path, workflow: Workflow, name: str = "here") -> AsyncIterator[Engine]:
    database = open_database(url_of(folder))
    running = Engine(database, name)
    await asyncio.get_running_loop().run_in_executor(None, running.prepare, [QUEUE])
    await running.start({"inv": workflow})
    try:
        yield running
    finally:
        await running.stop()
        database.close()


def _ask(database: Database, n: int) -> str:
    task = Task("inv", f"inv:7F3K:{n}", "inv", ("7F3K", n, "sha"))
    with database.accepting() as connection:
        Engine(database, "elsewhere").enqueue(connection, task)
    return task.id


def _own(database: Database, id: str, owner: str) -> None:
    """Let a workflow be one that this executor runs."""
    with database.writing() as connection:
        connection.execute(
            sa.text(
                "UPDATE workflow_status SET status = 'PENDING', executor_id = :owner, "
                "owner_xid = 'x', started_at_epoch_ms = 1 WHERE workflow_uuid = :id"
            ),
            {"owner": owner, "id": id},
        )


def _rows(database: Database) -> dict[str, tuple[str, str, str | None]]:
    asked = "SELECT workflow_uuid, status, queue_name, owner_xid FROM workflow_status"
    with database.reading() as connection:
        return {row[0]: tuple(row[1:]) for row in connection.exec_driver_sql(asked)}


async def _never(id: str, n: int, sha: str) -> str:
    await asyncio.Event().wait()
    return "never"


def test_only_what_those_executors_ran_is_queued_again_on_its_own_queue(
    database: Database, folder: Path
) -> None:
    """The contract of the engine's private verb: whoever upgrades it must see this."""

    async def scene() -> None:
        async with engine(folder, _never) as running:
            with database.writing() as connection:  # nobody may run them meanwhile
                connection.exec_driver_sql("UPDATE queues SET worker_concurrency = 0")
            ids = [_ask(database, n) for n in range(3)]
            _own(database, ids[0], "gone")
            _own(database, ids[1], "living")
            assert await running.owned() == {ids[0]: "gone", ids[1]: "living"}
            assert running.recover(["gone", "unheard of"]) == 1
            assert _rows(database) == {
                ids[0]: ("ENQUEUED", "inv", None),
                ids[1]: ("PENDING", "inv", "x"),
                ids[2]: ("ENQUEUED", "inv", None),
            }
            assert running.recover(["gone"]) == 0
            assert running.recover([]) == 0

    kit.run(scene())


def test_a_beat_takes_over_from_those_who_have_no_lease_and_from_nobody_else(
    database: Database, folder: Path
) -> None:
    async def scene() -> None:
        async with engine(folder, _never) as running:
            with database.writing() as connection:
                connection.exec_driver_sql("UPDATE queues SET worker_concurrency = 0")
            ids = [_ask(database, n) for n in range(3)]
            for id, owner in zip(ids, ("living", "gone", "here"), strict=True):
                _own(database, id, owner)
            for name in ("living", "gone"):
                await replica(database, name).join()
            here = Replicas(database, running, Pulse(), Tick())
            await here.join()
            await beat(here)
            assert {row[0] for row in _rows(database).values()} == {"PENDING"}
            _expire(database, "gone")
            await beat(here)
            assert [_rows(database)[id][0] for id in ids] == ["PENDING", "ENQUEUED", "PENDING"]

    kit.run(scene())


def test_who_was_cut_off_judges_nobody_until_the_others_had_their_time(
    database: Database, folder: Path
) -> None:
    async def scene() -> None:
        async with engine(folder, _never) as running:
            with database.writing() as connection:
                connection.exec_driver_sql("UPDATE queues SET worker_concurrency = 0")
            id = _ask(database, 1)
            tick = Tick()
            here = Replicas(database, running, Pulse(), tick)
            await here.join()
            await replica(database, "other").join()
            _own(database, id, "other")
            _expire(database, "other")  # by the outage that kept this one from renewing, too
            tick.now += 30
            await beat(here)
            assert _rows(database)[id][0] == "PENDING"
            tick.now += 9
            await beat(here)
            assert _rows(database)[id][0] == "PENDING"
            tick.now += 2
            await beat(here)
            assert _rows(database)[id][0] == "ENQUEUED"

    kit.run(scene())


def test_a_run_that_was_taken_away_writes_nothing_and_goes_no_further(folder: Path) -> None:
    async def scene() -> None:
        went: list[str] = []
        held = [asyncio.Event(), asyncio.Event()]
        engines: list[Engine] = []

        async def first(life: int) -> int:
            went.append(f"first {life}")
            await held[life].wait()
            return life

        async def second(by: int) -> int:
            went.append(f"second of {by}")
            return by

        async def flow(id: str, n: int, sha: str) -> str:
            step = engines[0].step
            by = await step("first", first, len(went))
            return str(await step("second", second, by))

        async with engine(folder, flow) as running:
            engines.append(running)
            database = running._database
            id = _ask(database, 1)
            await kit.until(lambda: went == ["first 0"])
            assert running.recover(["here"]) == 1  # as the others do with one that was stopped
            await kit.until(lambda: went == ["first 0", "first 1"])
            held[0].set()  # it goes on, and wants to write what it found
            await kit.until(lambda: len(running._running) == 1)
            held[1].set()
            async with asyncio.timeout(20):
                while (await running.look_up([id]))[id].fate is not Fate.ENDED:
                    await asyncio.sleep(0.02)
            assert went == ["first 0", "first 1", "second of 1"]

    kit.run(scene())


# --- intake ---


def test_what_another_replica_heard_meanwhile_makes_an_old_body_news(
    database: Database, folder: Path
) -> None:
    async def scene() -> None:
        clock = kit.Clock()
        other = open_database(url_of(folder))
        one, two = (
            Intake(each, kit.terms, Engine(each, "x").enqueue, read_group, Boot(clock=clock))
            for each in (database, other)
        )
        for intake in (one, two):
            intake.start(lambda: None)
        fires, ends = body(alert()), body(alert(ends_at="2026-11-30T02:52:00Z"))
        (id,) = (await one.accept(fires)).incidents
        assert (await one.accept(fires)).repeats == 1
        await two.accept(ends)
        assert IncidentReader.of(database).list()[0].resolved_at is not None
        clock.advance(120)
        again = await one.accept(fires)
        assert (again.incidents, again.new) == ((id,), 1)
        assert IncidentReader.of(database).list()[0].episode == 2
        for intake in (one, two):
            await intake.stop()
        other.close()

    kit.run(scene())


def test_one_alert_at_two_replicas_is_one_incident(database: Database, folder: Path) -> None:
    async def scene() -> None:
        other = open_database(url_of(folder))
        intakes = [
            Intake(each, kit.terms, Engine(each, "x").enqueue, read_group, Boot())
            for each in (database, other)
        ]
        for intake in intakes:
            intake.start(lambda: None)
        bodies = [body(alert(f"w{i % 20}", fingerprint=f"f{i}")) for i in range(60)]
        accepted = await asyncio.gather(
            *(intake.accept(content) for content in bodies for intake in intakes)
        )
        for intake in intakes:
            await intake.stop()
        incidents = IncidentReader.of(database).list(limit=100)
        assert len(incidents) == 20
        assert all(len(incident.alerts) == 3 for incident in incidents)
        assert sum(one.new for one in accepted) == 60
        assert sum(one.repeats for one in accepted) == 60
        assert len(_rows(database)) == 20
        other.close()

    kit.run(scene())
