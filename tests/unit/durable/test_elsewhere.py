"""What its own place can't show has another one: nothing is lost, and nothing is told twice."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tailhound.durable import storm
from tailhound.durable.asking import Place, message_row, noted, show
from tailhound.durable.boot import Boot
from tailhound.durable.elsewhere import Detours, Watch
from tailhound.durable.engine import Engine
from tailhound.durable.outbox import Manners, Outbox
from tailhound.durable.replicas import Pulse, Replicas
from tailhound.model import State
from tailhound.notifiers import Delivery, Later, Posted, Refusal
from tailhound.store import records
from tailhound.store.tables import outbox as table
from tests.unit.durable import kit
from tests.unit.durable.kit import Clock, Desk, alert

pytestmark = pytest.mark.usefixtures("each_database")

OWN, OPS, LAST = Place("chat", "C1"), Place("chat", "C9"), Place("webhook", "-")
ARCHIVED = Refusal("the channel is archived: choose another one")
DEAD = Refusal("the token was revoked: put a new one", everywhere=True)
DOWN = Later(0.02, "no answer from the service")


@dataclass
class Service:
    """Takes what each place takes: `answers` by place, everything else is posted."""

    name: str = "chat"
    answers: dict[str, Posted | Later | Refusal] = field(default_factory=dict)
    told: list[Delivery] = field(default_factory=list)

    async def deliver(self, delivery: Delivery) -> Posted | Later | Refusal:
        answer = self.answers.get(delivery.place)
        if answer is not None:
            return answer
        self.told.append(delivery)
        return Posted(delivery.place, delivery.message or f"m{len(self.told)}")

    def at(self, place: str) -> list[Delivery]:
        """What a place was told."""
        return [delivery for delivery in self.told if delivery.place == place]


@dataclass
class Scene:
    """Intake, a sender, two services, and a clock that a test moves."""

    desk: Desk
    chat: Service
    hook: Service
    sender: Outbox
    clock: Clock

    async def accept(self, workload: str = "llm-70b", **labels: str) -> str:
        """A new incident."""
        given = alert(workload, fingerprint=workload, labels=labels)
        (id,) = (await self.desk.accept(given)).incidents
        self.sender.wake()
        return id

    def change(self, id: str, **changes: Any) -> None:
        """What people wait for."""
        now = self.clock.now
        with self.desk.database.writing() as connection:
            after = records.change(
                connection, id, lambda r: noted(r.edited(**changes), now, "a change"), now
            )
            assert after is not None
            show(connection, [(after, True)])
        self.sender.wake()

    def rows(self, place: Place) -> list[sa.Row[Any]]:
        """The outbox rows of a place."""
        with self.desk.database.reading() as connection:
            wanted = sa.select(table).where(
                table.c.notifier == place.notifier, table.c.place == place.place
            )
            return list(connection.execute(wanted.order_by(table.c.id)))

    def insert(self, *rows: dict[str, object]) -> None:
        """Rows as an earlier life left them."""
        with self.desk.database.writing() as connection:
            for row in rows:
                connection.execute(sa.insert(table).values(row))


@asynccontextmanager
async def scene(
    folder: Path, *, limit: int = 1000, after: float = 60.0, **answers: Posted | Later | Refusal
) -> AsyncIterator[Scene]:
    async with kit.intake_alone(folder) as desk:
        chat, hook = Service(answers=dict(answers)), Service("webhook")
        detours = Detours(
            fallbacks={OWN: OPS, OPS: LAST}, late={OWN: (LAST, after), OPS: (LAST, after)}
        )
        manners = Manners(limits={"chat": storm.Limits(limit, 600)}, detours=detours)
        boot = Boot(clock=desk.clock)
        services = {"chat": chat, "webhook": hook}
        sender = Outbox(desk.database, services, [OWN, OPS, LAST], boot, manners)
        if not desk.database.is_sqlite:
            await Replicas(desk.database, Engine(desk.database, boot.id), Pulse()).join()
        await sender.start()
        try:
            yield Scene(desk, chat, hook, sender, desk.clock)
        finally:
            await sender.stop()


def test_a_channel_that_refuses_is_stood_in_for_and_named(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path, C1=ARCHIVED) as at:
            id = await at.accept()
            await kit.until(lambda: at.chat.at("C9"))
            (told,) = at.chat.at("C9")
            assert (told.incident.id, told.instead_of) == (id, ("C1",))
            assert at.sender.diverted() == {OWN: OPS}
            assert at.hook.told == []

    kit.run(run())


def test_a_channel_that_dies_after_the_first_post_has_its_verdict_told_elsewhere(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            id = await at.accept()
            await kit.until(lambda: at.chat.at("C1"))
            at.insert(message_row(id, OWN, 1, part="timeline") | {"state": "sent", "message": "t"})
            at.chat.answers["C1"] = ARCHIVED
            at.change(id, state=State.DIAGNOSED)
            await kit.until(lambda: len(at.chat.at("C9")) == 2)
            own, timeline = at.chat.at("C9")
            assert own.incident.state is State.DIAGNOSED
            assert (own.part, own.instead_of) == ("", ("C1",))
            assert (timeline.part, timeline.thread) == ("timeline", "m2")
            at.change(id, state=State.RESOLVED)
            await kit.until(lambda: at.chat.at("C9")[-2].incident.state is State.RESOLVED)
            assert len([one for one in at.rows(OPS) if one.part == ""]) == 1

    kit.run(run())


def test_once_the_channel_works_again_nobody_is_stood_in_for(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path, C1=ARCHIVED) as at:
            id = await at.accept()
            await kit.until(lambda: at.chat.at("C9"))
            del at.chat.answers["C1"]
            at.change(id, state=State.DIAGNOSED)
            await kit.until(lambda: at.chat.at("C1"))
            at.change(id, state=State.RESOLVED)
            await kit.until(lambda: at.chat.at("C9")[-1].incident.state is State.RESOLVED)
            assert at.chat.at("C9")[-1].instead_of == ()
            assert at.sender.diverted() == {}

    kit.run(run())


def test_what_a_refused_storm_told_of_has_messages_elsewhere(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path, limit=1) as at:
            labels = {"severity": "warning"}
            await at.accept("w0", **labels)
            await kit.until(lambda: at.chat.at("C1"))
            at.chat.answers["C1"] = ARCHIVED
            others = [await at.accept(f"w{n}", **labels) for n in range(1, 4)]
            await kit.until(
                lambda: set(others) <= {one.incident_id for one in at.rows(OPS) if not one.part}
            )
            held = {one.incident_id for one in at.rows(OWN) if one.state == storm.HELD}
            assert held
            assert held <= set(others)

    kit.run(run())


def test_a_dead_token_goes_past_the_fallback_channel_to_the_second_way_out(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        async with scene(tmp_path, C1=DEAD, C9=DEAD) as at:
            id = await at.accept()
            await kit.until(lambda: at.hook.told)
            assert at.rows(OPS) == []
            assert at.hook.told[0].instead_of == ("C1",)
            at.change(id, state=State.DIAGNOSED)
            await kit.until(lambda: at.hook.told[-1].incident.state is State.DIAGNOSED)
            assert at.sender.diverted() == {OWN: LAST}

    kit.run(run())


def test_a_fallback_channel_that_refuses_too_goes_to_the_second_way_out(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path, C1=ARCHIVED, C9=ARCHIVED) as at:
            await at.accept()
            await kit.until(lambda: at.hook.told)
            assert set(at.hook.told[0].instead_of) == {"C1", "C9"}

    kit.run(run())


def test_one_refusal_brings_along_what_was_refused_before(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            ids = {await at.accept(f"w{n}") for n in range(3)}
            await kit.until(lambda: len(at.chat.at("C1")) == 3)
            broken = sa.update(table).values(state="broken", message="")
            with at.desk.database.writing() as connection:
                connection.execute(broken)
            at.chat.answers["C1"] = ARCHIVED
            ids.add(await at.accept("w9"))
            await kit.until(lambda: len(at.rows(OPS)) == 4)
            assert {one.incident_id for one in at.rows(OPS)} == ids

    kit.run(run())


def test_a_service_that_is_down_for_long_hands_on_what_people_wait_for(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path, C1=DOWN) as at:
            first = await at.accept("w1")
            await kit.until(lambda: at.rows(OWN)[0].error)
            assert at.rows(LAST) == []
            at.clock.advance(61)
            second = await at.accept("w2")
            await kit.until(lambda: len(at.rows(LAST)) == 2)
            assert {one.incident_id for one in at.rows(LAST)} == {first, second}
            assert at.sender.diverted() == {OWN: LAST}
            del at.chat.answers["C1"]
            at.clock.advance(61)
            at.sender.wake()
            await kit.until(lambda: len(at.chat.at("C1")) == 2)
            assert at.sender.diverted() == {}
            at.change(first, state=State.RESOLVED)
            await kit.until(lambda: at.hook.told[-1].incident.state is State.RESOLVED)

    kit.run(run())


def test_a_short_outage_is_waited_out(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path, C1=DOWN) as at:
            await at.accept()
            await kit.until(lambda: at.rows(OWN)[0].error)
            at.clock.advance(50)
            del at.chat.answers["C1"]
            at.sender.wake()
            await kit.until(lambda: at.chat.at("C1"))
            at.chat.answers["C1"] = DOWN
            at.clock.advance(50)
            other = await at.accept("w2")
            await kit.until(lambda: at.rows(OWN)[-1].error)
            assert at.rows(OWN)[-1].incident_id == other
            assert at.rows(LAST) == []

    kit.run(run())


def test_what_needs_no_call_says_nothing_about_its_place() -> None:
    watch, clock = Watch(Detours(late={OWN: (LAST, 60.0)})), Clock()
    for _ in range(4):
        assert watch.seen(OWN, DOWN, clock.now) is None
        assert watch.seen(OWN, Posted("C1", "m1", called=False), clock.now) is None
        clock.advance(19)
    assert watch.seen(OWN, DOWN, clock.now) == LAST
    watch.seen(OWN, Posted("C1", "m1", called=False), clock.now)
    assert watch.diverted() == {OWN: LAST}
    watch.seen(OWN, Posted("C1", "m1"), clock.now)
    assert watch.diverted() == {}


def test_a_clock_that_is_set_back_does_not_make_an_outage_longer_by_more_than_its_time() -> None:
    watch, clock = Watch(Detours(late={OWN: (LAST, 60.0)})), Clock()
    watch.seen(OWN, DOWN, clock.now)
    clock.advance(-3600)
    assert watch.seen(OWN, DOWN, clock.now) is None
    clock.advance(61)
    assert watch.seen(OWN, DOWN, clock.now) == LAST


def test_what_needed_no_call_brings_nothing_back_that_was_refused(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path, C1=ARCHIVED, C9=ARCHIVED) as at:
            refused = await at.accept("a")
            await kit.until(lambda: [row.state for row in at.rows(OWN)] == ["broken"])
            at.chat.answers["C1"] = Posted("C1", "", called=False)
            await at.accept("b")
            await kit.until(lambda: at.rows(OWN)[-1].state == "sent")
            states = {row.incident_id: row.state for row in at.rows(OWN)}
            assert states[refused] == "broken"

    kit.run(run())


def test_what_holds_up_one_message_says_nothing_about_its_place() -> None:
    clock = Clock()
    watch = Watch(Detours(fallbacks={OWN: OPS}, late={OWN: (LAST, 0.0)}))
    for result in (
        Later(1.0, "one message was edited a moment ago", only_this=True),
        Later(1.0, ""),
        Refusal("this one is too long", only_this=True),
    ):
        assert watch.seen(OWN, result, clock.now) is None
    assert watch.diverted() == {}
    assert watch.seen(OWN, DOWN, clock.now) == LAST


def test_a_clock_that_is_set_back_does_not_make_an_outage_longer() -> None:
    clock = Clock()
    watch = Watch(Detours(late={OWN: (LAST, 60.0)}))
    assert watch.seen(OWN, DOWN, clock.now) is None
    clock.advance(-3600)
    assert watch.seen(OWN, DOWN, clock.now) is None
    clock.advance(3700)
    assert watch.seen(OWN, DOWN, clock.now) == LAST


def test_a_place_without_a_detour_keeps_what_it_has() -> None:
    watch = Watch(Detours())
    assert watch.seen(OWN, ARCHIVED, Clock().now) is None
    assert watch.seen(OWN, DOWN, Clock().now) is None
    assert Detours(fallbacks={OWN: OPS}).next(OWN, DEAD) is None
