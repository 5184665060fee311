"""What a cause is called in one incident, and to what its mitigations are done."""
# ruff: noqa: E501 - a table reads better with one line a case

from typing import Any

import pytest

from tailhound.model import Offer
from tailhound.rules import Runbook
from tailhound.rules.judge import judge
from tailhound.rules.offers import Known, offers
from tailhound.rules.runbook import HEADLINE_AT_MOST, OF_AT_MOST, WAS_AT_MOST
from tailhound.rules.selftest import run_tests

from .kit import changed, findings, load

HEADLINE = """\
headline: >
  {% if cpu.managed_by == 'helm' %}Helm's limit{% else %}The limit{% endif %}
  {% if over %}stopped{% else %}stops{% endif %} {{ node }}{% if cpu.throttled_ratio > strong %} often{% endif %}
was: The CPU limit stopped the engine
says: >
"""
NAMED = ("says: >\n", HEADLINE)
OF = ("    title: Raise the CPU limit\n", '    title: Raise the CPU limit\n    of: "{{ namespace }}/{{ node }}"\n')  # fmt: skip
OFTEN: dict[str, dict[str, Any]] = {
    "cpu": {"throttled_ratio": 0.62, "lost": 1.4, "has_limit": True, "managed_by": ""}
}
THRESHOLDS = {"strong": 0.25, "hardly": 0.05, "lost": 0.05, "room": 0.1, "long": 2.0}


def titles(runbook: Runbook, node: str, **cpu: object) -> tuple[str, str]:
    facts = {"cpu": {**OFTEN["cpu"], **cpu}}
    return runbook.titles({"node": node}, facts, THRESHOLDS)


def offered(runbook: Runbook, **inputs: str) -> Offer:
    facts = {**OFTEN, "node_cpu": {"idle_ratio": 0.7}}
    known = Known(facts=facts, thresholds=THRESHOLDS, mode="one-click", inputs=inputs)
    return offers(runbook, judge(runbook, facts, {}), known)[0]


def test_a_cause_is_called_by_what_was_measured_now_and_once_it_is_over() -> None:
    it = load(changed(NAMED))
    assert titles(it, "gpu-1") == ("The limit stops gpu-1 often", "The limit stopped gpu-1 often")
    assert titles(it, "gpu-1", managed_by="helm")[0] == "Helm's limit stops gpu-1 often"
    assert titles(it, "gpu-1", throttled_ratio=0.2)[0] == "The limit stops gpu-1"
    assert titles(it, "gpu-1", throttled_ratio=None, managed_by=None)[0] == "The limit stops gpu-1"


def test_where_a_name_is_not_known_the_cause_stays_what_it_is() -> None:
    told = ("The CPU limit stops the engine", "The CPU limit stopped the engine")
    assert titles(load(changed(NAMED)), "") == told
    assert titles(load(changed(NAMED, ("  {% if over", "  {{ cpu.managed_by }} {% if over"))), "x",
                  managed_by=None) == told  # fmt: skip
    empty = load(changed((NAMED[0], NAMED[1].replace("{% if cpu", "{% if spec", 0)), (
        "{{ node }}{% if cpu.throttled_ratio > strong %} often{% endif %}", "{{ node }}")))  # fmt: skip
    assert titles(empty, "") == told


def test_a_long_name_is_cut_inside_so_that_the_headline_fits() -> None:
    told, was = titles(load(changed(NAMED)), "gpu-" + "x" * 200 + "-node-9")
    assert len(told) <= HEADLINE_AT_MOST
    assert len(was) <= WAS_AT_MOST
    assert told.startswith("The limit stops gpu-x")
    assert "…" in told
    assert told.endswith("node-9 often")


def test_what_can_not_be_so_short_is_not_said() -> None:
    text = HEADLINE.replace("The limit", "The limit " * 9)
    assert titles(load(changed((NAMED[0], text))), "x")[0] == "The CPU limit stops the engine"


@pytest.mark.parametrize("name", ["{{ 7*7 }}", "a\nb\x1b[31m\u202e", "`x`", "{% if x %}"])
def test_a_name_in_a_headline_is_never_a_template_nor_a_second_line(name: str) -> None:
    told = titles(load(changed(NAMED)), name)[0]
    assert told.startswith("The limit stops ")
    assert not {"\n", "\x1b", "\u202e", "`"} & set(told)
    assert "49" not in told


def test_a_suggestion_tells_what_it_is_done_to_where_that_is_known() -> None:
    it = load(changed(OF))
    assert offered(it, namespace="prod", node="gpu-1").of == "prod/gpu-1"
    assert offered(it, namespace="", node="gpu-1").of == ""
    long = offered(it, namespace="n" * 300, node="gpu-" + "x" * 300).of
    assert len(long) <= OF_AT_MOST
    assert long.count("…") == 2


def test_a_suggestion_for_a_cause_that_is_not_confirmed_names_nothing() -> None:
    it = load(changed(OF))
    known = Known(facts={}, thresholds=THRESHOLDS, inputs={"namespace": "prod", "node": "gpu-1"})
    assert offers(it, judge(it, {}, {}), known)[0].of == ""


def test_what_helps_the_first_token_is_told_only_where_latencies_are_known() -> None:
    facts = {**OFTEN, "node_cpu": {"idle_ratio": 0.7}}
    known = Known(facts=facts, thresholds=THRESHOLDS, serves=False)
    assert [one.ttft for one in offers(load(), judge(load(), facts, {}), known)] == ["", ""]
    assert offered(load()).ttft == "better"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (changed(NAMED, ("stops{% endif %} {{ node }}", "stops{% endif %} {{ nod }}")), "headline: no evidence, input or threshold named 'nod'; did you mean 'node'?"),
        (changed(NAMED, ("cpu.managed_by == 'helm'", "cpu.managed == 'helm'")), "headline: no field on cpu named 'managed'; did you mean 'managed_by'?"),
        (changed(NAMED, ("throttled_ratio > strong %}", "lost > strong %}")), "headline: `cpu.lost` is a number (seconds_per_second)"),
        (changed(NAMED, ("node: the node", "over: the node"), ("{{ node }}", "{{ over }}")), "`headline:` has 'over' for what is over; nothing else may be named so"),
        (changed(OF).replace("{{ namespace }}/{{ node }}", "{{ over }}"), "of: no evidence, input or threshold named 'over'"),
        (changed(OF).replace("/{{ node }}", "/{{ cpu.pod }}"), "of: no field on cpu named 'pod'"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_headline_or_a_name_is_found_when_it_loads(text: str, told: str) -> None:
    found = next(one for one in findings(text) if told in one.message)
    line = text.splitlines()[found.line - 1]
    assert any(word in line for word in ("headline", "over", "nod", "managed", "lost", "pod"))


def test_a_self_test_tells_which_title_it_expected() -> None:
    title = "    says: stopped in 62 % of the periods, waiting takes x3 as long\n"
    good = changed(NAMED, (title, f"{title}    title: limit stops node often\n"))
    past = changed(NAMED, (title, f"{title}    title: limit stopped node often\n"))
    bad = changed(NAMED, (title, f"{title}    title: limit stops it\n"))
    assert all(result.passed for text in (good, past) for result in run_tests(load(text)))
    (failed,) = (result for result in run_tests(load(bad)) if not result.passed)
    assert failed.problems == (
        "expected the title 'limit stops it', it is 'The limit stops node often' or "
        "'The limit stopped node often'",
    )
