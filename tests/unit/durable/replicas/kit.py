"""Replicas on one PostgreSQL, their clock, and an engine that runs for one of them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import sqlalchemy as sa

from tailhound.durable.engine import Engine
from tailhound.durable.replicas import Pulse, Replicas
from tailhound.durable.tasks import Queue, Task, Workflow
from tailhound.store.database import Database, open_database
from tests.databases import url_of

QUEUE = Queue("inv", 50, 0.02)


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


def expire(database: Database, name: str) -> None:
    with database.writing() as connection:
        connection.execute(sa.text("UPDATE th_replica SET until = 0 WHERE id = :id"), {"id": name})


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


def ask_for(database: Database, n: int) -> str:
    task = Task("inv", f"inv:7F3K:{n}", "inv", ("7F3K", n, "sha"))
    with database.accepting() as connection:
        Engine(database, "elsewhere").enqueue(connection, task)
    return task.id


def own(database: Database, id: str, owner: str) -> None:
    """Let a workflow be one that this executor runs."""
    with database.writing() as connection:
        connection.execute(
            sa.text(
                "UPDATE workflow_status SET status = 'PENDING', executor_id = :owner, "
                "owner_xid = 'x', started_at_epoch_ms = 1 WHERE workflow_uuid = :id"
            ),
            {"owner": owner, "id": id},
        )


def workflows(database: Database) -> dict[str, tuple[str, str, str | None]]:
    asked = "SELECT workflow_uuid, status, queue_name, owner_xid FROM workflow_status"
    with database.reading() as connection:
        return {row[0]: tuple(row[1:]) for row in connection.exec_driver_sql(asked)}


async def never(id: str, n: int, sha: str) -> str:
    await asyncio.Event().wait()
    return "never"
