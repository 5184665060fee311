"""Laws of the condition language, on random conditions and facts."""

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.errors import Finding
from tailhound.rules.expression import compile_condition
from tailhound.truth import Truth, all_of, any_of, truth_of

from .kit import THRESHOLDS, VOCABULARY, condition, scalar

truths = st.sampled_from(Truth)
NUMBERS = ("cpu.throttled_ratio", "cpu.slowdown", "cpu.throttled_ratio_usual")
SIGNS = (">", ">=", "<", "<=", "==", "!=")


def _number(draw: random.Random) -> str:
    shape = draw.randrange(5)
    one, other = draw.choice(NUMBERS), draw.choice(NUMBERS)
    if shape == 0:
        return f"{one} {draw.choice('+-*/')} {other}"
    if shape == 1:
        return f"{draw.choice(('max', 'min'))}({one}, {other})"
    return one


def _leaf(draw: random.Random) -> str:
    shape = draw.randrange(7)
    sign = draw.choice(SIGNS)
    if shape == 0:
        return "spec.limited"
    if shape == 1:
        return f"spec.owner {draw.choice(('in', 'not in'))} ['a', 'b']"
    if shape == 2:
        fold = draw.choice(("any", "all"))
        return f"{fold}(p.value {sign} busy for p in queue.waiting)"
    if shape == 3:
        fold = draw.choice(("max", "min", "sum"))
        return f"{fold}(p.value for p in queue.waiting) {sign} busy"
    if shape == 4:
        return f"count(p.value {sign} busy for p in queue.waiting) {draw.choice(SIGNS)} 1"
    return f"{_number(draw)} {sign} strong"


def _condition(draw: random.Random, depth: int) -> str:
    if depth == 0:
        return _leaf(draw)
    shape = draw.randrange(4)
    if shape == 0:
        return f"not ({_condition(draw, depth - 1)})"
    if shape == 1:
        return _leaf(draw)
    word = draw.choice(("and", "or"))
    return f"({_condition(draw, depth - 1)}) {word} ({_condition(draw, depth - 1)})"


def _facts(draw: random.Random) -> dict[str, dict[str, Any]]:
    def value() -> float:
        return draw.choice((0, 0.1, 0.25, 0.5, 3, 9))

    rows = [{"pod": f"p{i}", "value": value()} for i in range(draw.randrange(4))]
    return {
        "cpu": {name.partition(".")[2]: value() for name in NUMBERS},
        "spec": {"limited": draw.random() < 0.5, "owner": draw.choice("abc")},
        "queue": {"waiting": tuple(rows)},
    }


def _less(draw: random.Random, facts: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The same facts, some of them not measured."""
    partial: dict[str, dict[str, Any]] = {}
    for name, values in facts.items():
        if draw.random() < 0.2:
            continue
        partial[name] = {k: None if draw.random() < 0.4 else v for k, v in values.items()}
    waiting = partial.get("queue", {}).get("waiting")
    if waiting:
        hidden = tuple(
            {**row, "value": row["value"] if draw.random() < 0.6 else None} for row in waiting
        )
        partial["queue"]["waiting"] = hidden
    return partial


@settings(max_examples=300, deadline=None)
@given(st.integers(min_value=0, max_value=2**48))
def test_more_evidence_never_reverses_a_verdict(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - a test's dice
    text = _condition(draw, 3)
    if len(text) > 300:
        return
    compiled, _ = compile_condition(scalar(text), VOCABULARY)
    if compiled is None:  # over 80 parts
        return
    facts = _facts(draw)
    before = compiled.answer(_less(draw, facts), THRESHOLDS)
    after = compiled.answer(facts, THRESHOLDS)
    if before.truth is Truth.UNKNOWN:
        assert before.missing
    else:
        assert after.truth is before.truth, text


TOKENS = (
    "cpu.lost", "cpu", "spec.owner", "queue.waiting", "p.value", "p", "strong", "nope", "0", "1e9",
    "'x'", "(", ")", "[", "]", "{", "}", ",", ".", ":", ">", "<=", "==", "=", "and", "or", "not",
    "in", "is", "for", "if", "else", "any", "all", "count", "max", "known", "lambda", "+", "-",
    "/", "**", "@", "$", "\\", "\n", "\t", '"', "'", "\x00", "é", "\u2028", "await", "f'", "0x",
    "*", ":=", "...", "~", "!", "None", "True", "1_0", "1if", "__import__", "\ud800",
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=40), st.sampled_from(["", " "]))
def test_no_string_of_tokens_escapes_as_an_exception(tokens: list[str], glue: str) -> None:
    compiled, found = compile_condition(scalar(glue.join(tokens)), VOCABULARY)
    assert (compiled is None) == bool(found)
    assert all(isinstance(finding, Finding) for finding in found)
    if compiled is not None:
        assert compiled.truth({}, THRESHOLDS) in Truth


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=320))
def test_no_text_escapes_as_an_exception(text: str) -> None:
    compiled, found = compile_condition(scalar(text), VOCABULARY)
    assert (compiled is None) == bool(found)


_json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
EVERYTHING = condition(
    "cpu.throttled_ratio / cpu.slowdown > strong or spec.limited or spec.owner in ['a'] or"
    " any(p.value > busy and p.ready for p in queue.waiting) or len(queue.waiting) > busy"
)


@settings(max_examples=60, deadline=None)
@given(st.lists(_json, min_size=6, max_size=6), _json)
def test_answering_never_raises_whatever_the_facts_hold(values: list[Any], other: Any) -> None:
    facts: Any = {
        "cpu": {"throttled_ratio": values[0], "slowdown": values[1]},
        "spec": {"limited": values[2], "owner": values[3]} if values[4] else other,
        "queue": {"waiting": values[5]},
    }
    assert EVERYTHING.answer(facts, THRESHOLDS).truth in Truth


@given(truths, truths, truths)
def test_the_laws_of_three_values(one: Truth, two: Truth, three: Truth) -> None:
    assert all_of([one, two]) is all_of([two, one])
    assert any_of([one, any_of([two, three])]) is any_of([any_of([one, two]), three])
    assert ~all_of([one, two]) is any_of([~one, ~two])
    assert ~~one is one
    assert all_of([one, any_of([two, three])]) is any_of([all_of([one, two]), all_of([one, three])])


VALUES = {Truth.TRUE: True, Truth.FALSE: False, Truth.UNKNOWN: None}


@given(truths, truths)
def test_and_or_not_in_a_condition_follow_these_laws(one: Truth, two: Truth) -> None:
    facts: Any = {
        "spec": {"limited": VALUES[one]},
        "queue": {"waiting": ({"pod": "a", "ready": VALUES[two]},)},
    }
    other = "any(p.ready for p in queue.waiting)"
    assert condition(f"spec.limited and {other}").truth(facts, {}) is all_of([one, two])
    assert condition(f"spec.limited or {other}").truth(facts, {}) is any_of([one, two])
    assert condition("not spec.limited").truth(facts, {}) is ~one
    assert truth_of(VALUES[one]) is one
