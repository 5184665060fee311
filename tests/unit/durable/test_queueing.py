"""Waiting one's turn: more incidents than investigations that run at once."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from tailhound.durable.queueing import STORM_SECONDS
from tailhound.model import State
from tailhound.settings import Incidents
from tests.unit.durable import kit
from tests.unit.durable.kit import Detective, alert, body

TWO = Incidents(concurrency=2)


def test_beyond_those_that_run_at_once_incidents_wait_their_turn(tmp_path: Path) -> None:
    async def run() -> None:
        async with kit.intake_alone(tmp_path, incidents=TWO) as desk:
            names = [f"w{i}" for i in range(5)]
            found = await desk.accept(*(alert(name, fingerprint=name) for name in names))
            seen = [desk.reader.get(id) for id in found.incidents]
            states = [it.state for it in seen if it]
            assert states == [State.INVESTIGATING] * 2 + [State.DEFERRED] * 3
            queued = [it.queued for it in seen if it and it.queued]
            assert [q.place for q in queued] == [1, 2, 3]
            assert [q.incidents for q in queued] == [3, 4, 5]
            assert [q.alerts for q in queued] == [3, 4, 5]
            assert {q.seconds for q in queued} == {STORM_SECONDS}
            rounds = [(q.starts_by - desk.clock.now) / timedelta(seconds=10) for q in queued]
            assert rounds == [1, 1, 2]

    kit.run(run())


def test_an_incident_whose_turn_has_come_gets_its_whole_time_and_a_verdict(tmp_path: Path) -> None:
    @dataclass
    class Slow(Detective):
        gate: asyncio.Event | None = field(default_factory=asyncio.Event)

    async def run() -> None:
        slow = Slow()
        assert slow.gate is not None
        async with kit.lab(tmp_path, detective=slow, incidents=Incidents(concurrency=1)) as lab:
            accepted = await lab.durable.accept(
                body(alert("a", fingerprint="a"), alert("b", fingerprint="b"))
            )
            first, second = accepted.incidents
            assert lab.incident(second).state is State.DEFERRED
            slow.gate.set()
            await lab.diagnosed(first)
            ended = await lab.diagnosed(second)
            assert ended.state is State.DIAGNOSED
            assert ended.queued is None
            assert "Its turn has come: it is being checked" in [h.what for h in ended.timeline]

    kit.run(run())


def test_one_that_somebody_wants_now_does_not_wait(tmp_path: Path) -> None:
    async def run() -> None:
        slow = Detective(gate=asyncio.Event())
        assert slow.gate is not None
        async with kit.lab(tmp_path, detective=slow, incidents=Incidents(concurrency=1)) as lab:
            accepted = await lab.durable.accept(
                body(alert("a", fingerprint="a"), alert("b", fingerprint="b"))
            )
            first, second = accepted.incidents
            await kit.until(lambda: "collect" in slow.calls)
            assert await lab.durable.check_now(second)
            await kit.until(lambda: slow.calls.count("collect") == 2)
            assert lab.incident(second).state is State.INVESTIGATING
            assert not await lab.durable.check_now(first)
            slow.gate.set()
            await lab.diagnosed(first)
            await lab.diagnosed(second)

    kit.run(run())
