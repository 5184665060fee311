"""What a runbook says stands out: only where its first claim holds, and never half of it."""

from typing import Any

import pytest

from tailhound.model import Look
from tailhound.rules.judge import judge
from tailhound.rules.looks import stands_out
from tailhound.rules.selftest import run_tests

from .kit import RUNBOOK, findings, load

LOOK = """look:
  stands_out: >-
    {{ cpu.managed_by }} is stopped in {{ cpu.throttled_ratio | percent }};
    loses {{ cpu.lost | seconds }}
  at: what wants the CPU
  command: kubectl top pod {{ cpu.managed_by }}

tests:
"""
TOLD = RUNBOOK.replace("tests:\n", LOOK, 1)
HOT = {"throttled_ratio": 0.62, "lost": 0.0, "has_limit": True, "managed_by": "web-1"}


def look(text: str = TOLD, **changes: Any) -> Look | None:
    runbook = load(text)
    facts: Any = {"cpu": {**HOT, **changes}, "queue": {}}
    judged = judge(runbook, facts)
    if runbook.look is None or not stands_out(judged.verdict, judged.checks):
        return None
    return runbook.look.render({}, facts, runbook.values)


def test_it_is_told_while_the_first_claim_holds_and_the_cause_is_not_confirmed() -> None:
    found = look()
    assert found is not None
    assert found.text.replace("\xa0", " ") == (
        "web-1 is stopped in 62 %; loses 0 s: kubectl top pod web-1, what wants the CPU"
    )
    assert look(lost=1.4) is None, "confirmed: it has its paragraph"
    assert look(throttled_ratio=0.2) is None
    assert look(throttled_ratio=None) is None
    assert look(RUNBOOK) is None


@pytest.mark.parametrize("name", ["web; reboot", "$(id)", "a b", "", None])
def test_a_command_holds_nothing_but_names(name: str | None) -> None:
    text = TOLD.replace("    {{ cpu.managed_by }} is", "    It is")
    found = look(text, managed_by=name)
    assert found is not None
    assert found.command == ""
    assert found.text.endswith(": what wants the CPU")


def test_what_nobody_measured_takes_its_clause_with_it_and_alone_tells_nothing() -> None:
    found = look(lost=None)
    assert found is not None
    assert found.measured.replace("\xa0", " ") == "web-1 is stopped in 62 %"
    text = TOLD.replace(";\n    loses {{ cpu.lost | seconds }}", "").replace(
        "cpu.throttled_ratio | percent", "cpu.pressure_ratio | percent"
    )
    assert look(text) is None


def test_a_mistake_in_it_is_found_when_the_runbook_loads() -> None:
    wrong = TOLD.replace("cpu.lost | seconds", "cpu.lots | seconds")
    assert any("no field on cpu named 'lots'" in one.message for one in findings(wrong))


@pytest.mark.parametrize(
    ("expected", "passes"), [("web-1 is stopped in 62 %", True), ("web-2", False), ("", False)]
)
def test_a_self_test_can_expect_it(expected: str, passes: bool) -> None:
    case = f"""tests:
  - name: nothing is lost
    given: {{cpu: {{throttled_ratio: 0.62, lost: 0.0, managed_by: web-1}}}}
    expect: unknown
    look: "{expected}"
"""
    results = run_tests(load(TOLD.replace("tests:\n", case, 1)))
    (found,) = (one for one in results if one.name == "nothing is lost")
    assert found.passed is passes, found.problems
