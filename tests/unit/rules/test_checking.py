"""`check` and `test`: self-tests, linting, mutation, and how their results are written."""
# ruff: noqa: E501 - a table reads better with one line a case

import json
from pathlib import Path

import pytest

from tailhound.errors import RunbookErrors
from tailhound.requests.argv import SHIPPED
from tailhound.rules import checking
from tailhound.rules.checking import Checked
from tailhound.rules.lint import lint
from tailhound.rules.mutate import mutants, survivors
from tailhound.rules.schema import json_schema
from tailhound.rules.selftest import run_tests

from .kit import COLLECTORS, RUNBOOK, changed, load

SCHEMA = Path(__file__).parents[3] / "docs" / "authors" / "runbook.schema.json"


def check(text: str | bytes, *, mutate: bool = False) -> Checked:
    return checking.check_files({"r.yaml": text}, COLLECTORS, SHIPPED, mutate=mutate)


def test_a_good_runbook_has_no_findings_and_kills_all_mutants() -> None:
    checked = check(RUNBOOK, mutate=True)
    assert checking.findings_text(checked.findings, {"r.yaml": RUNBOOK}) == ""
    assert (checked.files, checked.tests, checked.unsettled) == (1, 14, False)


# --- self-tests


def test_the_tests_of_a_runbook_pass_with_the_baseline_first() -> None:
    results = run_tests(load())
    assert results[0].name == "a healthy system (the baseline)"
    assert all(result.passed for result in results)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("    expect: refuted", "    expect: confirmed", "expected confirmed, got refuted"),
        ("    offers: [match-threads]", "    offers: [raise-limit]", "expected to offer raise-limit, offers match-threads"),
        ("missing: [cpu.has_limit, cpu.throttled_ratio,", "missing: [cpu.has_limit,", "expected cpu.has_limit, cpu.lost to be missing, missing is cpu.has_limit, cpu.throttled_ratio, cpu.lost"),
        ("says: stopped in 62", "says: stopped in 63", "expected to say 'stopped in 63 %"),
        ("    confidence: high", "    confidence: low", "expected low confidence, got high"),
        ("cpu: {throttled_ratio: 0.01, lost: 0.0,", "cpu: {throttled_ratio: 0.5, lost: 0.5,", "expected refuted or not-applicable, got confirmed"),
    ],
)  # fmt: skip
def test_a_test_that_fails_says_what_came_out(old: str, new: str, problem: str) -> None:
    results = run_tests(load(changed((old, new))))
    problems = [text for result in results for text in result.problems]
    assert any(problem in text for text in problems), problems


def test_a_forgotten_fact_is_pointed_out() -> None:
    results = run_tests(load(changed(("throttled_ratio: 0.01, lost: 0.0,", "lost: 0.0,"))))
    assert results[0].nowhere == ("cpu.throttled_ratio",)
    assert not results[0].passed


def test_evidence_that_would_not_be_asked_is_not_there() -> None:
    text = changed(("Loses real time: cpu.lost > lost", "Busy: node_cpu.idle_ratio < room"))
    named = {result.name: result for result in run_tests(load(text))}
    assert "node_cpu.idle_ratio" in named["Prometheus does not answer"].judged.missing
    assert "node_cpu.idle_ratio" not in named["just under a quarter"].judged.missing


# --- lint


LINT = [
    ("owner: sre-platform\n", "", "owner", "warning"),
    ("docs: https://runbooks.example.com/cpu-throttling\n", "", "docs", "warning"),
    ("  alerts: [CPUThrottlingHigh]\n", "", "trigger", "warning"),
    ("onset: cpu.throttled_ratio\n", "", "onset", "warning"),
    ("cpu.throttled_ratio > strong", "cpu.throttled_ratio > 0.25", "bare-number", "error"),
    ("unit: seconds\n", "unit: seconds\n        promql: unchecked\n", "unchecked", "warning"),
    ("cpu.throttled_ratio > strong", "cpu.throttled_ratio > hardly", "unused", "warning"),
    ("otherwise:\n  A CPU limit is set: it has no CPU limit\n", "", "otherwise", "warning"),
    ("    cost: none\n", "", "trade-offs", "warning"),
    ("    risk: medium\n", "    risk: high\n", "approval", "error"),
    ("    risk_of: its neighbours get less CPU\n", "", "trade-offs", "warning"),
    ("    limit: {at_most: 3, per: namespace, window: 1h}\n", "", "limit", "warning"),
    ("  - Loses real time:", "  - Hardly ever stopped:", "claim", "error"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "rule", "severity"), LINT, ids=[one[2] for one in LINT])
def test_what_a_reviewer_would_say(old: str, new: str, rule: str, severity: str) -> None:
    found = {finding.rule: finding.severity for finding in lint(load(changed((old, new))))}
    assert found[rule] == severity


@pytest.mark.parametrize(
    ("compared", "found"),
    [
        ("cpu.throttled_ratio > strong", []),
        ("cpu.managed_by == 'strong'", ["the threshold 'strong' is used nowhere"]),
    ],
)
def test_a_threshold_that_a_text_alone_compares_with_is_used(
    compared: str, found: list[str]
) -> None:
    text = changed(("cpu.throttled_ratio > strong", "cpu.throttled_ratio > hardly"))
    headline = f"headline: >\n  {{% if {compared} %}}stopped{{% endif %}}\n\nstatus: active"
    findings = lint(load(text.replace("status: active", headline, 1)))
    assert [one.message for one in findings if one.rule == "unused"] == found


def test_a_threshold_wants_tests_on_both_sides() -> None:
    text = RUNBOOK.replace("lost: 0.04", "lost: 0.06").replace("lost: 0.0,", "lost: 0.07,")
    (found,) = [finding for finding in lint(load(text)) if finding.rule == "both-sides"]
    assert found.message == "no test looks at a value under 'lost' (0.05)"


def test_a_runbook_without_tests_or_a_way_to_be_refuted_is_told_so() -> None:
    bare = RUNBOOK.partition("status: active")[0]
    for old in (
        "refute:\n  - Hardly ever stopped: cpu.throttled_ratio < hardly\n",
        "applies:\n  - A CPU limit is set: cpu.has_limit\n",
        "otherwise:\n  A CPU limit is set: it has no CPU limit\n",
    ):
        assert old in bare
        bare = bare.replace(old, "")
    rules = {finding.rule for finding in lint(load(bare))}
    assert {"tests", "baseline", "refute"} <= rules


# --- mutation


def test_mutants_halve_double_reverse_and_remove() -> None:
    runbook = load()
    messages = [mutant.message for mutant in mutants(runbook)]
    thresholds = [text for text in messages if "threshold" in text]
    assert len(thresholds) == 2 * len(runbook.thresholds)
    assert sum("in place of" in text for text in messages) == 5
    assert sum("line is gone" in text for text in messages) == 7
    assert not survivors(runbook)


def test_what_no_test_notices_survives_with_its_place() -> None:
    text = RUNBOOK.replace("{throttled_ratio: 0.24,", "{throttled_ratio: 0.10,")
    text = text.replace("{throttled_ratio: 0.26,", "{throttled_ratio: 0.60,")
    found = survivors(load(text))
    assert [finding.message for finding in found] == [
        "no test on the far side of this threshold: half of 'strong' changes nothing",
        "no test on the far side of this threshold: twice of 'strong' changes nothing",
    ]
    assert (
        found[0].line
        == text.splitlines().index(
            "  strong: {value: 0.25, unit: ratio, source: kubernetes-mixin CPUThrottlingHigh}"
        )
        + 1
    )


def test_mutants_are_only_made_when_the_tests_pass() -> None:
    checked = check(changed(("    expect: refuted", "    expect: confirmed")), mutate=True)
    assert {finding.rule for finding in checked.findings} == {"test", "tests"}


# --- text


BROKEN = changed(("cpu.throttled_ratio > strong", "cpu.throttle_ratio > strong"))


def test_a_finding_is_one_line_with_the_mistake_underlined() -> None:
    found = check(BROKEN).findings
    assert checking.findings_text(found, {"r.yaml": BROKEN}) == (
        "r.yaml:41:52: no field on cpu named 'throttle_ratio'; did you mean 'throttled_ratio'?\n"
        "   41 |   - Stopped in more than a quarter of its periods: cpu.throttle_ratio > strong\n"
        "      |                                                    ^^^^^^^^^^^^^^^^^^"
    )


def test_a_warning_says_that_it_is_one() -> None:
    text = changed(("owner: sre-platform\n", ""))
    told = checking.findings_text(check(text).findings, {"r.yaml": text})
    assert told.startswith(
        "r.yaml:1:1: warning: no `owner:`; say who keeps it right\n    1 | runbook"
    )


@pytest.mark.parametrize(
    ("old", "new", "unsettled"),
    [
        ("owner: sre-platform\n", "", True),
        ("cpu.throttled_ratio > strong", "cpu.throttled_ratio > 0.25", True),
        ("unit: seconds\n", "unit: seconds\n        promql: unchecked\n", False),
    ],
)
def test_an_omission_is_to_be_settled_like_a_mistake_and_a_decision_is_not(
    old: str, new: str, unsettled: bool
) -> None:
    checked = check(changed((old, new)))
    assert checked.findings
    assert checked.unsettled is unsettled


@pytest.mark.parametrize("source", [b"\xff\xfe", b"#" * 300_000, "a: \x1b[31m\n", "", "x" * 5000])
def test_findings_of_a_hostile_file_can_be_written(source: str | bytes) -> None:
    told = checking.findings_text(check(source).findings, {"r.yaml": source})
    assert all(line.isprintable() for line in told.split("\n"))
    assert max(len(line) for line in told.split("\n")) < 400


def test_the_summary_counts_files() -> None:
    sources = {"a.yaml": RUNBOOK, "b.yaml": BROKEN.replace("runbook: cpu", "runbook: b")}
    checked = checking.check_files(sources, COLLECTORS, SHIPPED)
    assert checking.summary(checked, 1.13) == "1 finding in 1 of 2 files, 1.1 s"
    assert checking.summary(check(RUNBOOK), 0.02) == (
        "no findings in 1 file, 14 tests passed, 0.02 s"
    )


def test_findings_for_scripts_and_for_pull_requests() -> None:
    checked = check(BROKEN)
    told = json.loads(checking.findings_json(checked))
    assert told["findings"][0]["line"] == 41
    assert checking.findings_github(checked.findings) == (
        "::error file=r.yaml,line=41,col=52,title=error::no field on cpu named 'throttle_ratio';"
        " did you mean 'throttled_ratio'?"
    )


def test_an_annotation_cant_be_ended_by_a_path() -> None:
    checked = checking.check_files({"a,b:c%\n.yaml": ""}, COLLECTORS, SHIPPED)
    told = checking.findings_github(checked.findings)
    assert told.startswith("::error file=a%2Cb%3Ac%25%0A.yaml,line=1,col=1,")


def test_results_of_tests_as_text() -> None:
    text = changed(
        ("    expect: not-applicable", "    expect: refuted"),
        ("queue: {wait_seconds_ratio: 3}}\n    expect: unknown", "queue: {}}\n    expect: refuted"),
    )
    tested = checking.test_files({"r.yaml": text}, COLLECTORS, SHIPPED)
    lines = checking.results_text(tested).replace("\u00a0", " ").splitlines()
    assert lines[0] == "ok    a healthy system (the baseline)              refuted"
    start = lines.index(
        "FAIL  just under a quarter                         expected refuted, got unknown"
    )
    assert lines[start + 1] == (
        "        no Stopped in more than a quarter of its … 24 % (needs 25 %)"
    )
    assert checking.results_summary(tested, 0.02) == "12 of 14 passed in 0.02 s"


def test_every_claim_can_be_listed() -> None:
    tested = checking.test_files({"r.yaml": RUNBOOK}, COLLECTORS, SHIPPED)
    lines = checking.results_text(tested, all_checks=True).splitlines()
    assert "        yesA CPU limit is set" in lines[1].replace("yes ", "yes")


def test_files_that_dont_load_have_no_results() -> None:
    with pytest.raises(RunbookErrors):
        checking.test_files({"r.yaml": BROKEN}, COLLECTORS, SHIPPED)


# --- the schema for editors


def test_the_json_schema_for_editors_is_up_to_date() -> None:
    committed = SCHEMA.read_text(encoding="utf-8")
    assert committed == json.dumps(json_schema(), indent=2) + "\n", (
        "generate it again (docs/authors/runbooks.md)"
    )


def test_the_schema_accepts_a_runbook_and_refuses_an_unknown_key() -> None:
    import jsonschema  # noqa: PLC0415 - heavy, and only needed here
    import yaml  # noqa: PLC0415

    validator = jsonschema.Draft202012Validator(json_schema())
    told = yaml.safe_load(RUNBOOK)
    validator.validate(told)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**told, "confrim": []})
