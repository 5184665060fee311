"""The dead man's switch, heard by one of two replicas: both know it from their database."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from tailhound.app.arrivals import LATE, Arrivals
from tailhound.app.ops import OpsWatch, Watching
from tailhound.durable.ops import OwnTroubles
from tailhound.errors import StoreUnavailable
from tailhound.sources.alertmanager import read_group
from tailhound.store.database import Database
from tests.unit.durable import kit

pytestmark = pytest.mark.usefixtures("each_database")


async def _nothing() -> None:
    """No backend is asked."""


class Replica:
    """One process: what it hears, and its watch over itself."""

    def __init__(self, database: Database, clock: kit.Clock) -> None:
        self.arrivals = Arrivals(lambda: clock.now)
        watching = Watching(
            look=_nothing,
            backends=tuple,
            late_since=lambda: None,
            switch_seen=lambda: self.arrivals.switch_seen,
            switch_heard=self.arrivals.heard_anywhere,
            stop_file=None,
            leads=lambda: True,
            post=None,
            redraw=lambda: None,
        )
        self.watch = OpsWatch(watching, OwnTroubles(database), lambda: clock.now)

    def hears(self) -> None:
        """The alert comes in here."""
        self.arrivals.note(read_group(kit.body(kit.alert(name="Watchdog"))))

    def looks(self) -> None:
        """Its watch looks once."""
        asyncio.run(self.watch.turn())

    @property
    def works(self) -> bool | None:
        """What its page on health says of the switch."""
        return self.arrivals.lines()[1].works


class Pair:
    """Two replicas on one database, which were started long ago."""

    def __init__(self, database: Database) -> None:
        self.clock, self.database = kit.Clock(), database
        self.replicas = [Replica(database, self.clock) for _ in range(2)]
        self.clock.now += timedelta(days=1)

    def later(self, minutes: float) -> None:
        """Time goes by, and each looks; whoever looked first does so again."""
        self.clock.now += timedelta(minutes=minutes)
        for replica in (*self.replicas, self.replicas[0]):
            replica.looks()

    @property
    def work(self) -> Sequence[bool | None]:
        """What each says."""
        return [replica.works for replica in self.replicas]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    database = kit.fresh_database(tmp_path)
    yield Pair(database)
    database.close()


def test_who_did_not_hear_it_says_that_it_works_because_another_did(pair: Pair) -> None:
    first, second = pair.replicas
    first.hears()
    pair.later(4)
    assert pair.work == [True, True]
    assert not any(replica.watch.notes() for replica in pair.replicas)
    assert second.arrivals.lines()[1].detail == "not by this process"


def test_when_it_goes_from_one_to_the_other_it_is_never_called_silent(pair: Pair) -> None:
    for n in range(8):
        pair.replicas[0 if n < 2 else 1].hears()
        pair.later(10)
        assert pair.work == [True, True]


def test_both_call_it_silent_when_neither_hears_it(pair: Pair) -> None:
    pair.replicas[0].hears()
    pair.later(1)
    pair.later(LATE.total_seconds() / 60 + 1)
    assert pair.work == [False, False]


def test_while_the_database_is_gone_it_is_unknown_to_who_does_not_hear_it(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = pair.replicas
    second.hears()
    pair.later(1)

    def gone(*_: object) -> object:
        raise StoreUnavailable("no answer")

    monkeypatch.setattr(OwnTroubles, "seen", gone)
    pair.clock.now += timedelta(minutes=30)
    first.hears()
    for replica in pair.replicas:
        with pytest.raises(StoreUnavailable):
            replica.looks()
    assert pair.work == [True, None]


def test_a_process_that_starts_asks_at_once_who_saw_the_switch(tmp_path: Path) -> None:
    database = kit.fresh_database(tmp_path)
    first, second = (Replica(database, kit.Clock()) for _ in range(2))
    first.hears()
    first.looks()

    async def scene() -> None:
        running = asyncio.create_task(second.watch.run())
        await kit.until(lambda: second.works, seconds=5)
        second.watch.stop()
        await running

    kit.run(scene())
    database.close()
