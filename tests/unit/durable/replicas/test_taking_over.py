"""Investigations of replicas that are gone: who takes them over, and who must keep still."""

import asyncio
from pathlib import Path

import pytest

from tailhound.durable.engine import Engine
from tailhound.durable.replicas import Pulse, Replicas
from tailhound.durable.tasks import Fate
from tailhound.store.database import Database
from tests.unit.durable import kit
from tests.unit.durable.replicas.kit import (
    Tick,
    ask_for,
    beat,
    engine,
    expire,
    never,
    own,
    replica,
    workflows,
)

pytestmark = pytest.mark.postgres


def test_only_what_those_executors_ran_is_queued_again_on_its_own_queue(
    database: Database, folder: Path
) -> None:
    """The contract of the engine's private verb: whoever upgrades it must see this."""

    async def scene() -> None:
        async with engine(folder, never) as running:
            await kit.hold(database, running)  # nobody may run them meanwhile
            ids = [ask_for(database, n) for n in range(3)]
            own(database, ids[0], "gone")
            own(database, ids[1], "living")
            assert await running.owned() == {ids[0]: "gone", ids[1]: "living"}
            assert running.recover(["gone", "unheard of"]) == 1
            assert workflows(database) == {
                ids[0]: ("ENQUEUED", "inv", None),
                ids[1]: ("PENDING", "inv", "x"),
                ids[2]: ("ENQUEUED", "inv", None),
            }
            assert running.recover(["gone"]) == 0
            assert running.recover([]) == 0

    kit.run(scene())


def test_a_beat_takes_over_from_those_who_have_no_lease_and_from_nobody_else(
    database: Database, folder: Path
) -> None:
    async def scene() -> None:
        async with engine(folder, never) as running:
            await kit.hold(database, running)
            ids = [ask_for(database, n) for n in range(3)]
            for id, owner in zip(ids, ("living", "gone", "here"), strict=True):
                own(database, id, owner)
            for name in ("living", "gone"):
                await replica(database, name).join()
            here = Replicas(database, running, Pulse(), Tick())
            await here.join()
            await beat(here)
            assert {row[0] for row in workflows(database).values()} == {"PENDING"}
            expire(database, "gone")
            await beat(here)
            assert [workflows(database)[id][0] for id in ids] == ["PENDING", "ENQUEUED", "PENDING"]

    kit.run(scene())


def test_who_was_cut_off_judges_nobody_until_the_others_had_their_time(
    database: Database, folder: Path
) -> None:
    async def scene() -> None:
        async with engine(folder, never) as running:
            await kit.hold(database, running)
            id = ask_for(database, 1)
            tick = Tick()
            here = Replicas(database, running, Pulse(), tick)
            await here.join()
            await replica(database, "other").join()
            own(database, id, "other")
            expire(database, "other")  # by the outage that kept this one from renewing, too
            tick.now += 30
            await beat(here)
            assert workflows(database)[id][0] == "PENDING"
            tick.now += 9
            await beat(here)
            assert workflows(database)[id][0] == "PENDING"
            tick.now += 2
            await beat(here)
            assert workflows(database)[id][0] == "ENQUEUED"

    kit.run(scene())


def test_a_run_that_was_taken_away_writes_nothing_and_goes_no_further(folder: Path) -> None:
    async def scene() -> None:
        went: list[str] = []
        held = [asyncio.Event(), asyncio.Event()]
        engines: list[Engine] = []

        async def first(life: int) -> int:
            went.append(f"first {life}")
            await held[life].wait()
            return life

        async def second(by: int) -> int:
            went.append(f"second of {by}")
            return by

        async def flow(id: str, n: int, sha: str) -> str:
            step = engines[0].step
            by = await step("first", first, len(went))
            return str(await step("second", second, by))

        async with engine(folder, flow) as running:
            engines.append(running)
            database = running._database
            id = ask_for(database, 1)
            await kit.until(lambda: went == ["first 0"])
            assert running.recover(["here"]) == 1  # as the others do with one that was stopped
            await kit.until(lambda: went == ["first 0", "first 1"])
            held[0].set()  # it goes on, and wants to write what it found
            await kit.until(lambda: len(running._running) == 1)
            held[1].set()
            async with asyncio.timeout(20):
                while (await running.look_up([id]))[id].fate is not Fate.ENDED:
                    await asyncio.sleep(0.02)
            assert went == ["first 0", "first 1", "second of 1"]

    kit.run(scene())
