"""What a condition may say, what it answers, and what it shows."""

import math
from typing import Any

import pytest

from tailhound.model import Bound, Seen
from tailhound.rules.expression import Answer
from tailhound.truth import Truth

from .kit import THRESHOLDS, condition, wrong

FACTS: dict[str, Any] = {
    "cpu": {"throttled_ratio": 0.62, "throttled_ratio_usual": 0.01, "periods": 0, "slowdown": 3.0},
    "spec": {"limited": True, "owner": "argocd"},
    "queue": {
        "waiting": (
            {"pod": "a", "value": 3, "value_usual": 2, "ready": True},
            {"pod": "b", "value": 9, "value_usual": 3, "ready": True},
            {"pod": "c", "value": 7, "value_usual": 3, "ready": False},
        )
    },
}


def ask(text: str, facts: Any = FACTS) -> Answer:
    return condition(text).answer(facts, THRESHOLDS)


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("cpu.throttled_ratio > strong", Truth.TRUE),
        ("strong < cpu.throttled_ratio", Truth.TRUE),
        ("0 <= cpu.throttled_ratio <= 1", Truth.TRUE),
        ("strong <= cpu.throttled_ratio < strong * 2", Truth.FALSE),
        ("not spec.limited", Truth.FALSE),
        ("spec.limited == true", Truth.TRUE),
        ("spec.owner in ['helm', 'argocd']", Truth.TRUE),
        ("spec.owner not in ['helm']", Truth.TRUE),
        ("spec.owner == 'flux'", Truth.FALSE),
        ("cpu.lost > lost", Truth.UNKNOWN),
        ("cpu.lost > lost or spec.limited", Truth.TRUE),
        ("spec.limited or cpu.lost > lost", Truth.TRUE),
        ("cpu.lost > lost and not spec.limited", Truth.FALSE),
        ("cpu.lost > lost and spec.limited", Truth.UNKNOWN),
        ("known(cpu.lost)", Truth.FALSE),
        ("known(queue.waiting)", Truth.TRUE),
        ("known(cpu.lost) and cpu.lost > lost", Truth.FALSE),
        ("cpu.throttled_ratio / cpu.periods > strong", Truth.UNKNOWN),
        ("cpu.throttled_ratio - cpu.throttled_ratio_usual > strong", Truth.TRUE),
        ("-cpu.throttled_ratio < 0", Truth.TRUE),
        ("abs(cpu.throttled_ratio - 1) > strong", Truth.TRUE),
        ("max(cpu.throttled_ratio, cpu.throttled_ratio_usual) > strong", Truth.TRUE),
        ("min(cpu.throttled_ratio, cpu.throttled_ratio_usual) > strong", Truth.FALSE),
        ("any(p.value > busy for p in queue.waiting)", Truth.TRUE),
        ("all(p.value > busy for p in queue.waiting)", Truth.FALSE),
        ("any(p.value > busy and p.ready for p in queue.waiting)", Truth.TRUE),
        ("count(p.value > busy for p in queue.waiting) == 1", Truth.FALSE),
        ("count(not p.ready for p in queue.waiting) == 1", Truth.TRUE),
        ("max(p.value for p in queue.waiting) > busy", Truth.TRUE),
        ("min(p.value for p in queue.waiting) > busy", Truth.FALSE),
        ("sum(p.value for p in queue.waiting) > busy * 4", Truth.TRUE),
        ("len(queue.waiting) >= busy", Truth.FALSE),
        ("any(p.value > p.value_usual * moved for p in queue.waiting)", Truth.TRUE),
    ],
)
def test_a_condition_answers_in_three_values(text: str, truth: Truth) -> None:
    assert ask(text).truth is truth


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("cpu.lost > lost", ("cpu.lost",)),
        ("cpu.lost > lost and spec.limited", ("cpu.lost",)),
        ("cpu.lost > lost or spec.limited", ()),
        ("cpu.throttled_ratio / cpu.periods > strong", ("cpu.periods",)),
        ("known(cpu.lost)", ()),
    ],
)
def test_an_unknown_condition_names_what_would_decide_it(
    text: str, missing: tuple[str, ...]
) -> None:
    assert ask(text).missing == missing


EMPTY: dict[str, Any] = {"queue": {"waiting": ()}}
GONE: dict[str, Any] = {"queue": {"waiting": None}}


@pytest.mark.parametrize(
    ("text", "empty"),
    [
        ("any(p.value > busy for p in queue.waiting)", Truth.UNKNOWN),
        ("all(p.value > busy for p in queue.waiting)", Truth.UNKNOWN),
        ("max(p.value for p in queue.waiting) > busy", Truth.UNKNOWN),
        ("sum(p.value for p in queue.waiting) < busy", Truth.UNKNOWN),
        ("count(p.value > busy for p in queue.waiting) == 0", Truth.TRUE),
        ("len(queue.waiting) == 0", Truth.TRUE),
    ],
)
def test_an_empty_set_is_unknown_but_counts_as_none_when_the_backend_answered(
    text: str, empty: Truth
) -> None:
    assert ask(text, EMPTY).truth is empty
    gone: tuple[dict[str, Any], ...] = (GONE, {"queue": {}}, {})
    for absent in gone:
        assert ask(text, absent).truth is Truth.UNKNOWN
        assert ask(text, absent).missing == ("queue.waiting",)


def test_a_record_without_a_value_leaves_open_what_the_others_dont_decide() -> None:
    facts = {"queue": {"waiting": ({"pod": "a", "value": 9}, {"pod": "b", "value": None})}}
    assert ask("any(p.value > busy for p in queue.waiting)", facts).truth is Truth.TRUE
    assert ask("all(p.value > busy for p in queue.waiting)", facts).truth is Truth.UNKNOWN
    assert ask("count(p.value > busy for p in queue.waiting) > 0", facts).truth is Truth.UNKNOWN
    assert ask("max(p.value for p in queue.waiting) > busy", facts).missing == (
        "queue.waiting.value",
    )


def test_the_value_is_shown_with_its_usual_value_and_the_bound() -> None:
    answer = ask("cpu.throttled_ratio > strong")
    name = "cpu.throttled_ratio"
    assert answer.seen == (Seen(name=name, value=0.62, unit="ratio", usual=0.01),)
    assert answer.needs == (Bound(fact=name, comparison=">", value=0.25, unit="ratio"),)


def test_the_bound_follows_the_side_it_is_written_on_and_a_not() -> None:
    assert ask("strong < cpu.throttled_ratio").needs[0].comparison == ">"
    assert ask("not cpu.throttled_ratio > strong").needs[0].comparison == "<="
    both = ask("strong <= cpu.throttled_ratio <= 1").needs
    assert [(bound.comparison, bound.value) for bound in both] == [(">=", 0.25), ("<=", 1.0)]


@pytest.mark.parametrize(
    ("text", "pod", "value"),
    [
        ("any(p.value > busy for p in queue.waiting)", "b", 9),
        ("any(p.value < busy for p in queue.waiting)", "a", 3),
        ("any(p.value > busy * 9 for p in queue.waiting)", "b", 9),
        ("all(p.value > busy for p in queue.waiting)", "a", 3),
        ("all(p.value < busy * 9 for p in queue.waiting)", "b", 9),
        ("max(p.value for p in queue.waiting) > busy", "b", 9),
        ("min(p.value for p in queue.waiting) > busy", "a", 3),
    ],
)
def test_the_record_that_decided_is_named(text: str, pod: str, value: int) -> None:
    (seen,) = ask(text).seen
    assert (seen.of, seen.value) == (pod, value)
    assert ask(text).needs[0].fact == seen.name == "queue.waiting.value"


def test_a_count_and_a_computed_value_are_shown_themselves() -> None:
    (seen,) = ask("count(p.value > busy for p in queue.waiting) > 1").seen
    assert (seen.name, seen.value, seen.of) == ("queue.waiting", 2, "")
    names = [seen.name for seen in ask("cpu.throttled_ratio / cpu.slowdown > strong").seen]
    assert "cpu.throttled_ratio / cpu.slowdown" in names


def test_a_ratio_that_is_compared_in_times_is_shown_in_times() -> None:
    answer = ask("cpu.throttled_ratio < moved")
    assert answer.seen[0].unit == answer.needs[0].unit == "times"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "cpu.throttle_ratio > strong",
            "52: no field on cpu named 'throttle_ratio'; did you mean 'throttled_ratio'?",
        ),
        ("specs.owner == 'a'", "52: no evidence named 'specs'; did you mean 'spec'?"),
        ("cpu.throttled_ratio > stronk", "74: no threshold named 'stronk'; did you mean 'strong'?"),
        ("cpu.lost", "52: must be a yes/no condition, but is a number"),
        ("spec.owner == 3", "52: can't compare 'spec.owner' (text) with '3' (number)"),
        ("cpu.throttled_ratio == '0.62'", "52: can't compare 'cpu.throttled_ratio' (number) with"),
        (
            "cpu.throttled_ratio > lost",
            "52: can't compare 'cpu.throttled_ratio' (in ratio) with 'lost' (in seconds_per",
        ),
        (
            "cpu.lost + cpu.periods > lost",
            "52: 'cpu.lost + cpu.periods' mixes seconds_per_second with count",
        ),
        ("spec.owner > 'a'", "52: `>` compares numbers, but 'spec.owner' is a text"),
        (
            "queue.waiting > busy",
            "52: 'queue.waiting' is a set; ask `any(v.value > limit for v in queue.waiting)`",
        ),
        ("queue.waiting", "52: must be a yes/no condition, but is a set; ask `any("),
        ("any(p > busy for p in queue.waiting)", "56: say which field of the record: `p.pod`"),
        ("any(p.valu > busy for p in queue.waiting)", "did you mean 'value'?"),
        ("any(p.value > busy for p in cpu.lost)", "80: 'cpu.lost' is a number, not a set"),
        ("any(p.value > busy for cpu in queue.waiting)", "'cpu' is taken"),
        ("any(p.value > busy for p in queue.waiting if p.ready)", "no `if` behind"),
        ("any(any(q.ready for q in queue.waiting) for p in queue.waiting)", "sets are not nested"),
        ("any(cpu.lost)", "52: any looks at a set"),
        ("known(cpu.lost > lost)", "known(..) takes one fact"),
        ("cpu.series > 1", "'cpu.series' is a series"),
        ("cpu > 1", "say which fact of it: `cpu.throttled_ratio`"),
        ("cpu.lost.x > 1", "a fact is written `evidence.fact`"),
        ("strong > 0", "52: looks at no evidence"),
        ("true", "52: looks at no evidence"),
        ("", "52: is empty"),
        ("cpu.lost >", "62: not an expression"),
        ("cpu.lost > lost && spec.limited", "write `and`"),
        ("cpu.lost = lost", "to compare, write `==`"),
        ("cpu.lost is None", "`is` (write `==`, or `known(..)`)"),
        ("cpu.lost == None", "missing evidence is no value"),
        ("cpu.lost ** 2 > lost", "52: `**` is not part of the condition language"),
        ("cpu.lost % 2 > lost", "`%` is not part"),
        ("cpu.lost if spec.limited else spec.limited", "if .. else is not part"),
        ("(lambda: 1)() > 0", "no function named 'lambda: 1'"),
        ("__import__('os').system('x') == 0", "no function named"),
        ("cpu.__class__ == 1", "no field on cpu named '__class__'"),
        ("cpu['lost'] > 0", "indexing with [..] is not part"),
        ("[x for x in queue.waiting] == 1", "a list comprehension is not part"),
        ("f'{cpu}' == spec.owner", "an f-string is not part"),
        ("spec.owner in 'abc'", "after `in` stands a list of values"),
        ("spec.owner in [1]", "must be a written text"),
        ("max(cpu.lost) > lost", "takes two or more numbers"),
        ("abs(cpu.lost, key=1) > lost", "arguments are written plainly"),
        ("cpu.lost > 1e999", "1e999 can't stand in a condition"),
        ("cpu.lost > 1j", "1j can't stand in a condition"),
    ],
)
def test_a_wrong_condition_is_told_with_its_column_and_what_to_write(text: str, told: str) -> None:
    assert told in wrong(text)


def test_every_mistake_of_a_condition_is_told_at_once() -> None:
    found = wrong("cpu.throttle_ratio > stronk or spec.ownr == 'x'").splitlines()
    assert [line.partition(":")[0] for line in found] == ["52", "73", "83"]


def test_a_condition_has_a_size() -> None:
    assert "is 301 characters long" in wrong("cpu.lost > " + "1" * 290)
    assert "a condition may have 80" in wrong("cpu.lost > " + "-" * 90 + "1")
    assert "not an expression" in wrong("(" * 250)


def test_columns_count_characters_not_bytes() -> None:
    found = wrong("spec.owner == 'éàü' and cpu.x > 0")
    assert found.startswith("76: no field on cpu named 'x'")


def test_a_bare_number_is_remembered_for_the_linter() -> None:
    assert [bare.offset for bare in condition("cpu.lost > 0.25 and cpu.lost < 1").bare] == [11]


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, "0.62", True, 10**400, [], {}, b"x", object(), ({"pod": 1}, 2)],
)
def test_a_fact_of_another_kind_counts_as_not_measured(value: object) -> None:
    facts: Any = {"cpu": {"throttled_ratio": value}, "queue": {"waiting": value}}
    if not isinstance(value, list):
        assert ask("any(p.value > busy for p in queue.waiting)", facts).truth is Truth.UNKNOWN
    answer = ask("cpu.throttled_ratio > strong", facts)
    assert answer.truth is Truth.UNKNOWN
    assert answer.seen == ()


def test_facts_that_came_back_from_json_as_lists_are_sets() -> None:
    facts: Any = {"queue": {"waiting": [{"pod": "a", "value": 9}]}}
    assert ask("any(p.value > busy for p in queue.waiting)", facts).truth is Truth.TRUE


def test_an_overflow_is_unknown() -> None:
    facts: Any = {"cpu": {"lost": 1e308, "slowdown": 1e10}}
    answer = ask("cpu.lost * cpu.slowdown > lost", facts)
    assert (answer.truth, answer.missing) == (Truth.UNKNOWN, ("cpu.lost", "cpu.slowdown"))


OR = "cpu.slowdown > moved * 4 or cpu.throttled_ratio > strong"


def shown(text: str, facts: Any = FACTS) -> tuple[list[str], list[str]]:
    """The names of the values and of the bounds that people see."""
    answer = ask(text, facts)
    return [seen.name for seen in answer.seen], [bound.fact for bound in answer.needs]


def test_of_an_or_only_the_alternative_that_made_it_true_is_shown() -> None:
    assert shown(OR) == (["cpu.throttled_ratio"], ["cpu.throttled_ratio"])
    first = {"cpu": {"slowdown": 9, "throttled_ratio": 0.9}}
    assert shown(OR, first) == (["cpu.slowdown"], ["cpu.slowdown"])


def test_of_an_or_that_is_false_or_unknown_everything_is_shown() -> None:
    both = ["cpu.slowdown", "cpu.throttled_ratio"]
    assert shown(OR, {"cpu": {"slowdown": 2, "throttled_ratio": 0.1}}) == (both, both)
    assert shown(OR, {"cpu": {"slowdown": 2}}) == (["cpu.slowdown"], both)


def test_a_value_of_several_places_is_shown_while_one_of_them_counts() -> None:
    text = "cpu.slowdown > 0 and (spec.limited or cpu.slowdown > moved)"
    assert shown(text) == (["cpu.slowdown", "spec.limited"], ["cpu.slowdown"])


def test_a_not_turns_an_and_into_alternatives_and_an_or_into_none() -> None:
    assert shown("not (cpu.slowdown > moved * 4 and spec.limited)")[0] == ["cpu.slowdown"]
    low = {"cpu": {"slowdown": 2, "throttled_ratio": 0.1}}
    assert shown(f"not ({OR})", low)[0] == ["cpu.slowdown", "cpu.throttled_ratio"]


def test_alternatives_have_numbers_and_what_must_hold_in_any_case_has_none() -> None:
    text = f"cpu.periods < 1 and ({OR})"
    answer = ask(text, {"cpu": {"periods": 0, "slowdown": 2, "throttled_ratio": 0.1}})
    assert [bound.alternative for bound in answer.needs] == [0, 1, 2]


def test_the_records_of_a_set_decide_each_for_itself() -> None:
    text = "any(p.value > busy * 2 or p.ready for p in queue.waiting)"
    assert shown(text)[1] == ["queue.waiting.value"]


def test_a_value_that_only_has_to_be_known_is_shown_where_nothing_else_is() -> None:
    assert shown("known(cpu.slowdown) and cpu.throttled_ratio > strong")[0] == [
        "cpu.throttled_ratio"
    ]
    assert shown("known(cpu.slowdown) and cpu.slowdown > moved")[0] == ["cpu.slowdown"]
    assert shown("known(cpu.slowdown)")[0] == ["cpu.slowdown"]


def test_a_bound_that_follows_from_other_facts_is_told_where_these_are_known() -> None:
    made = condition("cpu.lost > moved * cpu.slowdown * lost")
    (bound,) = made.answer({"cpu": {"lost": 1.0, "slowdown": 4.0}}, THRESHOLDS).needs
    assert (bound.fact, bound.comparison, bound.unit) == ("cpu.lost", ">", "seconds_per_second")
    assert bound.value == pytest.approx(1.5 * 4 * 0.05)
    assert made.answer({"cpu": {"lost": 1.0}}, THRESHOLDS).needs == ()
    turned = condition("not (cpu.lost > moved * cpu.slowdown * lost)")
    (bound,) = turned.answer({"cpu": {"lost": 1.0, "slowdown": 4.0}}, THRESHOLDS).needs
    assert bound.comparison == "<="


def test_what_is_compared_with_its_usual_value_is_shown_beside_that() -> None:
    made = condition("cpu.throttled_ratio > moved * cpu.throttled_ratio_usual")
    facts = {"cpu": {"throttled_ratio": 0.6, "throttled_ratio_usual": 0.1}}
    answer = made.answer(facts, THRESHOLDS)
    assert answer.needs == ()
    assert answer.seen[0].usual == 0.1
