"""A storm: a channel gets one message for what it has no room for, and nothing is lost."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.durable import desk as durable
from tailhound.durable import storm
from tailhound.durable.asking import show
from tailhound.durable.boot import Boot
from tailhound.durable.by_hand import body_of
from tailhound.durable.cases import Cases
from tailhound.durable.outbox import Manners, Outbox
from tailhound.durable.tasks import Task
from tailhound.model import Cause, Confidence, Diagnosis, Outlook, State, Verdict
from tailhound.notifiers import PARTS, STORM, Delivery, Later, Posted, Refusal, Storm
from tailhound.store import records
from tailhound.store.tables import outbox as table
from tests.unit.durable import kit
from tests.unit.durable.kit import CHANNEL, Desk, alert

MESSAGES = 3
CONFIRMED = Diagnosis(
    outlook=Outlook.CAUSE_FOUND,
    primary="cpu-throttling",
    chain=("cpu-throttling",),
    confidence=Confidence.HIGH,
    causes=(
        Cause(
            runbook="cpu-throttling",
            title="The CPU limit stops the engine",
            verdict=Verdict.CONFIRMED,
            because="",
        ),
    ),
    evidence=(),
)
BLIND = Diagnosis(
    outlook=Outlook.BLIND,
    primary=None,
    chain=(),
    confidence=None,
    causes=(),
    evidence=(),
)


@dataclass
class Channel:
    """A chat service: the incidents with a message of their own, and what the storm's says."""

    name: str = "chat"
    own: list[str] = field(default_factory=list)
    storms: list[Storm] = field(default_factory=list)
    messages: set[str] = field(default_factory=set)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    refuses: bool = False

    def __post_init__(self) -> None:
        self.gate.set()

    async def deliver(self, delivery: Delivery) -> Posted | Later | Refusal:
        if delivery.part == STORM:
            assert delivery.storm is not None
            if self.refuses:
                return Refusal("the blocks are too large", only_this=True)
            self.storms.append(delivery.storm)
            await self.gate.wait()
            message = delivery.message or f"storm {len(self.messages)}"
        else:
            if not delivery.message and not delivery.part:
                self.own.append(delivery.incident.subject.workload)
            message = delivery.message or f"message of {delivery.incident.id}"
        self.messages.add(message)
        return Posted(delivery.place, message)


@dataclass
class Scene:
    """Intake, a sender with narrow limits, and a channel."""

    desk: Desk
    channel: Channel
    sender: Outbox
    boot: Boot

    async def alerts(self, *names: str, severity: str = "warning") -> list[str]:
        """Alerts of workloads of these names; the ids of their incidents."""
        body = [alert(n, fingerprint=n, labels={"severity": severity}) for n in names]
        found = (await self.desk.accept(*body)).incidents
        self.sender.wake()
        return list(found)

    def states(self) -> dict[str, int]:
        """How many rows are in each state, the storm's own left out."""
        wanted = (
            sa.select(table.c.state, sa.func.count())
            .where(table.c.part == "")
            .group_by(table.c.state)
        )
        with self.desk.database.reading() as connection:
            return {str(row[0]): int(row[1]) for row in connection.execute(wanted)}

    def broken_storms(self) -> int:
        """How many messages of storms were refused."""
        wanted = sa.select(sa.func.count()).where(table.c.part == STORM, table.c.state == "broken")
        with self.desk.database.reading() as connection:
            return int(connection.execute(wanted).scalar_one())

    async def settled(self, held: int) -> None:
        """Wait until nothing is on its way and so many are held."""

        def is_so() -> bool:
            states = self.states()
            on_their_way = states.get("pending", 0) + states.get("sending", 0)
            told = self.channel.storms[-1].held if self.channel.storms else 0
            return on_their_way == 0 and states.get(storm.HELD, 0) == told == held

        await kit.until(is_so)

    def diagnosed(self, id: str) -> None:
        """Write a verdict, as the workflow does."""
        now = self.desk.clock.now
        with self.desk.database.writing() as connection:
            after = records.change(
                connection,
                id,
                lambda r: r.edited(state=State.DIAGNOSED, diagnosis=CONFIRMED),
                now,
            )
            assert after is not None
            show(connection, [(after, True)])
            if storm.is_urgent(after.incident.severity):
                storm.release(connection, id)
        self.sender.wake()


@asynccontextmanager
async def scene(folder: Path) -> AsyncIterator[Scene]:
    async with kit.intake_alone(folder, parts={"chat": PARTS}) as desk:
        channel = Channel()
        manners = Manners(limits={"chat": storm.Limits(MESSAGES, 600)})
        boot = Boot(clock=desk.clock)
        sender = Outbox(desk.database, {"chat": channel}, [CHANNEL], boot, manners)
        await sender.start()
        try:
            yield Scene(desk, channel, sender, boot)
        finally:
            await sender.stop()


def test_beyond_the_limit_further_incidents_become_one_message(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            await at.alerts(*(f"w{i}" for i in range(3)))
            await kit.until(lambda: len(at.channel.own) == MESSAGES)
            await at.alerts(*(f"x{i}" for i in range(7)))
            await at.settled(held=7)
            assert len(at.channel.own) == MESSAGES
            assert len(at.channel.messages) == MESSAGES + 1
            last = at.channel.storms[-1]
            assert (last.incidents, last.held, len(last.worst)) == (10, 7, storm.WORST_SHOWN)

    kit.run(run())


def test_critical_incidents_have_their_own_message_all_the_same(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            await at.alerts(*(f"w{i}" for i in range(3)))
            await kit.until(lambda: len(at.channel.own) == MESSAGES)
            await at.alerts("x", "y")
            await at.alerts("important", severity="critical")
            await at.settled(held=2)
            assert at.channel.own[MESSAGES:] == ["important"]

    kit.run(run())


def test_what_somebody_asked_for_is_never_held(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            names = [f"w{i}" for i in range(storm.BACKLOG + 10)]
            await at.alerts(*names, severity="critical")
            await kit.until(lambda: at.states().get(storm.HELD, 0) > 0)
            held = at.states()[storm.HELD]
            asked = {"namespace": "prod", "deployment": "asked"}
            body = body_of(asked, "ana", at.desk.clock.now)
            await at.desk.intake.accept(body, by_hand=True)
            at.sender.wake()
            await kit.until(lambda: "asked" in at.channel.own)
            await at.settled(held)

    kit.run(run())


def test_in_a_flood_even_critical_ones_wait_for_a_confirmed_cause(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            names = [f"w{i}" for i in range(storm.BACKLOG + 10)]
            ids = await at.alerts(*names, severity="critical")
            await kit.until(lambda: at.states().get(storm.HELD, 0) > 0)
            held = at.states()[storm.HELD]
            await at.settled(held)
            assert len(at.channel.own) == MESSAGES
            shown = set(at.channel.own)
            one = next(id for id, name in zip(ids, names, strict=True) if name not in shown)
            at.diagnosed(one)
            await at.settled(held - 1)
            assert len(at.channel.own) == MESSAGES + 1

    kit.run(run())


def test_an_incident_that_somebody_opens_gets_its_message_and_keeps_it(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            await at.alerts("w0", "w1", "w2")
            await kit.until(lambda: len(at.channel.own) == MESSAGES)
            (one, _) = await at.alerts("x", "y")
            await at.settled(held=2)
            with at.desk.database.writing() as connection:
                assert storm.release(connection, one) == 1
            at.sender.wake()
            await at.settled(held=1)
            assert len(at.channel.own) == MESSAGES + 1

    kit.run(run())


def test_one_that_is_opened_while_the_storms_message_is_on_its_way_leaves_it(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            await at.alerts("w0", "w1", "w2")
            await kit.until(lambda: len(at.channel.own) == MESSAGES)
            at.channel.gate.clear()
            (one, _) = await at.alerts("x", "y")
            await kit.until(lambda: at.channel.storms)
            with at.desk.database.writing() as connection:
                assert storm.release(connection, one) == 1
            at.channel.gate.set()
            at.sender.wake()
            await at.settled(held=1)

    kit.run(run())


def test_a_page_whose_cause_is_confirmed_late_gets_its_message(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            names = [f"w{i}" for i in range(storm.BACKLOG + 10)]
            ids = await at.alerts(*names, severity="critical")
            await kit.until(lambda: at.states().get(storm.HELD, 0) > 0)
            held = at.states()[storm.HELD]
            await at.settled(held)
            shown = set(at.channel.own)
            one = next(id for id, name in zip(ids, names, strict=True) if name not in shown)
            cases = Cases(durable.Desk(at.desk.database, kit.terms, _no_task, at.boot))
            assert cases.decide(one, 1, BLIND, {})
            assert at.states()[storm.HELD] == held
            assert cases.revise(one, 1, BLIND, CONFIRMED, "an answer came late")
            at.sender.wake()
            await at.settled(held - 1)
            assert len(at.channel.own) == MESSAGES + 1

    kit.run(run())


def _no_task(_connection: sa.Connection, *_tasks: Task) -> None:
    raise AssertionError("nothing more is to be investigated")


@pytest.mark.parametrize(("state", "unsure"), [("sending", False), ("pending", True)])
def test_what_another_replica_or_an_earlier_life_may_have_posted_takes_its_room(
    tmp_path: Path, state: str, unsure: bool
) -> None:
    async def run() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            names = [f"w{i}" for i in range(5)]
            await desk.accept(
                *(alert(n, fingerprint=n, labels={"severity": "warning"}) for n in names)
            )
            with desk.database.writing() as connection:
                first = sa.select(sa.func.min(table.c.id)).scalar_subquery()
                values = {"state": state, "unsure": unsure, "boot": "another"}
                connection.execute(sa.update(table).where(table.c.id == first).values(values))
                limits = storm.Limits(1, 600)
                assert storm.hold(connection, CHANNEL, limits, desk.clock.now) == 4

    kit.run(run())


def test_after_a_clock_was_set_back_a_channel_does_not_stay_full(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            await at.alerts("w0", "w1", "w2")
            await kit.until(lambda: len(at.channel.own) == MESSAGES)
            at.desk.clock.advance(-7200)
            await at.alerts("x")
            await kit.until(lambda: at.channel.own[MESSAGES:] == ["x"])

    kit.run(run())


def test_what_changes_in_a_held_incident_changes_the_storms_message(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            await at.alerts("w0", "w1", "w2")
            await kit.until(lambda: len(at.channel.own) == MESSAGES)
            (one,) = await at.alerts("x")
            await at.settled(held=1)
            at.diagnosed(one)
            await kit.until(lambda: at.channel.storms[-1].worst[0].diagnosis is not None)
            assert len(at.channel.messages) == MESSAGES + 1

    kit.run(run())


def test_a_storm_goes_on_in_its_message_and_the_next_one_has_a_new_one(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            await at.alerts("w0", "w1", "w2")
            await kit.until(lambda: len(at.channel.own) == MESSAGES)
            await at.alerts("x")
            await at.settled(held=1)
            at.desk.clock.advance(300)
            await at.alerts("y")
            await at.settled(held=2)
            assert len(at.channel.messages) == MESSAGES + 1
            at.desk.clock.advance(3600)
            await at.alerts("a", "b", "c")
            await kit.until(lambda: len(at.channel.own) == 2 * MESSAGES)
            await at.alerts("z")
            await kit.until(lambda: at.states().get(storm.HELD, 0) == 3)
            await kit.until(lambda: len(at.channel.messages) == 2 * MESSAGES + 2)
            assert at.channel.storms[-1].held == 1

    kit.run(run())


def test_a_storms_message_that_is_refused_does_not_hide_what_is_held_later(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            await at.alerts("w0", "w1", "w2")
            await kit.until(lambda: len(at.channel.own) == MESSAGES)
            at.channel.refuses = True
            await at.alerts("x")
            await kit.until(lambda: at.broken_storms() == 1)
            at.channel.refuses = False
            await at.alerts("y")
            await at.settled(held=2)
            assert len(at.channel.messages) == MESSAGES + 1

    kit.run(run())


def test_an_incident_that_gets_worse_while_it_is_held_gets_its_message(tmp_path: Path) -> None:
    async def run() -> None:
        async with scene(tmp_path) as at:
            await at.alerts("w0", "w1", "w2")
            await kit.until(lambda: len(at.channel.own) == MESSAGES)
            await at.alerts("x", "y")
            await at.settled(held=2)
            page = alert("x", fingerprint="page", labels={"severity": "critical"})
            await at.desk.accept(page)
            at.sender.wake()
            await at.settled(held=1)
            assert at.channel.own[MESSAGES:] == ["x"]

    kit.run(run())
