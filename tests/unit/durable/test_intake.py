"""Intake: accepted once, durably; repeats change nothing; episodes; what can't be read is kept."""

import asyncio
import json
import time
from datetime import datetime
from pathlib import Path

import pytest

from tailhound.durable import episodes
from tailhound.durable.admission import LATE_COPY_SECONDS, UNSEEN
from tailhound.durable.arrivals import Item
from tailhound.durable.intake import LARGE
from tailhound.errors import StoreUnavailable
from tailhound.model import State
from tailhound.settings import Incidents
from tailhound.store.outputs import read_body
from tailhound.store.records import Record
from tests.unit.durable import kit
from tests.unit.durable.kit import Detective, alert, body

pytestmark = pytest.mark.usefixtures("each_database")

ENDED = "2026-11-30T02:55:00Z"


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


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"[]",
        b'{"version": "3", "alerts": []}',
        b'{"version":"4"}',
        b"[" * 20_000,
        json.dumps({"message": "hello"}).encode(),
    ],
)
def test_a_body_that_cant_be_read_becomes_a_visible_incident_once(
    tmp_path: Path, content: bytes
) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            (id,) = (await desk.intake.accept(content)).incidents
            again = await desk.intake.accept(content)
            assert (again.incidents, again.repeats) == ((id,), 1)
            incident = desk.only()
            assert incident.state is State.FAILED
            assert incident.unreadable
            assert incident.name == "unreadable alert"
            assert desk.rows("SELECT 1 FROM workflow_status") == []
            assert len(desk.rows("SELECT 1 FROM th_outbox")) == 1
            ((sha,),) = desk.rows("SELECT sha FROM th_body")
            with desk.database.reading() as connection:
                assert read_body(connection, sha) == content

    kit.run(scene())


def test_labels_that_no_database_can_hold_are_stored_with_a_replacement(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            hostile = {
                "nul": "a\0b",
                "surrogate": "a\ud800b",
                "quote": "x';DROP TABLE th_incident;--",
                "ping": "<!channel> `id` $(id) {{ 7*7 }}",
                "long": "x" * 1_000_000,
            }
            await desk.accept(alert(labels=hostile))
            (stored,) = desk.only().alerts
            assert stored.labels["nul"] == "a\ufffdb"
            assert stored.labels["surrogate"] == "a\ufffdb"
            assert stored.labels["quote"] == hostile["quote"]
            assert stored.labels["ping"] == hostile["ping"]
            assert len(stored.labels["long"]) < 3_000
            assert stored.labels["long"].endswith(" characters)")

    kit.run(scene())


def test_a_hundred_alerts_are_listed_and_the_others_counted(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            many = [alert(fingerprint=f"f{i}") for i in range(130)]
            accepted = await desk.accept(*many)
            assert accepted.new == 130
            incident = desk.only()
            assert len(incident.alerts) == 100
            assert incident.truncated_alerts == 30
            ended = [alert(fingerprint=f"f{i}", ends_at=ENDED) for i in range(129)]
            await desk.accept(*ended)
            assert desk.only().state is State.INVESTIGATING
            await desk.accept(alert(fingerprint="f129", ends_at=ENDED))
            assert desk.only().state is State.RESOLVED

    kit.run(scene())


def test_a_body_that_can_be_read_is_kept_when_it_brings_news(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            content = body(alert())
            await desk.intake.accept(content)
            await desk.intake.accept(content + b" ")
            ((sha,),) = desk.rows("SELECT sha FROM th_body")
            assert desk.rows("SELECT body_sha FROM th_alert") == [(sha,)]
            with desk.database.reading() as connection:
                assert read_body(connection, sha) == content

    kit.run(scene())


@pytest.mark.sqlite
def test_nothing_is_accepted_while_the_disk_is_full_and_all_of_it_later(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            with desk.database.intake.connect() as connection:
                (pages,) = connection.exec_driver_sql("PRAGMA page_count").one()
                connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
            bodies = [body(alert(f"w{i}", fingerprint=f"f{i}")) for i in range(200)]
            results = await asyncio.gather(
                *(desk.intake.accept(content) for content in bodies), return_exceptions=True
            )
            refused = [r for r in results if isinstance(r, StoreUnavailable)]
            assert refused
            assert all("free some space" in str(error) for error in refused)
            with desk.database.intake.connect() as connection:
                connection.exec_driver_sql("PRAGMA max_page_count=1000000")
            again = await asyncio.gather(*(desk.intake.accept(content) for content in bodies))
            assert {id for accepted in again for id in accepted.incidents} == {
                incident.id for incident in desk.reader.list(limit=1000)
            }
            assert len(desk.rows("SELECT 1 FROM workflow_status")) == 200

    kit.run(scene())


def test_one_webhook_that_breaks_admission_does_not_spoil_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(item: Item, id: str, ordinal: int, now: datetime, mode: str) -> Record:
        if item.subject.workload == "bad":
            raise ZeroDivisionError("a bug of ours")
        return episodes.opened(item, id, ordinal, now, mode)

    monkeypatch.setattr("tailhound.durable.admission.opened", opened)

    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            names = ["a", "bad", "b"]
            await asyncio.gather(*(desk.accept(alert(name, fingerprint=name)) for name in names))
            shown = {i.subject.workload or i.unreadable: i.state for i in desk.reader.list()}
            bad = "tailhound failed to take it in: ZeroDivisionError: a bug of ours"
            assert shown == {
                "a": State.INVESTIGATING,
                "b": State.INVESTIGATING,
                bad: State.FAILED,
            }

    kit.run(scene())


def test_a_database_that_is_spoiled_for_a_while_ends_neither_the_writer_nor_later_alerts(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert("a", fingerprint="a"))
            with desk.database.writing() as connection:
                connection.exec_driver_sql("ALTER TABLE th_alert RENAME TO th_away")
            for name in ("b", "c"):
                with pytest.raises(StoreUnavailable, match=r"th_alert|send it again"):
                    await desk.accept(alert(name, fingerprint=name))
            assert desk.intake.not_ready() == ()
            with desk.database.writing() as connection:
                connection.exec_driver_sql("ALTER TABLE th_away RENAME TO th_alert")
            assert (await desk.accept(alert("b", fingerprint="b"))).new == 1

    kit.run(scene())


def test_an_answer_that_cannot_be_given_ends_not_the_writer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            desk.intake._tell = lambda: 1 / 0
            with pytest.raises(StoreUnavailable, match="send it again"):
                await desk.accept(alert("a", fingerprint="a"))
            desk.intake._tell = lambda: None
            assert (await desk.accept(alert("a", fingerprint="a"))).repeats == 1
            assert desk.intake.not_ready() == ()

    kit.run(scene())
    assert "taking alerts in failed" in caplog.text


def test_a_writer_that_has_ended_is_no_ready_one(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            desk.intake._line.end()
            await kit.until(lambda: desk.intake.not_ready() != ())
            assert "restart tailhound" in desk.intake.not_ready()[0]

    kit.run(scene())


def test_a_caller_that_goes_away_does_not_hurt_the_writer(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            gone = asyncio.create_task(desk.accept(alert("gone")))
            await asyncio.sleep(0)
            gone.cancel()
            accepted = await desk.accept(alert("stays", fingerprint="f2"))
            assert accepted.new == 1

    kit.run(scene())


def test_after_stop_nothing_is_taken(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.intake.stop()
            with pytest.raises(StoreUnavailable, match="stopping"):
                await desk.accept(alert())

    kit.run(scene())


def test_a_large_body_is_read_beside_the_event_loop(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            many = [alert(f"w{i}", fingerprint=f"f{i}") for i in range(1_000)]
            content = body(*many)
            assert len(content) > LARGE
            longest = 0.0
            task = asyncio.create_task(desk.intake.accept(content))
            while not task.done():
                before = time.thread_time()  # not the clock: others may have the processor
                await asyncio.sleep(0.001)
                longest = max(longest, time.thread_time() - before)
            assert (await task).new == 1_000
            assert longest < 0.02  # seconds; reading it on the loop takes twice as long
            assert len(desk.rows("SELECT 1 FROM workflow_status")) == 1_000

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


def test_an_end_ends_the_alert_whatever_start_it_tells(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert(starts_at="2026-11-30T02:51:15Z"))
            desk.clock.advance(600)
            over = alert(starts_at="2026-11-30T02:51:05Z", ends_at="2026-11-30T03:00:00Z")
            accepted = await desk.accept(over)
            assert (accepted.new, dict(accepted.dropped)) == (1, {})
            assert desk.only().state is State.RESOLVED
            again = await desk.accept(over)
            assert (again.new, again.repeats) == (0, 1)

    kit.run(scene())


@pytest.mark.parametrize("at_once", [False, True])
def test_one_alert_by_two_starts_is_one_and_ends_once(tmp_path: Path, at_once: bool) -> None:
    later, earlier = "2026-11-30T02:51:15Z", "2026-11-30T02:51:05Z"
    over = alert(starts_at=earlier, ends_at="2026-11-30T03:00:00Z")

    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            if at_once:
                await asyncio.gather(
                    desk.accept(alert(starts_at=later)), desk.accept(alert(starts_at=earlier))
                )
            else:
                await desk.accept(alert(starts_at=later))
                await desk.accept(alert(starts_at=earlier))
            (shown,) = desk.only().alerts
            assert shown.starts_at.isoformat() == "2026-11-30T02:51:05+00:00"
            desk.clock.advance(600)
            await desk.accept(over)
            assert desk.only().state is State.RESOLVED
            copy = await desk.accept(alert(starts_at=later))
            assert (copy.new, copy.repeats) == (0, 1)
            desk.clock.advance(LATE_COPY_SECONDS + 1)
            again = await desk.accept(alert(starts_at=later))
            assert again.new == 1
            assert desk.only().episode == 2

    kit.run(scene())


def test_the_end_of_an_earlier_time_does_not_end_what_fires_since(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert(starts_at="2026-11-30T02:51:00Z"))
            over = alert(starts_at="2026-11-30T02:40:00Z", ends_at="2026-11-30T02:45:00Z")
            accepted = await desk.accept(over)
            assert dict(accepted.dropped) == {UNSEEN: 1}
            assert desk.only().state is State.INVESTIGATING

    kit.run(scene())


def test_the_end_of_an_alert_beyond_the_listed_ones_is_found_by_any_start(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(*(alert(fingerprint=f"f{i}") for i in range(120)))
            other = "2026-11-30T02:51:07Z"
            await desk.accept(*(alert(fingerprint=f"f{i}", starts_at=other) for i in range(120)))
            assert (len(desk.only().alerts), desk.only().truncated_alerts) == (100, 20)
            desk.clock.advance(300)
            over = [alert(fingerprint=f"f{i}", starts_at=other, ends_at=ENDED) for i in range(120)]
            await desk.accept(*over)
            assert desk.only().state is State.RESOLVED

    kit.run(scene())


def test_what_fires_weeks_later_is_a_new_incident_and_the_old_one_says_why(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert(), alert(fingerprint="f2"))
            old, heard = desk.only().id, desk.clock()
            desk.verdict_stands()
            desk.clock.advance(40 * 86_400)
            accepted = await desk.accept(alert(fingerprint="f3", starts_at="2027-01-09T02:50:00Z"))
            shown = {incident.id: incident for incident in desk.reader.list()}
            (new,) = accepted.incidents
            assert set(shown) == {old, new}
            assert shown[new].state is State.INVESTIGATING
            over = shown[old]
            assert (over.state, over.unheard, over.resolved_at) == (State.RESOLVED, True, heard)
            assert "Nothing was heard of it since 30 Nov 2026" in over.timeline[-1].what
            still = await desk.accept(alert())
            assert (still.incidents, still.new) == ((new,), 1)

    kit.run(scene())


def test_the_only_alert_with_a_much_later_start_has_ended_in_between(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            desk.verdict_stands()
            desk.clock.advance(24 * 3600)
            accepted = await desk.accept(alert(starts_at="2026-12-01T02:50:00Z"))
            assert len(desk.reader.list()) == 2
            (new,) = accepted.incidents
            await desk.accept(
                alert(starts_at="2026-12-01T02:50:00Z", ends_at="2026-12-01T03:00:00Z")
            )
            assert {i.state for i in desk.reader.list()} == {State.RESOLVED}
            assert [i.unheard for i in desk.reader.list() if i.id == new] == [False]

    kit.run(scene())


def test_after_a_weekend_of_downtime_an_incident_goes_on(tmp_path: Path) -> None:
    async def scene(news: dict[str, object], folder: Path) -> None:
        clock = kit.Clock()
        async with kit.intake_alone(folder, clock=clock) as desk:
            (old,) = (await desk.accept(alert())).incidents
            desk.verdict_stands()
        clock.advance(73 * 3600)
        async with kit.intake_alone(folder, clock=clock) as desk:
            assert (await desk.accept(news)).incidents == (old,)
            assert desk.only().state is not State.RESOLVED

    start = "2026-12-03T03:40:00Z"
    for name in ("f1", "f2"):  # the one that fires, said to have begun later, and another one
        (tmp_path / name).mkdir()
        kit.run(scene(alert(fingerprint=name, starts_at=start), tmp_path / name))


def test_a_repeat_that_memory_answered_keeps_an_incident_open(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            (old,) = (await desk.accept(alert())).incidents
            desk.verdict_stands()
            desk.clock.advance(80 * 3600)
            assert (await desk.accept(alert())).repeats == 1
            peer = await desk.accept(alert(starts_at="2026-12-03T10:00:00Z"))
            assert peer.incidents == (old,)
            assert desk.only().state is not State.RESOLVED

    kit.run(scene())


def test_a_later_start_says_nothing_before_a_repeat_was_due(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            (old,) = (await desk.accept(alert())).incidents
            desk.verdict_stands()
            desk.clock.advance(12 * 3600)
            peer = await desk.accept(alert(starts_at="2026-11-30T14:00:00Z"))
            assert peer.incidents == (old,)

    kit.run(scene())


def test_what_is_delivered_with_news_is_still_there(tmp_path: Path) -> None:
    async def scene(first: int) -> None:
        folder = tmp_path / str(first)
        folder.mkdir()
        async with kit.intake_alone(folder) as desk:
            await desk.accept(alert())
            desk.verdict_stands()
            desk.clock.advance(40 * 86_400)
            both = [alert(), alert(fingerprint="f2", starts_at="2027-01-09T02:50:00Z")]
            await desk.accept(both[first], both[1 - first])
            assert len(desk.only().firing) == 2

    kit.run(scene(0))
    kit.run(scene(1))


def test_another_alert_long_after_the_verdict_is_investigated(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            desk.verdict_stands()
            desk.clock.advance(29 * 60)
            await desk.accept(alert(fingerprint="f2", starts_at="2026-11-30T03:20:00Z"))
            assert desk.only().n == 1
            desk.clock.advance(2 * 60)
            await desk.accept(alert(fingerprint="f3", starts_at="2026-11-30T03:22:00Z"))
            assert (desk.only().n, desk.only().state) == (2, State.INVESTIGATING)
            rows = desk.rows("SELECT reason FROM th_investigation ORDER BY n")
            assert rows == [("the alert",), ("another alert",)]

    kit.run(scene())


def test_a_repeat_of_an_incident_that_has_joined_counts_for_the_other(tmp_path: Path) -> None:
    async def scene() -> None:
        detective = Detective()
        async with kit.lab(tmp_path, detective=detective) as lab:
            first = await lab.accepted(body(alert()))
            await lab.diagnosed(first)
            detective.key = lab.incident(first).key
            other = body(alert("other", fingerprint="f2"))
            second = await lab.accepted(other)
            await kit.until(lambda: lab.incident(second).state is State.JOINED)
            again = await lab.durable.accept(other)
            assert (again.incidents, again.repeats) == ((first,), 1)

    kit.run(scene())
