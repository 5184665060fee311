"""Intake while things break: nothing is lost, and who is not at fault is not hurt."""

import asyncio
import time
from datetime import datetime
from pathlib import Path

import pytest

from tailhound.durable import episodes
from tailhound.durable.arrivals import Item
from tailhound.durable.intake import LARGE
from tailhound.errors import StoreUnavailable
from tailhound.model import State
from tailhound.store.records import Record
from tests.unit.durable import kit
from tests.unit.durable.kit import alert, body

pytestmark = pytest.mark.usefixtures("each_database")


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
