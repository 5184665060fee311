"""Claims of runbooks as lines of a message; the words are `model.claims`', the ink is Slack's."""

from collections.abc import Iterable, Sequence

from tailhound.model import Cause, Check, claims
from tailhound.model.names import small
from tailhound.slack.escape import Mrkdwn
from tailhound.slack.ink import Ink

_VALUES = 2
"""How many values of one claim are told; the page has them all."""


def claim_lines(
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
        if check.part in claims.FOR
    ]
    shown = [Mrkdwn(f"{letter}{_line(check, ink)}") for letter, check in found[: ink.lines]]
    left = ink.more(len(found) - len(shown))
    checks = [check for _, cause in causes for check in cause.checks] if against else []
    return (*shown, *((Mrkdwn(left),) if left else ()), *_against(checks, ink))


def _line(check: Check, ink: Ink) -> str:
    told = ", ".join(_value(value, ink) for value in claims.values(check, _VALUES))
    return f"{claims.mark(check)} {ink.said(check.claim)}: {told}"


def _value(value: claims.Value, ink: Ink, *, needs: bool = True) -> str:
    text = ink.figure(value.text) if value.figure else ink.value(value.text)
    where = f" on {ink.code(value.of)}" if value.of else ""
    return f"{text}{where}{f' ({ink.figure(value.needs)})' if needs and value.needs else ''}"


def _against(checks: Iterable[Check], ink: Ink) -> tuple[Mrkdwn, ...]:
    found = claims.against(checks)
    if found.holding:
        shown = [Mrkdwn(_line(check, ink)) for check in found.holding[: max(1, ink.lines)]]
        left = ink.more(len(found.holding) - len(shown))
        return (Mrkdwn("*Speaks against it:*"), *shown, *((Mrkdwn(left),) if left else ()))
    told = found.sentence(ink.said(small(found.open)) if found.open else "")
    return (Mrkdwn(told),) if told else ()


def value_seen(check: Check, ink: Ink) -> Mrkdwn:
    """The first value that a check looked at; "" when it saw none."""
    first = claims.values(check, 1)[0]
    measured = any(seen.value is not None for seen in check.seen)
    return Mrkdwn(_value(first, ink, needs=False)) if measured else Mrkdwn("")
