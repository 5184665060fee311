"""Evidence that YAML defines: PromQL, Kubernetes, SSH."""
# ruff: noqa: E501 - a table reads better with one line a case

import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.errors import Finding, Refused
from tailhound.flow import Collector, Read
from tailhound.model import Missing, Reason
from tailhound.model.facts import Kind, Sample, Schema, schema_of, values_of
from tailhound.requests import GetObject, ListObjects, Output, Query, Ranged, RangeQuery, RunOnHost
from tailhound.requests.argv import SHIPPED
from tailhound.requests.prometheus import literal_regex, quoted
from tailhound.rules import parsing, places
from tailhound.rules.evidence.promql import why_no_query
from tailhound.rules.evidence.ssh import increase, key_value
from tailhound.rules.evidence.template import template
from tailhound.rules.evidence.values import number_of
from tailhound.rules.inputs import Input
from tailhound.rules.schema_evidence import Evidence, KeyFact
from tailhound.rules.yaml_evidence import Surroundings, compile_evidence, schema_for
from tests.driving import EMPTY, TIMEOUT, drive, vector

INPUTS = {
    "namespace": Input(name="namespace", from_label="namespace"),
    "pod": Input(name="pod", phrase="the pod"),
    "pods": Input(name="pods", phrase="all pods of the workload"),
    "node": Input(name="node", phrase="the node"),
    "nodes": Input(name="nodes", phrase="the nodes they run on"),
}


def attempt(text: str, onset: str = "") -> tuple[Collector[Any, Any] | None, tuple[Finding, ...]]:
    node, _ = parsing.read("r.yaml", text)
    told = Evidence.model_validate(places.plain(node))
    return compile_evidence("e", told, node, Surroundings("r", INPUTS, SHIPPED), onset)


def made(text: str, onset: str = "") -> Collector[Any, Any]:
    collector, found = attempt(text, onset)
    assert collector is not None, [str(finding) for finding in found]
    return collector


def told(text: str, onset: str = "") -> str:
    collector, found = attempt(text, onset)
    assert collector is None
    return "\n".join(str(finding) for finding in found)


def ask(collector: Collector[Any, Any], answer: Any, **params: Any) -> Mapping[str, Any]:
    replies = answer if callable(answer) else (lambda _: answer)
    return values_of(drive(collector.collect(collector.params(**params)), replies))


def asked(collector: Collector[Any, Any], **params: Any) -> list[Read[Any]]:
    requests: list[Read[Any]] = []

    def answer(request: Read[Any]) -> Missing:
        requests.append(request)
        return EMPTY

    drive(collector.collect(collector.params(**params)), answer)
    return requests


# --- PromQL

QUEUE = """\
promql:
  waiting: {query: 'sum(q{namespace="$namespace",pod=~"$pods"})', unit: count}
"""
EACH = """\
promql:
  waiting: {query: 'sum by (pod) (q{pod=~"$pods"})', unit: count, each: pod}
"""


def test_values_are_escaped_for_where_they_stand() -> None:
    collector = made(QUEUE)
    (query,) = asked(collector, namespace='a"b\\c\n}', pods=("p.1", 'x|"y'))
    assert isinstance(query, Query)
    assert query.promql == ('sum(q{namespace="a\\"b\\\\c\\n}",pod=~"p\\\\.1|x\\\\|\\"y"})')
    assert why_no_query(query.promql) is None


ANY = st.text(st.characters(exclude_categories=())) | st.text()
"""Lone surrogates too: JSON and command lines bring them."""


@given(ANY, st.lists(ANY, max_size=3))
def test_no_value_leaves_its_string(namespace: str, pods: list[str]) -> None:
    parts, _ = template('q{namespace="$namespace",pod=~"$pods",x!~"a-$pods"}')
    text = parts.filled({"namespace": namespace, "pods": tuple(pods)})
    assert text.startswith("q{namespace=" + quoted(namespace) + ',pod=~"')
    assert why_no_query(text) is None
    assert text.encode("utf-8")


def test_a_lone_surrogate_in_a_label_becomes_the_replacement_character() -> None:
    (query,) = asked(made(QUEUE), namespace="a\ud800b", pods=("p\udfff.",))
    assert isinstance(query, Query)
    assert query.promql == 'sum(q{namespace="a\ufffdb",pod=~"p\ufffd\\\\."})'


PREFIXED = """\
promql:
  wait: {query: 'sum(rate(vllm:wait_sum{pod=~"$pods"}[5m])) / sum(rate(vllm:wait_count[5m]))', unit: seconds}
"""


def test_a_site_with_another_prefix_of_metric_names_is_asked_by_that_prefix() -> None:
    collector = made(PREFIXED)
    (usual,) = asked(collector, pods=("a",))
    assert usual.shown.startswith('sum(rate(vllm:wait_sum{pod=~"a"}[5m]))')
    (ray,) = asked(collector, pods=("a",), metric_prefix="ray_vllm_")
    assert ray.shown == (
        'sum(rate(ray_vllm_wait_sum{pod=~"a"}[5m])) / sum(rate(ray_vllm_wait_count[5m]))'
    )
    assert "metric_prefix" not in made(QUEUE).params.__dataclass_fields__


@pytest.mark.parametrize(
    ("query", "asked_for"),
    [
        ('{__name__=~"vllm:a|vllm:b.*",pod=~"$pods"}', '{__name__=~"ray_a|ray_b.*",pod=~"x"}'),
        ('{__name__="vllm:$pods"}', '{__name__="ray_x"}'),
        ('q{engine="vllm:main"} # vllm: by hand', 'q{engine="vllm:main"} # vllm: by hand'),
        ("job:vllm:wait + my_vllm:wait", "job:vllm:wait + my_vllm:wait"),
        ("vllm:wait offset 5m > vllm:wait", "ray_wait offset 5m > ray_wait"),
        (
            'label_replace(vllm:x, "a", "vllm:", "b", "")',
            'label_replace(ray_x, "a", "vllm:", "b", "")',
        ),
    ],
)
def test_the_prefix_alone_is_replaced_and_only_where_a_metric_is_named(
    query: str, asked_for: str
) -> None:
    parts, mistakes = template(query)
    assert mistakes == ()
    assert parts.filled({"pods": "x"}, "ray_") == asked_for
    assert parts.filled({"pods": "x"}) == query.replace("$pods", "x")


def test_a_set_is_alternatives_and_an_empty_one_matches_nothing() -> None:
    collector = made(QUEUE)
    (query,) = asked(collector, namespace="n", pods=())
    assert 'pod=~"^$none"' in query.shown
    parts, _ = template('q{pod=~"$pods-.*"}')
    assert parts.filled({"pods": ("a", "b.c")}) == 'q{pod=~"(?:a|b\\\\.c)-.*"}'
    assert parts.filled({"pods": "a+"}) == f"q{{pod=~{quoted(literal_regex('a+') + '-.*')}}}"


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("rate(q[$namespace])", "$namespace may stand only inside a quoted label value"),
        ("$namespace", "$namespace may stand only inside a quoted label value"),
        ("q{$namespace}", "$namespace may stand only inside a quoted label value"),
        ('label_replace(q, "a", "$namespace", "b", "c")', "only in the value of a label matcher"),
        ('q{a="${namespace}"}', "${namespace} is written without braces: $namespace"),
        ("q{a=`$namespace`}", "needs double quotes"),
        ('q{a="$namespce"}', "no input named 'namespce'; did you mean 'namespace'?"),
        ('q{pod="$pods"}', "$pods is a set; match it with `=~`"),
        ("sum(rate(q[5m])", "not PromQL: unclosed left parenthesis"),
        ("q[5m]", "gives a range of samples; wrap it"),
        ('"text"', "gives a text, not a number"),
        ("(" * 70 + "q" + ")" * 70, "nested too deeply"),
    ],
)
def test_a_wrong_query_is_refused_when_it_loads(query: str, wrong: str) -> None:
    quoted_query = query.replace("'", "''")
    assert wrong in told(f"promql:\n  a: {{query: '{quoted_query}', unit: count}}\n")


def test_the_place_of_a_wrong_name_is_that_of_the_name() -> None:
    found = told("promql:\n  a: {query: 'q{a=\"$namespce\"}', unit: count}\n")
    assert found.startswith("r.yaml:2:20: ")


def test_a_dollar_in_a_regular_expression_is_no_name() -> None:
    collector = made(
        """promql:\n  a: {query: 'label_replace(q{a=~"x$"}, "b", "$1", "c", "(.*)")', unit: count}\n"""
    )
    assert asked(collector)[0].shown == 'label_replace(q{a=~"x$"}, "b", "$1", "c", "(.*)")'


def test_an_unchecked_query_is_not_parsed_but_its_names_are() -> None:
    assert made("promql:\n  a: {query: 'new_syntax(((', unit: count, promql: unchecked}\n")
    wrong = "promql:\n  a: {query: 'f($x', unit: count, promql: unchecked}\n"
    assert "$x may stand only" in told(wrong)


def test_one_number_is_wanted_and_anything_else_is_not_measured() -> None:
    collector = made(QUEUE)
    several = vector(({"pod": "a"}, 1.0), ({"pod": "b"}, 2.0))
    for answer, value in (
        (vector(({}, 3.0)), 3.0),
        (several, None),
        (EMPTY, None),
        (TIMEOUT, None),
    ):
        assert ask(collector, answer, namespace="n", pods=())["waiting"] == value


def test_each_gives_a_set_that_is_empty_only_when_the_backend_answered() -> None:
    collector = made(EACH)
    found = ask(collector, vector(({"pod": "b"}, 2.0), ({"pod": "a"}, 1.0)), pods=())
    assert found["waiting"] == ({"pod": "a", "value": 1.0}, {"pod": "b", "value": 2.0})
    assert ask(collector, EMPTY, pods=())["waiting"] == ()
    assert ask(collector, TIMEOUT, pods=())["waiting"] is None
    twice = vector(({"pod": "a", "x": "1"}, 1.0), ({"pod": "a", "x": "2"}, 1.0))
    assert ask(collector, twice, pods=())["waiting"] is None


def past(now: Any, **by_ago: Any) -> Any:
    def answer(request: Read[Any]) -> Any:
        assert isinstance(request, Query)
        return by_ago[f"s{request.ago:g}"] if request.ago else now

    return answer


def test_usual_is_the_median_of_the_same_query_at_other_times() -> None:
    collector = made(QUEUE + "compare_to: usual\n")
    requests = asked(collector, namespace="n", pods=("a",))
    assert [request.ago for request in requests if isinstance(request, Query)] == [
        0.0,
        3600.0,
        86400.0,
        604800.0,
    ]
    assert len({r.promql for r in requests if isinstance(r, Query)}) == 1
    answer = past(vector(({}, 6.0)), s1=vector(({}, 1.0)), s2=vector(({}, 3.0)), s3=EMPTY)
    found = ask(collector, answer, namespace="n", pods=(), usual=(1.0, 2.0, 3.0))
    assert found == {"waiting": 6.0, "waiting_usual": 2.0, "waiting_ratio": 3.0}


@pytest.mark.parametrize(
    ("now", "before", "usual", "ratio"),
    [(6.0, None, None, None), (6.0, 0.0, 0.0, None), (None, 2.0, 2.0, None), (0.0, 2.0, 2.0, 0.0)],
)
def test_without_a_usual_value_there_is_no_ratio(
    now: float | None, before: float | None, usual: float | None, ratio: float | None
) -> None:
    collector = made(QUEUE + "compare_to: usual\n")

    def reply(value: float | None) -> Any:
        return EMPTY if value is None else vector(({}, value))

    found = ask(collector, past(reply(now), s1=reply(before)), namespace="n", pods=(), usual=(1.0,))
    assert (found["waiting_usual"], found["waiting_ratio"]) == (usual, ratio)
    nothing = ask(collector, reply(now), namespace="n", pods=(), usual=())
    assert nothing["waiting_usual"] is None


def test_each_and_usual_go_together_by_label() -> None:
    collector = made(EACH + "compare_to: usual\n")
    answer = past(vector(({"pod": "a"}, 4.0), ({"pod": "b"}, 5.0)), s1=vector(({"pod": "a"}, 2.0)))
    assert ask(collector, answer, pods=(), usual=(1.0,))["waiting"] == (
        {"pod": "a", "value": 4.0, "value_usual": 2.0, "value_ratio": 2.0},
        {"pod": "b", "value": 5.0, "value_usual": None, "value_ratio": None},
    )


def test_the_onset_has_a_series_of_45_minutes_and_what_is_usual_for_it() -> None:
    collector = made(QUEUE, onset="waiting")
    requests = asked(collector, namespace="n", pods=(), usual=(3600.0, 86400.0))
    ranged = [r for r in requests if isinstance(r, RangeQuery)]
    assert [(r.start_ago, r.end_ago, r.step) for r in ranged] == [
        (2700.0, 0.0, 15.0),
        (4200.0, 3600.0, 15.0),
        (87000.0, 86400.0, 15.0),
    ]
    assert len({r.promql for r in ranged}) == 1

    def answer(request: Read[Any]) -> Any:
        if not isinstance(request, RangeQuery):
            return vector(({}, 3.0))
        if request.end_ago == 3600.0:
            return EMPTY
        return (Ranged((), (Sample(request.end_ago, 2.0), Sample(9.0, 3.0))),)

    found = ask(collector, answer, namespace="n", pods=(), usual=(3600.0, 86400.0))
    assert found["waiting_series"] == ({"at": 0.0, "value": 2.0}, {"at": 9.0, "value": 3.0})
    assert found["waiting_usual_series"] == (
        {"at": 86400.0, "value": 2.0},
        {"at": 9.0, "value": 3.0},
    )
    assert "an onset needs one number" in told(EACH, onset="waiting")


def test_without_any_usual_moment_the_onset_is_unknown_and_not_the_start_of_the_series() -> None:
    collector = made(QUEUE, onset="waiting")
    series = (Ranged((), (Sample(1.0, 2.0),)),)
    found = ask(collector, lambda r: series if isinstance(r, RangeQuery) else EMPTY,
                namespace="n", pods=(), usual=())  # fmt: skip
    assert found["waiting_series"]
    assert found["waiting_usual_series"] is None
    assert set(made(QUEUE).params.__dataclass_fields__) == {"namespace", "pods"}


def test_a_fact_cant_have_the_name_of_the_onsets_series() -> None:
    text = QUEUE + "  waiting_usual_series: {query: q, unit: count}\n"
    assert "a fact has the name of another's usual value, ratio or series" in told(text, "waiting")


def test_a_label_that_cant_be_a_field_is_refused() -> None:
    assert "can't be the name of a record's field" in told(EACH.replace("each: pod", "each: value"))


def test_a_fact_cant_have_the_name_of_anothers_usual_value() -> None:
    text = QUEUE + "  waiting_usual: {query: q, unit: count}\ncompare_to: usual\n"
    assert "a fact has the name of another's usual value" in told(text)


KINDS = [QUEUE, EACH, QUEUE + "compare_to: usual\n", EACH + "compare_to: usual\n"]


@pytest.mark.parametrize("text", KINDS)
def test_the_schema_is_the_one_of_the_facts_class(text: str) -> None:
    collector = made(text)
    plain: Schema = schema_of(collector.facts)
    assert schema_for(collector) == plain
    params = dict(asked_params(collector))
    assert hash(collector.params(**params)) == hash(collector.params(**params))


def asked_params(collector: Collector[Any, Any]) -> list[tuple[str, Any]]:
    names = collector.params.__dataclass_fields__
    return [(name, ("a",) if name == "pods" else "n") for name in names if name != "usual"]


def test_the_ratio_to_the_usual_value_is_in_times() -> None:
    schema = schema_for(made(QUEUE + "compare_to: usual\n"))
    assert {name: fact.unit for name, fact in schema.items()} == {
        "waiting": "count",
        "waiting_usual": "count",
        "waiting_ratio": "times",
    }


# --- Kubernetes

PROBE = """\
kubernetes:
  get: pods
  namespace: $namespace
  name: $pod
  facts:
    timeout_seconds: {jmespath: 'spec.containers[0].readinessProbe.timeoutSeconds', unit: seconds, default: 1}
    cores: {jmespath: 'spec.containers[0].resources.limits.cpu', unit: cores}
    node: {jmespath: spec.nodeName, kind: text}
    host: {jmespath: spec.hostNetwork, default: false}
"""
POD = {
    "spec": {
        "nodeName": "n1",
        "containers": [
            {"readinessProbe": {"timeoutSeconds": 5}, "resources": {"limits": {"cpu": "1500m"}}}
        ],
    }
}


def test_an_object_gives_typed_facts_and_defaults_for_what_it_does_not_say() -> None:
    collector = made(PROBE)
    assert asked(collector, namespace="prod", pod="llm-0") == [
        GetObject(api="v1", resource="pods", namespace="prod", name="llm-0")
    ]
    found = ask(collector, POD, namespace="prod", pod="llm-0")
    assert found == {"timeout_seconds": 5.0, "cores": 1.5, "node": "n1", "host": False}
    bare = ask(collector, {"spec": {}}, namespace="prod", pod="llm-0")
    assert bare == {"timeout_seconds": 1.0, "cores": None, "node": None, "host": False}


def test_without_an_answer_no_default_is_taken() -> None:
    for missing in (EMPTY, TIMEOUT, Missing(Reason.FORBIDDEN, "may not get pods")):
        found = ask(made(PROBE), missing, namespace="prod", pod="llm-0")
        assert set(found.values()) == {None}


def test_a_value_of_another_kind_is_not_measured() -> None:
    odd = {"spec": {"nodeName": 7, "hostNetwork": "yes", "containers": [{"readinessProbe": "x"}]}}
    found = ask(made(PROBE), odd, namespace="prod", pod="llm-0")
    assert (found["node"], found["host"]) == (None, None)


def test_a_list_is_one_document() -> None:
    collector = made(
        "kubernetes:\n  list: pods\n  namespace: $namespace\n  label_selector: app=llm\n"
        "  facts: {running: {jmespath: \"length([?status.phase=='Running'])\", unit: count}}\n"
    )
    (request,) = asked(collector, namespace="prod")
    assert request == ListObjects(
        api="v1", resource="pods", namespace="prod", label_selector="app=llm"
    )
    pods = ({"status": {"phase": "Running"}}, {"status": {"phase": "Pending"}})
    assert ask(collector, pods, namespace="prod") == {"running": 1.0}
    assert ask(collector, (), namespace="prod") == {"running": 0.0}


def test_a_hostile_name_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(Refused):
        asked(made(PROBE), namespace="prod", pod="../../secrets")


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("get: pods", "get: secrets", "secrets are never read"),
        ("get: pods", "get: pod", "no resource named 'pod'; did you mean 'pods'?"),
        ("get: pods", "list: pods", "`list` takes no `name:`"),
        ("  get: pods\n", "", "give either `get: <resource>` or `list: <resource>`"),
        ("  name: $pod\n", "", "`get` needs `name:`"),
        ("  namespace: $namespace\n", "", "`get: pods` needs `namespace:`"),
        ("name: $pod", "name: $pods", "$pods is a set; one value is needed here"),
        ("name: $pod", "name: x-$pod", "`$name` stands only as one whole parameter"),
        ("name: $pod", "name: $pdo", "no input named 'pdo'; did you mean 'pod'?"),
        ("spec.nodeName", "spec..nodeName", "not JMESPath"),
        ("spec.nodeName", "'to_string(@)'", "not allowed in JMESPath here: to_string()"),
        ("spec.nodeName", "'[@,@]|[@,@]|[@,@]|[@,@]'", "not allowed in JMESPath here: more than"),
        (
            "spec.nodeName, kind: text",
            "spec.nodeName",
            "say `unit:` for a number, else `kind: text`",
        ),
        ("default: false", "unit: count, default: false", "the default must be a number"),
        ("    host:", "    class:", "'class' can't be a fact's name"),
    ],
)
def test_wrong_kubernetes_evidence_is_refused(old: str, new: str, wrong: str) -> None:
    assert old in PROBE
    assert wrong in told(PROBE.replace(old, new, 1))


# --- SSH

NIC = """\
ssh:
  on: $node
  run: [cat, /sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence]
  parse: number
  fact: out_of_sequence
  unit: count
  twice: 10s
"""


def reading(first: str, second: str | None = None, exit_code: int = 0) -> Output:
    later = None if second is None else Output(second, "", 0)
    return Output(first, "", exit_code, later, 10.0 if second is not None else 0.0)


def test_a_counter_read_twice_gives_its_increase() -> None:
    collector = made(NIC)
    (request,) = asked(collector, node="gpu-1")
    assert request == RunOnHost(host="gpu-1", argv=request.argv, twice=True)  # type: ignore[attr-defined]
    assert ask(collector, reading("44\n", "1044\n"), node="gpu-1") == {"out_of_sequence": 1000.0}


@pytest.mark.parametrize(
    "reply",
    [
        reading("1044\n", "44\n"),
        reading("5\n", "4294967295\n"),
        reading("4294967295\n", "4294967295\n"),
        reading("44\n"),
        reading("44\n", "x\n"),
        reading("", "44\n"),
        reading("44\n", "45\n", exit_code=1),
        Output("44\n", "", 0, Output("", "gone", 255), 10.0),
        TIMEOUT,
    ],
)
def test_a_counter_that_was_reset_saturated_or_not_read_is_unknown(reply: Any) -> None:
    assert ask(made(NIC), reply, node="gpu-1") == {"out_of_sequence": None}


def test_a_set_of_hosts_gives_a_record_for_each() -> None:
    collector = made(NIC.replace("$node", "$nodes").replace("  twice: 10s\n", ""))
    fact = schema_for(collector)["out_of_sequence"]
    assert (fact.kind, list(fact.fields)) == (Kind.SET, ["host", "value"])

    def answer(request: Read[Any]) -> Any:
        return TIMEOUT if request.backend == "ssh b" else reading("7\n")

    found = ask(collector, answer, nodes=("a", "b", "a"))
    assert found["out_of_sequence"] == (
        {"host": "a", "value": 7.0},
        {"host": "b", "value": None},
    )
    assert ask(collector, answer, nodes=())["out_of_sequence"] is None


def test_the_ways_to_read_an_output() -> None:
    base = "ssh:\n  on: $node\n  run: [cat, /proc/meminfo]\n"
    lines = made(base + "  parse: lines\n  fact: rows\n")
    assert ask(lines, reading("a\n\n b\n"), node="n") == {"rows": 2}
    text = made(base + "  parse: text\n  fact: word\n")
    assert ask(text, reading(" always madvise \n"), node="n") == {"word": "always madvise"}
    keys = made(base + "  parse: key_value\n  facts: {free_bytes: {key: MemFree, unit: bytes}}\n")
    assert ask(keys, reading("MemTotal: 8 kB\nMemFree:    4 kB\n"), node="n") == {
        "free_bytes": 4096.0
    }
    some = "  parse: json\n  facts: {used: {jmespath: 'a.b', unit: count}}\n"
    found = made(base + some)
    assert ask(found, reading('{"a": {"b": 3}}'), node="n") == {"used": 3.0}
    for bad in ("not json", "[" * 100_000, "", '{"a": 1}'):
        assert ask(found, reading(bad), node="n") == {"used": None}


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("[cat,", "[rm,", "refused"),
        ("[cat, /sys", "[cat, /etc/shadow, /sys", "/etc/shadow"),
        ("out_of_sequence]", "$node/x]", "`$name` stands only as one whole argument"),
        ("on: $node", "on: $nod", "no input named 'nod'; did you mean 'node'?"),
        ("  fact: out_of_sequence\n", "", "`parse: number` needs `fact: <name>`"),
        ("parse: number", "parse: json", "`parse: json` needs `facts:"),
        ("run: [cat,", "run: [cat, $nodes,", "$nodes is a set; one value is needed here"),
    ],
)
def test_wrong_ssh_evidence_is_refused(old: str, new: str, wrong: str) -> None:
    assert old in NIC
    assert wrong in told(NIC.replace(old, new, 1))


def test_an_increase_needs_two_numbers() -> None:
    assert increase(1, 4) == 3.0
    assert increase(4, 4) == 0.0
    assert increase(None, 4) is None
    assert increase(4, "5") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("44\n", 44.0), ("1.5e3", 1500.0), ("500m", 0.5), ("4Gi", 4 * 2.0**30), ("1k", 1000.0)]
    + [(bad, None) for bad in ("", "x", "1 2", "0x10", "nan", "inf", "9" * 400, True, None, [1])],
)
def test_a_number_is_read_or_not_measured(text: object, value: float | None) -> None:
    assert number_of(text) == value


def test_a_key_is_literal_and_stands_at_the_start_of_a_line() -> None:
    text = "XMemFree: 1 kB\nMemFree: 2 kB\na.c: 5\n"
    assert key_value(text, KeyFact(key="MemFree", unit="bytes")) == 2048.0
    assert key_value(text, KeyFact(key="MemFree", unit="count")) == 2.0
    assert key_value("abc: 5\n", KeyFact(key="a.c", unit="count")) is None
    assert key_value("MemFreeX: 5\n", KeyFact(key="MemFree", unit="count")) is None


@pytest.mark.parametrize(
    "text", ["K" + " " * 2_000_000, "K: 1" + " " * 2_000_000 + "x", "K" * 999_999]
)
def test_a_hostile_output_is_read_quickly(text: str) -> None:
    started = time.process_time()
    assert key_value(text, KeyFact(key="K", unit="count")) is None
    assert number_of(text) is None
    assert time.process_time() - started < 1.0
