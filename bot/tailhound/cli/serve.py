"""`tailhound serve`."""

import argparse
import asyncio

from tailhound.app.serving import Server
from tailhound.settings import load


def run(args: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C."""
    server = Server(load(args.config))
    asyncio.run(server.run())
    return 0
