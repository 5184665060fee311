"""A claim's values in words: `62 % (needs 25 %)`, the same on every surface."""

from tailhound.model import Bound, Check, Part, Seen, wording
from tailhound.truth import Truth

_MOST = 3


def values(check: Check) -> str:
    """The values that a claim saw, with what it needs; what is missing when it is unknown.

    A yes/no says no more than the claim itself and is left out.
    """
    if check.truth is Truth.UNKNOWN:
        return f"{listed(check.missing)} not measured" if check.missing else "unknown"
    telling = [seen for seen in check.seen if not isinstance(seen.value, bool)]
    return ", ".join(_seen(seen, check) for seen in telling[:_MOST])


def _seen(seen: Seen, check: Check) -> str:
    text = wording.fact(seen.value, seen.unit)
    of = f" on {wording.cut(seen.of)}" if seen.of else ""
    needs = [bound for bound in check.needs if bound.fact == seen.name]
    if not needs:
        return f"{text}{of}"
    alternatives = [bound.alternative for bound in check.needs if bound.alternative]
    later = bool(needs[0].alternative) and needs[0].alternative != alternatives[0]
    return f"{text}{of} ({'or ' if later else ''}{needed(needs, check.part)})"


def needed(bounds: list[Bound], part: Part) -> str:
    """`needs 25 %`, `needs under 72 °C`, `needs x0.8 to x1.2`, `refuted under 5 %`."""
    verb = "refuted" if part is Part.REFUTE else "needs"
    low = [bound for bound in bounds if bound.comparison in (">", ">=")]
    high = [bound for bound in bounds if bound.comparison in ("<", "<=")]
    together = len({bound.alternative for bound in bounds}) == 1
    if together and len(low) == 1 and len(high) == 1 and low[0].value < high[0].value:
        return f"{verb} {_bound(low[0])} to {_bound(high[0])}"
    return f"{verb} " + " or ".join(_one(bound, part) for bound in bounds[:2])


def _bound(bound: Bound) -> str:
    return wording.number(bound.value, bound.unit)


def _one(bound: Bound, part: Part) -> str:
    text = _bound(bound)
    if bound.comparison in (">", ">="):
        return f"from {text}" if part is Part.REFUTE else text
    words = {"<": f"under {text}", "<=": f"{text} or less", "!=": f"other than {text}"}
    return words.get(bound.comparison, text)


def listed(names: tuple[str, ...]) -> str:
    """Names in a sentence; the rest is counted."""
    shown = ", ".join(names[:_MOST])
    return shown + (f" + {len(names) - _MOST} more" if len(names) > _MOST else "")
