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

SCENARIO = Path("tests/scenarios/01-grammar-compile-cfs-throttle")
RECORDING = Path("demo/cpu-throttling.json")


def main() -> int:
    """Start the scenario, diagnose it while everything is written down; 0 when it answered."""
    with Lab(scenario.load(SCENARIO)) as lab, tempfile.TemporaryDirectory() as made:
        config, alert = Path(made) / "tailhound.yaml", Path(made) / "alert.json"
        config.write_text(yaml.safe_dump(lab.settings), encoding="utf-8")
        alert.write_bytes(lab.body)
        argv = ["--alert", str(alert), "--config", str(config), "--record", str(RECORDING)]
        done = subprocess.run([sys.executable, "-m", "tailhound", "diagnose", *argv], check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
