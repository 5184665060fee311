"""Intake: accepted once, durably; repeats change nothing and are counted."""

import asyncio
from pathlib import Path

import pytest

from tailhound.model import State
from tests.unit.durable import kit
from tests.unit.durable.kit import alert

pytestmark = pytest.mark.usefixtures("each_database")


def test_an_accepted_alert_has_its_row_its_incident_its_workflow_and_its_outbox_row(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            accepted = await desk.accept(alert())
            (id,) = accepted.incidents
            assert (accepted.new, accepted.repeats) == (1, 0)
            assert desk.rows("SELECT incident_id, status FROM th_alert") == [(id, "firing")]
            assert desk.rows("SELECT workflow_uuid, status, queue_name FROM workflow_status") == [
                (f"inv:{id}:1", "ENQUEUED", "inv")
            ]
            assert desk.rows("SELECT incident_id, state, urgent FROM th_outbox") == [
                (id, "pending", 1)
            ]
            incident = desk.only()
            assert incident.state is State.INVESTIGATING
            assert incident.subject.where == "prod/llm-70b"
            assert (incident.n, incident.episode, incident.causes_checked) == (1, 1, 14)
            assert incident.verdict_by is not None
            assert (incident.verdict_by - incident.received_at).total_seconds() == 10
            assert desk.news == [None]

    kit.run(scene())


def test_a_repeat_changes_nothing_and_is_counted(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            before = desk.only()
            again = await desk.accept(alert())
            assert (again.incidents, again.new, again.repeats) == ((before.id,), 0, 1)
            assert desk.reader.revision() == before.revision
            assert desk.news == [None]

    kit.run(scene())


def test_a_repeat_is_one_also_after_a_restart_and_without_the_cache(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            before = desk.only()
        async with kit.intake_alone(tmp_path) as desk:
            again = await desk.accept(alert())
            assert (again.incidents, again.new, again.repeats) == ((before.id,), 0, 1)
            await kit.until(lambda: desk.only().repeats == 1)
            assert desk.only().revision == before.revision

    kit.run(scene())


def test_two_alertmanagers_at_the_same_moment_make_one_incident(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            both = await asyncio.gather(*(desk.accept(alert()) for _ in range(20)))
            assert sum(accepted.new for accepted in both) == 1
            assert len({accepted.incidents for accepted in both}) == 1
            assert len(desk.rows("SELECT 1 FROM workflow_status")) == 1

    kit.run(scene())


def test_a_pair_of_prometheus_servers_makes_one_incident_with_both_alerts(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert(fingerprint="f1", labels={"replica": "a"}))
            await desk.accept(
                alert(
                    fingerprint="f2",
                    starts_at="2026-11-30T02:51:07Z",
                    labels={"replica": "b"},
                )
            )
            assert len(desk.only().alerts) == 2
            assert len(desk.rows("SELECT 1 FROM workflow_status")) == 1

    kit.run(scene())


def test_alerts_of_other_workloads_are_other_incidents(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            accepted = await desk.accept(alert("a"), alert("b", fingerprint="f2"))
            assert len(accepted.incidents) == 2
            assert len({incident.id for incident in desk.reader.list()}) == 2

    kit.run(scene())


def test_ignored_alerts_are_dropped_with_their_reason(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            accepted = await desk.accept(alert(name="Watchdog"))
            assert accepted.incidents == ()
            assert dict(accepted.dropped) == {"Watchdog is in incidents.ignore": 1}
            assert dict(desk.intake.totals().dropped) == {"Watchdog is in incidents.ignore": 1}
            assert desk.reader.list() == ()

    kit.run(scene())


def test_severity_decides_who_is_investigated_first(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert("a", labels={"severity": "info"}))
            await desk.accept(alert("b", labels={"severity": "critical"}))
            rows = desk.rows("SELECT priority FROM workflow_status ORDER BY created_at")
            assert rows[0] > rows[1]

    kit.run(scene())


def test_no_name_or_key_holds_a_fingerprint_or_a_start(tmp_path: Path) -> None:
    async def scene(folder: Path, fingerprint: str, start: str) -> str:
        folder.mkdir()
        async with kit.intake_alone(folder) as desk:
            (id,) = (await desk.accept(alert(fingerprint=fingerprint, starts_at=start))).incidents
            return id

    first = kit.run(scene(tmp_path / "a", "f1", "2026-11-30T02:51:00Z"))
    second = kit.run(scene(tmp_path / "b", "f2", "2026-11-30T02:40:00Z"))
    assert first == second
