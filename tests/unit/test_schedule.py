"""The schedule only hands ticks over."""

import asyncio
from datetime import UTC, datetime, timedelta

from apscheduler.triggers.interval import IntervalTrigger

from tailhound.schedule import JOBS, TIDY, Schedule


async def _ticks(schedules: int, wanted: int) -> list[tuple[str, datetime]]:
    seen: list[tuple[str, datetime]] = []
    enough = asyncio.Event()

    def tick(job: str, due: datetime) -> None:
        seen.append((job, due))
        if len(seen) >= wanted:
            enough.set()

    start = datetime.now(UTC) + timedelta(seconds=0.2)
    trigger = {"check": IntervalTrigger(seconds=1, start_date=start, timezone=UTC)}
    running = [Schedule(tick, trigger) for _ in range(schedules)]
    for schedule in running:
        schedule.start()
    try:
        async with asyncio.timeout(5):
            await enough.wait()
    finally:
        for schedule in running:
            schedule.stop()
    return seen


def test_two_replicas_hand_over_the_same_tick_under_the_same_time() -> None:
    seen = asyncio.run(_ticks(schedules=2, wanted=2))
    assert len(set(seen)) == 1
    assert seen[0][1].tzinfo is UTC


def test_tidying_up_is_due_once_a_day() -> None:
    assert set(JOBS) == {TIDY}
    before = datetime.now(UTC)
    first = JOBS[TIDY].get_next_fire_time(None, before)
    assert timedelta(0) < first - before <= timedelta(days=1)
    assert JOBS[TIDY].get_next_fire_time(first, first) == first + timedelta(days=1)


def test_a_schedule_that_never_began_ends_as_well() -> None:
    schedule = Schedule(lambda _job, _due: None)
    schedule.stop()
    schedule.stop()
