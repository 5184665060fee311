"""Retention: what nobody will look at any more is deleted, a page at a time.

Incidents and alerts stay: they tell a late re-delivery from a new alert, and people search them.
"""

from datetime import datetime, timedelta

import sqlalchemy as sa

from tailhound.durable.blocking import Blocking
from tailhound.durable.boot import Boot
from tailhound.durable.engine import Engine
from tailhound.store.database import Database
from tailhound.store.tables import body, output, recording

KEPT = timedelta(days=30)
"""How long workflows, raw answers, recordings and webhook bodies are kept. Our own default."""

TICK = "tick"
TIDY = "tidy"


class Tidying:
    """The body of the workflow `tick:tidy:{time}`."""

    def __init__(self, engine: Engine, database: Database, boot: Boot, blocking: Blocking) -> None:
        self._engine = engine
        self._database = database
        self._boot = boot
        self._blocking = blocking

    async def tick(self, job: str, _due: int, _sha: str) -> str:
        """Workflow: run the job; a job that this version doesn't know does nothing."""
        if job != TIDY:
            return f"no job named {job}"
        return await self._engine.step("tidy", self.tidy)

    async def tidy(self) -> str:
        """Delete what is older than KEPT; what was deleted, for the engine's own record."""
        before = self._boot.clock() - KEPT
        workflows = 0
        while deleted := await self._engine.forget(before.isoformat()):
            workflows += deleted
        outputs, bodies, recordings = await self._blocking.run(self._delete, before)
        return (
            f"{workflows} workflows, {outputs} raw answers, {bodies} bodies, "
            f"{recordings} parts of recordings"
        )

    def _delete(self, before: datetime) -> tuple[int, int, int]:
        moment = before.timestamp()
        with self._database.writing() as connection:
            outputs = connection.execute(sa.delete(output).where(output.c.asked_at < moment))
            bodies = connection.execute(sa.delete(body).where(body.c.received_at < moment))
            parts = connection.execute(sa.delete(recording).where(recording.c.asked_at < moment))
            return outputs.rowcount, bodies.rowcount, parts.rowcount
