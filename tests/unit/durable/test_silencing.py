"""Silences: stored first, set once, told in the incident, whatever Alertmanager answers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.actions.silence import Matcher, Silence
from tailhound.durable.acts import Click, Person
from tailhound.durable.blocking import Blocking
from tailhound.durable.boot import Boot
from tailhound.durable.desk import Desk
from tailhound.durable.engine import Task
from tailhound.durable.silences import CLAIM_SECONDS, TRIES_SECONDS, Silences, Wish
from tailhound.durable.silencing import GIVE_UP_SECONDS, Silencing
from tailhound.model import Incident, Missing, Reason
from tailhound.store.database import Database
from tailhound.store.incidents import IncidentReader
from tailhound.store.tables import silence as table
from tests.unit.durable import kit
from tests.unit.durable.kit import Clock, alert

ANA = Person("U1", "ana")
WISH = Wish(matchers=(Matcher("namespace", "prod"),), hours=2.0, why="Known, being fixed", alerts=3)


@dataclass
class Fake:
    """Alertmanager as it behaves: a silence that is sent twice stands twice."""

    answers: list[str] = field(default_factory=list)
    stands: dict[str, Silence] = field(default_factory=dict)
    looks: list[str | Missing] = field(default_factory=list)

    async def set(self, silence: Silence, deadline: float) -> str | Missing:
        answer = self.answers.pop(0) if self.answers else "ok"
        if answer == "refuse":
            return Missing(Reason.FORBIDDEN, "HTTP 403: these credentials may not set silences")
        if answer == "down":
            return Missing(Reason.UNREACHABLE, "am:9093 refused the connection")
        id = f"remote-{len(self.stands) + 1}"
        self.stands[id] = silence
        return id if answer == "ok" else Missing(Reason.TIMEOUT, "am:9093 sent nothing for 5 s")

    async def find(self, silence: str, deadline: float) -> str | Missing:
        if self.looks:
            return self.looks.pop(0)
        return next((id for id, one in self.stands.items() if one.id == silence), "")

    async def is_active(self, remote_id: str, deadline: float) -> bool | Missing:
        return remote_id in self.stands

    async def end(self, remote_id: str, deadline: float) -> Missing | None:
        self.stands.pop(remote_id, None)
        return None


@dataclass
class Office:
    """One incident, Alertmanager, and the loop between them (not running)."""

    silences: Silences
    loop: Silencing
    remote: Fake
    database: Database
    clock: Clock
    id: str

    def incident(self) -> Incident:
        """The incident as people see it."""
        found = IncidentReader.of(self.database).get(self.id)
        assert found is not None
        return found

    def ask(self, envelope: str = "e1") -> bool:
        """Somebody wants the silence."""
        return self.silences.ask(Click(self.id, ANA, envelope), WISH)

    def state(self) -> str:
        """Where the one silence stands."""
        with self.database.reading() as connection:
            return str(connection.execute(sa.select(table.c.state)).scalar_one())

    async def until(self, state: str) -> None:
        """Run the loop until the silence is in this state."""
        task = asyncio.create_task(self.loop.run(lambda: None))
        try:
            await kit.until(lambda: self.state() == state)
        finally:
            task.cancel()
            await asyncio.wait([task])


@asynccontextmanager
async def opened(
    folder: Path, *answers: str, holds: Callable[[], bool] = lambda: True
) -> AsyncIterator[Office]:
    async with kit.intake_alone(folder) as intake:
        (id,) = (await intake.accept(alert())).incidents

        def nothing(_connection: sa.Connection, *_tasks: Task) -> None:
            raise AssertionError("a silence asks for no investigation")

        desk = Desk(intake.database, kit.terms, nothing, Boot(clock=intake.clock, holds=holds))
        silences, remote = Silences(desk), Fake(list(answers))
        blocking = Blocking("silences", 1)
        loop = Silencing(silences, remote, blocking, desk)
        yield Office(silences, loop, remote, intake.database, intake.clock, id)
        blocking.close()


def test_a_silence_is_set_once_and_the_incident_says_so(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            assert at.ask()
            assert not at.ask()
            await at.until("set")
            (silence,) = at.remote.stands.values()
            assert silence.comment == f"Known, being fixed (tailhound {silence.id})"
            assert (silence.ends - silence.starts).total_seconds() == 2 * 3600
            it = at.incident()
            assert [(one.by, one.alerts, one.id) for one in it.silences] == [("ana", 3, "remote-1")]
            assert it.silences[0].holds(at.clock.now)
            line = "ana silenced 3 alerts until 04:53 UTC: Known, being fixed"
            assert it.timeline[-1].what == line

    kit.run(run())


def test_after_a_lost_answer_it_is_looked_for_and_not_set_again(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path, "lost") as at:
            at.ask()
            await at.until("setting")
            at.clock.advance(TRIES_SECONDS + 1)
            await at.until("set")
            assert len(at.remote.stands) == 1

    kit.run(run())


def test_what_a_process_that_is_gone_had_begun_is_taken_up_by_another(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            row = at.silences.claim()
            assert row is not None
            assert at.silences.claim() is None
            at.clock.advance(CLAIM_SECONDS + 1)
            again = at.silences.claim()
            assert again is not None
            assert again.was_begun

    kit.run(run())


def test_on_a_database_of_its_own_a_next_life_finishes_it_at_once(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            assert at.silences.claim() is not None
            await at.until("set")
            assert len(at.remote.stands) == 1

    kit.run(run())


def test_what_alertmanager_refuses_is_told_and_not_tried_again(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path, "refuse") as at:
            at.ask()
            await at.until("refused")
            it = at.incident()
            assert it.silences == ()
            assert it.timeline[-1].what == (
                "The silence that ana asked for was not set: "
                "HTTP 403: these credentials may not set silences"
            )

    kit.run(run())


def test_while_alertmanager_is_down_it_is_tried_again_and_then_given_up(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path, "down", "down") as at:
            at.ask()
            await at.until("setting")
            at.clock.advance(GIVE_UP_SECONDS + 1)
            await at.until("refused")
            assert "was not set: am:9093 refused the connection" in at.incident().timeline[-1].what

    kit.run(run())


def test_one_that_somebody_ended_in_alertmanager_is_noticed(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            await at.until("set")
            at.remote.stands.clear()
            await at.until("ended")
            it = at.incident()
            assert not it.silences[0].holds(at.clock.now)
            assert it.timeline[-1].what == "The silence of ana has ended"

    kit.run(run())


def test_a_replica_that_is_taken_for_dead_sets_none(tmp_path: Path) -> None:
    async def run() -> None:
        lives = [False]
        async with opened(tmp_path, holds=lambda: lives[0]) as at:
            at.ask()
            await at.until("setting")
            assert at.remote.stands == {}
            lives[0] = True
            at.clock.advance(TRIES_SECONDS + 1)
            await at.until("set")
            assert len(at.remote.stands) == 1

    kit.run(run())


def test_who_was_stopped_and_comes_late_changes_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            late = at.silences.claim()
            assert late is not None
            at.clock.advance(CLAIM_SECONDS + 1)
            await at.until("set")
            at.silences.refused(late, "no answer", unsure=True)
            at.silences.later(late, "no answer")
            assert at.state() == "set"
            at.silences.end(Click(at.id, ANA, "e9"), "remote-1")
            await at.until("ended")
            at.silences.settled(late, "remote-1")
            assert at.state() == "ended"
            assert not at.incident().silences[0].holds(at.clock.now)

    kit.run(run())


def test_when_nobody_could_look_it_is_told_that_it_may_stand(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path, "lost") as at:
            at.ask()
            await at.until("setting")
            at.remote.looks = [Missing(Reason.UNREACHABLE, "am:9093 refused the connection")]
            at.clock.advance(GIVE_UP_SECONDS + 1)
            await at.until("refused")
            assert "may stand or not, look in Alertmanager" in at.incident().timeline[-1].what

    kit.run(run())


@dataclass
class Broken(Fake):
    """Fails once by itself, as no Alertmanager does."""

    failed: bool = False

    async def set(self, silence: Silence, deadline: float) -> str | Missing:
        if not self.failed:
            self.failed = True
            raise RuntimeError("a bug")
        return await super().set(silence, deadline)


def test_a_bug_at_one_silence_does_not_end_the_setting_of_all(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.loop._silencer = at.remote = Broken()
            at.ask()
            task = asyncio.create_task(at.loop.run(lambda: None))
            await kit.until(lambda: isinstance(at.remote, Broken) and at.remote.failed)
            at.clock.advance(CLAIM_SECONDS + 1)
            at.loop.wake()
            await kit.until(lambda: at.state() == "set")
            task.cancel()
            await asyncio.wait([task])
            assert len(at.remote.stands) == 1

    kit.run(run())


@pytest.mark.parametrize("state", ["setting", "ending"])
def test_after_a_clock_was_set_back_none_waits_for_the_old_time(tmp_path: Path, state: str) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            if state == "ending":
                await at.until("set")
                at.silences.end(Click(at.id, ANA, "e9"), "remote-1")
            assert at.silences.claim() is not None
            at.clock.advance(-7200)
            row = at.silences.claim()
            assert row is not None
            assert row.state == state

    kit.run(run())


@pytest.mark.parametrize("presses", [1, 2])
def test_anyone_can_end_one_sooner(tmp_path: Path, presses: int) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            await at.until("set")
            ben = Person("U2", "ben")
            ended = [
                at.silences.end(Click(at.id, ben, f"e{n}"), "remote-1")
                for n in range(9, 9 + presses)
            ]
            assert ended == [True, False][:presses]
            await at.until("ended")
            assert at.remote.stands == {}

    kit.run(run())
