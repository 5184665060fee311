"""An incident with its thread, as the tests of notices play it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from tailhound.durable.acts import Acts, Click, Person
from tailhound.durable.asking import Destination, open_parts
from tailhound.durable.boot import Boot
from tailhound.durable.desk import Desk as Office
from tailhound.model import Cause, Confidence, Diagnosis, Outlook, Verdict
from tailhound.notifiers import PARTS
from tailhound.store import records
from tailhound.store.records import Record
from tailhound.store.tables import outbox
from tests.unit.durable import kit
from tests.unit.durable.kit import CHANNEL, alert

GROUP = "S0ONCALL"


def settings(group: str = GROUP) -> dict[str, Any]:
    """Terms with threads, and a group that the channel's messages mention."""
    to = Destination(place=CHANNEL, mention=group)
    return {"parts": {"chat": PARTS}, "destinations": lambda _incident: [to]}


def diagnosis(primary: str = "cpu-throttling") -> Diagnosis:
    return Diagnosis(
        outlook=Outlook.CAUSE_FOUND if primary else Outlook.NONE_CONFIRMED,
        primary=primary or None,
        chain=(primary,) if primary else (),
        confidence=Confidence.HIGH if primary else None,
        causes=(Cause(runbook=primary, title=primary, verdict=Verdict.CONFIRMED, because="x"),)
        if primary
        else (),
        evidence=(),
    )


class Scene:
    """Intake with one incident, its outbox rows, and a hand that marks them as posted."""

    def __init__(self, desk: kit.Desk, terms: dict[str, Any]) -> None:
        self.desk, self._terms = desk, terms
        self.id = ""

    async def fires(self, **labels: str) -> None:
        """An alert of the incident fires; another severity is another alert."""
        severity = labels.get("severity", "critical")
        accepted = await self.desk.accept(alert(fingerprint=severity, labels=labels))
        (self.id,) = accepted.incidents

    async def ends(self, **labels: str) -> None:
        """The alert ends."""
        severity = labels.get("severity", "critical")
        now = self.desk.clock.now.isoformat()
        await self.desk.accept(alert(fingerprint=severity, ends_at=now, labels=labels))

    def posted(self, *parts: str) -> None:
        """These parts stand now, in the channel and in its thread."""
        with self.desk.database.writing() as connection:
            record = records.read(connection, self.id)
            assert record is not None
            open_parts(connection, record, {"chat": PARTS})
            mine = sa.update(outbox).where(outbox.c.part.in_(parts))
            now = self.desk.clock.now.timestamp()
            connection.execute(mine.values(message="m", posted_at=now, state="sent"))

    def decided(self, verdict: Diagnosis) -> None:
        """A verdict is written, whatever stood before."""

        def edit(record: Record) -> Record:
            return replace(record, done=record.incident.n).edited(diagnosis=verdict)

        with self.desk.database.writing() as connection:
            self._office.change(connection, self.id, edit, urgent=True)

    def is_on_it(self, person: str) -> None:
        """Somebody presses *I'm on it*."""
        pressed = Click(self.id, Person(person, person), f"{person} {self.desk.clock.now}")
        Acts(self._office).on_it(pressed)

    async def flaps(self, times: int, *, every: float = 600) -> None:
        """The alert ends and fires again, so often; what was asked for is posted in between."""
        for _ in range(times):
            self.desk.clock.advance(every / 2)
            await self.ends()
            self.desk.clock.advance(every / 2)
            await self.fires()
            self.all_posted()

    def all_posted(self) -> None:
        """Everything that was asked for stands now."""
        now = self.desk.clock.now.timestamp()
        with self.desk.database.writing() as connection:
            waiting = sa.update(outbox).where(outbox.c.message == "")
            connection.execute(waiting.values(message="m", posted_at=now, state="sent"))

    def timeline(self) -> list[str]:
        """What the timeline says."""
        return [line.what for line in self.desk.only().timeline]

    def rows(self) -> dict[tuple[str, str], str]:
        """The mention of each row by place and part."""
        with self.desk.database.reading() as connection:
            found = connection.execute(sa.select(outbox.c.place, outbox.c.part, outbox.c.mention))
            return {(row.place, row.part): row.mention for row in found}

    @property
    def _office(self) -> Office:
        return Office(
            self.desk.database,
            lambda: kit.terms(**self._terms),
            lambda _connection, *_tasks: None,
            Boot(clock=self.desk.clock),
        )

    def asked(self) -> dict[str, str]:
        """The posts that were asked for beside the usual ones, each with its mention."""
        with self.desk.database.reading() as connection:
            rows = connection.execute(sa.select(outbox.c.part, outbox.c.mention)).all()
        return {row.part: row.mention for row in rows if row.part and row.part not in PARTS}


@asynccontextmanager
async def scene(folder: Path, **terms: Any) -> AsyncIterator[Scene]:
    terms = terms or settings()
    async with kit.intake_alone(folder, **terms) as desk:
        yield Scene(desk, terms)


def play(folder: Path, act: Callable[[Scene], Awaitable[None]], **terms: Any) -> None:
    async def run() -> None:
        async with scene(folder, **terms) as at:
            await act(at)

    kit.run(run())
