"""From an accepted body to a verdict that people see, whatever goes wrong on the way."""

import asyncio
import logging
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable.boot import Boot
from tailhound.durable.cases import Cases
from tailhound.durable.engine import Fate
from tailhound.durable.investigating import Plain, Record
from tailhound.flow import Turn
from tailhound.model import EvidenceStatus, FactValue, Incident, Outlook, State
from tailhound.store import codec
from tailhound.store.database import Database
from tailhound.transports.recording import parsed
from tests.unit.durable import kit
from tests.unit.durable.kit import Chat, Clock, Detective, alert, body

pytestmark = pytest.mark.usefixtures("each_database")

ENDED = "2026-11-30T02:55:00Z"


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


def test_a_second_click_does_not_ask_again(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path) as lab:
            id = await lab.accepted(body(alert()))
            await lab.diagnosed(id)
            clicks = await asyncio.gather(
                *(lab.durable.recheck(id, "ben", "envelope-1") for _ in range(5))
            )
            assert sorted(clicks) == [False, False, False, False, True]
            again = await lab.diagnosed(id, n=2)
            assert any("ben" in line.what for line in again.timeline)
            assert lab.detective.calls.count("decide") == 2
            assert len(lab.chat.posts(id)) == 1

    kit.run(scene())


def test_a_verdict_stands_while_it_is_checked_again_and_says_how_that_ended(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        detective = Detective()
        async with kit.lab(tmp_path, detective=detective) as lab:
            id = await lab.accepted(body(alert()))
            await lab.diagnosed(id)
            detective.gate = asyncio.Event()
            await lab.durable.recheck(id, "ben", "envelope-1")
            meanwhile = lab.incident(id)
            assert meanwhile.diagnosis is not None
            assert meanwhile.is_rechecked
            assert meanwhile.recheck is not None
            assert meanwhile.recheck.by == "ben"
            detective.gate.set()
            same = await lab.diagnosed(id, n=2)
            assert same.recheck is not None
            assert same.recheck.same
            assert not same.is_rechecked
            detective.unreachable = ("cpu",)
            await lab.durable.recheck(id, "ben", "envelope-2")
            other = await lab.diagnosed(id, n=3)
            assert other.revised is not None
            assert other.revised.was == "cause found: the CPU limit stops the engine"
            assert "ben" in other.revised.why

    kit.run(scene())


def test_a_check_that_breaks_leaves_the_verdict_standing(tmp_path: Path) -> None:
    async def scene() -> None:
        detective = Detective()
        async with kit.lab(tmp_path, detective=detective) as lab:
            id = await lab.accepted(body(alert()))
            await lab.diagnosed(id)
            detective.breaks_at = "decide"
            await lab.durable.recheck(id, "ben", "envelope-1")
            await kit.until(lambda: lab.incident(id).state is State.FAILED)
            broken = lab.incident(id)
            assert broken.verdict_stands
            assert not broken.is_rechecked
            assert broken.failed_because

    kit.run(scene())


def test_clicks_while_an_investigation_runs_make_one_more(tmp_path: Path) -> None:
    async def scene() -> None:
        gate = asyncio.Event()
        async with kit.lab(tmp_path, detective=Detective(gate=gate)) as lab:
            id = await lab.accepted(body(alert()))
            await kit.until(lambda: "collect" in lab.detective.calls)
            for i in range(3):
                assert await lab.durable.recheck(id, "ben", f"envelope-{i}")
            assert lab.incident(id).n == 1
            gate.set()
            await lab.diagnosed(id, n=2)
            assert lab.detective.calls.count("decide") == 2
            assert lab.incident(id).n == 2

    kit.run(scene())


def test_a_recheck_of_an_incident_that_is_not_there_says_so(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path) as lab:
            with pytest.raises(LookupError, match="NOPE"):
                await lab.durable.recheck("NOPE", "ben", "envelope-1")
            id = await lab.accepted(b"not json")
            with pytest.raises(LookupError, match=id):
                await lab.durable.recheck(id, "ben", "envelope-2")

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


def test_the_incident_of_a_pod_joins_the_open_one_of_its_workload(tmp_path: Path) -> None:
    async def scene() -> None:
        detective = Detective()
        async with kit.lab(tmp_path, detective=detective) as lab:
            first = await lab.accepted(body(alert()))
            await lab.diagnosed(first)
            detective.key = lab.incident(first).key
            second = await lab.accepted(body(alert("other", fingerprint="f2")))
            await kit.until(lambda: lab.incident(second).state is State.JOINED)
            assert lab.incident(second).joined_into == first
            assert len(lab.incident(first).alerts) == 2
            assert detective.calls.count("decide") == 1
            third = await lab.accepted(body(alert("other", fingerprint="f3")))
            assert third == first
            await lab.durable.accept(
                body(
                    alert(ends_at=ENDED),
                    alert("other", fingerprint="f2", ends_at=ENDED),
                    alert("other", fingerprint="f3", ends_at=ENDED),
                )
            )
            assert lab.incident(first).state is State.RESOLVED
            await kit.until(
                lambda: (shown := lab.chat.last(second)) and shown.state is State.JOINED
            )

    kit.run(scene())


def test_two_incidents_of_one_workload_join_the_earlier_whoever_notices(tmp_path: Path) -> None:
    async def scene() -> None:
        detective = Detective(key="workload:/prod/llm")
        async with kit.lab(tmp_path, detective=detective) as lab:
            bodies = [body(alert(f"pod-{i}", fingerprint=f"f{i}")) for i in range(6)]
            ids = [await lab.accepted(content) for content in bodies]
            await kit.until(lambda: sum(lab.incident(id).state is State.JOINED for id in ids) == 5)
            await lab.diagnosed(ids[0])
            first = lab.incident(ids[0])
            assert first.state is State.DIAGNOSED
            for id in ids[1:]:
                into = lab.incident(id)
                while into.joined_into:
                    assert lab.incident(into.joined_into).received_at <= into.received_at
                    into = lab.incident(into.joined_into)
                assert into.id == first.id
            assert len(lab.incident(ids[0]).alerts) == 6

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
        found = replace(kit.evidence("tasks"), facts={"tasks": rows})
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
            assert answer.request == kit.QUESTION
            assert answer.reply[0].value == pytest.approx(0.62)

    kit.run(scene())


def test_a_re_check_takes_the_place_of_the_recording_before(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path) as lab:
            id = await lab.accepted(body(alert()))
            await lab.diagnosed(id)
            await lab.durable.recheck(id, "ben", "envelope-1")
            await lab.diagnosed(id, 2)
            assert [part.n for part in lab.reader.recorded(id)] == [2]

    kit.run(scene())
