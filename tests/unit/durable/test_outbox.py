"""The outbox: one message per incident and place, whatever the service answers."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable import due, letters
from tailhound.durable.asking import Place
from tailhound.durable.boot import Boot
from tailhound.durable.engine import Engine
from tailhound.durable.outbox import Outbox, backoff
from tailhound.durable.replicas import Pulse, Replicas
from tailhound.model import State
from tailhound.notifiers import Later
from tailhound.store.tables import outbox as table
from tests.unit.durable import kit
from tests.unit.durable.kit import CHANNEL, alert
from tests.unit.durable.outbox_kit import Choking, Post, accept, post

pytestmark = pytest.mark.usefixtures("each_database")


def test_a_new_incident_is_posted_once_and_then_edited(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path) as at:
            id = await accept(at)
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
            id = await accept(at)
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
            id = await accept(at)
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
            open_, over = await accept(at, "w1"), await accept(at, "w2")
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
            id = await accept(at)
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
            others = [await accept(at, name) for name in ("a", "b", "c")]
            for id in others:
                await at.settled(id)
            assert at.row(poison).state in ("pending", "sending")
            await sender.stop()

    kit.run(scene())


def test_a_rate_limited_post_comes_later_and_once(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "later", "later", "ok") as at:
            id = await accept(at)
            await at.settled(id)
            assert len(at.chat.posts(id)) == 1
            assert not at.chat.messages["m1"][0].unsure

    kit.run(scene())


def test_a_post_whose_answer_was_lost_is_looked_up_before_it_is_sent_again(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with post(tmp_path, "lost") as at:
            id = await accept(at)
            await at.settled(id)
            assert at.chat.posts(id) == ["m1"]
            assert at.chat.looked == 1
            assert at.chat.messages["m1"][1].attempt == 2
            assert not at.row(id).unsure

    kit.run(scene())


def test_a_lost_answer_stays_unsure_through_a_rate_limit(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "lost", "later") as at:
            id = await accept(at)
            await at.settled(id)
            assert at.chat.posts(id) == ["m1"]
            assert at.chat.looked == 1

    kit.run(scene())


def test_a_call_that_hangs_is_cut_off_and_the_post_looked_up(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "hang", call_seconds=0.1) as at:
            id = await accept(at)
            await kit.until(lambda: "no answer" in str(at.row(id).error))
            assert at.row(id).unsure
            assert at.row(id).state == "pending"

    kit.run(scene())


def test_a_notifier_that_fails_by_itself_delays_only_its_own_message(tmp_path: Path) -> None:
    async def scene() -> None:
        async with post(tmp_path, "raise") as at:
            first = await accept(at, "a")
            await kit.until(lambda: "a bug of the notifier" in str(at.row(first).error))
            second = await accept(at, "b")
            await at.settled(second)
            assert at.row(first).state == "pending"
            assert at.row(first).unsure

    kit.run(scene())


def test_an_incident_that_cant_be_read_does_not_stop_the_others(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            (first,) = (await desk.accept(alert("a", fingerprint="a"))).incidents
            with desk.database.writing() as connection:
                connection.exec_driver_sql("UPDATE th_incident SET snapshot = '{}'")
        async with post(tmp_path) as at:
            second = await accept(at, "b")
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
            a, b, c = [await accept(at, name) for name in "abc"]
            for id in (a, b, c):
                await at.settled(id)
            at.chat.answers.append("later")
            at.change(a, urgent=False, repeats=1)
            await kit.until(lambda: at.row(a).error == "ratelimited")
            at.change(b, urgent=False, repeats=1)
            at.change(c, urgent=True, state=State.DIAGNOSED)
            d = await accept(at, "d")
            for id in (a, b, c, d):
                await at.settled(id)
            sent = at.chat.sent[3:]
            assert sent[:2] == [c, d]
            assert set(sent[2:]) == {a, b}

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
