"""All 66 recorded outputs give exactly what their index says."""

import json
from typing import Any

import pytest

from tailhound.cli import main
from tailhound.model import Missing
from tests.unit.parse.cases import HOST_CASES, Case, cases
from tests.unit.parse.said import OfCase, Says
from tests.unit.parse.said_machine import MACHINE
from tests.unit.parse.said_network import NETWORK
from tests.unit.parse.said_storage import STORAGE

SAID: dict[str, Says] = {**STORAGE, **MACHINE, **NETWORK}


def test_the_index_lists_66_outputs_and_each_of_their_items_has_its_check() -> None:
    listed = {case.file: len(case.must_extract) for case in cases()}
    assert len(listed) == 66
    assert listed == {file: len(says) for file, says in SAID.items()}
    assert sum(listed.values()) == 382
    assert {path.name for path in HOST_CASES.glob("*.txt")} == set(listed)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.file)
def test_what_the_index_says_can_be_said_from_the_facts(case: Case) -> None:
    facts = case.parsed()
    said = [say(case) if isinstance(say, OfCase) else say(facts) for say in SAID[case.file]]
    assert said == list(case.must_extract)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.file)
def test_the_command_prints_the_facts_as_json(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(
        ["parse", case.tool.name, str(HOST_CASES / case.file), "--exit-code", str(case.exit_code)]
    )
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    facts = case.parsed()
    assert printed["tool"] == case.tool.name
    if isinstance(facts, Missing):
        assert (code, printed["status"], printed["facts"]) == (1, facts.reason.value, None)
        assert printed["reason"] == facts.detail
    else:
        status = "truncated" if facts.truncated else "collected"
        assert (code, printed["status"]) == (0, status)
        assert printed["facts"]
