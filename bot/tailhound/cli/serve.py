"""`tailhound serve`."""

import argparse
import asyncio
import gc

from tailhound.app.lines import log_to_console
from tailhound.app.serving import Server
from tailhound.cli import growing
from tailhound.settings import load

GENERATIONS = (20_000, 20, 20)
"""Collect garbage seldom: what is loaded at the start stays, and an incident's objects die young.
The defaults spend over a tenth of the time of an incident on it."""


def run(args: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C."""
    log_to_console()
    with growing():
        server = Server(load(args.config))
        gc.freeze()
    gc.set_threshold(*GENERATIONS)
    asyncio.run(server.run())
    return 0
