"""Turns, and how often progress is shown."""

import asyncio
import math
from datetime import UTC, datetime, timedelta

import pytest

from tailhound.durable import deadlines
from tailhound.durable.deadlines import Clockwork, Progressing, within
from tailhound.durable.investigating import Sketch
from tailhound.flow import Turn
from tailhound.model import Progress
from tests.unit.durable import kit

NOW = datetime(2026, 11, 30, 2, 53, tzinfo=UTC)


def report(answered: int) -> tuple[Progress, Sketch]:
    counts = Progress(answered=answered, waiting=0, failed=0)
    return counts, lambda: counts


def test_steps_share_the_time_until_the_verdict() -> None:
    async def scene() -> None:
        work = Clockwork(NOW + timedelta(seconds=30), NOW, 10.0, 30.0)
        now = asyncio.get_running_loop().time()
        assert work.turn(0.2, NOW).deadline == pytest.approx(now + 6, abs=0.1)
        assert work.turn(1.0, NOW).deadline == pytest.approx(now + 30, abs=0.1)

    kit.run(scene())


def test_who_comes_too_late_still_gets_some_time() -> None:
    async def scene() -> None:
        for left in (-3600, 0, 9):
            work = Clockwork(NOW + timedelta(seconds=left), NOW, 10.0, 30.0)
            now = asyncio.get_running_loop().time()
            assert work.turn(1.0, NOW).deadline == pytest.approx(now + 10, abs=0.1)

    kit.run(scene())


def test_nobody_gets_more_time_than_there_is_by_a_clock_that_is_ahead() -> None:
    async def scene() -> None:
        work = Clockwork(NOW + timedelta(hours=1), NOW, 10.0, 30.0)
        assert work.total == 30

    kit.run(scene())


def test_work_that_overruns_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "GRACE_SECONDS", 0.05)

    async def scene() -> None:
        now = asyncio.get_running_loop().time()
        with pytest.raises(TimeoutError):
            await within(Turn(deadline=now, as_of=NOW), asyncio.sleep(60))
        result, cut = await within(Turn(deadline=now + 60, as_of=NOW), asyncio.sleep(0, "done"))
        assert (result, cut) == ("done", False)
        _, cut = await within(Turn(deadline=now, as_of=NOW), asyncio.sleep(0))
        assert cut

    kit.run(scene())


def test_progress_is_written_rarely_and_never_twice_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deadlines, "PROGRESS_APART_SECONDS", 0.1)

    async def scene() -> None:
        written: list[int] = []
        at_once = 0

        async def write(sketch: Sketch) -> None:
            nonlocal at_once
            at_once += 1
            assert at_once == 1
            await asyncio.sleep(0.03)
            written.append(sketch().answered)
            at_once -= 1

        progressing = Progressing(write, math.inf)
        for i in range(60):
            progressing(*report(i))
            await asyncio.sleep(0.005)
        await progressing.finish()
        assert 1 <= len(written) <= deadlines.PROGRESS_AT_MOST
        assert written == sorted(written)
        assert written[0] > 0
        progressing(*report(99))
        await progressing.finish()
        assert 99 not in written

    kit.run(scene())


def test_the_newest_report_is_written_when_its_time_comes_though_nothing_more_happens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deadlines, "PROGRESS_APART_SECONDS", 0.05)

    async def scene() -> None:
        written: list[int] = []
        done = asyncio.Event()

        async def write(sketch: Sketch) -> None:
            written.append(sketch().answered)
            done.set()

        progressing = Progressing(write, math.inf)
        progressing(*report(1))
        progressing(*report(2))
        assert written == []
        await done.wait()
        assert written == [2]
        progressing(*report(3))
        await progressing.finish()
        await asyncio.sleep(0.1)
        assert written == [2], "what was not due when the verdict came is never written"

    kit.run(scene())


def test_shortly_before_the_deadline_no_progress_is_written() -> None:
    async def scene() -> None:
        written: list[int] = []

        async def write(sketch: Sketch) -> None:
            written.append(sketch().answered)

        now = asyncio.get_running_loop().time()
        clockwork = Clockwork(NOW + timedelta(seconds=30), NOW, 10.0, 30.0)
        assert clockwork.quiet_from == pytest.approx(now + 27.5, abs=0.2)
        progressing = Progressing(write, now - 1.0)
        progressing._next = 0.0
        progressing(*report(1))
        await progressing.finish()
        assert written == []

    kit.run(scene())
