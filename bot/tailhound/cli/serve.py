"""`tailhound serve`."""

import argparse
import asyncio
import gc
import os
import threading

from tailhound.app.lines import WARNING, log_to_console, saying
from tailhound.app.serving import Server
from tailhound.cli import growing
from tailhound.settings import load

GENERATIONS = (20_000, 20, 20)
"""Collect garbage seldom: what is loaded at the start stays, and an incident's objects die young.
The defaults spend over a tenth of the time of an incident on it."""

LEAVE_SECONDS = 4.5
"""After this the process ends all the same: a database that hangs would keep it for ever."""


class _Process(Server):
    """A server that has its process for itself."""

    def stop(self) -> None:
        leaving = threading.Timer(LEAVE_SECONDS, _leave)
        leaving.daemon = True
        leaving.start()
        super().stop()


def _leave() -> None:
    """End the process although threads of it hang: what they were at goes on in the next life."""
    saying(WARNING)("something still hangs; it is left, and taken up at the next start")
    os._exit(0)


def run(args: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C."""
    log_to_console()
    with growing():
        server = _Process(load(args.config))
        gc.freeze()
    gc.set_threshold(*GENERATIONS)
    asyncio.run(server.run())
    return 0
