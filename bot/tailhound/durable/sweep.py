"""The sweep: every accepted alert ends in a visible outcome, also when the engine gives a run up.

It looks at what the engine ended without a result, and at investigations in which nothing has
happened for a while. It repeats, because the engine's own recovery happens once, at the start.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from tailhound.durable.asking import INVESTIGATE
from tailhound.durable.blocking import Blocking
from tailhound.durable.cases import Cases
from tailhound.durable.desk import Desk
from tailhound.durable.engine import Engine, Fate
from tailhound.durable.wishes import Stale, Wishes
from tailhound.errors import StoreUnavailable

SWEEP_SECONDS = 10.0
QUIET_SECONDS = 30.0
"""How long nothing may have happened before a run is looked up."""

LOST_SECONDS = 60.0
"""With several replicas: how long, beyond twice the deadline, until a silent run counts as lost."""

LOOKED_UP_AT_ONCE = 200
LOOK_BACK = timedelta(days=7)

_log = logging.getLogger(__name__)


class Sweeper:
    """Finds investigations that nobody will end, and ends them.

    `is_alone`: no other process runs workflows of this database.
    """

    def __init__(
        self, engine: Engine, desk: Desk, blocking: Blocking, *, is_alone: bool = True
    ) -> None:
        self._engine = engine
        self._cases = Cases(desk)
        self._wishes = Wishes(desk)
        self._clock = desk.boot.clock
        self._terms = desk.terms
        self._is_alone = is_alone
        self._blocking = blocking
        self._settled: set[str] = set()
        self._suspects: set[str] = set()

    async def run(self, tell: Callable[[], None], every: float = SWEEP_SECONDS) -> None:
        """Sweep now, and then for ever; cancel it to stop. `tell` is called after each change."""
        while True:
            try:
                if await self.sweep():
                    tell()
            except StoreUnavailable as error:
                _log.warning("the sweep of unfinished investigations was skipped: %s", error)
            except Exception:  # noqa: BLE001 (one pass that fails must not end all later ones)
                _log.exception("the sweep of unfinished investigations failed")
            await asyncio.sleep(every)

    async def sweep(self, quiet_seconds: float = QUIET_SECONDS) -> tuple[str, ...]:
        """One pass; the ids of the workflows about which something was done."""
        before = self._clock() - timedelta(seconds=quiet_seconds)
        return await self._given_up() + await self._forgotten(before)

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

    async def _forgotten(self, before: datetime) -> tuple[str, ...]:
        stale = await self._blocking.run(self._wishes.stale, before, LOOKED_UP_AT_ONCE)
        named = {f"{INVESTIGATE}:{case.id}:{case.n}": case for case in stale}
        found = await self._engine.look_up(named)
        self._suspects &= set(named)
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
            return await self._check(name, case)
        if fate in (Fate.ENDED, Fate.GIVEN_UP):
            return await self._fail(case, "the investigation ended without a verdict")
        return False

    async def _check(self, name: str, case: Stale) -> bool:
        """See to an investigation that runs by its row; it may have begun only just now."""
        if not self._is_alone:
            lost = timedelta(seconds=2 * self._terms().verdict_seconds + LOST_SECONDS)
            if self._clock() - case.changed_at <= lost:
                return False
            return await self._fail(case, "the process that investigated it is gone")
        if name in self._engine.running:
            self._suspects.discard(name)
            return False
        if name not in self._suspects:
            self._suspects.add(name)
            return False
        self._suspects.discard(name)
        await self._engine.take_up(name)
        return True

    async def _fail(self, case: Stale, why: str) -> bool:
        return await self._blocking.run(self._cases.fail, case.id, case.n, why)
