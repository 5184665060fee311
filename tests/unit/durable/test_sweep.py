"""The sweep: whatever the engine gives up or forgets still ends in a visible outcome."""

import asyncio
import logging
from datetime import timedelta
from pathlib import Path

import pytest

from tailhound.durable.blocking import Blocking
from tailhound.durable.boot import Boot
from tailhound.durable.desk import Desk
from tailhound.durable.engine import Engine
from tailhound.durable.sweep import Sweeper
from tailhound.durable.tasks import Fate
from tailhound.errors import StoreUnavailable
from tailhound.model import Silenced, State
from tailhound.settings import Incidents
from tailhound.store import records
from tests.unit.durable import kit
from tests.unit.durable.fakes import Detective
from tests.unit.durable.kit import Clock, alert, body

pytestmark = pytest.mark.usefixtures("each_database")

LONG_AGO = 2020


def a_sweeper(lab: kit.Lab, boot: Boot | None = None) -> Sweeper:
    """One that sweeps only when it is told to, over the lab's database and engine."""
    engine = lab.durable.engine
    desk = Desk(lab.database, kit.terms, engine.enqueue, boot or Boot())
    return Sweeper(engine, desk, lab.durable.sweeper._blocking)


def test_a_run_that_the_engine_gave_up_becomes_a_visible_failure(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path, clock=Clock(LONG_AGO)) as desk:
            (id,) = (await desk.accept(alert())).incidents
            with desk.database.writing() as connection:
                connection.exec_driver_sql(
                    "UPDATE workflow_status SET status = 'MAX_RECOVERY_ATTEMPTS_EXCEEDED'"
                )
        async with kit.lab(tmp_path) as lab:
            await kit.until(lambda: lab.incident(id).state is State.FAILED)
            assert "took the process down" in lab.incident(id).failed_because
            await kit.until(lambda: (shown := lab.chat.last(id)) and shown.state is State.FAILED)
            assert await lab.durable.sweeper.sweep(0.0) == ()

    kit.run(scene())


def test_an_incident_without_a_workflow_gets_one(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path, clock=Clock(LONG_AGO)) as desk:
            (id,) = (await desk.accept(alert())).incidents
            with desk.database.writing() as connection:
                connection.exec_driver_sql("DELETE FROM workflow_input")
                connection.exec_driver_sql("DELETE FROM workflow_status")
                connection.exec_driver_sql("DELETE FROM th_investigation")
        async with kit.lab(tmp_path) as lab:
            await lab.diagnosed(id)

    kit.run(scene())


def test_a_run_that_ended_without_a_verdict_becomes_a_visible_failure(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path, clock=Clock(LONG_AGO)) as desk:
            (id,) = (await desk.accept(alert())).incidents
            with desk.database.writing() as connection:
                connection.exec_driver_sql("UPDATE workflow_status SET status = 'SUCCESS'")
        async with kit.lab(tmp_path) as lab:
            await kit.until(lambda: lab.incident(id).state is State.FAILED)
            assert "without a verdict" in lab.incident(id).failed_because

    kit.run(scene())


def test_a_run_that_nobody_runs_is_taken_up_again(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path) as lab:
            await kit.hold(lab.database, lab.durable.engine)
            id = await lab.accepted(body(alert()))
            with lab.database.writing() as connection:
                here = lab.durable.engine.executor
                connection.exec_driver_sql(
                    f"UPDATE workflow_status SET status = 'PENDING', executor_id = '{here}'"  # noqa: S608
                )
                connection.exec_driver_sql("UPDATE queues SET worker_concurrency = 50")
            ours = a_sweeper(lab)  # the lab's own makes its first pass at any time
            assert await ours.sweep(-1.0) == ()  # it may have begun just now
            assert await ours.sweep(-1.0) == (f"inv:{id}:1",)
            await lab.diagnosed(id)

    kit.run(scene())


def test_a_run_that_stands_still_although_its_process_lives_is_given_up(tmp_path: Path) -> None:
    async def scene() -> None:
        clock = Clock(LONG_AGO)
        async with kit.lab(tmp_path, detective=Detective(gate=asyncio.Event())) as lab:
            id = await lab.accepted(body(alert()))
            await kit.until(lambda: "collect" in lab.detective.calls)
            engine = lab.durable.engine
            clock.now = lab.incident(id).received_at + timedelta(seconds=5)
            watch = a_sweeper(lab, Boot(clock=clock))
            assert await watch.sweep() == ()
            for _ in range(4):  # news of the incident are no sign of its run
                clock.advance(20)
                await lab.durable.accept(body(alert(fingerprint=f"f{clock.now}")))
                assert await watch.sweep() == ()
            clock.advance(2)
            assert await watch.sweep() == (f"inv:{id}:1",)
            assert "it ran for 82 s" in lab.incident(id).failed_because.replace("\u00a0", " ")
            found = await engine.look_up([f"inv:{id}:1"])
            assert found[f"inv:{id}:1"].fate is Fate.GIVEN_UP

    kit.run(scene())


def test_nothing_counts_as_lost_while_the_database_takes_no_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        clock = Clock(LONG_AGO)
        async with kit.lab(tmp_path, detective=Detective(gate=asyncio.Event())) as lab:
            id = await lab.accepted(body(alert()))
            await kit.until(lambda: "collect" in lab.detective.calls)
            clock.now = lab.incident(id).received_at
            watch = a_sweeper(lab, Boot(clock=clock))
            clock.advance(3600)
            with monkeypatch.context() as patched:
                patched.setattr(watch, "sweep", _out_of_order)
                sweeping = asyncio.create_task(watch.run(lambda: None, 0.01))
                await kit.until(lambda: watch._ear.since == clock.now)
                sweeping.cancel()
            assert await watch.sweep() == ()
            assert lab.incident(id).state is State.INVESTIGATING

    kit.run(scene())


def test_nothing_counts_as_lost_because_the_clock_was_set(tmp_path: Path) -> None:
    async def scene() -> None:
        clock = Clock(LONG_AGO)
        async with kit.lab(tmp_path, detective=Detective(gate=asyncio.Event())) as lab:
            id = await lab.accepted(body(alert()))
            await kit.until(lambda: "collect" in lab.detective.calls)
            clock.now = lab.incident(id).received_at
            watch = a_sweeper(lab, Boot(clock=clock))
            sweeping = asyncio.create_task(watch.run(lambda: None, 0.01))
            for seconds in (3600, -7200, 7200):
                clock.advance(seconds)
                await kit.until(lambda: watch._ear.since == clock.now)
                assert await watch.sweep() == ()
            sweeping.cancel()
            assert lab.incident(id).state is State.INVESTIGATING

    kit.run(scene())


async def _out_of_order() -> tuple[str, ...]:
    raise StoreUnavailable("the database is out of order")


def test_what_runs_or_waits_behind_it_is_left_alone(tmp_path: Path) -> None:
    async def scene() -> None:
        gate = asyncio.Event()
        incidents = Incidents(concurrency=1)
        async with kit.lab(tmp_path, detective=Detective(gate=gate), incidents=incidents) as lab:
            first = await lab.accepted(body(alert()))
            await kit.until(lambda: "collect" in lab.detective.calls)
            second = await lab.accepted(body(alert("other", fingerprint="f2")))
            clock = Clock()
            clock.now = lab.incident(second).received_at
            sweeper = a_sweeper(lab, Boot(clock=clock))
            for _ in range(3):
                assert await sweeper.sweep(-1.0) == ()
                clock.advance(20)
            found = await lab.durable.engine.look_up([f"inv:{first}:1", f"inv:{second}:1"])
            assert [seen.fate for seen in found.values()].count(Fate.WAITING) == 1
            gate.set()
            await lab.diagnosed(first)
            await lab.diagnosed(second)
            assert await sweeper.sweep(-1.0) == ()

    logging.getLogger("dbos").setLevel("ERROR")
    kit.run(scene())


def test_what_waits_although_nothing_runs_is_given_up(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path) as lab:
            await kit.hold(lab.database, lab.durable.engine)
            id = await lab.accepted(body(alert()))
            clock = Clock()
            clock.now = lab.incident(id).received_at
            sweeper = a_sweeper(lab, Boot(clock=clock))
            clock.advance(80)
            assert await sweeper.sweep() == ()
            clock.advance(2)
            assert await sweeper.sweep() == (f"inv:{id}:1",)
            assert "while nothing ran" in lab.incident(id).failed_because
            assert await sweeper.sweep() == ()

    logging.getLogger("dbos").setLevel("ERROR")
    kit.run(scene())


def _sweeper(desk: kit.Desk) -> tuple[Sweeper, Blocking]:
    blocking = Blocking("test", 1)
    engine = Engine(desk.database)
    given = Desk(desk.database, kit.terms, engine.enqueue, Boot(clock=desk.clock))
    return Sweeper(engine, given, blocking, desk.intake.ear, desk.intake.closed), blocking


async def _alone(desk: kit.Desk) -> tuple[str, ...]:
    """What the sweep ends for want of news, in the process that has listened since the start."""
    sweeper, blocking = _sweeper(desk)
    try:
        return await sweeper._unheard()
    finally:
        blocking.close()


def test_an_incident_of_which_nothing_is_heard_counts_as_over_and_says_so(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            desk.verdict_stands()
            desk.clock.advance(40 * 3600)
            await desk.accept(alert())  # a repeat: it is still there
            await kit.until(lambda: desk.only().repeats == 1)
            heard = desk.clock()
            desk.clock.advance(72 * 3600)
            assert await _alone(desk) == ()
            desk.clock.advance(1)
            id = desk.only().id
            assert await _alone(desk) == (id,)
            over = desk.only()
            assert (over.state, over.unheard, over.resolved_at) == (State.RESOLVED, True, heard)
            told = "Nothing was heard of it since 1 Dec 18:53 UTC: it counts as over"
            assert over.timeline[-1].what == told
            assert await _alone(desk) == ()
            again = await desk.accept(alert())
            assert again.new == 1
            assert len(desk.reader.list()) == 2

    kit.run(scene())


def test_silence_means_nothing_before_a_repeat_could_have_come(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            desk.verdict_stands()
            desk.clock.advance(80 * 3600)
            desk.intake.ear.since = desk.clock()  # until now it was down
            desk.clock.advance(18 * 3600 - 1)
            assert await _alone(desk) == ()
            desk.clock.advance(1)
            assert len(await _alone(desk)) == 1

    kit.run(scene())


def test_a_repeat_that_is_not_written_yet_keeps_an_incident_open(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            desk.verdict_stands()
            desk.clock.advance(73 * 3600)
            desk.intake.ear.heard([desk.only().id])
            assert await _alone(desk) == ()

    kit.run(scene())


def test_what_is_silenced_is_not_over_while_it_is(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            desk.verdict_stands()
            until = desk.clock() + timedelta(days=5)
            silenced = Silenced(id="s1", by="ana", until=until, alerts=1)
            with desk.database.writing() as connection:
                records.change(
                    connection,
                    desk.only().id,
                    lambda record: record.edited(silences=(silenced,)),
                    desk.clock(),
                )
            desk.clock.advance(7 * 86_400)
            assert await _alone(desk) == ()
            desk.clock.advance(86_400 + 1)
            assert await _alone(desk) == (desk.only().id,)

    kit.run(scene())
