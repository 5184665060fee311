"""An investigation that a person asks for once more."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.model import State
from tailhound.store import records
from tailhound.store.tables import confirmed
from tests.unit.durable import kit
from tests.unit.durable.fakes import Detective
from tests.unit.durable.kit import ENDED, Lab, alert, body

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


def test_a_verdict_stands_while_it_is_checked_again_and_says_how_that_ended(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        detective = Detective()
        async with kit.lab(tmp_path, detective=detective) as lab:
            id = await lab.accepted(body(alert()))
            await lab.diagnosed(id)
            detective.gate = asyncio.Event()
            await lab.durable.recheck(id, "ben", "envelope-1")
            meanwhile = lab.incident(id)
            assert meanwhile.diagnosis is not None
            assert meanwhile.is_rechecked
            assert meanwhile.recheck is not None
            assert meanwhile.recheck.by == "ben"
            detective.gate.set()
            same = await lab.diagnosed(id, n=2)
            assert same.recheck is not None
            assert same.recheck.same
            assert not same.is_rechecked
            detective.unreachable = ("cpu",)
            await lab.durable.recheck(id, "ben", "envelope-2")
            other = await lab.diagnosed(id, n=3)
            assert other.revised is not None
            assert other.revised.was == "cause found: the CPU limit stops the engine"
            assert "ben" in other.revised.why

    kit.run(scene())


def test_a_check_that_breaks_leaves_the_verdict_standing(tmp_path: Path) -> None:
    async def scene() -> None:
        detective = Detective()
        async with kit.lab(tmp_path, detective=detective) as lab:
            id = await lab.accepted(body(alert()))
            await lab.diagnosed(id)
            detective.breaks_at = "decide"
            await lab.durable.recheck(id, "ben", "envelope-1")
            await kit.until(lambda: lab.incident(id).state is State.FAILED)
            broken = lab.incident(id)
            assert broken.verdict_stands
            assert not broken.is_rechecked
            assert broken.failed_because

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

    kit.run(scene())


def test_what_is_over_keeps_its_verdict_however_often_it_is_asked_for_again(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path) as lab:
            id = await lab.accepted(body(alert()))
            await lab.diagnosed(id)
            await lab.accepted(body(alert(ends_at=ENDED)))
            over = lab.incident(id)
            assert over.state is State.RESOLVED
            assert _confirmed(lab) == [(id, "cpu-throttling")]
            lab.detective.unreachable = ("cpu",)
            told = await lab.durable.recheck(id, "ben", "envelope-1")
            assert isinstance(told, str)
            assert told.startswith("It is over (resolved ")
            assert told.endswith(" UTC); nothing is checked again.")
            assert lab.incident(id) == over
            assert _confirmed(lab) == [(id, "cpu-throttling")]

    kit.run(scene())


def test_what_joined_one_that_is_over_is_not_checked_again_either(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path) as lab:
            id = await lab.accepted(body(alert()))
            await lab.diagnosed(id)
            other = await lab.accepted(body(alert("other", fingerprint="f2")))
            await lab.diagnosed(other)
            await lab.accepted(body(alert(ends_at=ENDED)))
            _edit(lab, other, state=State.JOINED, joined_into=id)
            assert "It is over" in str(await lab.durable.recheck(other, "ben", "envelope-1"))
            _edit(lab, other, joined_into="GONE")
            assert await lab.durable.recheck(other, "ben", "envelope-2") == (
                "It has joined GONE, which is not here any more; nothing is checked again."
            )
            assert (lab.incident(id).n, lab.incident(other).n) == (1, 1)

    kit.run(scene())


def test_what_can_not_be_read_is_not_checked_again(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path) as lab:
            id = await lab.accepted(b"not json")
            assert await lab.durable.recheck(id, "ben", "envelope-1") == (
                "What came can't be read as an alert; nothing is checked again."
            )

    kit.run(scene())


def _edit(lab: Lab, id: str, **changes: object) -> None:
    with lab.database.writing() as connection:
        records.change(connection, id, lambda record: record.edited(**changes), datetime.now(UTC))


def _confirmed(lab: Lab) -> list[tuple[str, str]]:
    with lab.database.reading() as connection:
        found = connection.execute(sa.select(confirmed.c.incident_id, confirmed.c.runbook))
        return [(row.incident_id, row.runbook) for row in found]


def test_a_re_check_takes_the_place_of_the_recording_before(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path) as lab:
            id = await lab.accepted(body(alert()))
            await lab.diagnosed(id)
            await lab.durable.recheck(id, "ben", "envelope-1")
            await lab.diagnosed(id, 2)
            assert [part.n for part in lab.reader.recorded(id)] == [2]

    kit.run(scene())
