"""The sweep: whatever the engine gives up or forgets still ends in a visible outcome."""

import asyncio
import logging
from pathlib import Path

from tailhound.durable.boot import Boot
from tailhound.durable.desk import Desk
from tailhound.durable.sweep import Sweeper
from tailhound.model import State
from tests.unit.durable import kit
from tests.unit.durable.kit import Clock, Detective, alert, body

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
                connection.exec_driver_sql(
                    "UPDATE workflow_status SET status = 'PENDING', executor_id = 'solo'"
                )
                connection.exec_driver_sql("UPDATE queues SET worker_concurrency = 50")
            assert await lab.durable.sweeper.sweep(-1.0) == ()  # it may have begun just now
            assert await lab.durable.sweeper.sweep(-1.0) == (f"inv:{id}:1",)
            await lab.diagnosed(id)

    kit.run(scene())


def test_a_run_of_a_replica_that_is_gone_becomes_a_visible_failure(tmp_path: Path) -> None:
    async def scene() -> None:
        clock = Clock(LONG_AGO)
        async with kit.intake_alone(tmp_path, clock=clock) as desk:
            (id,) = (await desk.accept(alert())).incidents
            with desk.database.writing() as connection:
                connection.exec_driver_sql(
                    "UPDATE workflow_status SET status = 'PENDING', executor_id = 'gone'"
                )
        async with kit.lab(tmp_path) as lab:
            engine, ours = lab.durable.engine, lab.durable.sweeper
            desk_of_two = Desk(lab.database, kit.terms, engine.enqueue, Boot(clock=clock))
            sweeper = Sweeper(engine, desk_of_two, ours._blocking, is_alone=False)
            clock.advance(79)
            assert await sweeper.sweep() == ()
            clock.advance(2)
            assert await sweeper.sweep() == (f"inv:{id}:1",)
            assert "is gone" in lab.incident(id).failed_because

    kit.run(scene())


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
