"""Every scenario of tests/scenarios: real components, the real command, the right diagnosis."""

import json
from pathlib import Path

import jsonschema
import pytest

from tests.lab import scenario
from tests.lab.apiserver import ApiServer
from tests.lab.conftest import Needs
from tests.lab.expectations import check_expectations, known_runbooks
from tests.lab.lab import Lab
from tests.lab.scenario import Scenario
from tests.unit.no_cause import wrongs
from tests.unit.test_width import too_wide
from tests.unit.web.walking import over, pages_of

pytestmark = [pytest.mark.lab, pytest.mark.timeout(120)]

SCENARIOS = Path(__file__).parents[1] / "scenarios"
NAMES = sorted(path.parent.name for path in SCENARIOS.glob("*/scenario.yaml"))
PWNED = Path("/pwned")
SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "api" / "diagnosis.schema.json").read_text("utf-8")
)


def _needed(given: Scenario) -> set[str]:
    needed = {"prometheus"} if given.series and "prometheus" not in given.unreachable else set()
    if given.full_chain:
        needed |= {"prometheus-alertmanager"}
    return needed | ({"sshd", "ssh-keygen", "unshare"} if given.hosts else set())


def test_the_worked_scenarios_and_our_own_are_there() -> None:
    assert len(NAMES) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_the_diagnosis_is_right(name: str, apiserver: ApiServer, needs: Needs) -> None:
    given = scenario.load(SCENARIOS / name)
    needs(*sorted(_needed(given)))
    with Lab(given, apiserver=apiserver) as lab:
        diagnosed = lab.diagnose()
    assert diagnosed.exit_code == 0, diagnosed.errors
    jsonschema.validate(diagnosed.result, SCHEMA)
    known = known_runbooks(SCENARIOS / name)
    assert check_expectations(diagnosed.result, given.expect, known) == ()
    assert not PWNED.exists()
    (incident,) = diagnosed.incidents
    assert too_wide(incident) == []
    assert over(pages_of(incident)) == {}
    assert incident.diagnosis is not None
    assert wrongs(incident, incident.diagnosis.decided_at or incident.since) == []


def test_every_shipped_runbook_has_a_scenario_that_confirms_it_and_one_that_refutes_it() -> None:
    loaded = [scenario.load(SCENARIOS / name).expect for name in NAMES]
    confirmed = {cause for expect in loaded for cause in expect.confirmed}
    refuted = {cause for expect in loaded for cause in expect.refuted}
    assert known_runbooks() - (confirmed & refuted) == set()
