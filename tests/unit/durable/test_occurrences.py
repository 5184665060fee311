"""One alert by several starts: while one of them fires it is there, and when it ends all do."""

import asyncio
from pathlib import Path

import pytest

from tailhound.durable.admission import UNSEEN
from tailhound.durable.alert_rows import LATE_COPY_SECONDS
from tailhound.model import State
from tests.unit.durable import kit
from tests.unit.durable.kit import ENDED, alert

pytestmark = pytest.mark.usefixtures("each_database")


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
