"""An investigation that a person asks for once more."""

import asyncio
from pathlib import Path

import pytest

from tests.unit.durable import kit
from tests.unit.durable.fakes import Detective
from tests.unit.durable.kit import alert, body

pytestmark = pytest.mark.usefixtures("each_database")


def test_a_second_click_does_not_ask_again(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path) as lab:
            id = await lab.accepted(body(alert()))
            await lab.diagnosed(id)
            clicks = await asyncio.gather(
                *(lab.durable.recheck(id, "ben", "envelope-1") for _ in range(5))
            )
            assert sorted(clicks) == [False, False, False, False, True]
            again = await lab.diagnosed(id, n=2)
            assert any("ben" in line.what for line in again.timeline)
            assert lab.detective.calls.count("decide") == 2
            assert len(lab.chat.posts(id)) == 1

    kit.run(scene())


def test_clicks_while_an_investigation_runs_make_one_more(tmp_path: Path) -> None:
    async def scene() -> None:
        gate = asyncio.Event()
        async with kit.lab(tmp_path, detective=Detective(gate=gate)) as lab:
            id = await lab.accepted(body(alert()))
            await kit.until(lambda: "collect" in lab.detective.calls)
            for i in range(3):
                assert await lab.durable.recheck(id, "ben", f"envelope-{i}")
            assert lab.incident(id).n == 1
            gate.set()
            await lab.diagnosed(id, n=2)
            assert lab.detective.calls.count("decide") == 2
            assert lab.incident(id).n == 2

    kit.run(scene())


def test_a_recheck_of_an_incident_that_is_not_there_says_so(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path) as lab:
            with pytest.raises(LookupError, match="NOPE"):
                await lab.durable.recheck("NOPE", "ben", "envelope-1")
            id = await lab.accepted(b"not json")
            with pytest.raises(LookupError, match=id):
                await lab.durable.recheck(id, "ben", "envelope-2")

    kit.run(scene())


def test_a_re_check_takes_the_place_of_the_recording_before(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path) as lab:
            id = await lab.accepted(body(alert()))
            await lab.diagnosed(id)
            await lab.durable.recheck(id, "ben", "envelope-1")
            await lab.diagnosed(id, 2)
            assert [part.n for part in lab.reader.recorded(id)] == [2]

    kit.run(scene())
