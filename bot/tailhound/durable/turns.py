"""Loops that must go on: a turn that fails is told, and the next one comes."""

import asyncio
import logging
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
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
        """The result of a turn; None when it failed."""
        with self.one():
            return await turn
        return None

    @contextmanager
    def one(self) -> Iterator[None]:
        """A turn: what fails in it is told, an outage of the database once, and ends no more."""
        try:
            yield
        except StoreUnavailable as error:
            if not self._is_cut_off:
                _log.warning("%s waits for the database: %s", self._what, error)
            self._is_cut_off = True
        except Exception:  # noqa: BLE001 (one turn that fails must not end all later ones)
            _log.exception("%s failed", self._what)
        else:
            self._is_cut_off = False


async def woken(waker: asyncio.Event, seconds: float) -> None:
    """Wait until woken, at most so long."""
    try:
        async with asyncio.timeout(seconds):
            await waker.wait()
    except TimeoutError:
        return
