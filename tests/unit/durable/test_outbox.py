"""The outbox: one message per incident and place, whatever the service answers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable import due, letters
from tailhound.durable.asking import Place, noted, show
from tailhound.durable.boot import Boot
from tailhound.durable.engine import Engine
from tailhound.durable.outbox import ATTEMPTS_AT_MOST, PROBE_SECONDS, Manners, Outbox, backoff
from tailhound.durable.replicas import Pulse, Replicas
from tailhound.model import State
from tailhound.notifiers import Delivery, Later, Posted, Refusal
from tailhound.store import records
from tailhound.store.tables import outbox as table
from tests.unit.durable import kit
from tests.unit.durable.kit import CHANNEL, Chat, Desk, alert

pytestmark = pytest.mark.usefixtures("each_database")


@dataclass
class Post:
    """Intake, and a sender beside it."""

    desk: Desk
    chat: Chat
    sender: Outbox

    def change(self, id: str, *, urgent: bool, **changes: object) -> int:
        """Change what people see of an incident; its new revision."""
        now = self.desk.clock.now
        with self.desk.database.writing() as connection:
            after = records.change(
                connection, id, lambda r: noted(r.edited(**changes), now, "a change"), now
            )
            assert after is not None
            show(connection, [(after, urgent)])
        self.sender.wake()
        return after.incident.revision

    def row(self, id: str) -> sa.Row[tuple[object, ...]]:
        """The outbox row of an incident."""
        with self.desk.database.reading() as connection:
            return connection.execute(sa.select(table).where(table.c.incident_id == id)).one()

    async def settled(self, id: str) -> None:
        """Wait until the row has nothing to send."""
        await kit.until(lambda: self.row(id).state in ("sent", "broken"))


@dataclass
class Choking(Chat):
    """A service that has no answer for one incident, and asks to be left alone each time."""

    chokes_on: str = ""

    async def deliver(self, delivery: Delivery) -> Posted | Later | Refusal:
        if delivery.incident.id == self.chokes_on:
            return Later(0.2, "internal_error")
        return await super().deliver(delivery)


@asynccontextmanager
async def post(
    folder: Path, *answers: str, boot: Boot | None = None, call_seconds: float = 5.0
) -> AsyncIterator[Post]:
    async with kit.intake_alone(folder) as desk:
        chat = Chat(answers=list(answers))
        boot = boot or Boot()
        manners = Manners(call_seconds=call_seconds)
        sender = Outbox(desk.database, {"chat": chat}, [CHANNEL], boot, manners)
        if not desk.database.is_sqlite:
            await Replicas(desk.database, Engine(desk.database, boot.id), Pulse()).join()
        await sender.start()
        try:
            yield Post(desk, chat, sender)
        finally:
            await sender.stop()


async def _accept(at: Post, workload: str = "llm-70b") -> str:
    (id,) = (await at.desk.accept(alert(workload, fingerprint=workload))).incidents
    at.sender.wake()
    return id


def test_a_new_incident_is_posted_once_and_then_edited(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path) as at:
            id = await _accept(at)
            await at.settled(id)
            newest = at.change(id, urgent=True, state=State.DIAGNOSED)
            await kit.until(lambda: at.row(id).sent_revision == newest)
            (message,) = at.chat.posts(id)
            states = [d.incident.state for d in at.chat.messages[message]]
            assert states == [State.INVESTIGATING, State.DIAGNOSED]
            assert at.row(id).message == message

    kit.run(scene())


def test_what_kept_a_first_post_back_is_handed_on_and_stays(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "later") as at:
            id = await _accept(at)
            await at.settled(id)
            assert at.row(id).delayed_by == "ratelimited"
            newest = at.change(id, urgent=True, state=State.DIAGNOSED)
            await kit.until(lambda: at.row(id).sent_revision == newest)
            (message,) = at.chat.posts(id)
            assert {d.delayed_by for d in at.chat.messages[message]} == {"ratelimited"}
            assert at.row(id).error == ""

    kit.run(scene())


def test_an_edit_that_is_put_off_says_nothing_of_the_post(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "ok", "later") as at:
            id = await _accept(at)
            await at.settled(id)
            newest = at.change(id, urgent=True, state=State.DIAGNOSED)
            await kit.until(lambda: at.row(id).sent_revision == newest)
            assert at.row(id).delayed_by == ""

    kit.run(scene())


def test_what_keeps_a_place_back_keeps_all_that_wait_for_it(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "refuse") as at:
            first = await at.desk.accept(alert("w1", fingerprint="w1"))
            second = await at.desk.accept(alert("w2", fingerprint="w2"))
            ids = [*first.incidents, *second.incidents]
            at.sender.wake()
            for id in ids:
                await kit.until(lambda id=id: at.row(id).delayed_by != "")  # type: ignore[misc]
            reasons = {at.row(id).delayed_by for id in ids}
            assert reasons == {"the channel is archived: choose another one"}

    kit.run(scene())


def test_open_incidents_are_looked_at_again_when_a_notifier_draws_otherwise(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with post(tmp_path) as at:
            open_, over = await _accept(at, "w1"), await _accept(at, "w2")
            await at.settled(open_)
            newest = at.change(over, urgent=True, state=State.RESOLVED)
            await kit.until(lambda: at.row(over).sent_revision == newest)
            before = list(at.chat.sent)
            at.sender.redraw("other")
            at.sender.redraw("chat")
            at.sender.wake()
            await kit.until(lambda: len(at.chat.sent) > len(before))
            await at.settled(open_)
            assert at.chat.sent[len(before) :] == [open_]
            assert len(at.chat.posts(open_)) == 1

    kit.run(scene())


def test_changes_that_nobody_has_sent_yet_are_sent_as_one(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "later") as at:
            id = await _accept(at)
            await kit.until(lambda: at.row(id).error == "ratelimited")
            for i in range(10):
                at.change(id, urgent=False, repeats=i)
            newest = at.change(id, urgent=True, state=State.DIAGNOSED)
            await kit.until(lambda: at.row(id).sent_revision == newest)
            (message,) = at.chat.posts(id)
            assert len(at.chat.messages[message]) == 1

    kit.run(scene())


def test_one_message_that_its_service_chokes_on_does_not_keep_the_others_waiting(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            poison = (await desk.accept(alert("poison", fingerprint="p"))).incidents[0]
            chat = Choking(chokes_on=poison)
            sender = Outbox(desk.database, {"chat": chat}, [CHANNEL], Boot())
            if not desk.database.is_sqlite:
                await Replicas(desk.database, Engine(desk.database, "x"), Pulse()).join()
            at = Post(desk, chat, sender)
            await sender.start()
            await kit.until(lambda: at.row(poison).attempt >= 2)
            others = [await _accept(at, name) for name in ("a", "b", "c")]
            for id in others:
                await at.settled(id)
            assert at.row(poison).state in ("pending", "sending")
            await sender.stop()

    kit.run(scene())


def test_a_rate_limited_post_comes_later_and_once(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "later", "later", "ok") as at:
            id = await _accept(at)
            await at.settled(id)
            assert len(at.chat.posts(id)) == 1
            assert not at.chat.messages["m1"][0].unsure

    kit.run(scene())


def test_a_post_whose_answer_was_lost_is_looked_up_before_it_is_sent_again(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with post(tmp_path, "lost") as at:
            id = await _accept(at)
            await at.settled(id)
            assert at.chat.posts(id) == ["m1"]
            assert at.chat.looked == 1
            assert at.chat.messages["m1"][1].attempt == 2
            assert not at.row(id).unsure

    kit.run(scene())


def test_a_lost_answer_stays_unsure_through_a_rate_limit(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "lost", "later") as at:
            id = await _accept(at)
            await at.settled(id)
            assert at.chat.posts(id) == ["m1"]
            assert at.chat.looked == 1

    kit.run(scene())


def test_a_call_that_hangs_is_cut_off_and_the_post_looked_up(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "hang", call_seconds=0.1) as at:
            id = await _accept(at)
            await kit.until(lambda: "no answer" in str(at.row(id).error))
            assert at.row(id).unsure
            assert at.row(id).state == "pending"

    kit.run(scene())


def test_a_refusal_is_visible_and_the_next_urgent_news_tries_again(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "refuse") as at:
            id = await _accept(at)
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


def test_a_notifier_that_fails_by_itself_delays_only_its_own_message(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "raise") as at:
            first = await _accept(at, "a")
            await kit.until(lambda: "a bug of the notifier" in str(at.row(first).error))
            second = await _accept(at, "b")
            await at.settled(second)
            assert at.row(first).state == "pending"
            assert at.row(first).unsure

    kit.run(scene())


def test_a_notifier_that_always_fails_by_itself_is_given_up_in_the_end(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "raise") as at:
            id = await _accept(at)
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


def test_an_incident_that_cant_be_read_does_not_stop_the_others(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            (first,) = (await desk.accept(alert("a", fingerprint="a"))).incidents
            with desk.database.writing() as connection:
                connection.exec_driver_sql("UPDATE th_incident SET snapshot = '{}'")
        async with post(tmp_path) as at:
            second = await _accept(at, "b")
            await at.settled(second)
            await kit.until(lambda: not at.sender._probe_at)  # what was refused was tried again
            await at.settled(first)
            assert at.row(first).state == "broken"
            (trouble,) = await at.sender.troubles()
            assert f"incident {first} can't be read" in trouble.why

    kit.run(scene())


def test_first_posts_and_verdicts_go_before_progress(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path) as at:
            a, b, c = [await _accept(at, name) for name in "abc"]
            for id in (a, b, c):
                await at.settled(id)
            at.chat.answers.append("later")
            at.change(a, urgent=False, repeats=1)
            await kit.until(lambda: at.row(a).error == "ratelimited")
            at.change(b, urgent=False, repeats=1)
            at.change(c, urgent=True, state=State.DIAGNOSED)
            d = await _accept(at, "d")
            for id in (a, b, c, d):
                await at.settled(id)
            sent = at.chat.sent[3:]
            assert sent[:2] == [c, d]
            assert set(sent[2:]) == {a, b}

    kit.run(scene())


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


def test_when_a_place_takes_messages_again_the_refused_ones_go_out_too(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "refuse", "refuse", boot=Boot(clock=kit.Clock())) as at:
            refused = [await _accept(at, "a"), await _accept(at, "b")]
            for id in refused:
                await at.settled(id)
            (standing,) = at.sender.standings()
            assert (standing.waiting, standing.late, standing.refused) == (0, 0, 2)
            assert "archived" in standing.why
            later = await _accept(at, "c")
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
            id = await _accept(at)
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
            id = await _accept(at)
            await asyncio.wait_for(taken.wait(), 5)
            await at.sender.stop()
            assert at.row(id).state == "sending"
            assert at.row(id).boot == "another"

    kit.run(scene())


def test_stop_waits_for_a_call_that_is_nearly_done(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path) as at:
            at.chat.delay = 0.3
            id = await _accept(at)
            await kit.until(lambda: at.row(id).state == "sending")
            await at.sender.stop()
            assert at.row(id).state == "sent"

    kit.run(scene())


def test_stop_cuts_off_a_call_that_hangs(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "hang", call_seconds=60.0) as at:
            id = await _accept(at)
            await kit.until(lambda: at.row(id).state == "sending")
            loop = asyncio.get_running_loop()
            began = loop.time()
            await at.sender.stop()
            assert loop.time() - began < 4
            assert at.row(id).state == "sending"

    kit.run(scene())


def test_places_without_a_notifier_are_left_alone(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            sender = Outbox(desk.database, {}, [Place("chat", "C1")], Boot())
            await sender.start()
            await desk.accept(alert())
            sender.wake()
            assert sender.backlog() == {}
            await sender.stop()

    kit.run(scene())


def test_the_pause_grows_and_has_an_end() -> None:
    pauses = [backoff(attempt) for attempt in range(1, 12)]
    assert pauses == sorted(pauses)
    assert pauses[0] == 2.0
    assert pauses[-1] == 300.0


@pytest.mark.parametrize(("ahead", "is_due"), [(60.0, False), (7200.0, True)])
def test_a_row_that_was_put_off_before_the_clock_was_set_back_is_due(
    tmp_path: Path, ahead: float, is_due: bool
) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            now = desk.clock.now
            with desk.database.writing() as connection:
                later = now.timestamp() + ahead
                connection.execute(sa.update(table).values(not_before=later))
                claimed = letters.claim(connection, CHANNEL, "one", now)
                assert (claimed is not None) is is_due

    kit.run(scene())


def test_no_service_can_put_a_row_off_for_more_than_an_hour(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            await desk.accept(alert())
            now = desk.clock.now
            with desk.database.writing() as connection:
                claimed = letters.claim(connection, CHANNEL, "one", now)
                assert claimed is not None
                letter = letters.opened(connection, claimed)
                letters.settle(connection, letter, Later(1e9, "in thirty years"), "one", now)
                row = connection.execute(sa.select(table)).one()
            assert row.not_before == now.timestamp() + due.FARTHEST_SECONDS

    kit.run(scene())
