"""Run one scenario: `python -m tests.lab.run DIR [--keep] [--stand-in]`.

Prints the bot's JSON, then what was expected and did not come; exit code 1 on a miss. `--keep`
leaves everything running, prints where it is reached, and ends with Ctrl-C. `--stand-in` takes the
stand-in of the API server, which is there at once, also where a real one is at hand.
"""

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import yaml

from tests.lab import scenario
from tests.lab.apiserver import StandIn
from tests.lab.expectations import check_expectations, known_runbooks, unchecked
from tests.lab.lab import Lab
from tests.lab.process import LabError


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.run", description=__doc__)
    parser.add_argument("folder", type=Path, help="a scenario's folder, or its scenario.yaml")
    parser.add_argument("--keep", action="store_true", help="leave it running until Ctrl-C")
    parser.add_argument("--stand-in", action="store_true", help="no real API server")
    options = parser.parse_args()
    try:
        given = scenario.load(options.folder)
        with _standin(options.stand_in) as apiserver, Lab(given, apiserver=apiserver) as lab:
            return _keep(lab) if options.keep else _run(lab)
    except (scenario.ScenarioError, LabError) as error:
        sys.stderr.write(f"{error}\n")
        return 2


@contextmanager
def _standin(wanted: bool) -> Iterator[StandIn | None]:
    if not wanted:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="tailhound-lab-") as folder:
        standin = StandIn(Path(folder))
        try:
            yield standin
        finally:
            standin.stop()


def _run(lab: Lab) -> int:
    diagnosed = lab.diagnose()
    known = known_runbooks(lab.scenario.folder)
    sys.stdout.write(json.dumps(diagnosed.result, indent=2, ensure_ascii=False) + "\n")
    expect = lab.scenario.expect
    misses = check_expectations(diagnosed.result, expect, known)
    if diagnosed.exit_code:
        misses = (f"tailhound diagnose ended with {diagnosed.exit_code}", *misses)
        sys.stderr.write(diagnosed.errors)
    for remark in lab.remarks:
        sys.stderr.write(f"served although the API server refuses it: {remark}\n")
    for miss in misses:
        sys.stderr.write(f"MISSED {miss}\n")
    if left := unchecked(expect, known):
        sys.stderr.write(f"not checked, for no such runbook exists yet: {', '.join(left)}\n")
    if not misses:
        sys.stderr.write("as expected\n")
    return 1 if misses else 0


def _keep(lab: Lab) -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
    config, alert = lab.folder / "tailhound.yaml", lab.folder / "alert.json"
    config.write_text(yaml.safe_dump(lab.settings), encoding="utf-8")
    alert.write_bytes(lab.body)
    sys.stdout.write(json.dumps(asdict(lab.endpoints), indent=2) + "\n")
    sys.stdout.write(f"tailhound diagnose --alert {alert} --config {config}\nCtrl-C ends it.\n")
    sys.stdout.flush()
    try:
        lab.go_on()
    except KeyboardInterrupt:
        sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
