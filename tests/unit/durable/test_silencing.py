"""Silences: stored first, set once, told in the incident, whatever Alertmanager answers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from tailhound.actions.silence import Matcher, Silence
from tailhound.durable.acts import Click, Person
from tailhound.durable.blocking import Blocking
from tailhound.durable.boot import Boot
from tailhound.durable.desk import Desk
from tailhound.durable.joins import Joining
from tailhound.durable.silence_rows import CLAIM_SECONDS
from tailhound.durable.silences import TRIES_SECONDS, Silences, Wish
from tailhound.durable.silencing import GIVE_UP_SECONDS, Silencing
from tailhound.durable.tasks import Task
from tailhound.model import Incident, Missing, Reason
from tailhound.store.database import Database
from tailhound.store.incidents import IncidentReader
from tailhound.store.tables import silence as table
from tests.unit.durable import kit
from tests.unit.durable.kit import Clock, alert

on_both = pytest.mark.usefixtures("each_database")
ANA = Person("U1", "ana")
OTHER = "other"
WISH = Wish(matchers=(Matcher("namespace", "prod"),), hours=2.0, why="Known, being fixed", alerts=3)


@dataclass
class Fake:
    """Alertmanager as it behaves: a silence that is sent twice stands twice."""

    answers: list[str] = field(default_factory=list)
    stands: dict[str, Silence] = field(default_factory=dict)
    looks: list[str | Missing] = field(default_factory=list)
    ends: list[Missing] = field(default_factory=list)

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
        if self.ends:
            return self.ends.pop(0)
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
    other: str
    joining: Joining

    def incident(self, id: str = "") -> Incident:
        """The incident as people see it."""
        found = IncidentReader.of(self.database).get(id or self.id)
        assert found is not None
        return found

    def join(self) -> None:
        """The incident turns out to be about the workload of the other one, which came first."""
        assert self.joining.join(self.id, f"workload:/prod/{OTHER}") == self.other

    def ask(self, envelope: str = "e1") -> bool:
        """Somebody wants the silence."""
        return self.silences.ask(Click(self.id, ANA, envelope), WISH)

    def state(self) -> str:
        """Where the one silence stands."""
        with self.database.reading() as connection:
            return str(connection.execute(sa.select(table.c.state)).scalar_one())

    def later(self, seconds: float) -> None:
        """So much time goes by, also for the database's own clock."""
        self.clock.advance(seconds)
        if not self.database.is_sqlite:
            with self.database.writing() as connection:
                earlier = table.c.claimed_at - seconds
                connection.execute(sa.update(table).values(claimed_at=earlier))

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
        (other,) = (await intake.accept(alert(OTHER))).incidents
        intake.clock.advance(1)
        (id,) = (await intake.accept(alert())).incidents

        def nothing(_connection: sa.Connection, *_tasks: Task) -> None:
            raise AssertionError("a silence asks for no investigation")

        desk = Desk(intake.database, kit.terms, nothing, Boot(clock=intake.clock, holds=holds))
        silences, remote = Silences(desk), Fake(list(answers))
        blocking = Blocking("silences", 1)
        loop = Silencing(silences, remote, blocking, desk)
        yield Office(
            silences, loop, remote, intake.database, intake.clock, id, other, Joining(desk)
        )
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
            at.later(TRIES_SECONDS + 1)
            await at.until("set")
            assert len(at.remote.stands) == 1

    kit.run(run())


@on_both
def test_what_a_process_that_is_gone_had_begun_is_taken_up_by_another(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            row = at.silences.claim()
            assert row is not None
            assert at.silences.claim() is None
            at.later(CLAIM_SECONDS + 1)
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
            (shown,) = it.silences
            assert not shown.holds(at.clock.now)
            assert shown.failed(at.clock.now)
            why = "was not set: HTTP 403: these credentials may not set silences"
            assert shown.trouble == why
            assert it.timeline[-1].what == f"The silence that ana asked for {why}"

    kit.run(run())


def test_while_alertmanager_is_down_it_is_tried_again_and_then_given_up(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path, "down", "down") as at:
            at.ask()
            await at.until("setting")
            at.later(GIVE_UP_SECONDS + 1)
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
            at.later(TRIES_SECONDS + 1)
            await at.until("set")
            assert len(at.remote.stands) == 1

    kit.run(run())


def test_who_was_stopped_and_comes_late_changes_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            late = at.silences.claim()
            assert late is not None
            at.later(CLAIM_SECONDS + 1)
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
            at.later(GIVE_UP_SECONDS + 1)
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
            at.later(CLAIM_SECONDS + 1)
            at.loop.wake()
            await kit.until(lambda: at.state() == "set")
            task.cancel()
            await asyncio.wait([task])
            assert len(at.remote.stands) == 1

    kit.run(run())


@on_both
@pytest.mark.parametrize("state", ["setting", "ending"])
def test_after_a_clock_was_set_back_none_waits_for_the_old_time(tmp_path: Path, state: str) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            if state == "ending":
                await at.until("set")
                at.silences.end(Click(at.id, ANA, "e9"), "remote-1")
            assert at.silences.claim() is not None
            at.later(-7200)
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


def test_replicas_whose_clocks_differ_do_not_set_one_silence_twice(
    tmp_path: Path, each_database: str
) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            assert at.silences.claim() is not None
            at.clock.advance(CLAIM_SECONDS + 10)  # the clock of the one that looks now
            alone = each_database == "sqlite"  # then it was this process, a while ago
            assert (at.silences.claim() is not None) is alone

    kit.run(run())


FORBIDDEN = Missing(Reason.FORBIDDEN, "HTTP 403: grant them writing")
GONE = Missing(Reason.UNREACHABLE, "am:9093 refused the connection")


def test_an_end_that_alertmanager_refuses_is_shown_and_can_be_asked_for_again(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            await at.until("set")
            at.remote.ends = [FORBIDDEN]
            at.silences.end(Click(at.id, ANA, "e9"), "remote-1")
            await at.until("set")
            (shown,) = at.incident().silences
            assert shown.holds(at.clock.now)
            assert shown.trouble == "HTTP 403: grant them writing"
            told = "The silence of ana could not be ended: HTTP 403: grant them writing"
            assert at.incident().timeline[-1].what == told
            assert at.silences.end(Click(at.id, ANA, "e10"), "remote-1")
            await at.until("ended")
            (shown,) = at.incident().silences
            assert (shown.trouble, shown.ended_at) == ("", at.clock.now)

    kit.run(run())


def test_an_end_that_nobody_answers_is_shown_at_once_and_tried_until_it_ends_by_itself(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            await at.until("set")
            at.remote.ends = [GONE] * 3
            at.silences.end(Click(at.id, ANA, "e9"), "remote-1")
            task = asyncio.create_task(at.loop.run(lambda: None))
            await kit.until(lambda: bool(at.incident().silences[0].trouble))
            told = "am:9093 refused the connection; tried again until then"
            assert at.incident().silences[0].trouble == told
            lines = len(at.incident().timeline)
            at.later(TRIES_SECONDS + 1)
            at.loop.wake()
            await kit.until(lambda: len(at.remote.ends) == 1)
            assert len(at.incident().timeline) == lines
            at.later(WISH.hours * 3600)
            at.loop.wake()
            await kit.until(lambda: at.state() == "ended")
            task.cancel()
            await asyncio.wait([task])
            assert not at.remote.ends
            assert at.incident().silences[0].trouble == ""

    kit.run(run())


@on_both
def test_nobody_ends_a_silence_of_another_incident(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            await at.until("set")
            for wanted in ("remote-1", "remote-2", ""):
                with pytest.raises(LookupError, match="no silence"):
                    at.silences.end(Click(at.other, ANA, "e9"), wanted)
            assert at.state() == "set"
            assert at.silences.end(Click(at.id, ANA, "e9"), "remote-1")

    kit.run(run())


@on_both
@pytest.mark.parametrize("of", ["id", "other"])
def test_a_silence_goes_on_at_the_incident_that_its_own_has_joined(tmp_path: Path, of: str) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            await at.until("set")
            at.join()
            (shown,) = at.incident(at.other).silences
            assert shown.holds(at.clock.now)
            assert at.silences.end(Click(getattr(at, of), ANA, "e9"), "remote-1")
            await at.until("ended")
            (shown,) = at.incident(at.other).silences
            assert not shown.holds(at.clock.now)

    kit.run(run())


def test_a_silence_that_comes_to_stand_after_a_join_is_shown_where_people_look(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        async with opened(tmp_path) as at:
            at.ask()
            at.join()
            await at.until("set")
            (shown,) = at.incident(at.other).silences
            assert (shown.id, shown.by) == ("remote-1", "ana")
            assert at.incident().silences == ()

    kit.run(run())


def test_one_that_stands_ends_the_trouble_of_one_that_did_not(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path, "refuse") as at:
            at.ask()
            await at.until("refused")
            at.ask("e2")
            task = asyncio.create_task(at.loop.run(lambda: None))
            await kit.until(lambda: any(one.id for one in at.incident().silences))
            task.cancel()
            await asyncio.wait([task])
            assert [one.id for one in at.incident().silences] == ["remote-1"]

    kit.run(run())


def test_what_went_wrong_with_one_is_told_beside_another_that_mutes_something_else(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        async with opened(tmp_path, "refuse", "ok", "refuse") as at:
            at.ask()
            await at.until("refused")
            for number, value in enumerate(("b", "c")):
                wish = replace(WISH, matchers=(Matcher("pod", value),))
                at.silences.ask(Click(at.id, Person(f"U{number}", value), f"e{value}"), wish)
            task = asyncio.create_task(at.loop.run(lambda: None))
            await kit.until(lambda: len(at.incident().silences) == 3)
            task.cancel()
            await asyncio.wait([task])
            shown = [(one.by, bool(one.trouble)) for one in at.incident().silences]
            assert shown == [("ana", True), ("b", False), ("c", True)]

    kit.run(run())
