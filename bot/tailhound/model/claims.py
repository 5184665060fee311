"""What a claim says, in words: one place, so that every surface says the same.

A claim is told as values: what was seen, where, and what the claim needs of it. A surface escapes
the texts, joins them and draws them; it adds no words of its own. `told` is the
joined form that rules, terminal and tests share: `62 % (needs 25 %), 41 waiting`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tailhound.model.names import fact_name, small
from tailhound.model.verdict import Bound, Cause, Check, Part, Seen, Verdict
from tailhound.model.wording import NOT_MEASURED, cut, fact, number, with_usual
from tailhound.truth import Truth

_MARKS = {Truth.TRUE: "✓", Truth.FALSE: "✗", Truth.UNKNOWN: "?"}
_SAYS = {Truth.TRUE: "holds", Truth.FALSE: "does not hold", Truth.UNKNOWN: "unknown"}
_AGO = " ago"
_REMARK = re.compile(r"\s*\([^()]*\)")
FOR = (Part.CONFIRM, Part.OPTIONAL)
"""The lists whose claims speak for a cause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One value of a claim: `text` is it in words, `of` the record it belongs to ("" for none).

    `needs` is `needs 25 %` or `refuted under 5 %`, "" where the claim has no bound for it. `figure`
    is true for a number, which is ours; other values come from outside and are to be escaped.
    """

    text: str
    of: str = ""
    needs: str = ""
    figure: bool = True


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
    """What a claim saw, at most `most` values, each with what it needs; never empty.

    Of several values, and of an alternative, each is told by its name. A yes or no that a claim
    looks at may be the opposite of what it says: then the claim's own truth is told. A value that
    has no bound is told with its usual one. What nobody measured is told as such, after the values
    that somebody did.
    """
    known = [seen for seen in check.seen if _is_value(seen)]
    named = len({seen.name for seen in known}) > 1 or _is_alternative(check)
    told: list[Value] = []
    bound = set[str]()
    for seen in known[:most]:
        reading = _reading(seen, check, first=seen.name not in bound, named=named)
        if reading not in told:  # two facts that read alike are told once
            told.append(reading)
        bound.add(seen.name)
    if not known and check.truth is not Truth.UNKNOWN:
        return (Value(text=fact(check.truth is Truth.TRUE)),)
    if not known:
        return (Value(text=NOT_MEASURED, needs=needs(check)),)
    if check.missing or check.truth is Truth.UNKNOWN:
        told.append(Value(text=f"the rest {NOT_MEASURED}"))
    return tuple(told)


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
    wanted = _needs(check, seen.name) if first else ""
    name = fact_name(seen.name) if named else ""
    label = f"{name} " if name else ""
    value = seen.value
    if name.endswith(_AGO) and isinstance(value, int | float) and not isinstance(value, bool):
        text = f"last {name.removesuffix(_AGO)} {number(value, seen.unit)}{_AGO}"
        return Value(text=text, of=seen.of, needs=wanted)
    if isinstance(value, bool) or not isinstance(value, int | float):
        text = f"{label}{fact(value, seen.unit)}"
        return Value(text=text, of=seen.of, needs=wanted, figure=False)
    if wanted or seen.usual is None:
        return Value(text=f"{label}{number(value, seen.unit)}", of=seen.of, needs=wanted)
    return Value(text=f"{label}{with_usual(value, seen.usual, seen.unit)}", of=seen.of)


def told(check: Check, most: int = 3, *, with_needs: bool = True) -> str:
    """`62 % (needs 25 %), 41 on llm-0, usually 3 (x14)`; `not measured`. Not escaped."""
    return ", ".join(
        f"{one.text}{f' on {cut(one.of)}' if one.of else ''}"
        f"{f' ({one.needs})' if one.needs and with_needs else ''}"
        for one in values(check, most)
    )


def sentence(check: Check) -> str:
    """The values of a claim for the end of a sentence; "" where it has none to tell.

    A yes or no says no more than the claim itself and is left out.
    """
    if check.truth is Truth.UNKNOWN:
        return NOT_MEASURED
    return told(check) if any(map(_is_value, check.seen)) else ""


def claimed(check: Check) -> str:
    """`hardly ever stopped: 0.4 % (refuted under 5 %)`: a claim inside a sentence."""
    seen = sentence(check)
    claim = small(check.claim.rstrip("."))
    return f"{claim}: {seen}" if seen else claim


def _needs(check: Check, name: str) -> str:
    """What the claim needs of one fact; an alternative to an earlier one begins with "or"."""
    bounds = [bound for bound in check.needs if bound.fact == name]
    if not bounds:
        return ""
    alternatives = [bound.alternative for bound in check.needs if bound.alternative]
    later = bool(bounds[0].alternative) and bounds[0].alternative != alternatives[0]
    return f"{'or ' if later else ''}{needed(bounds, check.part)}"


def needs(check: Check, most: int = 2) -> str:
    """All that a claim needs, apart from what was seen: `needs 25 %, or needs 9`; each once."""
    names = list(dict.fromkeys(bound.fact for bound in check.needs))
    told: dict[str, str] = {}
    for name in names:
        text = _needs(check, name)
        told.setdefault(text.removeprefix("or "), text)
    return ", ".join([*told.values()][:most])


def bounds(check: Check, most: int = 2) -> str:
    """What a claim needs, in full and without the verb: `over 25 %`, `under 72 °C, or over 9`.

    "" where the claim has no bound.
    """
    told: dict[str, str] = {}
    for name in dict.fromkeys(bound.fact for bound in check.needs):
        found = [bound for bound in check.needs if bound.fact == name]
        text = needed(found, check.part, in_full=True).removeprefix("needs ")
        told.setdefault(text, f"or {text}" if told and found[0].alternative else text)
    return ", ".join([*told.values()][:most])


def needed(bounds: Sequence[Bound], part: Part, *, in_full: bool = False) -> str:
    """`needs 25 %`, `needs over 0`, `needs under 72 °C`, `needs x0.8 to x1.2`, `refuted at 0`.

    `in_full` says also `needs over 25 %`, where nothing else tells the direction.
    """
    verb = "refuted" if part is Part.REFUTE else "needs"
    low = [bound for bound in bounds if bound.comparison in (">", ">=")]
    high = [bound for bound in bounds if bound.comparison in ("<", "<=")]
    together = len({bound.alternative for bound in bounds}) == 1
    if together and len(low) == 1 and len(high) == 1 and low[0].value < high[0].value:
        return f"{verb} {_bound(low[0])} to {_bound(high[0])}"
    return f"{verb} " + " or ".join(
        dict.fromkeys(_one(bound, part, in_full=in_full) for bound in bounds[:2])
    )


def _bound(bound: Bound) -> str:
    return number(bound.value, bound.unit)


def _one(bound: Bound, part: Part, *, in_full: bool) -> str:
    text = _bound(bound)
    if bound.comparison == ">" and (bound.value == 0 or (in_full and part is not Part.REFUTE)):
        return f"over {text}"
    if bound.value == 0 and bound.comparison == "<=":
        return f"at {text}" if part is Part.REFUTE else text
    if bound.comparison in (">", ">="):
        return f"from {text}" if part is Part.REFUTE else text
    words = {"<": f"under {text}", "<=": f"{text} or less", "!=": f"other than {text}"}
    if part is Part.REFUTE:
        words |= {"<=": f"at {text} or less", "!=": f"at other than {text}", "==": f"at {text}"}
    return words.get(bound.comparison, text)


# --- the claims of a cause


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """What speaks against a cause: the refuting claims that hold, and how many could be looked at.

    `open` is the first claim that nobody could answer, "" when all were.
    """

    holding: tuple[Check, ...] = ()
    asked: int = 0
    answered: int = 0
    open: str = ""

    def sentence(self, open_claim: str = "") -> str:
        """`Nothing speaks against it (3 of 4 checked).`; "" when something does, or can't.

        `open_claim` is `open` as the surface writes it, told in the same brackets.
        """
        if self.holding or not self.asked:
            return ""
        checked = f"{self.answered} of {self.asked} checked"
        if not self.answered:
            return f"Whether something speaks against it is not known ({checked})."
        missing = f"; {open_claim}: {NOT_MEASURED}" if open_claim else ""
        return f"Nothing speaks against it ({checked}{missing})."


def against(checks: Iterable[Check]) -> Against:
    """What speaks against a cause, or a chain of them. A `✗` here is good news, and not listed."""
    refuting = [check for check in checks if check.part is Part.REFUTE]
    unknown = [check for check in refuting if check.truth is Truth.UNKNOWN]
    return Against(
        holding=tuple(check for check in refuting if check.truth is Truth.TRUE),
        asked=len(refuting),
        answered=len(refuting) - len(unknown),
        open=unknown[0].claim if unknown else "",
    )


def deciding(cause: Cause) -> Check | None:
    """The check that decided against a cause: what must apply and does not, else a refuting claim
    that holds, else a claim that does not.
    """

    def of(part: Part, truth: Truth) -> list[Check]:
        return [check for check in cause.checks if check.part is part and check.counts is truth]

    found = [*of(Part.REFUTE, Truth.TRUE), *of(Part.CONFIRM, Truth.FALSE)]
    if cause.verdict is Verdict.NOT_APPLICABLE:
        found = [*of(Part.APPLIES, Truth.FALSE), *found]
    return next(iter(found), None)


def measured(cause: Cause) -> int:
    """How many of the claims for a cause hold by something that was measured."""
    return sum(
        check.part in FOR
        and check.truth is Truth.TRUE
        and any(seen.value is not None for seen in check.seen)
        for check in cause.checks
    )


def unanswered(cause: Cause) -> int:
    """How many of the claims for a cause nobody could answer."""
    return sum(check.part in FOR and check.truth is Truth.UNKNOWN for check in cause.checks)
