"""`tailhound serve` whose questions are answered in its own process, each after a while.

It stands for a replay: everything is real except the clients. `python -m benchmarks.served CONFIG
--delay 0.05` prints its address; when it ends it says how many questions were asked.
"""

import argparse
import asyncio
from pathlib import Path

from benchmarks.slow import Slow
from tailhound.app.serving import Extras, Server
from tailhound.settings import load


async def _serve(config: Path, delay: float) -> None:
    slow = Slow(delay)
    await Server(load(config), Extras(transports=(slow,))).run()
    print(f"asked {len(slow.asked)} questions", flush=True)


def main() -> None:
    """Serve until told to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", type=Path)
    parser.add_argument("--delay", type=float, required=True)
    options = parser.parse_args()
    asyncio.run(_serve(options.config, options.delay))


if __name__ == "__main__":
    main()
