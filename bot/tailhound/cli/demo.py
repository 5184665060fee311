"""`tailhound demo`."""

import argparse
import asyncio
import sys

from tailhound.app.demo import Wishes, demo


def run(args: argparse.Namespace) -> int:
    """Run the demo until Ctrl-C, or until the diagnosis stands with --once."""

    def say(text: str) -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    return asyncio.run(demo(Wishes(port=args.port, once=args.once, say=say)))
