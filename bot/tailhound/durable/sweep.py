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
from tailhound.durable.wishes import Wishes
from tailhound.errors import StoreUnavailable

SWEEP_SECONDS = 10.0
QUIET_SECONDS = 30.0
"""How long nothing may have happened before a run is looked up."""

LOOKED_UP_AT_ONCE = 200
LOOK_BACK = timedelta(days=7)

_log = logging.getLogger(__name__)


class Sweeper:
    """Finds investigations that nobody will end, and ends them."""

    def __init__(self, engine: Engine, desk: Desk, blocking: Blocking) -> None:
        self._engine = engine
        self._cases = Cases(desk)
        self._wishes = Wishes(desk)
        self._clock = desk.boot.clock
        self._is_alone = desk.database.is_sqlite
        self._blocking = blocking
        self._settled: set[str] = set()

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
        named = {f"{INVESTIGATE}:{id}:{n}": (id, n) for id, n in stale}
        found = await self._engine.look_up(named)
        touched = []
        for name, (id, n) in named.items():
            fate = found[name].fate if name in found else None
            if await self._mend(id, n, fate):
                touched.append(name)
        return tuple(touched)

    async def _mend(self, id: str, n: int, fate: Fate | None) -> bool:
        """Do what is missing for one investigation; False when it only has to wait."""
        name = f"{INVESTIGATE}:{id}:{n}"
        if fate is None:
            return await self._blocking.run(self._wishes.enqueue, id, n)
        if fate is Fate.RUNNING and self._is_alone and name not in self._engine.running:
            await self._engine.take_up(name)
            return True
        if fate in (Fate.ENDED, Fate.GIVEN_UP):
            why = "the investigation ended without a verdict"
            return await self._blocking.run(self._cases.fail, id, n, why)
        return False
