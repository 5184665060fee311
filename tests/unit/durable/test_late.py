"""Late answers: what they change, what is told of them, and when nobody is asked any more."""

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable.boot import Boot
from tailhound.durable.cases import Cases
from tailhound.durable.investigating import Plain, Record
from tailhound.durable.tasks import Fate
from tailhound.flow import Turn
from tailhound.model import EvidenceStatus, Incident, Outlook, State
from tests.unit.durable import kit
from tests.unit.durable.fakes import Detective
from tests.unit.durable.kit import Clock, alert, body

pytestmark = pytest.mark.usefixtures("each_database")


def test_late_answers_revise_the_verdict_and_the_message_says_so(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path, detective=Detective(slow=("cpu",))) as lab:
            id = await lab.accepted(body(alert()))
            await kit.until(lambda: lab.incident(id).revised)
            incident = lab.incident(id)
            assert incident.diagnosis is not None
            assert incident.diagnosis.outlook is Outlook.CAUSE_FOUND
            assert incident.revised is not None
            assert incident.revised.was == "no cause confirmed"
            assert incident.revised.why.startswith("prometheus answered after")
            (cpu,) = [e for e in incident.diagnosis.evidence if e.name == "cpu"]
            assert cpu.status is EvidenceStatus.COLLECTED
            assert incident.n == 1
            await kit.until(lambda: (shown := lab.chat.last(id)) and shown.revised)

    kit.run(scene())


def test_a_late_run_that_fails_leaves_the_verdict_as_it_is(tmp_path: Path) -> None:
    async def scene() -> None:
        detective = Detective(slow=("cpu",), breaks_at="again")
        async with kit.lab(tmp_path, detective=detective) as lab:
            id = await lab.accepted(body(alert()))
            late = f"late:{id}:1"
            async with asyncio.timeout(30):
                while True:
                    seen = (await lab.durable.engine.look_up([late])).get(late)
                    if seen is not None and seen.fate is Fate.GIVEN_UP:
                        break
                    await asyncio.sleep(0.02)
            assert "again broke" in seen.why
            assert await lab.durable.sweeper.sweep(-1.0) == ()
            assert lab.incident(id).state is State.DIAGNOSED

    logging.getLogger("dbos").setLevel("CRITICAL")
    kit.run(scene())


class Night(Detective):
    """A detective that notes which moment it is asked about, and how the incident stands then."""

    async def resolve(self, incident: Incident, turn: Turn, *, record: Record) -> Plain:
        self.calls.append(f"{incident.state.value} at {turn.as_of:%H:%M}")
        return await super().resolve(incident, turn, record=record)


async def _left_overnight(folder: Path, clock: Clock, *, ends: bool) -> str:
    """An incident with a verdict whose late run hung when the process stopped."""
    detective = Detective(slow=("cpu",), hangs_at="again")
    async with kit.lab(folder, detective=detective, boot=Boot(clock=clock)) as lab:
        id = await lab.accepted(body(alert()))
        assert (await lab.diagnosed(id)).asked_until is not None
        await kit.until(lambda: "again" in detective.calls)
    async with kit.intake_alone(folder, clock=clock) as desk:
        clock.advance(5)
        if ends:
            await desk.accept(alert(ends_at="2026-11-30T02:53:04Z"))
    return id


@pytest.mark.parametrize(("ends", "seconds"), [(False, 8 * 3600), (True, 8 * 3600), (True, 5)])
def test_a_late_run_asks_nobody_beyond_its_time_or_once_the_incident_is_over(
    tmp_path: Path, ends: bool, seconds: float
) -> None:
    async def scene() -> None:
        clock = Clock()
        id = await _left_overnight(tmp_path, clock, ends=ends)
        clock.advance(seconds)
        async with kit.lab(tmp_path, boot=Boot(clock=clock)) as lab:
            late = f"late:{id}:1"
            await kit.until(lambda: late not in lab.durable.engine.running and _done(lab, late))
            incident = lab.incident(id)
            assert lab.detective.calls == []
            assert incident.revised is None
            assert incident.asked_until is None
            assert incident.diagnosis is not None
            assert incident.diagnosis.outlook is Outlook.NONE_CONFIRMED

    kit.run(scene())


def _done(lab: kit.Lab, workflow: str) -> bool:
    with lab.database.reading() as connection:
        found = connection.execute(
            sa.text("SELECT status FROM workflow_status WHERE workflow_uuid = :id"),
            {"id": workflow},
        ).scalar()
    return found == "SUCCESS"


@pytest.mark.parametrize("ends", [False, True])
def test_a_run_that_begins_hours_later_looks_at_now_only_where_the_alert_still_fires(
    tmp_path: Path, ends: bool
) -> None:
    async def scene() -> None:
        clock = Clock()
        async with kit.intake_alone(tmp_path, clock=clock) as desk:
            (id,) = (await desk.accept(alert())).incidents
            clock.advance(300)
            if ends:
                await desk.accept(alert(ends_at="2026-11-30T02:57:00Z"))
        clock.advance(8 * 3600)
        async with kit.lab(tmp_path, detective=Night(), boot=Boot(clock=clock)) as lab:
            incident = await lab.diagnosed(id)
            first = "resolved at 02:53" if ends else "investigating at 10:58"
            assert lab.detective.calls[0] == first
            (told,) = [line.what for line in incident.timeline if "came to look" in line.what]
            assert ("Prometheus was asked about 02:53 UTC" in told) is ends

    kit.run(scene())


def test_a_revision_whose_answer_was_lost_is_told_once(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path, detective=Detective(slow=("cpu",))) as lab:
            id = await lab.accepted(body(alert()))
            await kit.until(lambda: lab.incident(id).revised)
            incident = lab.incident(id)
            new, cases = incident.diagnosis, Cases(lab.durable._desk)
            assert new is not None
            assert incident.revised is not None
            old = replace(
                new,
                outlook=Outlook.NONE_CONFIRMED,
                primary=None,
                chain=(),
                confidence=None,
                decided_at=incident.revised.was_at,
            )
            cases.revise(id, 1, old, new, incident.revised.why)
            after = lab.incident(id)
            assert sum("Verdict revised" in line.what for line in after.timeline) == 1

    kit.run(scene())


def test_late_answers_that_change_nothing_are_only_filed(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path, detective=Detective(slow=("spec",))) as lab:
            id = await lab.accepted(body(alert()))

            def filed() -> bool:
                diagnosis = lab.incident(id).diagnosis
                return diagnosis is not None and all(
                    e.status is EvidenceStatus.COLLECTED for e in diagnosis.evidence
                )

            await kit.until(filed)
            assert lab.incident(id).revised is None

    kit.run(scene())


def test_while_who_is_unreachable_is_asked_again_the_incident_says_until_when(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailhound.durable.again.EVERY_SECONDS", 0.3)

    async def scene() -> None:
        detective = Detective(unreachable=("cpu",))
        async with kit.lab(tmp_path, detective=detective, late_seconds=60.0) as lab:
            id = await lab.accepted(body(alert()))
            await kit.until(lambda: (last := lab.chat.last(id)) and last.asked_until)
            shown = lab.incident(id)
            assert shown.diagnosis is not None
            assert shown.asked_until is not None
            assert 55 < (shown.asked_until - shown.received_at).total_seconds() < 65
            await kit.until(lambda: detective.calls.count("again") >= 3)
            detective.unreachable = ()
            await kit.until(lambda: lab.incident(id).revised)
            await kit.until(
                lambda: (last := lab.chat.last(id)) and last.revised and not last.asked_until
            )

    kit.run(scene())


@pytest.mark.sqlite
def test_when_nobody_answers_until_the_end_the_incident_says_that_it_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailhound.durable.again.EVERY_SECONDS", 0.1)

    async def scene() -> None:
        detective = Detective(unreachable=("cpu",))
        async with kit.lab(tmp_path, detective=detective, late_seconds=4.0) as lab:
            id = await lab.accepted(body(alert()))
            await kit.until(lambda: (last := lab.chat.last(id)) and last.asked_until)
            await kit.until(
                lambda: (last := lab.chat.last(id)) and last.diagnosis and not last.asked_until
            )
            assert lab.incident(id).revised is None
            assert detective.calls.count("again") >= 2

    kit.run(scene())


def test_with_late_seconds_of_zero_nothing_is_asked_again(tmp_path: Path) -> None:
    async def scene() -> None:
        detective = Detective(slow=("cpu",))
        async with kit.lab(tmp_path, detective=detective, late_seconds=0.0) as lab:
            id = await lab.accepted(body(alert()))
            await lab.diagnosed(id)
            assert await lab.durable.engine.look_up([f"late:{id}:1"]) == {}

    kit.run(scene())
