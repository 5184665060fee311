"""Posts in the thread of an incident: they wait for its message, and stand once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable.asking import noted, open_parts, show
from tailhound.durable.boot import Boot
from tailhound.durable.outbox import Outbox
from tailhound.notifiers import Delivery, Later, Posted, Refusal
from tailhound.store import records
from tailhound.store.tables import outbox as table
from tests.unit.durable import kit
from tests.unit.durable.kit import CHANNEL, Desk, alert

pytestmark = pytest.mark.usefixtures("each_database")

PARTS = {"chat": ("timeline", "evidence")}


@dataclass
class Threads:
    """A chat service with threads. `says` is what a part shows; "" = nothing yet."""

    name: str = "chat"
    says: dict[str, str] = field(default_factory=lambda: {"timeline": "one", "evidence": ""})
    own: list[Delivery] = field(default_factory=list)
    calls: list[Delivery] = field(default_factory=list)
    refuses_own: bool = False
    has_no_thread: bool = False
    holds_back: dict[str, Later] = field(default_factory=dict)

    async def deliver(self, delivery: Delivery) -> Posted | Later | Refusal:
        if not delivery.part:
            if self.refuses_own:
                return Refusal("the channel is archived: choose another one")
            self.own.append(delivery)
            loose = self.has_no_thread and bool(delivery.thread)
            return Posted(delivery.place, "root", loose=loose)
        if delivery.part in self.holds_back:
            return self.holds_back.pop(delivery.part)
        text = self.says.get(delivery.part, delivery.part)
        if text == delivery.seen:
            return Posted(delivery.place, delivery.message, text)
        self.calls.append(delivery)
        return Posted(delivery.place, delivery.message or f"{delivery.part}-1", text)


@dataclass
class Scene:
    """Intake and a sender, and one incident that has its verdict."""

    desk: Desk
    chat: Threads
    sender: Outbox
    id: str = ""

    def verdict(self) -> None:
        """Ask for the posts in the thread, as a verdict does."""
        with self.desk.database.writing() as connection:
            record = records.read(connection, self.id)
            assert record is not None
            open_parts(connection, record, PARTS)
        self.sender.wake()

    def change(self) -> None:
        """Change what people see."""
        now = self.desk.clock.now
        with self.desk.database.writing() as connection:
            after = records.change(connection, self.id, lambda r: noted(r, now, "a change"), now)
            assert after is not None
            show(connection, [(after, True)])
        self.sender.wake()

    def states(self) -> dict[str, str]:
        """The state of each row by its part."""
        with self.desk.database.reading() as connection:
            rows = connection.execute(sa.select(table.c.part, table.c.state)).all()
        return {str(row.part): str(row.state) for row in rows}

    async def settled(self) -> None:
        """Wait until nothing is left to send."""
        await kit.until(lambda: set(self.states().values()) <= {"sent", "broken"})


@asynccontextmanager
async def scene(folder: Path, chat: Threads | None = None) -> AsyncIterator[Scene]:
    async with kit.intake_alone(folder) as desk:
        chat = chat or Threads()
        sender = Outbox(desk.database, {"chat": chat}, [CHANNEL], Boot())
        await sender.start()
        try:
            at = Scene(desk, chat, sender)
            (at.id,) = (await desk.accept(alert())).incidents
            at.verdict()
            yield at
        finally:
            await sender.stop()


def test_posts_in_a_thread_hang_on_the_message_of_the_incident(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            await at.settled()
            assert [d.part for d in at.chat.calls] == ["timeline"]
            assert at.chat.calls[0].thread == "root"
            assert at.chat.own[0].thread == ""

    kit.run(run())


def test_they_are_not_tried_while_the_message_itself_is_refused(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path, Threads(refuses_own=True)) as at:
            await kit.until(lambda: at.states()[""] == "broken")
            at.sender.wake()
            assert at.states() == {"": "broken", "timeline": "pending", "evidence": "pending"}
            assert at.chat.calls == []
            assert (await at.sender.troubles())[0].incidents == 1

    kit.run(run())


def test_one_that_has_nothing_to_say_yet_is_asked_again_when_the_incident_changes(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            await at.settled()
            at.chat.says["evidence"] = "24 claims"
            at.change()
            await at.settled()
            assert [d.part for d in at.chat.calls] == ["timeline", "evidence"]
            assert at.chat.calls[1].message == ""

    kit.run(run())


def test_one_whose_words_have_changed_is_edited_and_others_are_left_alone(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            await at.settled()
            at.change()
            await at.settled()
            assert len(at.chat.calls) == 1
            at.chat.says["timeline"] = "one, two"
            at.change()
            await at.settled()
            assert [(d.part, d.message) for d in at.chat.calls] == [
                ("timeline", ""),
                ("timeline", "timeline-1"),
            ]

    kit.run(run())


def test_a_second_verdict_asks_for_no_second_posts(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            await at.settled()
            at.verdict()
            await at.settled()
            assert len(at.states()) == 3
            assert len(at.chat.calls) == 1

    kit.run(run())


def test_an_incident_that_hangs_in_a_thread_has_its_posts_in_that_thread(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            await at.settled()
            with at.desk.database.writing() as connection:
                own = sa.update(table).where(table.c.part == "")
                connection.execute(own.values(thread="before"))
            at.chat.says["timeline"] = "one, two"
            at.change()
            await at.settled()
            assert [call.thread for call in at.chat.calls] == ["root", "before"]

    kit.run(run())


def test_where_its_thread_is_nowhere_its_posts_hang_on_the_incidents_message(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        async with scene(tmp_path, Threads(says={"timeline": "one"}, has_no_thread=True)) as at:
            await at.settled()
            with at.desk.database.writing() as connection:
                own = sa.update(table).where(table.c.part == "")
                connection.execute(own.values(thread="nowhere", state="pending", message=""))
            at.sender.wake()
            await at.settled()
            at.chat.says["timeline"] = "one, two"
            at.change()
            await at.settled()
            assert [call.thread for call in at.chat.own] == ["", "nowhere", ""]
            assert {call.thread for call in at.chat.calls} == {"root"}

    kit.run(run())


def held_back(part: str) -> Threads:
    """A chat service that has something to say in each post, and makes one of them wait."""
    says = {"timeline": "one", "evidence": "two"}
    return Threads(says=says, holds_back={part: Later(0.3, "rate limit", only_this=True)})


def test_posts_stand_in_the_order_asked_for_though_the_first_is_held_back(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path, held_back("timeline")) as at:
            await at.settled()
            assert [d.part for d in at.chat.calls] == ["timeline", "evidence"]

    kit.run(run())


def test_what_people_must_see_at_once_does_not_wait_for_posts_before_it(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path, held_back("timeline")) as at:
            with at.desk.database.writing() as connection:
                evidence = table.c.part == "evidence"
                connection.execute(sa.update(table).where(evidence).values(urgent=True))
            at.sender.wake()
            await at.settled()
            assert [d.part for d in at.chat.calls] == ["evidence", "timeline"]

    kit.run(run())
