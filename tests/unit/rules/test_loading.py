"""Loading runbooks: everything wrong in all files at once, each at its place."""
# ruff: noqa: E501 - a table reads better with one line a case

import json
from dataclasses import dataclass

import pytest

from tailhound.errors import RunbookErrors
from tailhound.requests.argv import SHIPPED
from tailhound.rules import Compiled, compile_files, load_runbooks
from tailhound.rules.where import Where, where
from tailhound.settings import Profile
from tests.driving import thread_seconds

from .kit import COLLECTORS, RUNBOOK, changed, findings, load


def test_the_whole_grammar_loads() -> None:
    runbook = load()
    assert runbook.id == "cpu-throttling"
    assert [name for name, plan in runbook.evidence.items() if plan.when] == ["node_cpu"]
    assert runbook.evidence["cpu"].with_ == {"window": "5m"}
    assert runbook.onset == ("cpu.throttled_ratio",)
    assert runbook.inputs["pods"].is_set
    assert runbook.inputs["namespace"].from_label == "namespace"
    assert runbook.inputs["node"].attribute == "node"
    change = runbook.mitigation("raise-limit")
    assert change.approval is not None
    assert change.verify is not None
    assert change.undo is not None
    assert change.do is not None
    assert (change.approval.expires_seconds, change.verify.after_seconds) == (1800.0, 120.0)
    assert change.do.with_ == {"factor": 1.5}
    assert runbook.required == {"cpu"}
    assert runbook.leads_to == ("probe-failure",)


def test_a_trigger_matches_whole_label_values() -> None:
    trigger = load().trigger
    assert trigger.matches("CPUThrottlingHigh", {"severity": "page"})
    assert not trigger.matches("CPUThrottlingHigh", {"severity": "pager"})
    assert not trigger.matches("CPUThrottlingHigh", {})
    assert not trigger.matches("Other", {"severity": "page"})
    assert not trigger.matches("CPUThrottlingHigh", {"severity": "page" + "x" * 5000})


WRONG: list[tuple[str, str, str]] = [
    ("status: active", "status: activ", "status: must be one of active, draft; did you mean 'active'?"),
    ("owner: sre-platform", "ownr: sre-platform", "3:1: ownr: no such key; did you mean 'owner'?"),
    ("    risk: medium", "    risc: medium", "mitigations.raise-limit.risc: no such key; did you mean 'risk'?"),
    ("    risk: medium", "    risc: medium", "mitigations.raise-limit: `risk:` is missing"),
    ("risk: medium", "risk: mediun", "must be one of low, medium, high; did you mean 'medium'?"),
    (", unit: ratio", ", unit: ratios", "no unit named 'ratios'; did you mean 'ratio'?"),
    (", source: our own default}", "}", "thresholds.lost: `source:` is missing"),
    ("value: 0.25", "value: often", "thresholds.strong.value: must be a number"),
    ("value: 0.25", "value: .inf", "thresholds.strong.value: must be a number"),
    ("pods: all pods of the workload", "pods: all pods", "must be `{from_label: ..}` or one of `all pods"),
    ("{from_label: namespace}", "{from_lable: namespace}", "no such key; did you mean 'from_label'?"),
    ("collect: test.cpu", "collect: test.cup", "no collector named 'test.cup'; did you mean 'test.cpu'?"),
    ("window: 5m", "windw: 5m", "test.cpu takes no 'windw'; did you mean 'window'?"),
    ("window: 5m", "window: 5", "window must be text"),
    ("  node: the node\n", "", "test.node needs 'node': add it to `inputs:` or to `with:`"),
    ("  node: the node\n", "  node: the nodes they run on\n", "test.node wants one node, not a set"),
    ("  queue:\n", "  pods:\n", "'pods' is already the name of an input"),
    ("  queue:\n", "  lost:\n", "'lost' is already the name of a threshold"),
    ("  node: the node\n", "  node: the node\n  metric_prefix: the model\n", "'metric_prefix' is filled by itself; use another name"),
    ("  queue:\n", "  class:\n", "'class' means something else in conditions"),
    ("  queue:\n", "  Queue:\n", "a name begins with a small letter and holds small letters"),
    ("{collect: test.node,", "{collect: test.node, promql: {a: {query: up, unit: count}},", "node_cpu: give exactly one of collect, promql, kubernetes, ssh"),
    ("with: {window: 5m}}", "compare_to: usual}", "`compare_to:` goes with `promql:` only"),
    ("when: cpu.throttled_ratio > hardly", "when: cpu.throttled_ratio > herdly", "no threshold named 'herdly'"),
    ("with: {window: 5m}}", "when: node_cpu.idle_ratio > room}", "'node_cpu' has a `when:` itself; there are two waves only"),
    ("onset: cpu.throttled_ratio", "onset: cpu.lost", "cpu.lost has no series, so its onset can't be seen; with one: throttled_ratio"),
    ("onset: cpu.throttled_ratio", "onset: cpu.pressure_ratio", "cpu.pressure_ratio has no series, so its onset can't be seen; with one: throttled_ratio"),
    ("onset: cpu.throttled_ratio", "onset: cpu.trottled_ratio", "did you mean 'throttled_ratio'?"),
    ("onset: cpu.throttled_ratio", "onset: cup.lost", "no evidence named 'cup'; did you mean 'cpu'?"),
    ("cpu.lost > lost", "cpu.lost > strong", "can't compare 'cpu.lost' (in seconds_per_second)"),
    ("Loses real time: cpu.lost > lost", "Loses real time: true", "looks at no evidence"),
    ("Loses real time: cpu.lost > lost", "Loses real time: [1]", "behind the sentence stands a condition"),
    ("  - Loses real time: cpu.lost > lost", "  - cpu.lost > lost", "confirm.1: a claim is one `sentence: condition`"),
    ("leads_to: [probe-failure]", "leads_to: [prob-failure]", "no cause named 'prob-failure'; did you mean 'probe-failure'?"),
    ("leads_to: [probe-failure]", "leads_to: [cpu-throttling]", "a runbook can't name itself in `leads_to:`"),
    ("severity: \"critical|page\"", "severity: '(a+)+'", "none behind a group"),
    ("severity: \"critical|page\"", "severity: 'a['", "not a regular expression"),
    ("per: namespace", "per: namespce", "no input named 'namespce'; did you mean 'namespace'?"),
    ("within: 10m", "within: 1m", "`within:` is shorter than `after:`"),
    ("within: 10m", "within: 10 minutes", "a duration is a whole number with s, m, h or d"),
    ("collect: [cpu]", "collect: [cpx]", "no evidence named 'cpx'; did you mean 'cpu'?"),
    ("collect: [cpu]", "collect: [queue]", "'cpu' is not collected again; add it to `verify.collect:`"),
    ("    mode: one-click", "    mode: suggested", "raise-limit: a suggested mitigation needs `steps:`"),
    ("    mode: one-click", "    mode: suggested", "raise-limit: `do:` goes with `mode: one-click` only"),
    ("    mode: suggested", "    mode: one-click", "match-threads: a one-click mitigation needs `approval:`"),
    ("  cpu: {throttled_ratio: 0.01", "  cpu: {trottled_ratio: 0.01", "no field on cpu named 'trottled_ratio'"),
    ("  cpu: {throttled_ratio: 0.01", "  cpu: {throttled_ratio: often", "cpu.throttled_ratio is a number; 'often' is none"),
    ("has_limit: true,", "has_limit: 1,", "cpu.has_limit is a yes/no; 1 is none"),
    ("has_limit: true,", "pods: 1,", "cpu.pods is a set: a list of {pod, busy_ratio, busy_ratio_usual}"),
    ("has_limit: true,", "pods: [{pod: a, busy: 1}],", "no field on cpu.pods named 'busy'"),
    ("cpu: timed out", "cpu: slow", "'slow' is no reason"),
    ("cpu: timed out", "cup: timed out", "no evidence named 'cup'"),
    ("offers: [raise-limit,", "offers: [rise-limit,", "no mitigation named 'rise-limit'; did you mean 'raise-limit'?"),
    ("missing: [cpu.has_limit", "missing: [cpu.limit", "no field on cpu named 'limit'"),
    ("- name: hardly\n", "- name: no limit\n", "a second test named 'no limit'"),
    ("{{ pods }}", "{{ pod }}", "says: no evidence, input or threshold named 'pod'; did you mean 'pods'?"),
    ("{{ pods }}", "{{ cpu }}", "says: `cpu` alone says nothing; write `cpu.<fact>`"),
    ("{{ pods }}", "{{ cpu.throtled_ratio }}", "did you mean 'throttled_ratio'?"),
    ("| percent", "| percnt", "says: no filter named 'percnt'; did you mean 'percent'?"),
    ("{{ pods }}", "{{ pods", "says: not a template"),
    ("{{ pods }}", "{{ 10 ** 10 }}", "says: pow is not allowed in a paragraph"),
    ("{{ pods }}", "{{ pods.__class__ }}", "no evidence named 'pods'"),
    ("{{ pods }}", "{{ range(10) }}", "says: call is not allowed in a paragraph"),
    ("{{ pods }}", "{% for p in pods %}x{% endfor %}", "says: a loop is `{% for p in evidence.set %}"),
    ("cause: The CPU limit stops the engine", "cause: ''", "cause: must not be empty"),
    ("runbook: cpu-throttling", "runbook: CPU", "an id begins with a small letter"),
    ("runbook: cpu-throttling\n", "", "r.yaml:1:1: `runbook:` is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "told"), WRONG, ids=[told[:50] for _, _, told in WRONG])
def test_what_is_wrong_in_a_file_is_told(old: str, new: str, told: str) -> None:
    found = [str(finding) for finding in findings(changed((old, new)))]
    assert any(told in text for text in found), found


def test_wrong_shapes_and_wrong_names_of_a_file_are_told_together_in_its_order() -> None:
    found = findings(
        changed(
            ("cpu.throttled_ratio > strong", "cpu.throttle_ratio > strong"),
            ("    risk: medium", "    risc: medium"),
            ("leads_to: [probe-failure]", "leads_to: [prob-failure]"),
            ("cpu.throttled_ratio < hardly", "cpu.throttled_ratio < herdly"),
        )
    )
    assert [finding.message.partition(";")[0] for finding in found] == [
        "no field on cpu named 'throttle_ratio'",
        "no threshold named 'herdly'",
        "no cause named 'prob-failure'",
        "mitigations.raise-limit: `risk:` is missing",
        "mitigations.raise-limit.risc: no such key",
    ]
    places = [(finding.line, finding.column) for finding in found]
    assert places == sorted(places)


def test_what_depends_on_a_wrong_part_is_not_told_again() -> None:
    found = findings(
        changed(("collect: test.cpu", "collect: test.cup"), ("unit: ratio", "unit: rat"))
    )
    assert len(found) == 2


def test_a_finding_underlines_the_mistake() -> None:
    (found,) = findings(changed(("cpu.throttled_ratio > strong", "cpu.throttle_ratio > strong")))
    assert found.column == len("  - Stopped in more than a quarter of its periods: ") + 1
    assert found.length == len("cpu.throttle_ratio")


@pytest.mark.parametrize("text", [".*.*.*x", "a?.*.*x", "[a-z]+[a-z]+[a-z]+1"])
def test_the_worst_matcher_on_the_worst_label_is_quick(text: str) -> None:
    found = where(text)
    assert isinstance(found, Where)
    with thread_seconds(1.0):
        for value in ("a" * 256, "a" * 100_000, "ab" * 128):
            assert not found.fits(value)


def test_findings_of_all_files_come_at_once() -> None:
    sources = {
        "b.yaml": changed(("leads_to", "leads"), ("runbook: cpu", "runbook: b")),
        "a.yaml": "x: 1\n",
        "c.yaml": RUNBOOK,
    }
    with pytest.raises(RunbookErrors) as raised:
        load_runbooks(sources, COLLECTORS, SHIPPED)
    assert {finding.path for finding in raised.value.findings} == {"a.yaml", "b.yaml"}
    assert [runbook.path for runbook in compile_files(sources, COLLECTORS, SHIPPED)[0]] == [
        "c.yaml"
    ]


def test_two_files_cant_have_the_same_id() -> None:
    with pytest.raises(RunbookErrors, match=r"'cpu-throttling' is already the id of a\.yaml"):
        load_runbooks({"a.yaml": RUNBOOK, "b.yaml": RUNBOOK}, COLLECTORS, SHIPPED)


def test_a_cause_may_lead_to_another_of_the_same_set() -> None:
    own = changed(
        ("runbook: cpu-throttling", "runbook: own-cause"), ("[probe-failure]", "[other-cause]")
    )
    other = changed(("runbook: cpu-throttling", "runbook: other-cause"))
    assert len(load_runbooks({"a.yaml": own, "b.yaml": other}, COLLECTORS, SHIPPED)) == 2


def test_a_message_is_one_printable_line_whatever_the_file_holds() -> None:
    text = changed(("owner: sre-platform", '"own\\e[31m\\ner": x'))
    assert all(finding.message.isprintable() for finding in findings(text))


# --- the compiled set


def compiled(**more: object) -> Compiled:
    runbooks = load_runbooks({"r.yaml": RUNBOOK}, COLLECTORS, SHIPPED)
    return Compiled(runbooks=runbooks, **more)  # type: ignore[arg-type]


def test_a_compiled_set_survives_the_store() -> None:
    profile = Profile(match={"cluster": "eu"}, thresholds={"cpu-throttling": {"strong": 0.5}})
    first = compiled(profiles=(profile,), slo={"ttft_p99_seconds": 2.5}, templates={"a": "b"})
    again = Compiled.from_json(first.to_json(), COLLECTORS, SHIPPED)
    assert again.sha == first.sha
    assert again.by_id["cpu-throttling"].values == first.by_id["cpu-throttling"].values
    assert again.slo == {"ttft_p99_seconds": 2.5}


def test_every_text_and_number_changes_the_sha() -> None:
    edited = load_runbooks({"r.yaml": RUNBOOK + "# edited\n"}, COLLECTORS, SHIPPED)
    sets = [
        compiled(),
        compiled(slo={"x": 1.0}),
        compiled(templates={"a": "b"}),
        compiled(profiles=(Profile(metric_prefix="ray_"),)),
        Compiled(runbooks=edited),
    ]
    assert len({one.sha for one in sets}) == len(sets)
    assert compiled().sha == compiled().sha


def test_a_compiled_set_is_refused_when_todays_collectors_dont_fit() -> None:
    with pytest.raises(RunbookErrors, match=r"no collector named 'test\.cpu'"):
        Compiled.from_json(compiled().to_json(), {"test.node": COLLECTORS["test.node"]}, SHIPPED)


def test_profiles_change_thresholds_where_their_labels_match() -> None:
    one = Profile(match={"cluster": "eu"}, thresholds={"cpu-throttling": {"strong": 0.5}})
    two = Profile(
        match={"cluster": "eu", "namespace": "prod"},
        thresholds={"cpu-throttling": {"strong": 0.6, "lost": 1}},
        slo={"itl_p99_seconds": 2.0},
        metric_prefix="ray_",
    )
    found = compiled(profiles=(one, two), slo={"itl_p99_seconds": 1.0, "e2e_mean_seconds": 1.0})
    assert found.site({}).thresholds == {}
    assert found.site({"cluster": "eu"}).thresholds == {"cpu-throttling": {"strong": 0.5}}
    site = found.site({"cluster": "eu", "namespace": "prod"})
    assert site.thresholds == {"cpu-throttling": {"strong": 0.6, "lost": 1.0}}
    assert (site.slo, site.metric_prefix) == (
        {"itl_p99_seconds": 2.0, "e2e_mean_seconds": 1.0},
        "ray_",
    )


@pytest.mark.parametrize(
    ("thresholds", "told"),
    [
        ({"cpu-throtling": {"strong": 1}}, "no runbook named 'cpu-throtling'; did you mean"),
        ({"cpu-throttling": {"strng": 1}}, "no threshold named 'strng'; did you mean 'strong'?"),
        ({"cpu-throttling": {"strong": 60}}, "strong: a ratio is a share of 1: write 0.6 for 60 %"),
    ],
)
def test_a_profile_that_names_nothing_is_refused(
    thresholds: dict[str, dict[str, float]], told: str
) -> None:
    with pytest.raises(RunbookErrors, match=told):
        compiled(profiles=(Profile(thresholds=thresholds),))


@dataclass(frozen=True)
class _Allows:
    def why_no_template(self, argv: object) -> str | None:
        return None


def test_loading_a_runbook_takes_less_than_50_ms() -> None:
    load()
    with thread_seconds(5 * 0.05):
        for _ in range(5):
            compile_files({"r.yaml": RUNBOOK}, COLLECTORS, _Allows())


def test_the_json_of_a_set_is_canonical() -> None:
    text = compiled().to_json()
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
