"""The engine's facade: start and stop in one process, take-up after a stop, what was given up."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tailhound.durable.engine import Engine
from tailhound.durable.tasks import RECOVERIES_AT_MOST, Fate, Queue, Task, Workflow
from tests.unit.durable import kit

pytestmark = pytest.mark.usefixtures("each_database")

QUEUE = Queue("inv", 50, 0.02)


@asynccontextmanager
async def engine(folder: Path, workflow: Workflow) -> AsyncIterator[Engine]:
    database = kit.fresh_database(folder)
    running = Engine(database)
    await asyncio.get_running_loop().run_in_executor(None, running.prepare, [QUEUE])
    await running.start({"inv": workflow})
    running.recover(set((await running.owned()).values()) - {running.executor})
    running_on.append(running)
    try:
        yield running
    finally:
        await running.stop()
        database.close()


running_on: list[Engine] = []


def _ask(engine: Engine, n: int = 1, priority: int = 20) -> str:
    task = Task("inv", f"inv:7F3K:{n}", "inv", ("7F3K", n, "sha"), priority)
    with engine._database.accepting() as connection:
        engine.enqueue(connection, task)
    return task.id


async def _fate(engine: Engine, id: str, fate: Fate) -> None:
    async with asyncio.timeout(15):
        while True:
            found = await engine.look_up([id])
            if id in found and found[id].fate is fate:
                return
            await asyncio.sleep(0.02)


def test_it_can_be_started_and_stopped_again_and_again_in_one_process(tmp_path: Path) -> None:
    async def scene() -> None:
        ran = []

        async def body(id: str, n: int, sha: str) -> str:
            ran.append((id, n, sha))
            return "done"

        for n in range(3):
            async with engine(tmp_path, body) as running:
                await _fate(running, _ask(running, n), Fate.ENDED)
        assert ran == [("7F3K", n, "sha") for n in range(3)]

    kit.run(scene())


def test_the_same_id_runs_once_however_often_it_is_asked_for(tmp_path: Path) -> None:
    async def scene() -> None:
        ran = []

        async def body(id: str, n: int, sha: str) -> str:
            ran.append(n)
            return "done"

        async with engine(tmp_path, body) as running:
            for _ in range(5):
                id = _ask(running)
            await _fate(running, id, Fate.ENDED)
            _ask(running)
            await asyncio.sleep(0.1)
            assert ran == [1]

    kit.run(scene())


def test_workflows_run_on_the_loop_that_started_the_engine(tmp_path: Path) -> None:
    async def scene() -> None:
        loops = []

        async def body(id: str, n: int, sha: str) -> str:
            loops.append(asyncio.get_running_loop())
            return "done"

        async with engine(tmp_path, body) as running:
            await _fate(running, _ask(running), Fate.ENDED)
        assert loops == [asyncio.get_running_loop()]

    kit.run(scene())


def test_stop_takes_seconds_although_a_step_hangs_and_the_step_runs_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async def scene() -> None:
        begun: list[str] = []
        hang = True

        async def first() -> int:
            begun.append("first")
            return 1

        async def second(before: int) -> int:
            begun.append("second")
            if hang:
                await asyncio.Event().wait()
            return before + 1

        async def body(id: str, n: int, sha: str) -> str:
            running = running_on[-1]
            one = await running.step("first", first)
            return str(await running.step("second", second, one))

        async with engine(tmp_path, body) as running:
            id = _ask(running)
            await kit.until(lambda: "second" in begun)
            assert running.running == {id}
            loop = asyncio.get_running_loop()
            began = loop.time()
        assert loop.time() - began < 5
        hang = False
        async with engine(tmp_path, body) as running:
            await _fate(running, id, Fate.ENDED)
        assert begun == ["first", "second", "second"]

    kit.run(scene())
    assert capfd.readouterr().err == ""


def test_what_a_task_of_ours_ignores_does_not_hold_up_stop(tmp_path: Path) -> None:
    async def scene() -> None:
        begun = asyncio.Event()
        free = asyncio.Event()

        async def body(id: str, n: int, sha: str) -> str:
            begun.set()
            while not free.is_set():
                try:
                    await free.wait()
                except asyncio.CancelledError:
                    continue
            return "stubborn"

        loop = asyncio.get_running_loop()
        async with engine(tmp_path, body) as running:
            _ask(running)
            await begun.wait()
            began = loop.time()
        assert loop.time() - began < 5
        free.set()
        await asyncio.sleep(0.05)

    logging.getLogger("dbos").setLevel("CRITICAL")
    kit.run(scene())


def test_a_workflow_that_raises_is_given_up_with_its_reason(tmp_path: Path) -> None:
    async def scene() -> None:
        async def body(id: str, n: int, sha: str) -> str:
            raise ZeroDivisionError("no rules")

        async with engine(tmp_path, body) as running:
            logging.getLogger("dbos").setLevel("CRITICAL")
            id = _ask(running)
            await _fate(running, id, Fate.GIVEN_UP)
            since = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
            (seen,) = await running.given_up("inv:", since)
            assert seen.id == id
            assert "no rules" in seen.why
            assert await running.given_up("late:", since) == ()
            soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
            assert await running.given_up("inv:", soon) == ()

    kit.run(scene())


def test_a_workflow_that_was_interrupted_too_often_is_given_up(tmp_path: Path) -> None:
    async def scene() -> None:
        begun: list[int] = []

        async def body(id: str, n: int, sha: str) -> str:
            begun.append(n)
            await asyncio.Event().wait()
            return "never"

        async with engine(tmp_path, body) as running:
            id = _ask(running)
            await kit.until(lambda: begun)
        for _ in range(RECOVERIES_AT_MOST):
            count = len(begun)
            async with engine(tmp_path, body):
                await kit.until(lambda count=count: len(begun) > count)  # type: ignore[misc]
        async with engine(tmp_path, body) as running:
            logging.getLogger("dbos").setLevel("CRITICAL")
            await _fate(running, id, Fate.GIVEN_UP)
            found = await running.look_up([id])
            assert "took the process down" in found[id].why
        assert len(begun) == RECOVERIES_AT_MOST + 1

    kit.run(scene())


def test_a_step_that_failed_is_told_as_failed_in_the_next_life_and_not_run_again(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        told: list[str] = []
        lives: list[Engine] = []
        ran: list[None] = []

        async def fails() -> str:
            ran.append(None)
            raise ValueError("not so")

        async def hangs() -> str:
            await asyncio.Event().wait()
            return "never"

        async def body(id: str, n: int, sha: str) -> str:
            try:
                await lives[-1].step("fails", fails)
            except Exception as error:  # noqa: BLE001 - of any class: a record has one of its own
                told.append(str(error))
            return await lives[-1].step("hangs", hangs)

        for life in (1, 2):
            async with engine(tmp_path, body) as running:
                lives.append(running)
                if life == 1:
                    _ask(running)
                await kit.until(lambda life=life: len(told) == life)  # type: ignore[misc]
        assert (told, len(ran)) == (["not so", "not so"], 1)

    kit.run(scene())


def test_the_more_severe_incident_runs_first(tmp_path: Path) -> None:
    async def scene() -> None:
        order: list[int] = []

        async def body(id: str, n: int, sha: str) -> str:
            order.append(n)
            return "done"

        database = kit.fresh_database(tmp_path)
        waiting = Engine(database)
        waiting.prepare([Queue("inv", 1, 0.02)])
        for n, priority in ((1, 20), (2, 1), (3, 10)):
            _ask(waiting, n, priority)
        await waiting.start({"inv": body})
        await kit.until(lambda: len(order) == 3)
        await waiting.stop()
        database.close()
        assert order == [2, 3, 1]

    logging.getLogger("dbos").setLevel("ERROR")
    kit.run(scene())


def test_look_up_says_nothing_of_what_is_not_there(tmp_path: Path) -> None:
    async def scene() -> None:
        async def body(id: str, n: int, sha: str) -> str:
            return "done"

        async with engine(tmp_path, body) as running:
            assert await running.look_up([]) == {}
            assert await running.look_up(["inv:NONE:1"]) == {}

    kit.run(scene())


def _bare(row: dict[str, Any]) -> dict[str, Any]:
    """A row without what differs for each."""
    own = ("workflow_uuid", "created_at", "updated_at", "creator_xid", "priority", "inputs")
    times = ("retention_timestamp",)  # of the second in which it was queued
    return {name: value for name, value in row.items() if name not in (*own, *times)}


def test_many_at_once_are_queued_as_if_one_by_one(tmp_path: Path) -> None:
    """The contract of the rows that are copied: whoever upgrades the engine must see this."""
    database = kit.fresh_database(tmp_path)
    running = Engine(database)
    tasks = [Task("inv", f"inv:A{n}:1", "inv", (f"A{n}", 1, "sha"), n + 1) for n in range(5)]
    with database.accepting() as connection:
        running.enqueue(connection, tasks[0])
        running.enqueue(connection, *tasks[1:4])
        running.enqueue(connection, *tasks)
    joined = (
        "SELECT * FROM workflow_status JOIN workflow_input USING (workflow_uuid) "
        "ORDER BY workflow_uuid"
    )
    with database.reading() as connection:
        rows = [dict(row) for row in connection.exec_driver_sql(joined).mappings()]
    database.close()
    assert [(row["workflow_uuid"], row["priority"]) for row in rows] == [
        (task.id, task.priority) for task in tasks
    ]
    assert [_bare(row) for row in rows] == [_bare(rows[0])] * 5
    for task, row in zip(tasks, rows, strict=True):
        assert row["inputs"] == rows[0]["inputs"].replace("A0", task.args[0])


def test_those_queued_at_once_all_run_with_their_own_arguments(tmp_path: Path) -> None:
    async def scene() -> None:
        ran = []

        async def body(id: str, n: int, sha: str) -> str:
            ran.append((id, n, sha))
            return "done"

        async with engine(tmp_path, body) as running:
            tasks = [Task("inv", f"inv:A{n}:{n}", "inv", (f"A{n}", n, "sha")) for n in range(9)]
            with running._database.accepting() as connection:
                running.enqueue(connection, *tasks)
            await kit.until(lambda: len(ran) == 9)
            assert sorted(ran) == [task.args for task in tasks]

    kit.run(scene())
