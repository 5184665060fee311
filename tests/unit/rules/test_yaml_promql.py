"""PromQL evidence that YAML defines."""
# ruff: noqa: E501 - a table reads better with one line a case

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.flow import Collector, Read
from tailhound.model.facts import Sample, Schema, schema_of
from tailhound.requests import Query, Ranged, RangeQuery
from tailhound.requests.prometheus import literal_regex, quoted
from tailhound.rules.evidence.promql import why_no_query
from tailhound.rules.evidence.template import template
from tailhound.rules.yaml_evidence import schema_for
from tests.driving import EMPTY, TIMEOUT, vector
from tests.unit.rules.yaml_evidence_kit import ask, asked, made, told

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
