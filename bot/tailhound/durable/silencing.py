"""The calls to Alertmanager for silences that people asked for; `durable.silences` has the rows.

After a lost answer, or a kill, a silence is looked for by the id in its comment before it is sent
again: none is set twice.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from tailhound.actions.silence import Silence
from tailhound.durable.blocking import Blocking
from tailhound.durable.desk import Desk
from tailhound.durable.silence_rows import Row
from tailhound.durable.silences import TRIES_SECONDS, Silences
from tailhound.durable.turns import Turns, woken
from tailhound.model import Missing, Reason

CALL_SECONDS = 5.0
LOOK_SECONDS = 60.0
"""How often it is looked whether a silence still holds: anybody may end it in Alertmanager."""

GIVE_UP_SECONDS = 600.0

_REFUSED = (Reason.UNPARSABLE, Reason.FORBIDDEN)
"""Asking again would change nothing."""

_NOT_ALIVE = "this replica was taken for dead"


class Silencer(Protocol):
    """Alertmanager, as far as silences go. `deadline` is monotonic; Missing says why not."""

    async def set(self, silence: Silence, deadline: float) -> str | Missing:
        """Set one; its id there."""
        ...

    async def find(self, silence: str, deadline: float) -> str | Missing:
        """The id there of a silence of ours; "" without."""
        ...

    async def is_active(self, remote_id: str, deadline: float) -> bool | Missing:
        """Whether it still mutes."""
        ...

    async def end(self, remote_id: str, deadline: float) -> Missing | None:
        """End it."""
        ...


class Silencing:
    """The loop that sets and ends what was asked for, and notices what has ended."""

    def __init__(
        self, silences: Silences, silencer: Silencer, blocking: Blocking, desk: Desk
    ) -> None:
        self._silences, self._silencer = silences, silencer
        self._blocking, self._boot = blocking, desk.boot
        self._waker = asyncio.Event()
        self._look_at = 0.0

    def wake(self) -> None:
        """Somebody asked for something; called on the event loop."""
        self._waker.set()

    async def run(self, tell: Callable[[], None]) -> None:
        """Work until cancelled; `tell` is called when there is news to show."""
        turns = Turns("setting silences")
        self._look_at = 0.0
        await turns.take(self._blocking.run(self._silences.take_over))
        while True:
            self._waker.clear()
            if await turns.take(self._turn()):
                tell()
            else:
                await woken(self._waker, TRIES_SECONDS)

    async def _turn(self) -> bool:
        if await self._one():
            return True
        if time.monotonic() < self._look_at:
            return False
        self._look_at = time.monotonic() + LOOK_SECONDS
        return await self._look()

    async def _one(self) -> bool:
        """Work at one row; whether there was one."""
        row = await self._blocking.run(self._silences.claim)
        if row is None:
            return False
        await (self._ended(row) if row.state == "ending" else self._set(row))
        return True

    async def _set(self, row: Row) -> None:
        found: str | Missing = ""
        if row.was_begun:
            found = await self._silencer.find(row.silence.id, _soon())
        stands_not = found == ""
        if stands_not:
            if not self._boot.holds():  # somebody else may have set it meanwhile
                return await self._blocking.run(self._silences.later, row, _NOT_ALIVE)
            found = await self._silencer.set(row.silence, _soon())
        if not isinstance(found, Missing):
            await self._blocking.run(self._silences.settled, row, found)
        elif self._is_final(found, row.asked_at):
            unsure = found.reason is Reason.TIMEOUT or not stands_not
            await self._blocking.run(self._silences.refused, row, found.detail, unsure=unsure)
        else:
            await self._blocking.run(self._silences.later, row, found.detail)

    async def _ended(self, row: Row) -> None:
        """End it, once more every few seconds while nobody answers: at the latest until it has
        ended by itself.
        """
        missing = await self._silencer.end(row.remote_id, _soon())
        if missing is None or row.silence.ends <= self._boot.clock():
            await self._blocking.run(self._silences.ended, row)
        elif missing.reason in _REFUSED:
            await self._blocking.run(self._silences.stays, row, missing.detail)
        else:
            await self._blocking.run(self._silences.later, row, missing.detail)

    async def _look(self) -> bool:
        """Whether one of the silences that hold has ended meanwhile."""
        rows: Sequence[Row] = await self._blocking.run(self._silences.standing)
        ended = False
        for row in rows:
            active = await self._silencer.is_active(row.remote_id, _soon())
            if active is False or row.silence.ends <= self._boot.clock():
                await self._blocking.run(self._silences.ended, row)
                ended = True
        return ended

    def _is_final(self, missing: Missing, asked_at: datetime) -> bool:
        return (
            missing.reason in _REFUSED
            or (self._boot.clock() - asked_at).total_seconds() > GIVE_UP_SECONDS
        )


def _soon() -> float:
    return time.monotonic() + CALL_SECONDS
