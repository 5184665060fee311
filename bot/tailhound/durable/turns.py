"""Loops that must go on: a turn that fails is told, and the next one comes."""

import asyncio
import logging
from collections.abc import Awaitable
from typing import TypeVar

from tailhound.errors import StoreUnavailable

R = TypeVar("R")

_log = logging.getLogger(__name__)


class Turns:
    """The turns of one loop; `what` names it in the log."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._is_cut_off = False

    async def take(self, turn: Awaitable[R]) -> R | None:
        """The result of a turn; None when it failed. An outage of the database is told once."""
        try:
            result = await turn
        except StoreUnavailable as error:
            if not self._is_cut_off:
                _log.warning("%s waits for the database: %s", self._what, error)
            self._is_cut_off = True
            return None
        except Exception:  # noqa: BLE001 (one turn that fails must not end all later ones)
            _log.exception("%s failed", self._what)
            return None
        self._is_cut_off = False
        return result


async def woken(waker: asyncio.Event, seconds: float) -> None:
    """Wait until woken, at most so long."""
    try:
        async with asyncio.timeout(seconds):
            await waker.wait()
    except TimeoutError:
        return
