"""Posts that are refused: they are seen, tried again, and given up in the end."""

from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable import letters
from tailhound.durable.boot import Boot
from tailhound.durable.outbox import ATTEMPTS_AT_MOST, PROBE_SECONDS
from tailhound.model import State
from tailhound.store.tables import outbox as table
from tests.unit.durable import kit
from tests.unit.durable.kit import CHANNEL, alert
from tests.unit.durable.outbox_kit import accept, post

pytestmark = pytest.mark.usefixtures("each_database")


def test_a_refusal_is_visible_and_the_next_urgent_news_tries_again(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "refuse") as at:
            id = await accept(at)
            await kit.until(lambda: at.row(id).state == "broken")
            (trouble,) = await at.sender.troubles()
            assert trouble.place == CHANNEL
            assert trouble.why == "the channel is archived: choose another one"
            assert trouble.incidents == 1
            at.change(id, urgent=False, repeats=3)
            assert at.row(id).state == "broken"
            at.change(id, urgent=True, state=State.DIAGNOSED)
            await kit.until(lambda: at.row(id).state == "sent")
            assert await at.sender.troubles() == ()

    kit.run(scene())


def test_a_notifier_that_always_fails_by_itself_is_given_up_in_the_end(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "raise") as at:
            id = await accept(at)
            await kit.until(lambda: at.row(id).attempt == 1 and at.row(id).state == "pending")
            at.chat.answers.append("raise")
            with at.desk.database.writing() as connection:
                connection.execute(
                    sa.update(table).values(attempt=ATTEMPTS_AT_MOST - 1, not_before=0.0)
                )
            at.sender.wake()
            await kit.until(lambda: at.row(id).state == "broken")
            assert "a bug of the notifier" in str(at.row(id).error)

    kit.run(scene())


def test_when_a_place_takes_messages_again_the_refused_ones_go_out_too(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "refuse", "refuse", boot=Boot(clock=kit.Clock())) as at:
            refused = [await accept(at, "a"), await accept(at, "b")]
            for id in refused:
                await at.settled(id)
            (standing,) = at.sender.standings()
            assert (standing.waiting, standing.late, standing.refused) == (0, 0, 2)
            assert "archived" in standing.why
            later = await accept(at, "c")
            await kit.until(lambda: all(at.row(id).state == "sent" for id in (*refused, later)))
            assert [len(at.chat.posts(id)) for id in (*refused, later)] == [1, 1, 1]
            (standing,) = at.sender.standings()
            assert (standing.waiting, standing.refused, standing.why) == (0, 0, "")

    kit.run(scene())


def test_a_refused_message_is_tried_again_by_itself_after_a_while_and_in_the_next_life(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with post(tmp_path, "refuse") as at:
            id = await accept(at)
            await at.settled(id)
        clock = kit.Clock()
        async with post(tmp_path, "refuse", boot=Boot(clock=clock)) as at:
            await kit.until(lambda: not at.chat.answers)
            await at.settled(id)
            at.sender.wake()
            assert at.row(id).state == "broken"

            def is_sent_after_a_while() -> bool:
                clock.now += timedelta(seconds=PROBE_SECONDS + 1)
                at.sender.wake()
                return bool(at.row(id).state == "sent")

            await kit.until(is_sent_after_a_while)

    kit.run(scene())


def test_what_is_refused_for_days_is_not_posted_any_more(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            much_later = desk.clock.now + timedelta(days=2)
            with desk.database.writing() as connection:
                connection.execute(sa.update(table).values(state="broken"))
                assert letters.revive(connection, CHANNEL, much_later) == 0
                assert letters.revive(connection, CHANNEL, desk.clock.now) == 1

    kit.run(scene())
