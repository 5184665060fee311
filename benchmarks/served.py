"""`tailhound serve` whose questions are answered in its own process, each after a while.

It stands for a replay: everything is real except the clients. `python -m benchmarks.served CONFIG
--delay 0.05` prints its address; when it ends it says how many questions were asked.
"""

import argparse
import asyncio
from pathlib import Path
from typing import Any

from benchmarks.backends import series_of
from tailhound.app.serving import Extras, Server
from tailhound.flow import Request, Turn
from tailhound.model import Missing, Reason
from tailhound.requests import Labelled, Query, Vector
from tailhound.settings import load


class Slow:
    """Answers queries like the stand-in of Prometheus, without a connection."""

    handles: tuple[type[Request[Any]], ...] = (Query,)

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self.asked = 0

    async def ask(self, request: Request[Any], turn: Turn) -> Vector | Missing:
        """A vector after the delay."""
        assert isinstance(request, Query)
        self.asked += 1
        await asyncio.sleep(self._delay)
        found = series_of(request.promql)
        if not found:
            return Missing(Reason.EMPTY, "no such series in Prometheus")
        return tuple(Labelled(tuple(sorted(labels.items())), value) for labels, value in found)

    def close(self) -> None:
        """Nothing is open."""


async def _serve(config: Path, delay: float) -> None:
    slow = Slow(delay)
    await Server(load(config), Extras(transports=(slow,))).run()
    print(f"asked {slow.asked} questions", flush=True)


def main() -> None:
    """Serve until told to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", type=Path)
    parser.add_argument("--delay", type=float, required=True)
    options = parser.parse_args()
    asyncio.run(_serve(options.config, options.delay))


if __name__ == "__main__":
    main()
