"""What keeps one message from a place keeps the others that wait for it, without waiting."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable import letters
from tailhound.durable.claims import Claim
from tailhound.durable.delays import delay_others
from tailhound.notifiers import Later, Refusal
from tailhound.store.tables import outbox as table
from tests.unit.durable import kit
from tests.unit.durable.kit import CHANNEL, Desk, alert

pytestmark = pytest.mark.usefixtures("each_database")


async def _accepted(desk: Desk, *workloads: str) -> None:
    for one in workloads:
        await desk.accept(alert(one, fingerprint=one))


def _claimed(desk: Desk) -> Claim:
    with desk.database.writing() as connection:
        found = letters.claim(connection, CHANNEL, "first", desk.clock.now)
    assert found is not None
    return found


def _reasons(desk: Desk) -> list[str]:
    """What each message hears of its delay, the oldest first."""
    return [str(reason) for (reason,) in desk.rows("SELECT delayed_by FROM th_outbox ORDER BY id")]


@pytest.mark.parametrize("result", [Later(1.0, "ratelimited"), Refusal("archived")], ids=str)
def test_who_has_lost_its_row_tells_nobody_why_it_waits(
    tmp_path: Path, result: Later | Refusal
) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await _accepted(desk, "w1", "w2")
            claimed = _claimed(desk)
            for boot, told in (("another", ["", ""]), ("first", [result.why, result.why])):
                with desk.database.writing() as connection:
                    letter = letters.opened(connection, claimed)
                    letters.settle(connection, letter, result, boot, desk.clock.now)
                assert _reasons(desk) == told

    kit.run(scene())


def test_a_reason_that_is_told_already_is_not_written_again(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await _accepted(desk, "w1", "w2", "w3")
            claimed = _claimed(desk)
            for why, news in (
                ("ratelimited", 2),
                ("ratelimited", 0),
                ("x" * 300, 2),
                ("x" * 300, 0),
            ):
                with desk.database.writing() as connection:
                    assert delay_others(connection, claimed, why) == news

    kit.run(scene())


def test_a_row_that_is_being_changed_is_passed_over_and_hears_of_it_the_next_time(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            if desk.database.is_sqlite:  # there one writes at a time
                return
            await _accepted(desk, "w1", "w2", "w3")
            claimed = _claimed(desk)
            newest = sa.select(sa.func.max(table.c.id)).scalar_subquery()
            touched = sa.update(table).where(table.c.id == newest).values(seen="changed")
            with desk.database.intake.begin() as other:
                other.execute(touched)
                with desk.database.writing() as connection:
                    connection.execute(sa.text("SET LOCAL lock_timeout = '5s'"))
                    assert delay_others(connection, claimed, "ratelimited") == 1
            assert _reasons(desk) == ["", "ratelimited", ""]
            with desk.database.writing() as connection:
                assert delay_others(connection, claimed, "ratelimited") == 1
            assert _reasons(desk) == ["", "ratelimited", "ratelimited"]

    kit.run(scene())
