"""A notification of very many alerts: stored in parts, answered when all of them are on disk."""

import asyncio
from pathlib import Path

import pytest

from tailhound.durable import line
from tailhound.errors import StoreUnavailable
from tailhound.model import State
from tests.unit.durable import kit
from tests.unit.durable.kit import ENDED, Desk, alert, body

pytestmark = [pytest.mark.usefixtures("each_database"), pytest.mark.timeout(120)]


def stored(desk: Desk) -> int:
    """How many alerts are on disk."""
    ((count,),) = desk.rows("SELECT count(*) FROM th_alert")
    return int(count)


async def begun(desk: Desk) -> None:
    """Wait until a part of it is on disk."""
    await kit.until(lambda: stored(desk) > 0, seconds=60)


def test_eight_thousand_alerts_in_one_body_keep_small_ones_not_waiting(tmp_path: Path) -> None:
    many = body(*(alert(f"w{n // 20}", fingerprint=f"f{n}") for n in range(8_000)))

    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            large = asyncio.create_task(desk.intake.accept(many))
            await begun(desk)
            on_disk = []
            for name in ("a", "b", "c"):
                assert (await desk.accept(alert(name, fingerprint=name))).new == 1
                on_disk.append(stored(desk))
            assert not large.done()
            assert on_disk[-1] < 8_000
            accepted = await large
            assert stored(desk) == 8_003
            assert (accepted.new, len(accepted.incidents)) == (8_000, 400)
            again = await desk.intake.accept(many)
            assert (again.new, again.repeats) == (0, 8_000)
            assert len(desk.rows("SELECT 1 FROM th_body")) == 4

    kit.run(scene())


def test_what_ends_in_the_meantime_ends_after_it_began(tmp_path: Path) -> None:
    many = [alert(f"w{n}", fingerprint=f"f{n}") for n in range(3 * line.ALERTS)]
    last = many[-1]["labels"]["deployment"]

    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            large = asyncio.create_task(desk.accept(*many))
            await begun(desk)
            over = await desk.accept(
                alert(last, fingerprint=many[-1]["fingerprint"], ends_at=ENDED)
            )
            await large
            assert (over.new, dict(over.dropped)) == (1, {})
            (id,) = over.incidents
            found = desk.reader.get(id)
            assert found is not None
            assert found.state is State.RESOLVED

    kit.run(scene())


def test_what_was_on_disk_when_it_broke_off_counts_once(tmp_path: Path) -> None:
    many = [alert(f"w{n}", fingerprint=f"f{n}") for n in range(2 * line.ALERTS)]
    commits = 0

    def breaks(_name: str) -> None:
        nonlocal commits
        commits += 1
        if commits == 1:
            raise ZeroDivisionError("the process ends here")

    async def scene() -> None:
        async with kit.intake_alone(tmp_path, hook=breaks) as desk:
            with pytest.raises(StoreUnavailable, match="send it again"):
                await desk.accept(*many)
            assert stored(desk) == line.ALERTS
        async with kit.intake_alone(tmp_path) as desk:
            accepted = await desk.accept(*many)
            assert (accepted.new, accepted.repeats) == (line.ALERTS, line.ALERTS)
            assert stored(desk) == 2 * line.ALERTS
            assert len(desk.rows("SELECT 1 FROM workflow_status")) == 2 * line.ALERTS

    kit.run(scene())
