"""What a claim says, in words: one place, so that every surface says the same.

A claim is told as values: what was seen, where, and what the claim needs of it. A surface escapes
the texts, joins them and draws them; it adds no words of its own. `told` is the
joined form that rules, terminal and tests share: `62 % (needs 25 %), 41 waiting`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tailhound.model import needs, phrases
from tailhound.model.names import capital, fact_name, small
from tailhound.model.phrases import phrase, template_of
from tailhound.model.verdict import Check, Part, Seen
from tailhound.model.weighing import FOR
from tailhound.model.wording import NOT_MEASURED, cut, fact, number, with_usual
from tailhound.truth import Truth

_MARKS = {Truth.TRUE: "✓", Truth.FALSE: "✗", Truth.UNKNOWN: "?"}
_SAYS = {Truth.TRUE: "holds", Truth.FALSE: "does not hold", Truth.UNKNOWN: "unknown"}
_REMARK = re.compile(r"\s*\([^()]*\)")
_OR = re.compile(r"\bor\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One value of a claim: `text` is it in words, `of` the record it belongs to ("" for none).

    `needs` is `needs 25 %` or `refuted under 5 %`, "" where the claim has no bound for it. `figure`
    is true for a number, which is ours; other values come from outside and are to be escaped.
    `same`: it says no more than the claim does. `fact` is the name of what it is a value of.
    """

    text: str
    of: str = ""
    needs: str = ""
    figure: bool = True
    same: bool = False
    fact: str = ""


def mark(check: Check) -> str:
    """A glyph that repeats `says`."""
    return _MARKS[check.truth]


def says(check: Check) -> str:
    """`holds`, `does not hold`, `unknown`."""
    return _SAYS[check.truth]


def stand(check: Check, runbook: str) -> str:
    """What an answer says of the cause: `for ID`, `against ID`, `not against ID`, `open for ID`.

    A refuting claim that does not hold is good news for the cause: its mark is of the claim alone.
    """
    if check.truth is Truth.UNKNOWN:
        return f"open for {runbook}"
    if check.part is Part.REFUTE:
        return f"against {runbook}" if check.truth is Truth.TRUE else f"not against {runbook}"
    return f"for {runbook}" if check.truth is Truth.TRUE else f"not for {runbook}"


def values(check: Check, most: int = 3) -> tuple[Value, ...]:
    """What a claim saw, at most `most` values, each with what it needs; empty where the claim says
    all by itself, or nobody could answer it.

    Of several values, and of an alternative, each is told by its name. A value that has no bound is
    told with its usual one, and what is told once is not told again: neither a usual value beside
    its value, nor a number that is told as what another one needs.
    """
    known = _in_one_branch(check, _to_tell(check)) if words_against(check) else _to_tell(check)
    named = len({seen.name for seen in known}) > 1 or _is_alternative(check)
    told: dict[tuple[str, str], Value] = {}
    bound = set[str]()
    for seen in known:
        first = seen.name not in bound
        reading = _reading(seen, check, first=first, named=named)
        bound.add(seen.name)
        key = (reading.text, reading.of)
        if told and first and needs.is_later(check, seen.name):
            reading = replace(reading, text=f"or {reading.text}")
        told.setdefault(key, reading)
    found = tuple(told.values())[:most]
    if found and check.truth is Truth.UNKNOWN:
        return (*found, Value(text="nothing else is known"))
    return found


def _to_tell(check: Check) -> list[Seen]:
    """The values of a claim without those that another value tells, or that only have to be there:
    a usual value, and a number that is what another value needs.
    """
    bounded = {bound.fact for bound in check.needs}
    return [
        seen
        for seen in check.seen
        if _is_value(seen)
        and _answers(seen, check)
        and (seen.name in bounded or not (usual_of(seen.name) or _is_needed(seen, check)))
    ]


def _answers(seen: Seen, check: Check) -> bool:
    """Whether a value answers its claim: what is as needed does not tell why a claim fails, and
    which case it is looked at in tells nothing of a claim that is the same in all.
    """
    if phrases.own(seen) in phrases.CASES and not _OR.search(check.claim):
        return False
    bounds = needs.of(check, seen.name)
    if check.truth is not Truth.FALSE or not bounds:
        return True
    return not all(needs.is_met(bound, seen.value) for bound in bounds)


def is_by_branch(check: Check) -> bool:
    """Whether a claim with an `or` holds by a value that tells by itself what is so: then its
    sentence only makes people ask which of the two it is.
    """
    known = _to_tell(check)
    if check.truth is not Truth.TRUE or not known or not _OR.search(check.claim):
        return False
    if check.part is Part.REFUTE and check.otherwise:
        return False
    chosen = any(bound.alternative for bound in needs.of(check, known[0].name))
    value = known[0].value
    return chosen and isinstance(value, int | float) and bool(phrases.alone(known[0], value))


def words_against(check: Check) -> str:
    """`its queue is long`: what its runbook says is so where a claim for a cause does not hold; ""
    for a claim that is told as it stands.
    """
    against = check.part in FOR and check.truth is Truth.FALSE
    return check.otherwise if against else ""


def _in_one_branch(check: Check, known: list[Seen]) -> list[Seen]:
    """Of a claim with an `or` that does not hold, the value of one branch, with a usual one where
    any has that, and with a number that is needed: what does not hold is told by the runbook's
    words.
    """
    alternatives = {bound.fact for bound in check.needs if bound.alternative}
    branches = [seen for seen in known if seen.name in alternatives]
    branches.sort(
        key=lambda seen: (
            needs.has_no_number(check, seen.name),
            seen.usual is None,
            seen.unit == "times",
        )
    )
    return branches[:1] or known


def _is_needed(seen: Seen, check: Check) -> bool:
    return any(seen.value == bound.value and seen.unit == bound.unit for bound in check.needs)


def usual_of(name: str) -> str:
    """`kv.preemptions_per_second` of `kv.preemptions_per_second_usual`; "" for no usual value."""
    place, _, last = name.rpartition(".")
    for base in (last.removesuffix("_usual"), last.removeprefix("usual_")):
        if base != last:
            return f"{place}.{base}"
    return ""


def brief(claim: str) -> str:
    """A claim without the remarks in its brackets and without its full stop."""
    return _REMARK.sub("", claim).rstrip(".") or claim


def _is_value(seen: Seen) -> bool:
    """Whether there is more to tell than a yes or no."""
    return seen.value is not None and not isinstance(seen.value, bool)


def _is_alternative(check: Check) -> bool:
    """Whether the values are of one alternative among others that the claim allows."""
    return any(bound.alternative for bound in check.needs)


def _reading(seen: Seen, check: Check, *, first: bool, named: bool) -> Value:
    beside = bool(words_against(check)) and seen.usual is not None
    bounds = needs.of(check, seen.name) if first and not beside else []
    value = seen.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        name = fact_name(seen.name) if named else ""
        text = f"{name} {fact(value, seen.unit)}".strip()
        return Value(text=text, of=seen.of, figure=False, fact=seen.name)
    text = phrases.alone(seen, value) if is_by_branch(check) else ""
    text = text or phrase(seen, value, named=named)
    if usual_of(seen.name) and not template_of(seen):
        text = f"usually {number(value, seen.unit)}"
    if not bounds and seen.usual is not None:
        text += with_usual(value, seen.usual, seen.unit).removeprefix(number(value, seen.unit))
    same = needs.says_the_same(bounds, value)
    obvious = same or (
        needs.is_any(bounds)
        and (check.part is Part.REFUTE or all(needs.is_met(bound, value) for bound in bounds))
    )
    wanted = needs.needed(bounds, check.part) if bounds and not obvious else ""
    return Value(text=text, of=seen.of, needs=wanted, same=same, fact=seen.name)


def sentence_of(check: Check) -> str:
    """The words of a claim: as it stands, or what is so where it does not hold."""
    return capital(words_against(check)) or check.claim


def told(check: Check, most: int = 3, *, with_needs: bool = True) -> str:
    """`62 % (needs 25 %), 41 waiting for llm-0, usually 3 (x14)`; `not measured`. Not escaped."""
    if found := values(check, most):
        return _joined(found, with_needs=with_needs)
    return NOT_MEASURED if check.truth is Truth.UNKNOWN else fact(check.truth is Truth.TRUE)


def sentence(check: Check) -> str:
    """The values of a claim for the end of a sentence; "" where it has none to tell.

    What says no more than the claim itself is left out: a yes or no, and none of what it says that
    there is none.
    """
    found = values(check)
    if not found and check.truth is Truth.UNKNOWN:
        return NOT_MEASURED
    return _joined([one for one in found if not one.same])


def _joined(found: Iterable[Value], *, with_needs: bool = True) -> str:
    return ", ".join(
        f"{one.text}{f' for {cut(one.of)}' if one.of else ''}"
        f"{f' ({one.needs})' if one.needs and with_needs else ''}"
        for one in found
    )


def claimed(check: Check) -> str:
    """`hardly ever stopped: 0.4 % (refuted under 5 %)`: a claim inside a sentence."""
    if is_by_branch(check):
        return told(check)
    seen = sentence(check)
    claim = small(sentence_of(check).rstrip("."))
    return f"{claim}: {seen}" if seen else claim


# --- the claims of a cause


def block(checks: Iterable[Check], most: int = 3) -> tuple[tuple[Check, tuple[Value, ...]], ...]:
    """The claims for a cause that something is known of, each with its values; none told twice.

    Of those that hold by the same value the strictest one is told, in place of all. A value that
    stands beside an earlier claim is left out beside a later one, which is told by what it needs;
    a claim that its value tells by itself is left out with it.
    """
    known = [one for one in checks if one.part in FOR and one.truth is not Truth.UNKNOWN]
    shown: list[Check] = []
    for one in known:
        strictest = _strictest(one, known)
        shown += [] if strictest in shown else [strictest]
    seen = set[tuple[str, str]]()
    made = []
    for check in shown:
        found = values(check, most)
        keys = {(one.text, one.of) for one in found}
        if keys <= seen:
            if is_by_branch(check):
                continue
            found = tuple(
                replace(one, text="", of="") for one in found[:1] if _is_short(check, one)
            )
        made.append((check, found))
        seen |= keys
    return tuple(made)


def _is_short(check: Check, value: Value) -> bool:
    """Whether a value lacks what its claim needs."""
    return check.truth is Truth.FALSE and bool(value.needs)


def _strictest(check: Check, known: Iterable[Check]) -> Check:
    """The claim that needs most of those that hold by the value of this one; itself for none."""
    for other in known:
        check = other if _is_stricter(other, check) else check
    return check


def _is_stricter(other: Check, check: Check) -> bool:
    """Whether another claim holds by the very value of this one, and needs more of it."""
    if other.truth is not Truth.TRUE or check.truth is not Truth.TRUE:
        return False
    mine, theirs = _to_tell(check), _to_tell(other)
    if len(mine) != 1 or mine != theirs:
        return False
    low, high = needs.of(check, mine[0].name), needs.of(other, mine[0].name)
    if len(low) != 1 or len(high) != 1 or low[0].comparison != high[0].comparison:
        return False
    more = high[0].value - low[0].value
    return more > 0 if low[0].comparison in (">", ">=") else more < 0
