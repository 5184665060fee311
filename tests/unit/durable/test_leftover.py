"""What was to be sent by another life under other settings, and answers that can't be stored."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable import letters
from tailhound.durable.asking import Place
from tailhound.durable.boot import Boot
from tailhound.durable.outbox import Outbox
from tailhound.model import State
from tailhound.store.counts import count
from tests.unit.durable import kit
from tests.unit.durable.fakes import Chat
from tests.unit.durable.kit import CHANNEL, alert
from tests.unit.durable.outbox_kit import Post, post

pytestmark = pytest.mark.usefixtures("each_database")


# --- places that the settings name no more ---

OLD = Place("chat", "OLD")


async def accepted(at: Post) -> str:
    """Take in an alert and let it be sent; the id of its incident."""
    (id,) = (await at.desk.accept(alert())).incidents
    at.sender.wake()
    return id


@asynccontextmanager
async def moved(folder: Path, chat: Chat, notifier: str = "chat") -> AsyncIterator[Post]:
    """A life whose settings name CHANNEL, after one that named OLD and sent nothing."""
    async with kit.intake_alone(folder, places=(OLD,)) as desk:
        await desk.accept(alert())
        clock = desk.clock
    async with kit.intake_alone(folder, clock=clock) as desk:
        place = Place(notifier, CHANNEL.place)
        sender = Outbox(desk.database, {notifier: chat}, [place], Boot(clock=desk.clock))
        await sender.start()
        try:
            yield Post(desk, chat, sender)
        finally:
            await sender.stop()


def test_what_waits_for_a_channel_that_the_settings_name_no_more_still_goes_there(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with moved(tmp_path, Chat()) as at:
            id = at.desk.only().id
            await at.settled(id)
            assert [d.place for d in at.chat.messages["m1"]] == ["OLD"]
            newest = at.change(id, urgent=True, state=State.DIAGNOSED)
            await kit.until(lambda: at.row(id).sent_revision == newest)
            assert len(at.chat.messages["m1"]) == 2

    kit.run(scene())


def test_where_the_old_channel_refuses_the_one_that_is_named_now_has_the_message(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with moved(tmp_path, Chat(answers=["refuse"])) as at:
            await kit.until(lambda: "m1" in at.chat.messages)
            assert [d.place for d in at.chat.messages["m1"]] == [CHANNEL.place]

    kit.run(scene())


def test_what_waits_for_a_service_that_is_gone_waits_no_more_until_it_is_back(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with moved(tmp_path, Chat(), notifier="other") as at:
            id = at.desk.only().id
            assert (at.row(id).state, "no such notifier" in at.row(id).error) == ("left", True)
            assert count(at.desk.database, at.desk.clock.now).waiting == 0
            back = Outbox(at.desk.database, {"chat": at.chat}, [CHANNEL], Boot(clock=at.desk.clock))
            await back.start()
            await at.settled(id)
            assert [d.place for d in at.chat.messages["m1"]] == ["OLD"]
            await back.stop()

    kit.run(scene())


# --- answers that no database holds ---


def test_an_answer_with_characters_that_no_database_holds_is_stored_without_them(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with post(tmp_path) as at:
            at.chat.seen = "a\0b\ud800" + "c" * 100
            id = await accepted(at)
            await at.settled(id)
            assert at.row(id).state == "sent"
            assert at.row(id).seen == ("a\ufffdb\ufffd" + "c" * 100)[:64]
            assert len(at.chat.messages["m1"]) == 1

    kit.run(scene())


def test_a_result_that_cannot_be_stored_is_left_to_a_person_and_not_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_args: object) -> None:
        raise sa.exc.DataError("UPDATE", {}, ValueError("too long"))

    async def scene() -> None:
        async with post(tmp_path) as at:
            monkeypatch.setattr(letters, "settle", refused)
            id = await accepted(at)
            await kit.until(lambda: at.row(id).state == "broken")
            assert "can't be stored: DataError" in at.row(id).error
            assert len(at.chat.messages["m1"]) == 1

    kit.run(scene())
