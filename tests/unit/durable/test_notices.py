"""Which posts a change of an incident asks for: each once, with a mention where one is due."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

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

pytestmark = pytest.mark.usefixtures("each_database")

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

        office = Office(
            self.desk.database,
            lambda: kit.terms(**self._terms),
            lambda _connection, *_tasks: None,
            Boot(clock=self.desk.clock),
        )
        with self.desk.database.writing() as connection:
            office.change(connection, self.id, edit, urgent=True)

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


def test_an_incident_that_is_back_is_told_once_and_mentions_nobody_within_the_hour(
    tmp_path: Path,
) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.posted("")
        at.desk.clock.advance(120)
        await at.ends()
        at.desk.clock.advance(120)
        await at.fires()
        await at.fires()
        assert at.asked() == {"event:reopened:2": ""}

    play(tmp_path, act)


def test_an_incident_that_is_back_after_an_hour_mentions_the_group_again(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.posted("")
        at.desk.clock.advance(3700)
        await at.ends()
        at.desk.clock.advance(120)
        await at.fires()
        assert at.asked() == {"event:reopened:2": GROUP}

    play(tmp_path, act)


def test_a_mention_that_waits_to_be_posted_is_not_made_twice(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.desk.clock.advance(3700)
        await at.ends()
        at.desk.clock.advance(120)
        await at.fires()
        assert at.asked() == {"event:reopened:2": ""}

    play(tmp_path, act)


def test_an_alert_that_pages_among_others_that_do_not_is_told_once(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires(severity="warning")
        assert at.asked() == {}
        await at.fires(severity="critical")
        await at.fires(severity="page")
        assert list(at.asked()) == ["event:paged:1"]

    play(tmp_path, act)


def test_a_page_mentions_the_group_that_the_configuration_names_for_it_now(
    tmp_path: Path,
) -> None:
    def destinations(incident: Any) -> list[Destination]:
        pages = any(one.labels["severity"] == "critical" for one in incident.alerts)
        return [Destination(place=CHANNEL, mention=GROUP if pages else "")]

    async def act(at: Scene) -> None:
        await at.fires(severity="warning")
        at.posted("")
        await at.fires(severity="critical")
        assert at.asked() == {"event:paged:1": GROUP}

    play(tmp_path, act, parts={"chat": PARTS}, destinations=destinations)


def test_without_threads_nothing_is_asked_for(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        await at.ends()
        await at.fires()
        assert at.asked() == {}

    play(tmp_path, act, parts={})


def test_a_resolved_incident_gets_its_file_once_more_where_it_had_one(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.posted("", "file")
        await at.ends()
        assert at.asked() == {"file:resolved:1": ""}

    play(tmp_path, act)


def test_an_incident_that_is_resolved_before_its_file_was_posted_gets_no_second_one(
    tmp_path: Path,
) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.posted("")
        await at.ends()
        assert at.asked() == {}

    play(tmp_path, act)


def test_another_cause_is_told_and_gets_charts_of_its_own(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.decided(diagnosis("cpu-throttling"))
        at.posted("", *PARTS)
        at.decided(diagnosis("kv-preemption"))
        event, charts = sorted(at.asked(), reverse=True)
        assert event.startswith("event:overturned:1.")
        assert charts.startswith("charts:1.")

    play(tmp_path, act)


def test_charts_that_were_not_posted_yet_show_the_new_cause_anyway(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.decided(diagnosis(""))
        at.posted("")
        at.decided(diagnosis("kv-preemption"))
        (event,) = at.asked()
        assert event.startswith("event:revised:1.")

    play(tmp_path, act)


def test_the_same_cause_again_is_told_to_nobody(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.decided(diagnosis())
        at.posted("", *PARTS)
        at.decided(diagnosis())
        assert at.asked() == {}

    play(tmp_path, act)


def test_a_verdict_of_a_page_that_took_over_a_minute_is_told(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        late = at.desk.clock.now.replace(minute=at.desk.clock.now.minute + 2)
        at.decided(replace(diagnosis(), decided_at=late))
        assert at.asked() == {"event:verdict:1": ""}

    play(tmp_path, act)
