"""The answers of an investigation: each question once, and again by who has more time for it."""

import asyncio
from dataclasses import dataclass
from typing import Any

from tailhound.durable.gather import Ask, gather
from tailhound.durable.memo import Memo
from tailhound.flow import Request, Turn
from tailhound.model import Evidence, EvidenceStatus
from tests.unit.durable.gather_kit import NOW, TIMEOUT, Answers, By, once, run, two, vector


def test_an_equal_question_is_asked_once_also_while_it_is_open() -> None:
    transport = Answers({"first": vector(1), "second": vector(2)}, delay=lambda _: 0.01)
    found = run([By(two)] * 5, transport)
    assert sorted(transport.asked) == ["first", "second"]
    assert {one.facts["second"] for one in found} == {2}
    assert all(len(one.asked) == 2 for one in found)


def test_the_answers_are_shared_between_the_waves_of_an_investigation() -> None:
    transport = Answers({"first": vector(1), "second": vector(2)})

    async def two_waves() -> tuple[Evidence, ...]:
        memo = Memo()
        turn = Turn(asyncio.get_running_loop().time() + 5, NOW)
        await gather([Ask("a", once("first"), None)], (transport,), turn, memo=memo)
        return await gather([Ask("b", By(two), None)], (transport,), turn, memo=memo)

    (found,) = asyncio.run(two_waves())
    assert found.facts["first"] == 1
    assert transport.asked == ["first", "second"]


@dataclass
class Slow(Answers):
    """A transport that needs half a second, and says so when there is less."""

    async def ask(self, request: Request[Any], turn: Turn) -> Any:
        """The reply in the table, when there is time for it."""
        self.asked.append(request.shown)
        left = turn.deadline - asyncio.get_running_loop().time()
        await asyncio.sleep(min(0.5, left))
        return self.replies[request.shown] if left >= 0.5 else TIMEOUT


def test_what_ran_out_of_time_in_a_short_wave_is_asked_again_in_a_longer_one() -> None:
    transport = Slow({"first": vector(1)})

    async def waves() -> list[EvidenceStatus]:
        memo, found = Memo(), list[Evidence]()
        for seconds in (0.1, 0.1, 5.0, 5.0):
            turn = Turn(asyncio.get_running_loop().time() + seconds, NOW)
            found += await gather([Ask("a", once("first"), None)], (transport,), turn, memo=memo)
        return [item.status for item in found]

    out, collected = EvidenceStatus.TIMEOUT, EvidenceStatus.COLLECTED
    assert asyncio.run(waves()) == [out, out, collected, collected]
    assert transport.asked == ["first", "first"]


def test_who_waits_for_a_question_with_less_time_asks_it_again_in_its_own() -> None:
    transport = Slow({"first": vector(1)})

    async def waves() -> list[EvidenceStatus]:
        memo, clock = Memo(), asyncio.get_running_loop().time

        async def wave(seconds: float, count: int) -> tuple[Evidence, ...]:
            asks = [Ask(f"e{index}", once("first"), None) for index in range(count)]
            return await gather(asks, (transport,), Turn(clock() + seconds, NOW), memo=memo)

        short = asyncio.create_task(wave(0.1, 1))
        while not transport.asked:
            await asyncio.sleep(0)
        long = await wave(5.0, 2)
        return [one.status for one in (*await short, *long)]

    collected = EvidenceStatus.COLLECTED
    assert asyncio.run(waves()) == [EvidenceStatus.TIMEOUT, collected, collected]
    assert transport.asked == ["first", "first"]
