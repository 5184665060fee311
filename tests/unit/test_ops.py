"""The watch over tailhound itself: what it takes for trouble, and what it does about it."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tailhound.app.arrivals import LATE
from tailhound.app.backends import Needs, backend_lines
from tailhound.app.board import Mood, Standing
from tailhound.app.chat import Chat
from tailhound.app.ops import OpsWatch, Watching
from tailhound.durable.ops import Notice, OwnTroubles
from tailhound.errors import StoreUnavailable
from tailhound.notifiers import Later, Posted, Refusal
from tailhound.settings import Settings
from tailhound.store.database import open_database
from tailhound.web.parts import HealthLine
from tests.samples.incidents import CONFIRMED, STATES
from tests.samples.story import NOW


class World:
    """Everything that is watched, a channel, and a clock."""

    def __init__(self, folder: Path) -> None:
        self.now = NOW
        self.lines: tuple[HealthLine, ...] = ()
        self.late: datetime | None = None
        self.seen: datetime | None = None
        self.heard: list[datetime | None] = []
        self.leads = True
        self.looks = 0
        self.drawn: list[list[str]] = []
        self.store_fails = False
        self.said: list[tuple[str, bool]] = []
        self.answer: Posted | Later | Refusal = Posted("C0OPS", "m1")
        self.stop_file = folder / "tailhound.stop"
        self.database = open_database(f"sqlite:///{folder / 'bot.db'}")
        self.watch = self.started()

    def started(self, *, told: bool = True) -> OpsWatch:
        """A watch of a new process."""
        watching = Watching(
            look=self._look,
            backends=lambda: self.lines,
            late_since=lambda: self.late,
            switch_seen=lambda: self.seen,
            switch_heard=self.heard.append,
            stop_file=self.stop_file,
            leads=lambda: self.leads,
            post=self._post if told else None,
            redraw=self._redraw,
        )
        self.watch = OpsWatch(watching, OwnTroubles(self.database), lambda: self.now)
        return self.watch

    def turn(self, after: float = 30) -> None:
        """Look once, so many seconds later."""
        self.now += timedelta(seconds=after)
        asyncio.run(self.watch.turn())

    def _redraw(self) -> None:
        if self.store_fails:
            raise StoreUnavailable("locked")
        self.drawn.append(list(self.watch.notes()))

    async def _look(self) -> None:
        self.looks += 1

    async def _post(self, due: Notice, is_new: bool) -> Posted | Later | Refusal:
        over = ", over" if due.over else ""
        self.said.append((f"{due.trouble.what}{over}", is_new))
        return self.answer


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.database.close()


def silent(name: str = "Prometheus", since: datetime = NOW) -> HealthLine:
    return HealthLine(name=name, state="does not answer in time", works=False, since=since)


def test_a_backend_that_is_down_for_a_minute_is_told_and_so_is_its_end(world: World) -> None:
    world.lines = (silent(), silent("ssh db-1"))
    world.turn(30)
    assert world.said == []
    world.turn(30)
    world.turn(30)
    assert world.said == [("Prometheus does not answer in time", True)]
    assert world.watch.notes() == [
        "trouble of tailhound itself from 03:04 UTC: Prometheus does not answer in time"
    ]
    world.lines = ()
    world.turn(30)
    assert world.said[1:] == [("Prometheus does not answer in time, over", False)]
    assert world.watch.notes() == []


@pytest.mark.parametrize("told", [True, False])
def test_the_last_lines_are_drawn_again_when_trouble_comes_and_when_it_is_over(
    world: World, told: bool
) -> None:
    world.started(told=told)
    world.turn()
    world.lines = (silent(),)
    for _ in range(4):
        world.turn()
    note = "trouble of tailhound itself from 03:04 UTC: Prometheus does not answer in time"
    assert world.drawn == [[], [note]]
    world.lines = ()
    for _ in range(3):
        world.turn()
    assert world.drawn == [[], [note], []]


def test_what_an_earlier_process_wrote_of_a_trouble_goes_with_the_first_look(world: World) -> None:
    world.lines = (silent(),)
    for _ in range(3):
        world.turn()
    assert len(world.drawn[-1]) == 1
    world.lines = ()
    world.started()
    for _ in range(3):
        world.turn()
    assert world.drawn[2:] == [[]]


def test_a_replica_that_does_not_lead_has_its_last_lines_drawn_again_too(world: World) -> None:
    world.leads = False
    world.lines = (silent(),)
    for _ in range(3):
        world.turn()
    assert [len(notes) for notes in world.drawn] == [0, 1]


def test_while_slack_is_late_no_last_line_is_drawn_again_and_then_all_are(world: World) -> None:
    world.late = NOW - timedelta(minutes=5)
    for _ in range(4):
        world.turn()
    assert len(world.watch.notes()) == 1
    assert world.drawn == []
    world.late = None
    for _ in range(2):
        world.turn()
    assert world.drawn == [[]]


def test_last_lines_that_could_not_be_drawn_are_tried_again(world: World) -> None:
    world.lines, world.store_fails = (silent(),), True
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            world.turn()
    world.store_fails = False
    world.turn()
    assert [len(notes) for notes in world.drawn] == [1]


def test_a_backend_that_answers_and_refuses_a_question_is_no_trouble_of_all(world: World) -> None:
    needs = Needs(causes=1, by_backend={"prometheus": 1})
    refuses = Standing(
        backend="prometheus",
        mood=Mood.ANSWERS,
        since=NOW - timedelta(days=1),
        at=NOW,
        refused=("query too long",),
    )
    world.lines = backend_lines((refuses,), Settings(), needs, NOW)
    assert world.lines[0].works is False
    for _ in range(4):
        world.turn()
    assert world.said == []
    assert world.watch.notes() == []
    gone = replace(refuses, mood=Mood.GONE, refused=())
    world.lines = backend_lines((gone,), Settings(), needs, NOW)
    world.turn()
    assert len(world.said) == 1


def test_slack_is_late_when_it_is_so_at_two_looks(world: World) -> None:
    world.late = NOW - timedelta(minutes=5)
    world.turn()
    world.late = None
    world.turn()
    assert world.said == []
    world.late = NOW
    for _ in range(4):
        world.turn()
    assert world.said == [("Slack takes messages late", True)]


def test_the_dead_mans_switch_is_silent_only_once_it_was_seen(world: World) -> None:
    world.turn(LATE.total_seconds() * 3)
    assert world.said == []
    world.seen = world.now
    world.turn(LATE.total_seconds())
    assert world.said == []
    world.turn(1)
    (said,) = world.said
    assert said[0].endswith("the dead man's switch, has not come in")


def test_what_any_process_saw_of_the_dead_mans_switch_is_handed_on(world: World) -> None:
    world.turn()
    world.seen = world.now
    world.turn()
    world.seen = None
    world.turn()
    assert world.heard == [None, NOW + timedelta(seconds=30), NOW + timedelta(seconds=30)]


def test_a_start_gives_the_dead_mans_switch_the_time_of_a_repeat(world: World) -> None:
    world.seen = NOW
    world.turn()
    world.now += timedelta(days=1)
    world.seen = None
    world.started()
    world.turn(60)
    assert world.said == []
    world.turn(LATE.total_seconds())
    assert len(world.said) == 1


def test_a_stop_file_that_can_not_be_looked_at_is_told_and_one_that_can_is_not(
    world: World, tmp_path: Path
) -> None:
    world.stop_file.write_text("game day")
    world.turn()
    assert world.said == []
    world.stop_file = tmp_path / "circle"
    world.stop_file.symlink_to(world.stop_file)
    world.started()
    world.turn()
    world.turn()
    ((what, is_new),) = world.said
    assert "can't be looked at" in what
    assert is_new


def test_a_replica_that_does_not_lead_tells_nothing_but_knows_it(world: World) -> None:
    world.leads = False
    world.lines = (silent(),)
    world.turn(60)
    assert world.said == []
    assert len(world.watch.notes()) == 1


def test_without_a_channel_messages_say_it_all_the_same(world: World) -> None:
    world.started(told=False)
    world.lines = (silent(),)
    world.turn(60)
    assert len(world.watch.notes()) == 1


def test_what_slack_refuses_is_not_tried_again_within_the_hour(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.answer = Refusal("invite the app to the channel")
    world.lines = (silent(),)
    for _ in range(10):
        world.turn(60)
    assert len(world.said) == 1
    assert "Prometheus does not answer in time: invite the app" in caplog.text
    world.turn(3600)
    assert len(world.said) == 2


def test_what_did_not_go_out_is_tried_at_the_next_look(world: World) -> None:
    world.answer = Later(30.0, "rate limit")
    world.lines = (silent(),)
    world.turn(60)
    world.answer = Posted("C0OPS", "m1")
    world.turn(30)
    world.turn(30)
    assert [is_new for _, is_new in world.said] == [True, True]


def test_the_watch_ends_at_once_when_it_is_told_to(world: World) -> None:
    async def run() -> None:
        task = asyncio.create_task(world.watch.run())
        await asyncio.sleep(0)
        world.watch.stop()
        async with asyncio.timeout(5):
            await task

    asyncio.run(run())
    assert world.looks == 0


def test_what_is_over_does_not_tell_of_trouble_that_nobody_would_take_back() -> None:
    chat = Chat(Settings())
    chat.troubles = lambda: ["Prometheus does not answer"]
    assert chat._notes(CONFIRMED) == ["Prometheus does not answer"]
    for state in ("resolved", "joined"):
        assert chat._notes(STATES[state]) == []
