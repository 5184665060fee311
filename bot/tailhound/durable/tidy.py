"""Retention: what nobody will look at any more is deleted, a page at a time.

Incidents and their alerts stay longer than the rest: they tell a late re-delivery from a new alert,
and people search them.
"""

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from tailhound.durable.blocking import Blocking
from tailhound.durable.desk import Desk
from tailhound.durable.engine import Engine
from tailhound.store.outputs import forget_compiled
from tailhound.store.retention import AGED, forget_incidents, forget_rows

KEPT = timedelta(days=30)
"""How long workflows, raw answers, recordings and webhook bodies are kept. Our own default."""

MARGIN = timedelta(days=1)
"""Incidents go so much later than their workflows: a name that is given again must find none."""

TICK = "tick"
TIDY = "tidy"


class Tidying:
    """The body of the workflow `tick:tidy:{time}`."""

    def __init__(self, engine: Engine, desk: Desk, blocking: Blocking) -> None:
        self._engine = engine
        self._desk = desk
        self._blocking = blocking

    async def tick(self, job: str, _due: int, _sha: str) -> str:
        """Workflow: run the job; a job that this version doesn't know does nothing."""
        if job != TIDY:
            return f"no job named {job}"
        return await self._engine.step("tidy", self.tidy)

    async def tidy(self) -> str:
        """Delete what is older than KEPT, and incidents that ended before `keep_days`.

        What was deleted, for the engine's own record.
        """
        now = self._desk.boot.clock()
        before = now - KEPT
        workflows = 0
        while deleted := await self._engine.forget(before.isoformat()):
            workflows += deleted
        outputs, bodies, recordings = [
            await self._forget(time, before.timestamp()) for time in AGED
        ]
        incidents = await self._forget_incidents(now)
        await self._blocking.run(self._forget_compiled, before.timestamp())
        return (
            f"{workflows} workflows, {outputs} raw answers, {bodies} bodies, "
            f"{recordings} parts of recordings, {incidents} incidents"
        )

    async def _forget_incidents(self, now: datetime) -> int:
        days = self._desk.terms().incidents.keep_days
        before = (now - timedelta(days=days) - MARGIN).timestamp()
        incidents = 0
        while days and (deleted := await self._blocking.run(self._forget_page, before)):
            incidents += deleted
        return incidents

    def _forget_page(self, before: float) -> int:
        with self._desk.database.writing() as connection:
            return forget_incidents(connection, before)

    def _forget_compiled(self, before: float) -> int:
        with self._desk.database.writing() as connection:
            return forget_compiled(connection, before, self._desk.terms().sha)

    async def _forget(self, time: sa.Column[Any], before: float) -> int:
        deleted = 0
        while page := await self._blocking.run(self._forget_rows, time, before):
            deleted += page
        return deleted

    def _forget_rows(self, time: sa.Column[Any], before: float) -> int:
        with self._desk.database.writing() as connection:
            return forget_rows(connection, time, before)
