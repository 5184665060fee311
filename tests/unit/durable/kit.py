"""What the tests of intake, engine and outbox share: bodies, an investigator, a chat service."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest
import sqlalchemy as sa

from tailhound.durable.asking import Place, Terms
from tailhound.durable.boot import Boot
from tailhound.durable.engine import Engine
from tailhound.durable.intake import Accepted, Intake
from tailhound.durable.replicas import Pulse
from tailhound.durable.service import Durable, Surroundings
from tailhound.model import Incident, State
from tailhound.notifiers import Notifier
from tailhound.settings import Incidents
from tailhound.sources.alertmanager import read_group
from tailhound.store import records
from tailhound.store.database import Database, open_database
from tailhound.store.incidents import IncidentReader
from tailhound.store.tables import investigation
from tests.databases import url_of
from tests.driving import until as until  # noqa: PLC0414 - the tests call it kit.until
from tests.unit.durable.fakes import Chat, Detective

T = TypeVar("T")

CHANNEL = Place("chat", "C1")
ZERO = "0001-01-01T00:00:00Z"
ENDED = "2026-11-30T02:55:00Z"
"""When the alerts of these tests end, where they do."""


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a test's coroutine, at most 60 s."""

    async def bounded() -> T:
        async with asyncio.timeout(60):
            return await work

    return asyncio.run(bounded())


async def hold(database: Database, engine: Engine) -> None:
    """Have the engine run nothing of its queues. A look at one that began before goes on with what
    it has read, so each queue is looked at anew before this returns.
    """
    with database.writing() as connection:
        connection.exec_driver_sql("UPDATE queues SET worker_concurrency = 0")
        names = {name for (name,) in connection.exec_driver_sql("SELECT name FROM queues")}
    assert engine._dbos is not None
    store, looked = engine._dbos._sys_db, set[str]()
    look = store.get_queue

    def told(name: str, *args: Any, **more: Any) -> Any:
        looked.add(name)
        return look(name, *args, **more)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(store, "get_queue", told)
        await until(lambda: looked >= names)


def alert(
    workload: str = "llm-70b",
    *,
    fingerprint: str = "f1",
    starts_at: str = "2026-11-30T02:51:00Z",
    ends_at: str = ZERO,
    name: str = "LLMDHighTTFT",
    labels: dict[str, str] | None = None,
) -> dict[str, Any]:
    """One alert as Alertmanager writes it; resolved when it has an end."""
    own = {"alertname": name, "namespace": "prod", "deployment": workload, "severity": "critical"}
    return {
        "status": "firing" if ends_at == ZERO else "resolved",
        "labels": own | (labels or {}),
        "annotations": {"summary": "TTFT p99 above 2.5 s for 2 minutes"},
        "startsAt": starts_at,
        "endsAt": ends_at,
        "generatorURL": "http://prometheus/graph",
        "fingerprint": fingerprint,
    }


def body(*alerts: dict[str, Any], group_key: str = '{}:{alertname="LLMDHighTTFT"}') -> bytes:
    """A webhook body, version 4."""
    firing = any(item["status"] == "firing" for item in alerts)
    return json.dumps(
        {
            "version": "4",
            "groupKey": group_key,
            "truncatedAlerts": 0,
            "status": "firing" if firing else "resolved",
            "receiver": "tailhound",
            "groupLabels": {},
            "commonLabels": {},
            "commonAnnotations": {},
            "externalURL": "http://alertmanager",
            "alerts": list(alerts),
        }
    ).encode()


def terms(**changes: Any) -> Terms:
    """Terms with short deadlines, and one place."""
    values: dict[str, Any] = {
        "incidents": Incidents(),
        "sha": "0" * 64,
        "causes": 14,
        "verdict_seconds": 10.0,
        "late_seconds": 20.0,
        "places": (CHANNEL,),
    }
    return Terms(**(values | changes))


@dataclass
class Lab:
    """A running durable part, and what looks at it."""

    durable: Durable
    database: Database
    reader: IncidentReader
    chat: Chat
    detective: Detective

    def incident(self, id: str) -> Incident:
        """The incident as a reader sees it."""
        found = self.reader.get(id)
        assert found is not None
        return found

    async def accepted(self, content: bytes) -> str:
        """Send a body; the id of its one incident."""
        (id,) = (await self.durable.accept(content)).incidents
        return id

    async def diagnosed(self, id: str, n: int = 1) -> Incident:
        """Wait for the verdict of an investigation."""

        def there() -> Incident | None:
            found = self.incident(id)
            return found if found.n == n and found.diagnosis and not found.progress else None

        return await until(lambda: there() if _ended(self.database, id, n) else None)


def _ended(database: Database, id: str, n: int) -> bool:
    with database.reading() as connection:
        row = connection.execute(
            sa.select(investigation.c.finished_at).where(
                investigation.c.incident_id == id, investigation.c.n == n
            )
        ).first()
    return row is not None and row[0] is not None


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, year: int = 2026) -> None:
        self.now = datetime(year, 11, 30, 2, 53, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)


@cache
def _fresh_file() -> bytes:
    """A database with all tables, ours and the engine's: made once, copied by each test."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "bot.db"
        database = open_database(f"sqlite:///{path}")
        Engine(database).prepare(())
        database.close()
        return path.read_bytes()


def fresh_database(folder: Path) -> Database:
    """The database of `folder` with all tables, or the one that is there."""
    url, path = url_of(folder), folder / "bot.db"
    if url.startswith("sqlite") and not path.exists():
        path.write_bytes(_fresh_file())
    return open_database(url)


@dataclass
class Desk:
    """Intake alone: nothing is investigated and nothing is sent."""

    intake: Intake
    database: Database
    reader: IncidentReader
    clock: Clock
    news: list[None] = field(default_factory=list)

    async def accept(self, *alerts: dict[str, Any]) -> Accepted:
        """Send one body with these alerts."""
        return await self.intake.accept(body(*alerts))

    def verdict_stands(self) -> None:
        """The only incident has its verdict, as if it had been investigated."""
        with self.database.writing() as connection:
            records.change(
                connection,
                self.only().id,
                lambda record: replace(record, done=record.incident.n).edited(
                    state=State.DIAGNOSED
                ),
                self.clock(),
            )

    def only(self) -> Incident:
        """The one incident that there is."""
        (found,) = self.reader.list()
        return found

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What an SQL query finds."""
        with self.database.reading() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(query)]


@asynccontextmanager
async def intake_alone(
    folder: Path,
    *,
    clock: Clock | None = None,
    hook: Callable[[str], None] = lambda _name: None,
    **changes: Any,
) -> AsyncIterator[Desk]:
    """Intake on a database file, started and stopped."""
    clock = clock or Clock()
    database = fresh_database(folder)
    engine = Engine(database)
    boot = Boot(clock=clock, hook=hook)
    intake = Intake(database, lambda: terms(**changes), engine.enqueue, read_group, boot)
    desk = Desk(intake, database, IncidentReader.of(database), clock)
    intake.start(lambda: desk.news.append(None))
    try:
        yield desk
    finally:
        await intake.stop()
        database.close()


@asynccontextmanager
async def lab(
    folder: Path,
    *,
    chat: Chat | None = None,
    detective: Detective | None = None,
    boot: Boot | None = None,
    unknown_set: bool = False,
    pulse: Pulse | None = None,
    **changes: Any,
) -> AsyncIterator[Lab]:
    """The durable part on a database file, started and stopped."""
    chat = chat or Chat()
    detective = detective or Detective()
    notifiers: dict[str, Notifier] = {"chat": chat}
    known = {} if unknown_set else {"0" * 64: detective}
    database = fresh_database(folder)
    given = Surroundings(
        database=database,
        terms=lambda: terms(**changes),
        investigator_for=lambda sha: known[sha],
        read_group=read_group,
        notifiers=notifiers,
        boot=boot or Boot(),
        poll_seconds=0.02,
        pulse=pulse or Pulse(),
    )
    durable = Durable(given)
    await durable.start()
    try:
        yield Lab(durable, database, IncidentReader.of(database), chat, detective)
    finally:
        await durable.stop()
        database.close()
