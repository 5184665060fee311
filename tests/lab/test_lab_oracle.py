"""The history of the worked scenarios answers every recorded query with the recorded value."""

import time
from pathlib import Path

import pytest

from tests.lab import checks, scenario
from tests.lab.conftest import Needs
from tests.lab.prometheus import Prometheus

pytestmark = pytest.mark.lab

SCENARIOS = Path(__file__).parents[1] / "scenarios"
CHECKED = sorted(path.parent.name for path in SCENARIOS.glob("*/checks.txt"))


def test_there_are_recorded_answers_to_compare_with() -> None:
    assert len(CHECKED) >= 6


@pytest.mark.parametrize("name", CHECKED)
def test_the_recorded_queries_give_the_recorded_values(
    name: str, tmp_path: Path, needs: Needs
) -> None:
    needs("prometheus")
    given = scenario.load(SCENARIOS / name)
    now = float(int(time.time()))
    server = Prometheus(tmp_path / "prometheus").start()
    try:
        server.backfill(given, now)
        found = list(checks.read(SCENARIOS / name / "checks.txt"))
        wrong = [
            f"{check.query}: {miss}"
            for check in found
            for miss in checks.misses(
                check, server.query(check.query, now), checks.tolerance(check, given.series)
            )
        ]
    finally:
        server.stop()
    assert len(found) >= 3
    assert wrong == []
