"""One mistake is one finding, at the very place, with what to write instead."""

import re
from pathlib import Path

import pytest

from tailhound.requests.argv import SHIPPED
from tailhound.rules import compile_files
from tailhound.rules.evidence.promql_places import mistake_of

PAGE = Path(__file__).parents[3] / "docs" / "authors" / "index.md"
(TEXT,) = re.findall(r"^```yaml\n(runbook:.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
KUBERNETES = """\
  probe:
    kubernetes:
      get: pods
      namespace: $namespace
      name: llm-0
      facts:
        timeout_seconds: {jmespath: spec.x, unit: seconds}
        node: {jmespath: spec.y, kind: text}
  nic:
    ssh: {on: gpu-1, run: [uname, -r], parse: number, fact: errors_count, unit: count}
"""
RUNBOOK = TEXT.replace("onset: queue", KUBERNETES + "onset: queue").replace(
    "refute:\n",
    "optional:\n"
    "  - The probe is patient: probe.timeout_seconds > 1 and probe.node != 'a'\n"
    "  - No errors: nic.errors_count > queued\n"
    "refute:\n",
)


def told(*pairs: tuple[str, str]) -> list[str]:
    """What is wrong with the documented runbook, with some of it changed."""
    text = RUNBOOK
    for old, new in pairs:
        assert text.count(old) >= 1, old
        text = text.replace(old, new, 1)
    _, findings = compile_files({"r.yaml": text}, {}, SHIPPED)
    return [str(finding) for finding in findings]


def place(text: str, needle: str) -> str:
    """Line and column of a piece of text, the way a finding begins."""
    at = text.index(needle)
    line = text.count("\n", 0, at) + 1
    return f"r.yaml:{line}:{at - text.rfind(chr(10), 0, at)}: "


def test_the_runbook_of_these_tests_is_right() -> None:
    assert told() == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("unit: count}\n    compare_to", "unit: counts}\n    compare_to", "no unit named 'counts'"),
        ("unit: seconds\n      waiting", "unit: secs\n      waiting", "no unit named 'secs'"),
        ("unit: seconds\n      waiting", "each: 7\n        unit: seconds\n      waiting", "each"),
        ("spec.x, unit: seconds}", "spec.x, unit: secnds}", "no unit named 'secnds'"),
        ("spec.y, kind: text}", "spec.y, kind: txt}", "must be one of number, text, yes/no"),
        ("fact: errors_count, unit: count", "fact: errors_count, unit: cuont", "named 'cuont'"),
        ("unit: times, source", "unit: time, source", "no unit named 'time'"),
    ],
)
def test_one_wrong_word_of_a_fact_is_one_finding(old: str, new: str, says: str) -> None:
    found = told((old, new))
    assert len(found) == 1, found
    assert says in found[0]


def test_other_mistakes_are_still_told_beside_a_fact_of_unknown_unit() -> None:
    found = told(
        ("unit: count}\n    compare_to", "unit: counts}\n    compare_to"),
        ("queue.waiting > queued", "queue.watiing > queued"),
    )
    assert len(found) == 2
    assert "did you mean 'waiting'?" in found[1]


@pytest.mark.parametrize(
    ("old", "new", "needle"),
    [
        ("{{ queue.waiting | count }}", "{{ queue.wating | count }}", "queue.wating"),
        ("{{ queue.waiting | count }}", "{{ qeue.waiting | count }}", "qeue"),
        ("{{ queue.waiting | count }}", "{{ queue.waiting | cuont }}", "cuont"),
        ("{{ queue.waiting | count }}", "{{ queue }}", "queue }}"),
    ],
)
def test_a_mistake_in_a_folded_paragraph_is_told_on_its_line(
    old: str, new: str, needle: str
) -> None:
    (found,) = told((old, new))
    text = RUNBOOK.replace(old, new, 1)
    assert found.startswith(place(text, needle))
    assert "says: " in found


def test_the_hint_for_a_bare_name_repeats_the_label_that_was_written() -> None:
    (found,) = told(('namespace="$namespace"', "namespace=$namespace"))
    assert '`namespace="$namespace"`' in found
    (found,) = told(('pod=~"$pods"', "pod=~$pods"))
    assert '`pod=~"$pods"`' in found


def test_a_claim_with_a_second_colon_is_told_to_be_quoted() -> None:
    (found,) = told(("handful wait right now:", "handful wait: right now:"))
    assert found.endswith("a text with a second `: ` in it must stand in quotes")


@pytest.mark.parametrize(
    ("query", "said", "at", "length"),
    [
        ('sum(x{{a="b"})', "unexpected left brace '{' inside braces", 6, 1),
        ('sum(rate(x{a=")"}[5m])', "unclosed left parenthesis", 3, 1),
        ('sum(x{a="("})) / 3', "unexpected right parenthesis ')'", 13, 1),
        ("foo(x) + bar", "unknown function with name 'foo'", 0, 3),
        ("rate(x) / 2", "expected type matrix in call to function 'rate', got vector", 0, 4),
        ("x{a=b}", "unexpected identifier 'b' in label matching, expected string", 4, 1),
    ],
)
def test_the_part_of_a_query_that_is_wrong_is_pointed_at(
    query: str, said: str, at: int, length: int
) -> None:
    found = mistake_of(query, said)
    assert found is not None
    assert (found.offset, found.length) == (at, length)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("a +", "invalid promql query"),
        ("rate(x) / rate(y)", "expected type matrix in call to function 'rate', got vector"),
        ("sum(x)", "unclosed left parenthesis"),
        ('"rate"', "unknown function with name 'rate'"),
        ("", "unclosed left parenthesis"),
    ],
)
def test_where_it_cant_be_told_the_whole_query_is_pointed_at(query: str, said: str) -> None:
    assert mistake_of(query, said) is None


def test_a_query_in_a_file_is_underlined_where_it_is_wrong() -> None:
    text = RUNBOOK.replace("sum(vllm:num_requests_waiting{", "sum(vllm:num_requests_waiting{{", 1)
    (found,) = told(("sum(vllm:num_requests_waiting{", "sum(vllm:num_requests_waiting{{"))
    assert found.startswith(place(text, '{namespace="$namespace",pod=~"$pods"})\', unit: count'))
