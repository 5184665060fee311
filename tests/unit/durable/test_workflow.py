"""From an accepted body to a verdict that people see, whatever goes wrong on the way."""

import asyncio
import logging
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tailhound.durable.investigating import Plain, Record
from tailhound.flow import Turn
from tailhound.model import EvidenceStatus, FactValue, Incident, Outlook, State
from tailhound.store import codec
from tailhound.store.database import Database
from tailhound.transports.recording import parsed
from tests.unit.durable import fakes, kit
from tests.unit.durable.fakes import Chat, Detective
from tests.unit.durable.kit import ENDED, Clock, alert, body

pytestmark = pytest.mark.usefixtures("each_database")


def test_an_alert_ends_in_one_message_with_a_verdict(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path) as lab:
            id = await lab.accepted(body(alert()))
            incident = await lab.diagnosed(id)
            assert incident.state is State.DIAGNOSED
            assert incident.diagnosis is not None
            assert incident.diagnosis.outlook is Outlook.CAUSE_FOUND
            assert [item.name for item in incident.diagnosis.evidence] == ["cpu", "spec"]
            await kit.until(lambda: (shown := lab.chat.last(id)) and shown.diagnosis)
            assert len(lab.chat.posts(id)) == 1
            assert lab.detective.calls == ["resolve", "collect", "deepen", "decide"]
            assert [raw.text for raw in lab.reader.raw(id)] == ['{pod="llm-0"} 0.62']

    kit.run(scene())


def test_the_first_post_does_not_wait_for_the_investigation(tmp_path: Path) -> None:
    async def scene() -> None:
        gate = asyncio.Event()
        async with kit.lab(tmp_path, detective=Detective(gate=gate)) as lab:
            id = await lab.accepted(body(alert()))
            shown = await kit.until(lambda: lab.chat.last(id))
            assert shown.state is State.INVESTIGATING
            assert shown.diagnosis is None
            gate.set()
            await lab.diagnosed(id)

    kit.run(scene())


@pytest.mark.parametrize("step", ["resolve", "collect", "deepen", "decide"])
def test_a_step_that_breaks_ends_in_a_visible_failure(tmp_path: Path, step: str) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path, detective=Detective(breaks_at=step)) as lab:
            id = await lab.accepted(body(alert()))
            await kit.until(lambda: lab.incident(id).state is State.FAILED)
            incident = lab.incident(id)
            assert "ZeroDivisionError" in incident.failed_because
            await kit.until(lambda: (shown := lab.chat.last(id)) and shown.state is State.FAILED)

    kit.run(scene())


@pytest.mark.parametrize("step", ["resolve", "collect", "deepen"])
def test_a_step_that_overruns_its_turn_is_cut_off_and_seen(
    tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailhound.durable.deadlines.GRACE_SECONDS", 0.1)

    async def scene() -> None:
        detective = Detective(hangs_at=step)
        async with kit.lab(tmp_path, detective=detective, verdict_seconds=0.6) as lab:
            id = await lab.accepted(body(alert()))
            await kit.until(lambda: lab.incident(id).state is State.FAILED)
            assert "TimeoutError" in lab.incident(id).failed_because

    kit.run(scene())


def test_a_compiled_set_that_cant_be_loaded_is_a_visible_failure(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path, unknown_set=True) as lab:
            id = await lab.accepted(body(alert()))
            await kit.until(lambda: lab.incident(id).state is State.FAILED)
            assert "KeyError" in lab.incident(id).failed_because

    kit.run(scene())


def test_conditional_evidence_is_part_of_the_verdict(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path, detective=Detective(conditional=("node",))) as lab:
            incident = await lab.diagnosed(await lab.accepted(body(alert())))
            assert incident.diagnosis is not None
            assert [e.name for e in incident.diagnosis.evidence] == ["cpu", "spec", "node"]

    kit.run(scene())


def test_progress_is_shown_before_the_verdict_but_rarely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailhound.durable.deadlines.PROGRESS_APART_SECONDS", 0.1)

    async def scene() -> None:
        async with kit.lab(tmp_path, detective=Detective(reports=12)) as lab:
            id = await lab.accepted(body(alert()))
            await lab.diagnosed(id)
            await kit.until(lambda: (shown := lab.chat.last(id)) and shown.diagnosis)
            (message,) = lab.chat.posts(id)
            with_progress = [d for d in lab.chat.messages[message] if d.incident.progress]
            assert 1 <= len(with_progress) <= 3
            assert {
                d.incident.progress.ruled_out for d in with_progress if d.incident.progress
            } == {("gpu-clocks",)}
            assert lab.incident(id).progress is None

    kit.run(scene())


def test_an_incident_that_resolves_meanwhile_still_gets_its_verdict(tmp_path: Path) -> None:
    async def scene() -> None:
        gate = asyncio.Event()
        async with kit.lab(tmp_path, detective=Detective(gate=gate)) as lab:
            id = await lab.accepted(body(alert()))
            await lab.durable.accept(body(alert(ends_at=ENDED)))
            assert lab.incident(id).state is State.RESOLVED
            gate.set()
            incident = await lab.diagnosed(id)
            assert incident.state is State.RESOLVED
            assert incident.diagnosis is not None

    kit.run(scene())


def test_after_a_long_outage_there_is_still_a_verdict(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path, clock=Clock(2020)) as desk:
            (id,) = (await desk.accept(alert())).incidents
        async with kit.lab(tmp_path) as lab:
            incident = await lab.diagnosed(id)
            assert incident.state is State.DIAGNOSED
            assert len(lab.chat.posts(id)) == 1

    kit.run(scene())


def test_a_stop_in_the_middle_is_taken_up_where_it_was(tmp_path: Path) -> None:
    async def scene() -> None:
        detective = Detective(gate=asyncio.Event())
        async with kit.lab(tmp_path, detective=detective) as lab:
            id = await lab.accepted(body(alert()))
            await kit.until(lambda: "collect" in detective.calls)
            await kit.until(lambda: lab.chat.posts(id))
        chat = Chat(messages={"m1": []})
        async with kit.lab(tmp_path, chat=chat) as lab:
            incident = await lab.diagnosed(id)
            assert incident.n == 1
            assert lab.detective.calls == ["collect", "deepen", "decide"]
            await kit.until(lambda: (shown := lab.chat.last(id)) and shown.diagnosis)
            assert list(chat.messages) == ["m1"]

    kit.run(scene())


@pytest.mark.sqlite
def test_a_full_disk_during_an_investigation_delays_its_outcome_and_no_more(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        gate = asyncio.Event()
        large = Detective(gate=gate, conditional=("x" * 100_000,))
        async with kit.lab(tmp_path, detective=large) as lab:
            id = await lab.accepted(body(alert()))
            await kit.until(lambda: "collect" in lab.detective.calls)
            await kit.until(lambda: lab.chat.posts(id))
            _limit_pages(lab.database, 1)
            gate.set()
            await kit.until(lambda: not lab.durable.engine.running)
            assert lab.incident(id).diagnosis is None
            _limit_pages(lab.database, 1_000_000)
            await lab.durable.sweeper.sweep(-1.0)
            assert await lab.durable.sweeper.sweep(-1.0) == (f"inv:{id}:1",)
            await lab.diagnosed(id)
            assert lab.incident(id).state is State.DIAGNOSED
            assert lab.detective.calls.count("collect") == 1

    logging.getLogger("dbos").setLevel("CRITICAL")
    kit.run(scene())


def _limit_pages(database: Database, pages: int) -> None:
    """Let the disk be full for the workers, or not."""
    with database.work.connect() as one, database.work.connect() as two:
        for connection in (one, two):
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")


@dataclass
class Verbose(Detective):
    """Its conditional evidence is more than a checkpoint holds."""

    async def deepen(
        self, incident: Incident, resolved: Plain, collected: Plain, turn: Turn, *, record: Record
    ) -> Plain:
        rows: tuple[dict[str, FactValue], ...] = tuple(
            {"name": f"task-{i}", "value": float(i)} for i in range(20_000)
        )
        found = replace(fakes.evidence("tasks"), facts={"tasks": rows})
        return {"evidence": codec.evidence_to_plain((found,))}


def test_evidence_that_no_checkpoint_holds_becomes_truncated(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path, detective=Verbose()) as lab:
            incident = await lab.diagnosed(await lab.accepted(body(alert())))
            assert incident.diagnosis is not None
            found = {item.name: item for item in incident.diagnosis.evidence}
            assert list(found) == ["cpu", "spec", "tasks"]
            assert found["tasks"].status is EvidenceStatus.TRUNCATED
            assert "20,000 records, too many to keep" in found["tasks"].reason

    kit.run(scene())


def test_what_was_asked_is_kept_typed_for_a_replay(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path, detective=Detective(slow=("cpu",))) as lab:
            id = await lab.accepted(body(alert()))
            await lab.diagnosed(id)
            (part,) = lab.reader.recorded(id)
            assert (part.n, part.part) == (1, "collect")
            assert part.content is not None
            (answer,) = parsed(part.content.decode()).answers
            assert answer.request == fakes.QUESTION
            assert answer.reply[0].value == pytest.approx(0.62)

    kit.run(scene())
