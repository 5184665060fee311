"""What one life of the outbox leaves to the next, and how it stops."""

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable import letters
from tailhound.durable.boot import Boot
from tailhound.notifiers import Later
from tailhound.store.tables import outbox as table
from tests.unit.durable import kit
from tests.unit.durable.kit import CHANNEL, alert
from tests.unit.durable.outbox_kit import accept, post

pytestmark = pytest.mark.usefixtures("each_database")


def test_first_posts_that_were_cut_off_are_counted_over_several_lives(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            for life in ("first", "second"):
                with desk.database.writing() as connection:
                    assert letters.claim(connection, CHANNEL, life, desk.clock.now) is not None
                with desk.database.writing() as connection:
                    assert letters.take_over(connection, ["next"]) == 1
        async with post(tmp_path) as at:
            await kit.until(lambda: at.chat.messages)
            ((delivery,),) = at.chat.messages.values()
            assert delivery.lost_posts == 2

    kit.run(scene())


def test_posts_that_one_life_lost_are_counted_for_the_next(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            (id,) = (await desk.accept(alert())).incidents
            for lost_posts in (1, 2):
                later = Later(0.0, "the answer was lost", unsure=True, lost_posts=lost_posts)
                with desk.database.writing() as connection:
                    claimed = letters.claim(connection, CHANNEL, "first", desk.clock.now)
                    assert claimed is not None
                    letter = letters.opened(connection, claimed)
                    letters.settle(connection, letter, later, "first", desk.clock.now)
        async with post(tmp_path) as at:
            await at.settled(id)
            ((delivery,),) = at.chat.messages.values()
            assert delivery.lost_posts == 2

    kit.run(scene())


def test_what_an_earlier_life_was_sending_is_unsure_now(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            (id,) = (await desk.accept(alert())).incidents
            with desk.database.writing() as connection:
                connection.execute(sa.update(table).values(state="sending", boot="gone", attempt=1))
        async with post(tmp_path) as at:
            await at.settled(id)
            ((delivery,),) = at.chat.messages.values()
            assert delivery.unsure
            assert delivery.attempt == 2

    kit.run(scene())


def test_a_row_that_another_life_has_taken_is_not_settled(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path) as at:
            taken = asyncio.Event()

            def steal(name: str) -> None:
                if name == "after_send":
                    with at.desk.database.intake.begin() as connection:
                        connection.execute(sa.update(table).values(boot="another"))
                    taken.set()

            at.sender._boot = Boot(hook=steal)
            id = await accept(at)
            await asyncio.wait_for(taken.wait(), 5)
            await at.sender.stop()
            assert at.row(id).state == "sending"
            assert at.row(id).boot == "another"

    kit.run(scene())


def test_stop_waits_for_a_call_that_is_nearly_done(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path) as at:
            at.chat.delay = 0.3
            id = await accept(at)
            await kit.until(lambda: at.row(id).state == "sending")
            await at.sender.stop()
            assert at.row(id).state == "sent"

    kit.run(scene())


def test_stop_cuts_off_a_call_that_hangs(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "hang", call_seconds=60.0) as at:
            id = await accept(at)
            await kit.until(lambda: at.row(id).state == "sending")
            loop = asyncio.get_running_loop()
            began = loop.time()
            await at.sender.stop()
            assert loop.time() - began < 4
            assert at.row(id).state == "sending"

    kit.run(scene())
