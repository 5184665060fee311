"""Make the demo's recording anew from the lab: `python -m tests.lab.record`.

Needed when the questions change that are asked of the recorded incident; a test says so.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from tests.lab import scenario
from tests.lab.lab import Lab

RECORDINGS = {
    "cpu-throttling.json": "01-grammar-compile-cfs-throttle",
    "kv-preemption.json.gz": "11-kv-thrash-partial-admission",
    "batching-delay.json.gz": "batching-clear-positive",
    "cold-start.json.gz": "cold-start-from-zero",
    "no-cause.json.gz": "comb-unexplained",
}
"""The demo's files, and the scenario that each is of."""


def main() -> int:
    """Make them all; 0 when each was answered."""
    return max(_recorded(Path("demo") / file, of) for file, of in RECORDINGS.items())


def _recorded(recording: Path, name: str) -> int:
    """Start the scenario, diagnose it while everything is written down; diagnose's exit code."""
    wanted = scenario.load(Path("tests/scenarios") / name)
    with Lab(wanted) as lab, tempfile.TemporaryDirectory() as made:
        config, alert = Path(made) / "tailhound.yaml", Path(made) / "alert.json"
        config.write_text(yaml.safe_dump(lab.settings), encoding="utf-8")
        alert.write_bytes(lab.body)
        argv = ["--alert", str(alert), "--config", str(config), "--record", str(recording)]
        done = subprocess.run([sys.executable, "-m", "tailhound", "diagnose", *argv], check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
