"""What a person can look at where what decides was not measured: plain words, filled by names."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.model import Look
from tailhound.model.names import PLAIN_NAME
from tailhound.rules.selftest import run_tests

from .kit import RUNBOOK, findings, load

UNSEEN = """unseen:
  unless_known: [cpu.throttled_ratio, cpu.pressure_ratio]
  what: how often POD is stopped.
  at: "how fast nr_throttled grows on NODE"
  command: kubectl -n NAMESPACE exec POD -- cat cpu.stat

tests:
"""
TOLD = RUNBOOK.replace("tests:\n", UNSEEN, 1)
NAMES = {"NAMESPACE": "web", "POD": "web-1", "NODE": "n1"}


def unseen(names: Mapping[str, str] = NAMES, text: str = TOLD, **facts: Any) -> Look | None:
    told = load(text).unseen
    assert told is not None
    return told.render({"cpu": facts}, names)


def test_what_nobody_measured_is_told_with_the_command_that_shows_it() -> None:
    found = unseen()
    assert found is not None
    assert found.text == (
        "nobody measured how often web-1 is stopped: kubectl -n web exec web-1 -- cat cpu.stat, "
        "how fast nr_throttled grows on n1"
    )
    assert unseen(throttled_ratio=None) == found
    plain = unseen(
        text=TOLD.replace("  command: kubectl -n NAMESPACE exec POD -- cat cpu.stat\n", "")
    )
    assert plain is not None
    assert plain.text == (
        "nobody measured how often web-1 is stopped: how fast nr_throttled grows on n1"
    )


@pytest.mark.parametrize("known", [{"throttled_ratio": 0.0}, {"pressure_ratio": 0.9}])
def test_where_any_of_it_was_measured_nothing_is_to_be_seen_by_hand(known: dict[str, Any]) -> None:
    assert unseen(**known) is None


@pytest.mark.parametrize("name", ["", "a b", "web-1; reboot", "$(id)", "`id`"])
@pytest.mark.parametrize("hole", NAMES)
def test_where_a_name_is_unknown_or_more_than_a_name_nothing_is_told(hole: str, name: str) -> None:
    assert unseen(NAMES | {hole: name}) is None


@given(st.text(max_size=40))
def test_whatever_a_name_holds_the_command_holds_names_alone(name: str) -> None:
    found = unseen(dict.fromkeys(NAMES, name))
    assert (found is not None) is (PLAIN_NAME.fullmatch(name) is not None)
    if found is not None:
        assert found.command == f"kubectl -n {name} exec {name} -- cat cpu.stat"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("cpu.pressure_ratio]", "cpu.presure_ratio]", "no field on cpu named 'presure_ratio'"),
        ("cpu.pressure_ratio]", "cup.pressure_ratio]", "no evidence named 'cup'"),
        ("grows on NODE", "grows on {{ node }}", "is no template; it knows NAMESPACE, POD, NODE"),
        ("grows on NODE", "{% if x %}grows{% endif %}", "is no template"),
        ("grows on NODE", "{# nothing #}", "is no template"),
        ("exec POD", "exec POD -c CONTAINER", "knows NAMESPACE, POD, NODE, and no CONTAINER"),
        ("exec POD", "exec <pod>", "knows NAMESPACE, POD, NODE, and no <pod>"),
        ("exec POD", "exec $POD", "knows NAMESPACE, POD, NODE, and no $POD"),
        ("cat cpu.stat", "cat `id`", "`command:` of `unseen:` is one line, without a line break"),
        ("cat cpu.stat", "cat cpu.stat\n\n    rm -rf x", "`command:` of `unseen:` is one line"),
        ('"how fast nr_throttled grows on NODE"', '" .. "', "`at:` of `unseen:` says nothing"),
    ],
)
def test_a_mistake_in_it_is_found_when_the_runbook_loads(old: str, new: str, told: str) -> None:
    assert any(told in one.message for one in findings(TOLD.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("expected", "passes"), [("how often POD is stopped", True), ("web-2", False), ("", False)]
)
def test_a_self_test_can_expect_it(expected: str, passes: bool) -> None:
    case = f"""tests:
  - name: nobody counts
    given: {{cpu: timed out}}
    expect: unknown
    look: "{expected}"
"""
    results = run_tests(load(TOLD.replace("tests:\n", case, 1)))
    (found,) = (one for one in results if one.name == "nobody counts")
    assert found.passed is passes, found.problems
