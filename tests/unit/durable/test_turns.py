"""What goes on although something fails: loops take their next turn, calls wait for a database."""

import asyncio
import logging

import pytest

from tailhound.durable import blocking
from tailhound.durable.blocking import Blocking
from tailhound.durable.turns import Turns
from tailhound.errors import StoreUnavailable
from tests.unit.durable import kit


class Script:
    """A turn that does one thing after the other: raise it, or return it."""

    def __init__(self, *results: object) -> None:
        self.results = list(results)

    def __call__(self) -> object:
        result = self.results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    async def turn(self) -> object:
        return self()


def test_a_turn_that_fails_is_told_and_the_next_one_counts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scene() -> None:
        script, turns = Script(ZeroDivisionError("a bug"), 7), Turns("the loop")
        assert await turns.take(script.turn()) is None
        assert await turns.take(script.turn()) == 7

    kit.run(scene())
    assert "the loop failed" in caplog.text
    assert "a bug" in caplog.text


def test_an_outage_is_told_once_until_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        away = StoreUnavailable("the disk is full")
        script, turns = Script(away, away, 1, away), Turns("the loop")
        found = [await turns.take(script.turn()) for _ in range(4)]
        assert found == [None, None, 1, None]

    with caplog.at_level(logging.WARNING):
        kit.run(scene())
    assert caplog.text.count("the loop waits for the database: the disk is full") == 2


def test_a_turn_can_be_cancelled() -> None:
    async def scene() -> None:
        turn = asyncio.create_task(Turns("the loop").take(asyncio.Event().wait()))
        await asyncio.sleep(0)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn

    kit.run(scene())


def test_what_must_not_be_lost_waits_for_the_database(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(blocking, "OUTAGE_SECONDS", 0.01)

    async def scene() -> None:
        away = StoreUnavailable("nobody answers there")
        calls = Blocking("test", 1)
        assert await calls.insist(Script(away, away, away, "written")) == "written"
        with pytest.raises(ZeroDivisionError):
            await calls.insist(Script(ZeroDivisionError("a bug")))
        calls.close()

    kit.run(scene())
    assert caplog.text.count("nobody answers there") == 1
