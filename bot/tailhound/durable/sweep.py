"""The sweep: every accepted alert ends in a visible outcome, also when the engine gives a run up.

It looks at what the engine ended without a result, at what is said to run here and does not, and
at investigations in which nothing has happened for a while. It repeats, because the engine's own
recovery happens once, at the start.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

from tailhound.durable.asking import INVESTIGATE
from tailhound.durable.blocking import Blocking
from tailhound.durable.cases import Cases
from tailhound.durable.desk import Desk
from tailhound.durable.engine import Engine, Fate
from tailhound.durable.turns import Turns
from tailhound.durable.wishes import Stale, Wishes

SWEEP_SECONDS = 10.0
QUIET_SECONDS = 30.0
"""How long nothing may have happened before a run is looked up."""

LOST_SECONDS = 60.0
"""How long, beyond twice the deadline, until a run in which nothing happens counts as lost."""

LEAP_SECONDS = 30.0
"""A step of the clock beyond the usual between two sweeps: it was set, or the machine slept."""

LOOKED_UP_AT_ONCE = 200
LOOK_BACK = timedelta(days=7)


class Sweeper:
    """Finds investigations that nobody will end, and ends them."""

    def __init__(self, engine: Engine, desk: Desk, blocking: Blocking) -> None:
        self._engine = engine
        self._cases = Cases(desk)
        self._wishes = Wishes(desk)
        self._clock = desk.boot.clock
        self._terms = desk.terms
        self._blocking = blocking
        self._settled: set[str] = set()
        self._suspects: frozenset[str] = frozenset()
        self._now = self._sees_since = desk.boot.clock()

    async def run(self, tell: Callable[[], None], every: float = SWEEP_SECONDS) -> None:
        """Sweep now, and then for ever; cancel it to stop. `tell` is called after each change."""
        turns = Turns("the sweep of unfinished investigations")
        while True:
            leap = (self._clock() - self._now).total_seconds()
            if not -LEAP_SECONDS <= leap <= every + LEAP_SECONDS:
                self._sees_since = self._clock()  # no time in which anything could happen
            touched = await turns.take(self.sweep())
            if touched is None:
                self._sees_since = self._clock()  # what could not be written is not lost
            elif touched:
                tell()
            await asyncio.sleep(every)

    async def sweep(self, quiet_seconds: float = QUIET_SECONDS) -> tuple[str, ...]:
        """One pass; the ids of the workflows about which something was done."""
        self._now = self._clock()
        before = self._now - timedelta(seconds=quiet_seconds)
        return await self._given_up() + await self._left_behind() + await self._forgotten(before)

    async def _given_up(self) -> tuple[str, ...]:
        since = (self._clock() - LOOK_BACK).isoformat()
        found = await self._engine.given_up(f"{INVESTIGATE}:", since)
        touched = []
        for seen in found:
            if seen.id in self._settled:
                continue
            _, id, n = seen.id.split(":")
            if await self._blocking.run(self._cases.fail, id, int(n), seen.why):
                touched.append(seen.id)
            self._settled.add(seen.id)
        return tuple(touched)

    async def _left_behind(self) -> tuple[str, ...]:
        """Take up what is said to run here, but did not in two passes: it may just have begun."""
        owned = await self._engine.owned()
        here = frozenset(id for id, owner in owned.items() if owner == self._engine.executor)
        idle = here - self._engine.running
        again = sorted(idle & self._suspects)
        self._suspects = idle - frozenset(again)
        for id in again:
            await self._engine.take_up(id)
        return tuple(again)

    async def _forgotten(self, before: datetime) -> tuple[str, ...]:
        stale = await self._blocking.run(self._wishes.stale, before, LOOKED_UP_AT_ONCE)
        named = {f"{INVESTIGATE}:{case.id}:{case.n}": case for case in stale}
        found = await self._engine.look_up(named)
        touched = []
        for name, case in named.items():
            fate = found[name].fate if name in found else None
            if await self._mend(name, case, fate):
                touched.append(name)
        return tuple(touched)

    async def _mend(self, name: str, case: Stale, fate: Fate | None) -> bool:
        """Do what is missing for one investigation; False when it only has to wait."""
        if fate is None:
            return await self._blocking.run(self._wishes.enqueue, case.id, case.n)
        if fate is Fate.RUNNING:
            return await self._watch(name, case)
        if fate in (Fate.ENDED, Fate.GIVEN_UP):
            return await self._fail(case, "the investigation ended without a verdict")
        return False

    async def _watch(self, name: str, case: Stale) -> bool:
        """Give up a run that stands still although whoever runs it lives."""
        bound = timedelta(seconds=2 * self._terms().verdict_seconds + LOST_SECONDS)
        silent = self._now - max(case.changed_at, self._sees_since)
        if silent <= bound:
            return False
        why = f"nothing has happened in it for {silent.total_seconds():.0f} s: it was given up"
        failed = await self._fail(case, why)
        await self._engine.cancel(name)
        return failed

    async def _fail(self, case: Stale, why: str) -> bool:
        return await self._blocking.run(self._cases.fail, case.id, case.n, why)
