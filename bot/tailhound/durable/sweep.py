"""The sweep: every accepted alert ends in a visible outcome, also when the engine gives a run up.

It looks at what the engine ended without a result, at what is said to run here and does not, at
what runs or waits for far too long, and at incidents of which nothing is heard any more. It
repeats, because the engine's own recovery happens once, at the start.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from tailhound.durable.asking import INVESTIGATE
from tailhound.durable.blocking import Blocking
from tailhound.durable.cases import Cases
from tailhound.durable.desk import Desk
from tailhound.durable.engine import Engine
from tailhound.durable.hearing import Ear
from tailhound.durable.tasks import Fate
from tailhound.durable.turns import Turns
from tailhound.durable.unheard import close_unheard
from tailhound.durable.wishes import Stale, Wishes
from tailhound.model.wording import duration

SWEEP_SECONDS = 10.0
QUIET_SECONDS = 30.0
"""How old an investigation without a verdict is before it is looked up."""

LOST_SECONDS = 60.0
"""How long, beyond twice the deadline, until a run without a verdict counts as lost."""

LEAP_SECONDS = 30.0
"""A step of the clock beyond the usual between two sweeps: it was set, or the machine slept."""

LOOKED_UP_AT_ONCE = 200
LOOK_BACK = timedelta(days=7)


class Sweeper:
    """Finds investigations that nobody will end, and ends them."""

    def __init__(
        self,
        engine: Engine,
        desk: Desk,
        blocking: Blocking,
        ear: Ear | None = None,
        closed: Callable[[str], None] = lambda _id: None,
    ) -> None:
        """`ear` is intake's; `closed` hears which incident counts as over for want of news."""
        self._engine = engine
        self._cases = Cases(desk)
        self._wishes = Wishes(desk)
        self._clock = desk.boot.clock
        self._terms = desk.terms
        self._blocking = blocking
        self._desk = desk
        self._closed = closed
        self._settled: frozenset[str] = frozenset()
        self._begun: dict[str, datetime] = {}
        self._suspects: frozenset[str] = frozenset()
        self._now = desk.boot.clock()
        self._ear = ear or Ear(self._now)

    async def run(self, tell: Callable[[], None], every: float = SWEEP_SECONDS) -> None:
        """Sweep now, and then for ever; cancel it to stop. `tell` is called after each change."""
        turns = Turns("the sweep of unfinished investigations")
        while True:
            leap = (self._clock() - self._now).total_seconds()
            if not -LEAP_SECONDS <= leap <= every + LEAP_SECONDS:
                self._ear.since = self._clock()  # no time in which anything could happen
            touched = await turns.take(self.sweep())
            if touched is None:
                self._ear.since = self._clock()  # what could not be written is not lost
            elif touched:
                tell()
            await asyncio.sleep(every)

    async def sweep(self, quiet_seconds: float = QUIET_SECONDS) -> tuple[str, ...]:
        """One pass; the ids of the workflows about which something was done."""
        self._now = self._clock()
        before = self._now - timedelta(seconds=quiet_seconds)
        owned = await self._engine.owned()
        touched = await self._given_up() + await self._left_behind(owned)
        touched += await self._lost(owned) + await self._forgotten(before, bool(owned))
        return touched + await self._unheard()

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
        self._settled = frozenset(seen.id for seen in found)
        return tuple(touched)

    async def _left_behind(self, owned: Mapping[str, str]) -> tuple[str, ...]:
        """Take up what is said to run here, but did not in two passes: it may just have begun."""
        here = frozenset(id for id, owner in owned.items() if owner == self._engine.executor)
        idle = here - self._engine.running
        again = sorted(idle & self._suspects)
        self._suspects = idle - frozenset(again)
        for id in again:
            await self._engine.take_up(id)
        return tuple(again)

    async def _lost(self, owned: Mapping[str, str]) -> tuple[str, ...]:
        """Give up what has run for far too long although whoever runs it lives."""
        runs = [id for id in owned if id.startswith(f"{INVESTIGATE}:")]
        self._begun = {id: max(self._begun.get(id, self._now), self._ear.since) for id in runs}
        touched = []
        for name, began in self._begun.items():
            ran = self._now - began
            if ran <= self._bound():
                continue
            _, id, n = name.split(":")
            why = f"it ran for {duration(ran.total_seconds())} without a verdict: it was given up"
            if await self._blocking.run(self._cases.fail, id, int(n), why):
                touched.append(name)
            await self._engine.cancel(name)
        return tuple(touched)

    def _bound(self) -> timedelta:
        return timedelta(seconds=2 * self._terms().verdict_seconds + LOST_SECONDS)

    async def _forgotten(self, before: datetime, any_runs: bool) -> tuple[str, ...]:
        stale = await self._blocking.run(self._wishes.stale, before, LOOKED_UP_AT_ONCE)
        named = {f"{INVESTIGATE}:{case.id}:{case.n}": case for case in stale}
        found = await self._engine.look_up(named)
        touched = []
        for name, case in named.items():
            fate = found[name].fate if name in found else None
            if await self._mend(name, case, fate, any_runs):
                touched.append(name)
        return tuple(touched)

    async def _mend(self, name: str, case: Stale, fate: Fate | None, any_runs: bool) -> bool:
        """Do what is missing for one investigation; False when it only has to wait."""
        if fate is None:
            return await self._blocking.run(self._wishes.enqueue, case.id, case.n)
        if fate is Fate.WAITING and not any_runs:
            return await self._watch(name, case)
        if fate in (Fate.ENDED, Fate.GIVEN_UP):
            return await self._fail(case, "the investigation ended without a verdict")
        return False

    async def _watch(self, name: str, case: Stale) -> bool:
        """Give up a run that waits although nothing runs that it could wait for."""
        waited = self._now - max(case.asked_at, self._ear.since)
        if waited <= self._bound():
            return False
        why = f"it waited {duration(waited.total_seconds())} while nothing ran: it was given up"
        failed = await self._fail(case, why)
        await self._engine.cancel(name)
        return failed

    async def _unheard(self) -> tuple[str, ...]:
        """End the incidents that nobody ends."""
        ended = await self._blocking.run(close_unheard, self._desk, self._ear)
        for id in ended:
            self._closed(id)
        return ended

    async def _fail(self, case: Stale, why: str) -> bool:
        return await self._blocking.run(self._cases.fail, case.id, case.n, why)
