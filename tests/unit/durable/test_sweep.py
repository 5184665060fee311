"""The sweep: whatever the engine gives up or forgets still ends in a visible outcome."""

import asyncio
import logging
from datetime import timedelta
from pathlib import Path

import pytest

from tailhound.durable.boot import Boot
from tailhound.durable.desk import Desk
from tailhound.durable.engine import Fate
from tailhound.durable.sweep import Sweeper
from tailhound.errors import StoreUnavailable
from tailhound.model import State
from tests.unit.durable import kit
from tests.unit.durable.kit import Clock, Detective, alert, body

pytestmark = pytest.mark.usefixtures("each_database")

LONG_AGO = 2020


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
            with lab.database.writing() as connection:
                connection.exec_driver_sql("UPDATE queues SET worker_concurrency = 0")
            id = await lab.accepted(body(alert()))
            with lab.database.writing() as connection:
                here = lab.durable.engine.executor
                connection.exec_driver_sql(
                    f"UPDATE workflow_status SET status = 'PENDING', executor_id = '{here}'"  # noqa: S608
                )
                connection.exec_driver_sql("UPDATE queues SET worker_concurrency = 50")
            assert await lab.durable.sweeper.sweep(-1.0) == ()  # it may have begun just now
            assert await lab.durable.sweeper.sweep(-1.0) == (f"inv:{id}:1",)
            await lab.diagnosed(id)

    kit.run(scene())


def test_a_run_that_stands_still_although_its_process_lives_is_given_up(tmp_path: Path) -> None:
    async def scene() -> None:
        clock = Clock(LONG_AGO)
        async with kit.lab(tmp_path, detective=Detective(gate=asyncio.Event())) as lab:
            id = await lab.accepted(body(alert()))
            await kit.until(lambda: "collect" in lab.detective.calls)
            engine, ours = lab.durable.engine, lab.durable.sweeper
            clock.now = lab.incident(id).received_at + timedelta(seconds=5)
            watch = Sweeper(
                engine,
                Desk(lab.database, kit.terms, engine.enqueue, Boot(clock=clock)),
                ours._blocking,
            )
            clock.advance(80)
            assert await watch.sweep() == ()
            clock.advance(2)
            assert await watch.sweep() == (f"inv:{id}:1",)
            assert "nothing has happened in it for 82 s" in lab.incident(id).failed_because
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
            engine, ours = lab.durable.engine, lab.durable.sweeper
            clock.now = lab.incident(id).received_at
            desk = Desk(lab.database, kit.terms, engine.enqueue, Boot(clock=clock))
            watch = Sweeper(engine, desk, ours._blocking)
            clock.advance(3600)
            with monkeypatch.context() as patched:
                patched.setattr(watch, "sweep", _out_of_order)
                sweeping = asyncio.create_task(watch.run(lambda: None, 0.01))
                await kit.until(lambda: watch._sees_since == clock.now)
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
            engine, ours = lab.durable.engine, lab.durable.sweeper
            clock.now = lab.incident(id).received_at
            desk = Desk(lab.database, kit.terms, engine.enqueue, Boot(clock=clock))
            watch = Sweeper(engine, desk, ours._blocking)
            sweeping = asyncio.create_task(watch.run(lambda: None, 0.01))
            for seconds in (3600, -7200, 7200):
                clock.advance(seconds)
                await kit.until(lambda: watch._sees_since == clock.now)
                assert await watch.sweep() == ()
            sweeping.cancel()
            assert lab.incident(id).state is State.INVESTIGATING

    kit.run(scene())


async def _out_of_order() -> tuple[str, ...]:
    raise StoreUnavailable("the database is out of order")


def test_what_runs_or_waits_is_left_alone(tmp_path: Path) -> None:
    async def scene() -> None:
        gate = asyncio.Event()
        async with kit.lab(tmp_path, detective=Detective(gate=gate)) as lab:
            id = await lab.accepted(body(alert()))
            await kit.until(lambda: "collect" in lab.detective.calls)
            assert await lab.durable.sweeper.sweep(-1.0) == ()
            gate.set()
            await lab.diagnosed(id)
            assert await lab.durable.sweeper.sweep(-1.0) == ()

    logging.getLogger("dbos").setLevel("ERROR")
    kit.run(scene())
