"""What is made ahead of its post: bounded, begun once, and no end of whoever waits for it."""

import asyncio
from collections.abc import Awaitable, Callable

from tailhound.slack.preparing import ABANDONED_SECONDS, AT_MOST, Preparing


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


class Workshop:
    """Things that are made once the gate opens, and how often each was begun."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.begun: dict[int, int] = {}

    def maker(self, key: int) -> Callable[[], Awaitable[str]]:
        async def make() -> str:
            self.begun[key] = self.begun.get(key, 0) + 1
            await self.gate.wait()
            return f"made {key}"

        return make


def test_more_than_there_is_room_for_are_all_made_and_each_once() -> None:
    async def act() -> None:
        preparing, shop = Preparing(Clock()), Workshop()
        keys = range(AT_MOST + 50)

        async def ask(key: int) -> tuple[int, str | None]:
            return key, await preparing.ready(key, None, shop.maker(key))

        left, done = set(keys), []
        for turn in range(6):
            for key, made in await asyncio.gather(*map(ask, sorted(left))):
                if made is not None:
                    done.append(made)
                    preparing.forget(key)
                    left.discard(key)
            if turn == 1:
                assert not done
                assert len(shop.begun) == AT_MOST
                shop.gate.set()
        assert not left
        assert len(done) == AT_MOST + 50
        assert set(shop.begun.values()) == {1}

    asyncio.run(act())


def test_what_nobody_asks_for_any_more_makes_room() -> None:
    async def act() -> None:
        clock = Clock()
        preparing, shop = Preparing(clock), Workshop()
        for key in range(AT_MOST):
            await asyncio.wait_for(preparing.ready(key, None, shop.maker(key)), 5)
        assert await preparing.ready(-1, None, shop.maker(-1)) is None
        assert -1 not in shop.begun
        clock.at = ABANDONED_SECONDS + 1.0
        await preparing.ready(-1, None, shop.maker(-1))
        assert shop.begun[-1] == 1
        preparing.close()

    asyncio.run(act())


def test_whoever_waits_for_what_is_forgotten_goes_on() -> None:
    async def act() -> None:
        preparing, shop = Preparing(Clock()), Workshop()
        waits = asyncio.create_task(preparing.ready(1, None, shop.maker(1)))
        await asyncio.sleep(0)
        preparing.forget(1)
        assert await waits is None
        assert not waits.cancelled()

    asyncio.run(act())
