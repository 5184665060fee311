"""Make the demo's recording anew from the lab: `python -m tests.lab.record`.

Needed when the questions change that are asked of the recorded incident; a test says so. Where only
the rules have changed, `python -m tests.lab.record --judge` judges the recorded answers by them.
"""

import asyncio
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import yaml

from tailhound import app
from tailhound.cli.replay import case_of
from tailhound.durable.casefile import with_incidents
from tailhound.durable.offline import Terms, investigate
from tailhound.settings import load
from tailhound.transports.recording import save
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
    if "--judge" in sys.argv[1:]:
        for file in RECORDINGS:
            judge(Path("demo") / file)
        return 0
    return max(_recorded(Path("demo") / file, of) for file, of in RECORDINGS.items())


def judge(path: Path) -> None:
    """Judge a recording's answers by today's rules; when and how fast that was stays."""
    settings = load(None)
    case = case_of(str(path), settings)
    rules, as_of = app.compiled(settings), case.recording.as_of
    made = []
    for incident in case.incidents:
        office = app.Office(settings, rules, replay=case.recording, now=as_of)
        terms = Terms(as_of=as_of, seconds=settings.deadlines.verdict)
        blank = replace(incident, diagnosis=None)
        found = asyncio.run(investigate(office.investigator, blank, terms)).diagnosis
        assert found is not None
        assert incident.diagnosis is not None
        was = incident.diagnosis
        now = replace(found, decided_at=was.decided_at, took_seconds=was.took_seconds)
        made.append(replace(incident, diagnosis=now))
    save(with_incidents(case.recording, made), path)


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
