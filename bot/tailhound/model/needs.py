"""What a claim needs of a value, in words: `needs 25 %`, `needs over 5`, `needs one`."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from tailhound.model.evidence import FactValue
from tailhound.model.phrases import SHARE_BELOW
from tailhound.model.verdict import Bound, Check, Part
from tailhound.model.wording import number, share

COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
_AMOUNTS = frozenset({"count", "per_second"})
"""Units whose zero is "none": there is nothing to read a number of."""


def needs(check: Check, most: int = 2) -> str:
    """All that a claim needs, apart from what was seen: `needs 25 %, or needs 9`; each once."""
    names = list(dict.fromkeys(bound.fact for bound in check.needs))
    told: dict[str, str] = {}
    for name in names:
        text = needed(of(check, name), check.part)
        told.setdefault(text, f"or {text}" if is_later(check, name) else text)
    return ", ".join([*told.values()][:most])


def bounds(check: Check, names: Iterable[str], most: int = 2) -> str:
    """What a claim needs of these facts, in full and without the verb: `over 25 %`, `under 72 °C,
    or over 9`.

    "" where the claim has none. Of several facts only a number is told: what is none of, or one
    enough of, the claim itself says.
    """
    told: dict[str, str] = {}
    every = {name: of(check, name) for name in _bound(check, names)}
    alike = len({needed(found, check.part) for found in every.values()}) == 1
    shown = every if alike else {name: one for name, one in every.items() if not _is_bare(one)}
    for found in shown.values():
        text = needed(found, check.part, in_full=True).removeprefix("needs ")
        told.setdefault(text, f"or {text}" if told and found[0].alternative else text)
    return ", ".join([*told.values()][:most])


def of(check: Check, name: str) -> list[Bound]:
    """The bounds of one fact."""
    return [bound for bound in check.needs if bound.fact == name]


def is_met(bound: Bound, value: FactValue) -> bool:
    """Whether a value is as a bound needs it."""
    compare = COMPARISONS.get(bound.comparison)
    return compare is not None and isinstance(value, int | float) and compare(value, bound.value)


def has_no_number(check: Check, name: str) -> bool:
    """Whether of a fact only one, or none, is needed: the claim says which."""
    return _is_bare(of(check, name))


def is_later(check: Check, name: str) -> bool:
    """Whether what is needed of a fact is an alternative to what was told before it."""
    bounds = of(check, name)
    alternatives = [bound.alternative for bound in check.needs if bound.alternative]
    return bool(bounds and bounds[0].alternative) and bounds[0].alternative != alternatives[0]


def needed(bounds: Sequence[Bound], part: Part, *, in_full: bool = False) -> str:
    """`needs 25 %`, `needs under 72 °C`, `needs x0.8 to x1.2`, `needs one`, `refuted under 5`.

    `in_full` says also `needs over 25 %`, where nothing else tells the direction.
    """
    refutes = part is Part.REFUTE
    verb = "refuted" if refutes else "needs"
    low = [bound for bound in bounds if bound.comparison in (">", ">=")]
    high = [bound for bound in bounds if bound.comparison in ("<", "<=")]
    together = len({bound.alternative for bound in bounds}) == 1
    if together and len(low) == 1 and len(high) == 1 and low[0].value < high[0].value:
        return f"{verb} {_number(low[0])} to {_number(high[0])}"
    if is_any(bounds):
        any_ = "one" if bounds[0].unit == "count" else "any"
        return f"{verb} by {any_}" if refutes else f"{verb} {any_}"
    if bounds and all(map(_is_none, bounds)):
        return "refuted at none" if refutes else "needs none"
    told = (_one(bound, refutes=refutes, in_full=in_full) for bound in bounds[:2])
    return f"{verb} " + " or ".join(dict.fromkeys(told))


def says_the_same(bounds: Iterable[Bound], value: float) -> bool:
    """Whether a value is itself what is needed: 0 where none is needed, 1 where it must be 1."""
    return any(
        value == bound.value if bound.comparison == "==" else value == 0 and _is_none(bound)
        for bound in bounds
    )


def is_any(bounds: Sequence[Bound]) -> bool:
    """Whether anything at all is enough: the claim itself says so."""
    return bool(bounds) and all(map(_is_any, bounds))


def is_bare(check: Check, names: Iterable[str]) -> bool:
    """Whether a claim needs something of these facts, but no number of it."""
    found = _bound(check, names)
    return bool(found) and all(_is_bare(of(check, name)) for name in found)


def _bound(check: Check, names: Iterable[str]) -> list[str]:
    """These facts, as far as a claim has bounds of them; all that it has where none of these has
    any, for then they tell what it computes; none without a fact.
    """
    wanted = set(names)
    facts = list(dict.fromkeys(bound.fact for bound in check.needs)) if wanted else []
    return [name for name in facts if name in wanted] or facts


def _is_bare(bounds: Sequence[Bound]) -> bool:
    """Whether a need has no number, and so tells nothing without its fact."""
    return all(_is_any(bound) or _is_none(bound) for bound in bounds)


def _is_any(bound: Bound) -> bool:
    """Whether anything at all is over a bound."""
    if bound.value == 0:
        return bound.comparison in (">", "!=")
    return bound.unit == "count" and bound.value == 1 and bound.comparison == ">="


def _is_none(bound: Bound) -> bool:
    """Whether only nothing is within a bound."""
    if bound.value == 0:
        return bound.unit in _AMOUNTS and bound.comparison in ("==", "<=")
    return bound.unit == "count" and bound.value == 1 and bound.comparison == "<"


def _number(bound: Bound) -> str:
    return number(bound.value, bound.unit)


def _one(bound: Bound, *, refutes: bool, in_full: bool) -> str:
    is_share = bound.unit == "times" and 0 < bound.value < SHARE_BELOW
    text = share(bound.value) if is_share else _number(bound)
    if _is_none(bound):
        return "at none" if refutes else "none"
    strict = bound.comparison == ">" and (bound.value == 0 or bound.unit == "count" or in_full)
    if strict or (refutes and bound.comparison == ">"):
        return f"over {text}"
    if bound.comparison in (">", ">="):
        return f"from {text}" if refutes else text
    words = {
        "<": f"under {text}",
        "<=": f"{text} or less",
        "!=": f"other than {text}",
        "==": f"exactly {text}",
    }
    if refutes:
        words |= {"<=": f"at {text} or less", "!=": f"at other than {text}", "==": f"at {text}"}
    return words.get(bound.comparison, text)
