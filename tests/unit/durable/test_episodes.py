"""Episodes of incidents: what ends one, what goes on with it, and what begins another."""

from pathlib import Path

import pytest

from tailhound.durable.admission import UNSEEN
from tailhound.durable.alert_rows import LATE_COPY_SECONDS
from tailhound.model import State
from tailhound.settings import Incidents
from tests.unit.durable import kit
from tests.unit.durable.kit import ENDED, alert

pytestmark = pytest.mark.usefixtures("each_database")


def test_the_incident_resolves_when_its_last_alert_does(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert(), alert(fingerprint="f2"))
            desk.clock.advance(300)
            await desk.accept(alert(ends_at=ENDED), alert(fingerprint="f2"))
            half = desk.only()
            assert half.state is State.INVESTIGATING
            assert [a.fingerprint for a in half.firing] == ["f2"]
            await desk.accept(alert(ends_at=ENDED), alert(fingerprint="f2", ends_at=ENDED))
            done = desk.only()
            assert done.state is State.RESOLVED
            assert done.resolved_at is not None
            assert done.resolved_at.isoformat() == "2026-11-30T02:55:00+00:00"
            assert done.revision > half.revision
            assert desk.rows("SELECT wanted_revision FROM th_outbox") == [(done.revision,)]

    kit.run(scene())


def test_an_end_in_the_future_does_not_become_the_time_of_resolution(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            await desk.accept(alert(ends_at="2099-01-01T00:00:00Z"))
            assert desk.only().resolved_at == desk.clock.now

    kit.run(scene())


def test_a_refire_inside_the_window_goes_on_with_the_incident(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            desk.clock.advance(300)
            await desk.accept(alert(ends_at=ENDED))
            first = desk.only()
            desk.clock.advance(600)
            await desk.accept(alert(starts_at="2026-11-30T03:08:00Z"))
            again = desk.only()
            assert (again.id, again.episode) == (first.id, 2)
            assert again.previous_resolved_at == first.resolved_at
            assert again.resolved_at is None
            assert again.state is State.INVESTIGATING
            assert [a.starts_at.hour for a in again.alerts] == [3]

    kit.run(scene())


def test_a_refire_while_the_first_investigation_still_runs_waits_for_it(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            desk.clock.advance(300)
            await desk.accept(alert(ends_at=ENDED))
            await desk.accept(alert(starts_at="2026-11-30T03:08:00Z"))
            assert desk.only().n == 1
            assert desk.rows("SELECT waiting FROM th_incident") == [("it fired again",)]
            assert len(desk.rows("SELECT 1 FROM workflow_status")) == 1

    kit.run(scene())


def test_a_refire_after_the_window_is_a_new_incident_of_another_name(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            await desk.accept(alert(ends_at=ENDED))
            desk.clock.advance(31 * 60)
            await desk.accept(alert(starts_at="2026-11-30T03:40:00Z"))
            new, old = desk.reader.list()
            assert new.id != old.id
            assert (new.episode, new.state) == (1, State.INVESTIGATING)
            assert old.state is State.RESOLVED

    kit.run(scene())


def test_a_late_firing_copy_of_a_resolved_alert_is_no_refire(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            await desk.accept(alert(ends_at=ENDED))
            desk.clock.advance(LATE_COPY_SECONDS - 1)
            late = await desk.accept(alert())
            assert (late.new, late.repeats) == (0, 1)
            assert desk.only().state is State.RESOLVED
            desk.clock.advance(2)
            again = await desk.accept(alert())
            assert again.new == 1
            assert desk.only().episode == 2

    kit.run(scene())


def test_an_alert_that_was_never_seen_firing_resolves_nothing(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            accepted = await desk.accept(alert(ends_at=ENDED))
            assert dict(accepted.dropped) == {UNSEEN: 1}
            assert desk.reader.list() == ()

    kit.run(scene())


def test_a_new_alert_on_a_failed_incident_tries_again(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            (id,) = (await desk.accept(alert())).incidents
            with desk.database.writing() as connection:
                connection.exec_driver_sql(
                    "UPDATE th_incident SET done = 1, state = 'failed', "
                    "snapshot = replace(snapshot, 'investigating', 'failed')"
                )
            await desk.accept(alert(fingerprint="f2"))
            incident = desk.only()
            assert (incident.id, incident.n) == (id, 2)
            assert incident.state is State.INVESTIGATING

    kit.run(scene())


def test_with_a_reopen_window_of_zero_each_refire_is_a_new_incident(tmp_path: Path) -> None:
    async def scene() -> None:
        never = Incidents(reopen_minutes=0)
        async with kit.intake_alone(tmp_path, incidents=never) as desk:
            await desk.accept(alert())
            await desk.accept(alert(ends_at=ENDED))
            desk.clock.advance(1)
            await desk.accept(alert(starts_at="2026-11-30T02:53:30Z"))
            assert len(desk.reader.list()) == 2

    kit.run(scene())
