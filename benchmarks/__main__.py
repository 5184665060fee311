"""`python -m benchmarks`: measure, and print a table."""

import argparse
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence

from rich.console import Console

from benchmarks import (
    clicks,
    drain,
    evidence,
    first_post,
    fleet,
    footprint,
    intake,
    overload,
    postgres,
    rules,
    storm,
)
from benchmarks.processes import BenchmarkFailed
from benchmarks.rows import Row, as_json, machine, show
from benchmarks.sizes import FULL, QUICK, Sizes

BENCHMARKS: Mapping[str, Callable[[Sizes], Iterator[Row]]] = {
    "intake": intake.run,
    "postgres": postgres.run,
    "drain": drain.run,
    "first-post": first_post.run,
    "click": clicks.run,
    "evidence": evidence.run,
    "hosts": fleet.run,
    "overload": overload.run,
    "rules": rules.run,
    "memory": footprint.memory,
    "start": footprint.start,
    "storm": storm.run,
}


def main(argv: Sequence[str] | None = None) -> int:
    """0 when everything could be measured, 1 when something failed."""
    options = _parser().parse_args(argv)
    names = options.names or list(BENCHMARKS)
    progress = Console(stderr=True)
    at = machine()
    rows: list[Row] = []
    failures: list[str] = []
    for name in names:
        with progress.status(f"measuring {name}"):
            try:
                rows += BENCHMARKS[name](QUICK if options.quick else FULL)
            except BenchmarkFailed as error:
                failures.append(f"{name}: {error}")
            except Exception:  # noqa: BLE001 - the rows of the others are still shown, and exit 1
                failures.append(f"{name}: {traceback.format_exc()}")
    if options.json:
        sys.stdout.write(as_json(rows, at))
    else:
        show(rows, at, Console(width=options.width))
    for failure in failures:
        sys.stderr.write(f"{failure}\n")
    return 1 if failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measures speed and size, each figure beside a bare probe with the same I/O.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="less of everything, and no storm")
    parser.add_argument("--json", action="store_true", help="rows as JSON")
    parser.add_argument("--width", type=int, help="columns of the table")
    return parser


if __name__ == "__main__":
    sys.exit(main())
