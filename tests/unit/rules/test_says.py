"""The paragraph of a confirmed cause: values are values, never templates."""
# ruff: noqa: E501 - a table reads better with one line a case

from typing import Any

import pytest

from tailhound.rules.places import Place, Scalar
from tailhound.rules.says import Says, compile_says
from tailhound.rules.says_filters import FILTERS

from .kit import VOCABULARY

INPUTS = ("container", "pods")


def made(text: str) -> Says:
    place = Place("r.yaml", 1, 1)
    says, found = compile_says(Scalar(text, False, place, None), VOCABULARY, INPUTS)
    assert says is not None, found
    return says


def say(text: str, facts: Any = None, **inputs: Any) -> str:
    return made(text).render(inputs, facts or {}, {"strong": 0.3}).replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ cpu.throttled_ratio | percent }}", "62 %"),
        ("takes {{ cpu.slowdown | times }} its usual time", "takes x6 its usual time"),
        ("(needs {{ strong | percent }})", "(needs 30 %)"),
        ("{{ cpu.lost | seconds }}", "1.4 s"),
        ("{{ cpu.lost | duration }}", "1.4 s"),
        ("{{ cpu.lost | ms }}", "1.4 ms"),
        ("{{ cpu.periods | count }}", "12.3k"),
        ("{{ cpu.periods | cores }}", "12.3k cores"),
        ("{{ cpu.periods | bytes }}", "12.1 KiB"),
        ("{{ cpu.lost | hours }}", "1 h 24 min"),
        ("{{ cpu.periods | tokens }}", "12.3k tokens"),
        ("{{ cpu.lost | celsius }}", "1.4 °C"),
        ("{{ cpu.lost | per_second }}", "1.4/s"),
        ("{{ cpu.periods }}", "12.3k"),
        ("{{ spec.limited }}", "yes"),
        ("{{ spec.owner }}", "argocd"),
        ("{{ container }} of {{ pods }}", "main of a, b, c, d, e + 1 more"),
        ("{% if spec.limited %}limited{% else %}free{% endif %}", "limited"),
        ("{{ 'a' if not spec.limited else 'b' }}", "b"),
        ("{{ spec.nothing or cpu.lost | seconds }}", "1.4 s"),
        ("{% for p in queue.waiting %}{{ p.pod }}: {{ p.value }} {% endfor %}", "a: 3 b: 4"),
        ("one\n  two", "one two"),
    ],
)
def test_values_stand_in_sentences(text: str, said: str) -> None:
    facts = {
        "cpu": {"throttled_ratio": 0.62, "slowdown": 6.0, "lost": 1.4, "periods": 12_345},
        "spec": {"limited": True, "owner": "argocd"},
        "queue": {"waiting": ({"pod": "a", "value": 3}, {"pod": "b", "value": 4, "evil": 1})},
    }
    text = text.replace("spec.nothing", "cpu.throttled_ratio_usual")
    assert say(text, facts, container="main", pods=tuple("abcdef")) == said


def test_the_usual_value_stands_beside_a_fact_that_has_one() -> None:
    text = "{{ cpu.throttled_ratio | percent }} ({{ cpu.throttled_ratio | usual }})"
    facts = {"throttled_ratio": 0.62, "throttled_ratio_usual": 0.01}
    assert say(text, {"cpu": facts}) == "62 % (usually 1 %)"
    assert say(text, {"cpu": {"throttled_ratio": 0.62}}) == "62 % (no usual value yet)"
    assert say(text, {}) == "not measured (not measured)"
    waits = "{% for p in queue.waiting %}{{ p.value | count }} ({{ p.value | usual }}){% endfor %}"
    queue = {"waiting": ({"pod": "a", "value": 30.4, "value_usual": 3.2},)}
    assert say(waits, {"queue": queue}) == "30 (usually 3)"


@pytest.mark.parametrize("text", ["{{ cpu.lost | usual }}", "{{ strong | usual }}"])
def test_a_usual_value_that_nobody_collects_is_a_finding(text: str) -> None:
    place = Place("r.yaml", 1, 1)
    says, found = compile_says(Scalar(text, False, place, None), VOCABULARY, INPUTS)
    assert says is None
    assert "of which a usual value is collected" in found[0].message


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"throttled_ratio": 0.5, "lost": 1}, "p stopped in 50 %; p loses 1. All of p.x wait."),
        ({"throttled_ratio": 0.5}, "p stopped in 50 %. All of p.x wait."),
        ({"lost": 1}, "P loses 1. All of p.x wait."),
        ({"throttled_ratio": 0.5, "lost": None}, "p stopped in 50 %. All of p.x wait."),
        ({}, "All of p.x wait."),
    ],
)
def test_a_clause_with_a_value_that_nobody_measured_is_left_out(
    facts: dict[str, object], told: str
) -> None:
    text = (
        "p stopped in {{ cpu.throttled_ratio | percent }}; p loses {{ cpu.lost | count }}. "
        "All of p.x wait."
    )
    assert say(text, {"cpu": facts}) == told


@pytest.mark.parametrize("filter_", ["", *(f" | {name}" for name in FILTERS if name != "usual")])
@pytest.mark.parametrize("value", [None, float("nan"), "text where a number should be", {}, True])
def test_what_nobody_measured_is_said_so(filter_: str, value: object) -> None:
    text = "x {{ cpu.lost" + filter_ + " }}"
    assert say(text, {"cpu": {"lost": value}}) == "x not measured"
    assert say(text) == "x not measured"


@pytest.mark.parametrize(
    "value",
    [
        "{{ 7*7 }}",
        "{% for x in y %}",
        "{# #}",
        "`rm -rf`",
        "a\nb\x1b[31m\u202e\u200b",
        "<!channel>",
    ],
)
def test_a_value_is_never_a_template_and_stays_on_its_line(value: str) -> None:
    said = say("x {{ spec.owner }} {{ container }}", {"spec": {"owner": value}}, container=value)
    assert "49" not in said
    assert not set("`\n\x1b\u202e\u200b") & set(said)
    assert said.count(value.translate({ord("`"): "'"}).splitlines()[0][:6].strip("\x1b")) == 2


def test_a_long_value_and_a_long_paragraph_are_cut() -> None:
    assert len(say("{{ spec.owner }}", {"spec": {"owner": "x" * 10_000}})) == 60
    rows = tuple({"pod": "p" * 60, "value": 1} for _ in range(500))
    text = "{% for p in queue.waiting %}{{ p.pod }}{% endfor %}"
    assert len(say(text, {"queue": {"waiting": rows}})) == 1500


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{{ cpu.lsot }}", "no field on cpu named 'lsot'; did you mean 'lost'?"),
        ("{{ cup.lost }}", "no evidence named 'cup'; did you mean 'cpu'?"),
        ("{{ queue.waiting }}", "`queue.waiting` is a set"),
        ("{{ cpu.series }}", "`cpu.series` is a series"),
        ("{{ cpu.lost.real }}", "a fact is written `evidence.fact`"),
        ("{{ cpu['lost'] }}", "getitem is not allowed"),
        ("{{ 'a' * 100000000 }}", "mul is not allowed"),
        ("{{ 10 ** 100000000 }}", "pow is not allowed"),
        ("{{ '%099999d' % 1 }}", "mod is not allowed"),
        ("{{ container.upper() }}", "call is not allowed"),
        ("{{ ''.__class__ }}", "a fact is written"),
        ("{{ self }}", "no evidence, input or threshold named 'self'"),
        ("{% set x = 1 %}", "assign is not allowed"),
        ("{% include 'x' %}", "include is not allowed"),
        ("{% macro m() %}{% endmacro %}", "macro is not allowed"),
        ("{{ cpu.lost | attr('x') }}", "no filter named 'attr'"),
        ("{{ cpu.lost | percent(1) }}", "takes nothing but the value before it"),
        ("{% for p in queue.waiting %}{% for q in queue.waiting %}{% endfor %}{% endfor %}", "not inside another"),
        ("{% for p in queue.waiting %}{{ p.x }}{% endfor %}", "no field on p named 'x'"),
        ("{% for p in cpu.lost %}{% endfor %}", "`cpu.lost` is no set"),
        ("{{ cpu.lost > 1 }}", "a comparison is `evidence.fact == 'text'`, or `evidence.fact > threshold`"),
        ("{{ 1 < cpu.lost < strong }}", "a comparison is"),
        ("{{ cpu.lost == strong }}", "`cpu.lost` is a number (seconds_per_second)"),
        ("{{ cpu.lost > strong }}", "`cpu.lost` is a number (seconds_per_second)"),
        ("{{ spec.owner == container }}", "`spec.owner` is a text"),
        ("{{ spec.owner > 'a' }}", "`spec.owner` is a text"),
        ("{{ queue.waiting > strong }}", "`queue.waiting` is a set"),
        ("{{ cpu.los > strong }}", "did you mean 'lost'"),
        ("{{ cpu.lost", "not a template"),
    ],
)  # fmt: skip
def test_what_a_paragraph_may_not_do_is_refused_when_it_loads(text: str, told: str) -> None:
    says, found = compile_says(Scalar(text, False, Place("r", 1, 1), None), VOCABULARY, INPUTS)
    assert says is None
    assert any(told in finding.message for finding in found), found


@pytest.mark.parametrize(
    ("owner", "said"),
    [
        ("4 Insufficient gpu.", "It says: 4 Insufficient gpu. So it waits."),
        ("4 Insufficient gpu", "It says: 4 Insufficient gpu. So it waits."),
        ("and so on...", "It says: and so on.... So it waits."),
        ("../etc", "It says: ../etc. So it waits."),
    ],
)
def test_a_value_with_a_full_stop_of_its_own_gets_no_second_one(owner: str, said: str) -> None:
    assert say("It says: {{ spec.owner }}. So it waits.", {"spec": {"owner": owner}}) == said
