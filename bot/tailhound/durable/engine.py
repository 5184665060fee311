"""The workflow engine: the only module that imports dbos.

A facade of a few verbs over DBOS Transact, so that the library can be replaced. DBOS is one per
process; `start` makes it and `stop` takes it apart completely, so that it can be started again.
Workflows and steps run on the event loop that `start` was called from.
"""

import asyncio
import functools
import logging
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Mapping,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar
from uuid import uuid4

import sqlalchemy as sa
from dbos import (
    DBOS,
    DBOSClient,
    DBOSConfig,
    DBOSPortableJSONSerializer,
    EnqueueOptions,
    PortableWorkflowError,
)

from tailhound.durable.blocking import at_most
from tailhound.durable.copying import Alike, Rows
from tailhound.durable.tasks import (
    ENDED_STATUSES,
    GIVEN_UP_STATUSES,
    RECOVERIES_AT_MOST,
    Queue,
    Task,
    Workflow,
    WorkflowSeen,
    grouped,
    workflow_seen,
)
from tailhound.store.database import Database
from tailhound.store.failures import explained

P = ParamSpec("P")
R = TypeVar("R")

APPLICATION = "tailhound"
ABI = "abi-1"
"""The workflows' interface version. It changes only when their steps do (docs/decisions)."""

ENGINE_THREADS = 64
STOP_SECONDS = 2.0

_dbos_log = logging.getLogger("dbos")


UNWRITTEN = sa.exc.OperationalError.__name__
"""The error on record of a step that ended, but whose result could not be written."""

SOLO = "solo"
"""Who runs workflows on SQLite, in every life: nobody else can."""


class Engine:
    """Runs workflows that survive a kill at any instruction.

    `boot` is the id of this life: with several replicas, who runs a workflow must be known.
    """

    def __init__(self, database: Database, boot: str = "") -> None:
        self._database = database
        self.executor = SOLO if database.is_sqlite else boot or uuid4().hex
        """Who runs what this process runs, in the engine's tables."""
        self._client = DBOSClient(
            system_database_engine=database.work,
            serializer=DBOSPortableJSONSerializer(),
            application_name=APPLICATION,
            lazy=True,
        )
        self._rows = Rows("" if database.is_sqlite else "dbos.")
        self._running: dict[asyncio.Task[Any], str] = {}
        self._dbos: DBOS | None = None
        self._stopping = False
        self._started = False

    @property
    def running(self) -> frozenset[str]:
        """The ids of the workflows that this process runs right now."""
        return frozenset(self._running.values())

    def prepare(self, queues: Sequence[Queue]) -> None:
        """Make or upgrade the engine's tables and name the queues; blocks, so not on a loop.

        With the queues there before `start`, nobody waits for the engine to notice them.
        """
        DBOS.migrate(self._database.url)
        for queue in queues:
            self._client.register_queue(
                queue.name,
                worker_concurrency=queue.concurrency,
                polling_interval_sec=queue.poll_seconds,
            )

    async def start(self, workflows: Mapping[str, Workflow]) -> None:
        """Take up what an earlier process left, and begin to poll."""
        self._stopping = False
        if not _dbos_log.handlers:
            _dbos_log.addHandler(logging.NullHandler())  # else it makes a way out of its own
        self._dbos = DBOS(config=self._config())
        self._started = True
        for name, workflow in workflows.items():
            DBOS.workflow(name=name, max_recovery_attempts=RECOVERIES_AT_MOST)(
                self._tracked(name, workflow)
            )
        DBOS.launch()

    def enqueue(self, connection: sa.Connection, *tasks: Task) -> None:
        """Ask for workflows within the caller's transaction; known ids are passed over."""
        for alike in grouped(tasks):
            first, *others = alike
            self._client.enqueue_in_transaction(connection, _options(first), *first.args)
            if others and not self._copy(connection, first, others):
                for task in others:
                    self._client.enqueue_in_transaction(connection, _options(task), *task.args)

    def _copy(self, connection: sa.Connection, first: Task, others: Sequence[Task]) -> bool:
        built = [self._client._build_enqueue_status(_options(t), *t.args)[1] for t in others]
        alike = [Alike(one["workflow_uuid"], one["priority"] or 0, one["inputs"]) for one in built]
        return self._rows.copy(connection, first.id, alike)

    async def step(
        self,
        name: str,
        function: Callable[P, Awaitable[R]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        """Run a step of the workflow that calls; its result is checkpointed, and never retried.

        When the result can't be written (a full disk), that is no failure of the step: the run is
        let go, and taken up by the sweep.
        """
        begun = done = False

        async def body() -> R:
            nonlocal begun, done
            begun = True
            result = await function(*args, **kwargs)
            done = True
            return result

        try:
            return await self._checkpointed(name, body)
        except sa.exc.OperationalError as error:
            if done:
                raise asyncio.CancelledError from error
            raise
        except PortableWorkflowError as error:  # what was on record
            if begun or error.name != UNWRITTEN:
                raise
        return await self.step(name, function, *args, **kwargs)

    async def _checkpointed(self, name: str, body: Callable[[], Coroutine[Any, Any, R]]) -> R:
        result: R = await DBOS.run_step_async({"name": name, "retries_allowed": False}, body)
        return result

    async def look_up(self, ids: Iterable[str]) -> dict[str, WorkflowSeen]:
        """What became of these workflows; those that don't exist are not in the answer."""
        wanted = list(ids)
        if not wanted:
            return {}
        with explained(self._database.name):
            found = await DBOS.list_workflows_async(
                workflow_ids=wanted, load_input=False, load_output=True
            )
        return {item.workflow_id: workflow_seen(item) for item in found}

    async def given_up(self, prefix: str, since: str) -> tuple[WorkflowSeen, ...]:
        """Workflows that the engine ended without a result, made after `since` (ISO 8601)."""
        with explained(self._database.name):
            found = await DBOS.list_workflows_async(
                status=GIVEN_UP_STATUSES,
                workflow_id_prefix=prefix,
                start_time=since,
                load_input=False,
                load_output=True,
            )
        return tuple(workflow_seen(item) for item in found)

    async def take_up(self, id: str) -> None:
        """Queue a workflow again that is said to run although nobody runs it."""
        with explained(self._database.name):
            await DBOS.resume_workflow_async(id)

    async def cancel(self, id: str) -> None:
        """End a workflow; what it does now is the last that it does."""
        with explained(self._database.name):
            await DBOS.cancel_workflow_async(id)

    async def owned(self) -> dict[str, str]:
        """The workflows that are said to run, and by whom."""
        with explained(self._database.name):
            found = await DBOS.list_workflows_async(
                status="PENDING", load_input=False, load_output=False
            )
        return {item.workflow_id: str(item.executor_id) for item in found}

    def recover(self, executors: Collection[str]) -> int:
        """Queue again what these executors were running, since they are gone; how many workflows.

        It blocks. An executor that lives after all finds its checkpoints refused. Whoever took a
        workflow up meanwhile keeps it.
        """
        if not executors:
            return 0
        with explained(self._database.name):
            return len(DBOS._recover_pending_workflows(sorted(executors)))

    async def forget(self, before: str, at_most: int = 500) -> int:
        """Delete workflows that ended before a moment (ISO 8601), with their steps; how many."""
        with explained(self._database.name):
            found = await DBOS.list_workflows_async(
                status=ENDED_STATUSES,
                completed_before=before,
                limit=at_most,
                load_input=False,
                load_output=False,
            )
            if found:
                await DBOS.delete_workflows_async([item.workflow_id for item in found])
        return len(found)

    async def stop(self) -> None:
        """Stop within seconds: what runs is cut off, and taken up at the next start."""
        self._stopping = True
        if not self._started:
            return
        self._started = False
        _dbos_log.setLevel("ERROR")  # it warns of each task that is cut off here
        if self._dbos is not None:  # else its threads wait for a database that is away, for ever
            self._dbos._sys_db._retry_connection_errors = False
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_SECONDS)
        loop = asyncio.get_running_loop()
        # DBOS made its own pool the loop's default, and is about to shut it down
        loop.set_default_executor(ThreadPoolExecutor(4, thread_name_prefix="tailhound-default"))
        await at_most(STOP_SECONDS, functools.partial(DBOS.destroy, destroy_registry=True))
        self._client.destroy()

    def _tracked(self, name: str, workflow: Workflow) -> Workflow:
        """The workflow, known to this object while it runs, and refused while it stops."""

        async def run(incident: str, n: int, sha: str) -> str:
            task = asyncio.current_task()
            if self._stopping or task is None:
                raise asyncio.CancelledError
            self._running[task] = f"{name}:{incident}:{n}"
            try:
                return await workflow(incident, n, sha)
            finally:
                self._running.pop(task, None)

        return run

    def _config(self) -> DBOSConfig:
        return {
            "name": APPLICATION,
            "system_database_url": self._database.url,
            "system_database_engine": self._database.work,
            "application_version": ABI,
            "executor_id": self.executor,
            "serializer": DBOSPortableJSONSerializer(),
            "max_executor_threads": ENGINE_THREADS,
            # nothing here waits for notifications: the interval only bounds how fast `stop` is
            "notification_listener_polling_interval_sec": 0.1,
            "log_level": "WARNING",
        }


def _options(task: Task) -> EnqueueOptions:
    return {
        "workflow_name": task.workflow,
        "workflow_id": task.id,
        "queue_name": task.queue,
        "app_version": ABI,
        "application_name": APPLICATION,
        "priority": task.priority,
    }
