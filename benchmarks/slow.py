"""A transport that answers like the stand-in of Prometheus, in this process, after a while."""

import asyncio
from typing import Any

from benchmarks.backends import series_of
from tailhound.flow import Request, Turn
from tailhound.model import Missing, Reason
from tailhound.requests import Labelled, Query, Vector


class Slow:
    """Answers after `delay` seconds. `asked` holds the moments of the questions."""

    handles: tuple[type[Request[Any]], ...] = (Query,)

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self.asked: list[float] = []

    async def ask(self, request: Request[Any], turn: Turn) -> Vector | Missing:
        """A vector after the delay."""
        assert isinstance(request, Query)
        self.asked.append(asyncio.get_running_loop().time())
        await asyncio.sleep(self._delay)
        found = series_of(request.promql)
        if not found:
            return Missing(Reason.EMPTY, "no such series in Prometheus")
        return tuple(Labelled(tuple(sorted(labels.items())), value) for labels, value in found)

    def close(self) -> None:
        """Nothing is open."""
