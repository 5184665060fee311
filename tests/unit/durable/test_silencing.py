"""Silences: stored first, set once, told in the incident, whatever Alertmanager answers."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from tailhound.actions.silence import Silence
from tailhound.durable.acts import Click
from tailhound.durable.silence_rows import CLAIM_SECONDS
from tailhound.durable.silences import TRIES_SECONDS
from tailhound.durable.silencing import GIVE_UP_SECONDS
from tailhound.model import Missing, Reason
from tests.unit.durable import kit
from tests.unit.durable.silencing_kit import ANA, Fake, on_both, opened


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
