"""What the tests of intake, engine and outbox share: bodies, an investigator, a chat service."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import sqlalchemy as sa

from tailhound.durable.asking import Place, Terms
from tailhound.durable.boot import Boot
from tailhound.durable.engine import Engine
from tailhound.durable.intake import Accepted, Intake
from tailhound.durable.investigating import OnProgress, Plain, Record
from tailhound.durable.replicas import Pulse
from tailhound.durable.service import Durable, Surroundings
from tailhound.flow import Turn
from tailhound.model import (
    Asked,
    Cause,
    Confidence,
    Diagnosis,
    Evidence,
    EvidenceStatus,
    Incident,
    Outlook,
    Progress,
    State,
    Verdict,
)
from tailhound.notifiers import Delivery, Later, Notifier, Posted, Refusal
from tailhound.requests import Labelled, Query
from tailhound.settings import Incidents
from tailhound.sources.alertmanager import read_group
from tailhound.store import codec, records
from tailhound.store.database import Database, open_database
from tailhound.store.incidents import IncidentReader
from tailhound.store.tables import investigation
from tests.databases import url_of

T = TypeVar("T")

CHANNEL = Place("chat", "C1")
QUESTION = Query(promql="rate(x[5m])")
ZERO = "0001-01-01T00:00:00Z"


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a test's coroutine, at most 60 s."""

    async def bounded() -> T:
        async with asyncio.timeout(60):
            return await work

    return asyncio.run(bounded())


async def until(holds: Callable[[], T | None], seconds: float = 30.0) -> T:
    """Wait until something is true, and say what it is."""
    async with asyncio.timeout(seconds):
        while not (value := holds()):
            await asyncio.sleep(0.01)
    return value


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


def evidence(
    name: str, status: EvidenceStatus = EvidenceStatus.COLLECTED, value: float = 0.62
) -> Evidence:
    """Evidence with one fact and one question."""
    collected = status is EvidenceStatus.COLLECTED
    return Evidence(
        name=name,
        collector="prometheus.container_cpu",
        status=status,
        facts={"throttled_ratio": value} if collected else {},
        reason="" if collected else f"no answer: {status.value}",
        asked=(Asked(question=f"q({name})", backend="prometheus", status=status),),
    )


@dataclass
class Detective:
    """An investigator with a script: which evidence is slow, what goes wrong, what it is about.

    It confirms the cause when the evidence `cpu` is there, like a runbook of one line.
    """

    key: str = ""
    slow: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()
    breaks_at: str = ""
    hangs_at: str = ""
    conditional: tuple[str, ...] = ()
    reports: int = 0
    gate: asyncio.Event | None = None
    calls: list[str] = field(default_factory=list)

    async def resolve(self, incident: Incident, turn: Turn, *, record: Record) -> Plain:
        await self._at("resolve")
        return {"namespace": "prod", "pods": ["llm-0"], "key": self.key}

    async def collect(
        self,
        incident: Incident,
        resolved: Plain,
        turn: Turn,
        on_progress: OnProgress,
        *,
        record: Record,
    ) -> Plain:
        assert resolved["pods"] == ["llm-0"]
        await self._at("collect")
        if self.gate is not None:
            await self.gate.wait()
        for i in range(self.reports):
            counts = Progress(answered=i, waiting=self.reports - i, failed=0)
            on_progress(counts, partial(replace, counts, ruled_out=("gpu-clocks",)))
            await asyncio.sleep(0.05)
        record(QUESTION, (Labelled((("pod", "llm-0"),), 0.62),), 0.1)
        found = [
            evidence(n, EvidenceStatus.TIMEOUT if n in self.slow else self._reached(n))
            for n in ("cpu", "spec")
        ]
        return {"evidence": codec.evidence_to_plain(tuple(found))}

    async def deepen(
        self, incident: Incident, resolved: Plain, collected: Plain, turn: Turn, *, record: Record
    ) -> Plain:
        await self._at("deepen")
        found = tuple(evidence(name) for name in self.conditional)
        return {"evidence": codec.evidence_to_plain(found)}

    async def again(
        self,
        incident: Incident,
        resolved: Plain,
        names: Sequence[str],
        turn: Turn,
        *,
        record: Record,
    ) -> Plain:
        await self._at("again")
        assert resolved["pods"] == ["llm-0"]
        found = tuple(evidence(name, self._reached(name)) for name in names)
        return {"evidence": codec.evidence_to_plain(found)}

    def decide(
        self,
        incident: Incident,
        resolved: Plain,
        found: Sequence[Evidence],
        *,
        decided_at: datetime,
        at_deadline: bool,
        took_seconds: float,
    ) -> Diagnosis:
        self.calls.append("decide")
        if self.breaks_at == "decide":
            raise ZeroDivisionError("the rules broke")
        seen = {item.name: item for item in found}
        confirmed = seen["cpu"].status is EvidenceStatus.COLLECTED
        cause = Cause(
            runbook="cpu-throttling",
            title="the CPU limit stops the engine",
            verdict=Verdict.CONFIRMED if confirmed else Verdict.UNKNOWN,
            because="stopped in 62 % of its periods" if confirmed else "evidence is missing",
        )
        return Diagnosis(
            outlook=Outlook.CAUSE_FOUND if confirmed else Outlook.NONE_CONFIRMED,
            primary="cpu-throttling" if confirmed else None,
            chain=("cpu-throttling",) if confirmed else (),
            confidence=Confidence.HIGH if confirmed else None,
            causes=(cause,),
            evidence=tuple(found),
            decided_at=decided_at,
            at_deadline=at_deadline,
            took_seconds=took_seconds,
        )

    def _reached(self, name: str) -> EvidenceStatus:
        is_lost = name in self.unreachable
        return EvidenceStatus.UNREACHABLE if is_lost else EvidenceStatus.COLLECTED

    async def _at(self, step: str) -> None:
        self.calls.append(step)
        if self.breaks_at == step:
            raise ZeroDivisionError(f"{step} broke")
        if self.hangs_at == step:
            await asyncio.Event().wait()


@dataclass
class Chat:
    """A chat service that counts what people would see: `messages` by their id, every edit.

    `answers` scripts the next calls: "ok", "lost" (it takes effect, the answer does not arrive),
    "later", "refuse", "hang", "raise". When it is empty every call is fine.
    """

    name: str = "chat"
    answers: list[str] = field(default_factory=list)
    messages: dict[str, list[Delivery]] = field(default_factory=dict)
    looked: int = 0
    delay: float = 0.0
    sent: list[str] = field(default_factory=list)
    seen: str = ""

    async def deliver(self, delivery: Delivery) -> Posted | Later | Refusal:
        answer = self.answers.pop(0) if self.answers else "ok"
        if self.delay:
            await asyncio.sleep(self.delay)
        if answer == "later":
            return Later(0.05, "ratelimited")
        if answer == "refuse":
            return Refusal("the channel is archived: choose another one")
        if answer == "raise":
            raise RuntimeError("a bug of the notifier")
        if answer == "hang":
            await asyncio.Event().wait()
        message = delivery.message or self._found(delivery) or f"m{len(self.messages) + 1}"
        self.messages.setdefault(message, []).append(delivery)
        self.sent.append(delivery.incident.id)
        if answer == "lost":
            return Later(0.05, "the answer was lost", unsure=True)
        return Posted(delivery.place, message, self.seen)

    def posts(self, incident: str) -> list[str]:
        """The ids of the messages that show this incident."""
        shown = self.messages.items()
        return [id for id, seen in shown if seen[0].incident.id == incident]

    def last(self, incident: str) -> Incident | None:
        """The incident as it was shown last."""
        seen = [d for d in self._all() if d.incident.id == incident]
        return seen[-1].incident if seen else None

    def _all(self) -> list[Delivery]:
        return [delivery for seen in self.messages.values() for delivery in seen]

    def _found(self, delivery: Delivery) -> str:
        if not delivery.unsure:
            return ""
        self.looked += 1
        return next(iter(self.posts(delivery.incident.id)), "")


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
