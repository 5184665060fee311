"""A claim of a runbook in words: whether it holds, the value seen, and what it needs."""

from collections.abc import Sequence

from tailhound.model import Bound, Cause, Check, Part, Seen
from tailhound.model.wording import NOT_MEASURED, fact, number, with_usual
from tailhound.truth import Truth
from tailhound.web.headline import seen

_MARKS = {Truth.TRUE: "✓", Truth.FALSE: "✗", Truth.UNKNOWN: "?"}
_SAYS = {Truth.TRUE: "holds", Truth.FALSE: "does not hold", Truth.UNKNOWN: "unknown"}


def mark(check: Check) -> str:
    """A glyph that repeats `says`."""
    return _MARKS[check.truth]


def says(check: Check) -> str:
    """`holds`, `does not hold`, `unknown`."""
    return _SAYS[check.truth]


def value(check: Check) -> str:
    """The values that a claim looked at, with their usual ones: `68 %, usually 1 %`."""
    found = [_value(item) for item in check.seen if item.value is not None]
    if not found:
        return NOT_MEASURED
    return "; ".join(found) + (f"; the rest {NOT_MEASURED}" if check.missing else "")


def _value(item: Seen) -> str:
    on = f" ({seen(item.of, 60)})" if item.of else ""
    if isinstance(item.value, int | float) and not isinstance(item.value, bool):
        if item.usual is not None:
            return with_usual(item.value, item.usual, item.unit) + on
        return number(item.value, item.unit) + on
    return seen(fact(item.value, item.unit)) + on


def needs(check: Check) -> str:
    """`needs over 25 %`, `ruled out when under 5 %`; "" where the condition has no bound."""
    names = list(dict.fromkeys(bound.fact for bound in check.needs))
    texts = [_bounds([b for b in check.needs if b.fact == one]) for one in names]
    word = "ruled out when" if check.part is Part.REFUTE else "needs"
    return f"{word} {', '.join(texts)}" if texts else ""


def _bounds(bounds: Sequence[Bound]) -> str:
    low = next((b for b in bounds if b.comparison in (">", ">=")), None)
    high = next((b for b in bounds if b.comparison in ("<", "<=")), None)
    if low and high:
        return f"{number(low.value, low.unit)} to {number(high.value, high.unit)}"
    bound = low or high or bounds[0]
    text = number(bound.value, bound.unit)
    words = {">": f"over {text}", ">=": f"{text} or more", "<": f"under {text}",
             "<=": f"{text} or less", "!=": f"other than {text}"}  # fmt: skip
    return words.get(bound.comparison, text)


def against(cause: Cause) -> str:
    """`Nothing speaks against it (3 of 4 checked).`; "" when one holds."""
    refuting = [check for check in cause.checks if check.part is Part.REFUTE]
    known = sum(check.truth is not Truth.UNKNOWN for check in refuting)
    if not refuting or any(check.truth is Truth.TRUE for check in refuting):
        return ""
    checked = f"{known} of {len(refuting)} checked"
    if not known:
        return f"Whether something speaks against it is not known ({checked})."
    return f"Nothing speaks against it ({checked})."


def anchors(cause: Cause) -> tuple[tuple[str, Check], ...]:
    """Each claim with its anchor: `cpu-throttling.confirm-1`."""
    seen_parts: dict[Part, int] = {}
    made = []
    for check in cause.checks:
        seen_parts[check.part] = seen_parts.get(check.part, 0) + 1
        made.append((f"{cause.runbook}.{check.part.value}-{seen_parts[check.part]}", check))
    return tuple(made)
