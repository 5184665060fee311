"""The end of a silence: asked for, refused, or come by itself."""

import asyncio
from pathlib import Path

import pytest

from tailhound.durable.acts import Click, Person
from tailhound.durable.silences import TRIES_SECONDS
from tests.unit.durable import kit
from tests.unit.durable.silencing_kit import ANA, FORBIDDEN, GONE, WISH, on_both, opened


def test_one_that_somebody_ended_in_alertmanager_is_noticed(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            await at.until("set")
            at.remote.stands.clear()
            await at.until("ended")
            it = at.incident()
            assert not it.silences[0].holds(at.clock.now)
            assert it.timeline[-1].what == "The silence of ana has ended"

    kit.run(run())


@pytest.mark.parametrize("presses", [1, 2])
def test_anyone_can_end_one_sooner(tmp_path: Path, presses: int) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            await at.until("set")
            ben = Person("U2", "ben")
            ended = [
                at.silences.end(Click(at.id, ben, f"e{n}"), "remote-1")
                for n in range(9, 9 + presses)
            ]
            assert ended == [True, False][:presses]
            await at.until("ended")
            assert at.remote.stands == {}

    kit.run(run())


def test_an_end_that_alertmanager_refuses_is_shown_and_can_be_asked_for_again(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            await at.until("set")
            at.remote.ends = [FORBIDDEN]
            at.silences.end(Click(at.id, ANA, "e9"), "remote-1")
            await at.until("set")
            (shown,) = at.incident().silences
            assert shown.holds(at.clock.now)
            assert shown.trouble == "HTTP 403: grant them writing"
            told = "The silence of ana could not be ended: HTTP 403: grant them writing"
            assert at.incident().timeline[-1].what == told
            assert at.silences.end(Click(at.id, ANA, "e10"), "remote-1")
            await at.until("ended")
            (shown,) = at.incident().silences
            assert (shown.trouble, shown.ended_at) == ("", at.clock.now)

    kit.run(run())


def test_an_end_that_nobody_answers_is_shown_at_once_and_tried_until_it_ends_by_itself(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            await at.until("set")
            at.remote.ends = [GONE] * 3
            at.silences.end(Click(at.id, ANA, "e9"), "remote-1")
            task = asyncio.create_task(at.loop.run(lambda: None))
            await kit.until(lambda: bool(at.incident().silences[0].trouble))
            told = "am:9093 refused the connection; tried again until then"
            assert at.incident().silences[0].trouble == told
            lines = len(at.incident().timeline)
            at.later(TRIES_SECONDS + 1)
            at.loop.wake()
            await kit.until(lambda: len(at.remote.ends) == 1)
            assert len(at.incident().timeline) == lines
            at.later(WISH.hours * 3600)
            at.loop.wake()
            await kit.until(lambda: at.state() == "ended")
            task.cancel()
            await asyncio.wait([task])
            assert not at.remote.ends
            assert at.incident().silences[0].trouble == ""

    kit.run(run())


@on_both
def test_nobody_ends_a_silence_of_another_incident(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            await at.until("set")
            for wanted in ("remote-1", "remote-2", ""):
                with pytest.raises(LookupError, match="no silence"):
                    at.silences.end(Click(at.other, ANA, "e9"), wanted)
            assert at.state() == "set"
            assert at.silences.end(Click(at.id, ANA, "e9"), "remote-1")

    kit.run(run())
