"""Silences of an incident that has joined another, and beside others."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tailhound.actions.silence import Matcher
from tailhound.durable.acts import Click, Person
from tests.unit.durable import kit
from tests.unit.durable.silencing_kit import ANA, WISH, on_both, opened


@on_both
@pytest.mark.parametrize("of", ["id", "other"])
def test_a_silence_goes_on_at_the_incident_that_its_own_has_joined(tmp_path: Path, of: str) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            await at.until("set")
            at.join()
            (shown,) = at.incident(at.other).silences
            assert shown.holds(at.clock.now)
            assert at.silences.end(Click(getattr(at, of), ANA, "e9"), "remote-1")
            await at.until("ended")
            (shown,) = at.incident(at.other).silences
            assert not shown.holds(at.clock.now)

    kit.run(run())


def test_a_silence_that_comes_to_stand_after_a_join_is_shown_where_people_look(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            at.join()
            await at.until("set")
            (shown,) = at.incident(at.other).silences
            assert (shown.id, shown.by) == ("remote-1", "ana")
            assert at.incident().silences == ()

    kit.run(run())


def test_one_that_stands_ends_the_trouble_of_one_that_did_not(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path, "refuse") as at:
            at.ask()
            await at.until("refused")
            at.ask("e2")
            task = asyncio.create_task(at.loop.run(lambda: None))
            await kit.until(lambda: any(one.id for one in at.incident().silences))
            task.cancel()
            await asyncio.wait([task])
            assert [one.id for one in at.incident().silences] == ["remote-1"]

    kit.run(run())


def test_what_went_wrong_with_one_is_told_beside_another_that_mutes_something_else(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        async with opened(tmp_path, "refuse", "ok", "refuse") as at:
            at.ask()
            await at.until("refused")
            for number, value in enumerate(("b", "c")):
                wish = replace(WISH, matchers=(Matcher("pod", value),))
                at.silences.ask(Click(at.id, Person(f"U{number}", value), f"e{value}"), wish)
            task = asyncio.create_task(at.loop.run(lambda: None))
            await kit.until(lambda: len(at.incident().silences) == 3)
            task.cancel()
            await asyncio.wait([task])
            shown = [(one.by, bool(one.trouble)) for one in at.incident().silences]
            assert shown == [("ana", True), ("b", False), ("c", True)]

    kit.run(run())
