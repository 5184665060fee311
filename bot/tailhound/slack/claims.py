"""Claims of runbooks as lines of a message: what holds, with the value seen and what it needs."""

from collections.abc import Iterable, Sequence

from tailhound.model import Bound, Cause, Check, Part, Seen
from tailhound.model.wording import NOT_MEASURED, fact, number, with_usual
from tailhound.slack.escape import Mrkdwn
from tailhound.slack.ink import Ink, more, small
from tailhound.truth import Truth

_MARKS = {Truth.TRUE: "✓", Truth.FALSE: "✗", Truth.UNKNOWN: "?"}
_ABBREVIATIONS = frozenset(
    [
        "api",
        "cpu",
        "dns",
        "gc",
        "gpu",
        "hpa",
        "jit",
        "kv",
        "nvme",
        "numa",
        "pcie",
        "rdma",
        "ssd",
        "ssh",
        "tcp",
        "tls",
    ]
)


def name(runbook: str) -> str:
    """A runbook's id as people say it: `CPU throttling`, `KV preemption`."""
    words = runbook.replace("_", "-").split("-")
    return " ".join(word.upper() if word in _ABBREVIATIONS else word for word in words)


def claims(
    causes: Sequence[tuple[str, Cause]], ink: Ink, *, against: bool = True
) -> tuple[Mrkdwn, ...]:
    """The confirming claims of causes as lines, each behind its cause's letter ("" for none).

    What speaks for a cause is listed; what could speak against it is summed up, for a `✗` that is
    good news confuses. A refuting claim that does hold is listed. `against` False leaves that out.
    """
    found = [
        (letter, check)
        for letter, cause in causes
        for check in cause.checks
        if check.part in (Part.CONFIRM, Part.OPTIONAL)
    ]
    shown = [Mrkdwn(f"{letter}{_line(check, ink)}") for letter, check in found[: ink.lines]]
    left = more(len(found) - len(shown))
    checks = [check for _, cause in causes for check in cause.checks] if against else []
    return (*shown, *((Mrkdwn(left),) if left else ()), *_against(checks, ink))


def _line(check: Check, ink: Ink) -> str:
    needs = ink.figure(_needs(check))
    return (
        f"{_MARKS[check.truth]} {ink.said(check.claim)}: {_seen(check, ink)}"
        f"{f' ({needs})' if needs else ''}"
    )


def _against(checks: Iterable[Check], ink: Ink) -> tuple[Mrkdwn, ...]:
    refuting = [check for check in checks if check.part is Part.REFUTE]
    if not refuting:
        return ()
    holding = [check for check in refuting if check.truth is Truth.TRUE]
    open_ = [check for check in refuting if check.truth is Truth.UNKNOWN]
    checked = f"{len(refuting) - len(open_)} of {len(refuting)} checked"
    if holding:
        shown = [Mrkdwn(_line(check, ink)) for check in holding[: max(1, ink.lines)]]
        left = more(len(holding) - len(shown))
        return (Mrkdwn("*Speaks against it:*"), *shown, *((Mrkdwn(left),) if left else ()))
    if len(open_) == len(refuting):
        return (Mrkdwn(f"Whether something speaks against it is not known ({checked})."),)
    missing = f"; {ink.said(small(open_[0].claim))}: {NOT_MEASURED}" if open_ else ""
    return (Mrkdwn(f"Nothing speaks against it ({checked}{missing})."),)


def deciding(cause: Cause) -> Check | None:
    """The check that ruled a cause out: a refuting claim that holds, else a claim that does not."""
    refuted = [c for c in cause.checks if c.part is Part.REFUTE and c.truth is Truth.TRUE]
    failed = [c for c in cause.checks if c.part is Part.CONFIRM and c.truth is Truth.FALSE]
    return next(iter(refuted + failed), None)


def value_seen(check: Check, ink: Ink) -> Mrkdwn:
    """The first value that a check looked at; "" when it saw none."""
    seen = [item for item in check.seen if item.value is not None]
    return Mrkdwn(_value(seen[0], ink)) if seen else Mrkdwn("")


def _seen(check: Check, ink: Ink) -> str:
    seen = [item for item in check.seen if item.value is not None]
    if not seen:
        return NOT_MEASURED
    ratio = not check.needs
    text = ", ".join(_value(item, ink, ratio=ratio) for item in seen[:2])
    return f"{text}, the rest {NOT_MEASURED}" if check.missing else text


def _value(seen: Seen, ink: Ink, *, ratio: bool = True) -> str:
    where = f" on {ink.code(seen.of)}" if seen.of else ""
    value = seen.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"{ink.value(fact(value, seen.unit))}{where}"
    if seen.usual is None:
        return f"{ink.figure(number(value, seen.unit))}{where}"
    text = with_usual(value, seen.usual, seen.unit)
    return f"{ink.figure(text if ratio else text.partition(' (')[0])}{where}"


def _needs(check: Check) -> str:
    refuting = check.part is Part.REFUTE
    facts = list(dict.fromkeys(bound.fact for bound in check.needs))
    texts = [_bounds([b for b in check.needs if b.fact == name]) for name in facts[:2]]
    if refuting:
        return "; ".join(f"refuted {t if t.startswith('under') else f'at {t}'}" for t in texts)
    return "; ".join(f"needs {text}" for text in texts)


def _bounds(bounds: Sequence[Bound]) -> str:
    low = next((b for b in bounds if b.comparison in (">", ">=")), None)
    high = next((b for b in bounds if b.comparison in ("<", "<=")), None)
    if low and high:
        return f"{number(low.value, low.unit)} to {number(high.value, high.unit)}"
    if high:
        text = number(high.value, high.unit)
        return f"under {text}" if high.comparison == "<" else f"{text} or less"
    bound = low or bounds[0]
    text = number(bound.value, bound.unit)
    return f"other than {text}" if bound.comparison == "!=" else text
