"""Claims of runbooks as lines of a message; the words are `model.claims`', the ink is Slack's."""

from collections.abc import Iterable, Iterator, Sequence

from tailhound.model import Cause, Check, Evidence, Part, claims, weighing
from tailhound.model.gaps import UnknownClaims, unknown_claims
from tailhound.model.names import capital, cause_name, small
from tailhound.slack.escape import Mrkdwn
from tailhound.slack.ink import Ink
from tailhound.truth import Truth

_VALUES = 2
"""How many values of one claim are told; the page has them all."""


_CLAIMS = 4
"""How many claims that nobody knows share a line."""


def claim_lines(
    causes: Sequence[tuple[str, Cause]],
    ink: Ink,
    *,
    evidence: Iterable[Evidence] = (),
    against: bool = True,
) -> tuple[Mrkdwn, ...]:
    """The confirming claims of causes as lines, each behind its cause's letter ("" for none).

    What speaks for a cause is listed; what could speak against it is summed up, for a `✗` that is
    good news confuses. A refuting claim that does hold is listed. `against` False leaves that out.
    Claims that are not known share a line, with why (as `evidence` tells).
    """
    evidence = tuple(evidence)
    found = [f"{letter}{line}" for letter, cause in causes for line in _for(cause, ink, evidence)]
    shown = [Mrkdwn(line) for line in found[: ink.lines]]
    left = ink.more(len(found) - len(shown))
    checks = [check for _, cause in causes for check in cause.checks] if against else []
    return (*shown, *((Mrkdwn(left),) if left else ()), *_against(checks, ink))


def _for(cause: Cause, ink: Ink, evidence: tuple[Evidence, ...]) -> Iterator[str]:
    for check, found in claims.block(cause.checks, _VALUES):
        yield _line(check, found, ink)
    for one in unknown_claims(cause, evidence):
        yield _unknown(cause, one, ink)


def _unknown(cause: Cause, found: UnknownClaims, ink: Ink) -> str:
    """`? Not known of KV preemption (no such series in Prometheus): the cache got full`."""
    most = max(1, min(_CLAIMS, ink.lines))
    shown = [ink.said(small(claim.rstrip("."))) for claim in found.claims[:most]]
    left = ink.more(len(found.claims) - len(shown))
    why = f" ({ink.sentence(found.why)})" if found.why else ""
    surer = "" if found.decides else ", would make this surer"
    name = ink.value(cause_name(cause.runbook))
    return f"? Not known of {name}{why}{surer}: {'; '.join([*shown, left] if left else shown)}"


def _line(check: Check, found: Sequence[claims.Value], ink: Ink) -> str:
    """`✓ The cache got full: 99 % (needs 90 %)`, `✓ No trims`; a value that was told before is not
    told again.
    """
    against = Truth.TRUE if check.part is Part.REFUTE else Truth.FALSE
    not_so = check.otherwise if check.truth is against else ""
    claim = ink.said(capital(not_so) or check.claim)
    told = ", ".join(_value(value, ink) for value in found if value.text)
    if told and claims.is_by_branch(check):
        return f"{claims.mark(check)} {capital(told)}"
    bare = ", ".join(ink.figure(value.needs) for value in found if not value.text)
    return (
        f"{claims.mark(check)} {claim}{f': {told}' if told else ''}{f' ({bare})' if bare else ''}"
    )


def _value(value: claims.Value, ink: Ink, *, needs: bool = True) -> str:
    text = ink.figure(value.text) if value.figure else ink.value(value.text)
    where = f" for {ink.code(value.of)}" if value.of else ""
    return f"{text}{where}{f' ({ink.figure(value.needs)})' if needs and value.needs else ''}"


def _against(checks: Iterable[Check], ink: Ink) -> tuple[Mrkdwn, ...]:
    found = weighing.against(checks)
    if found.holding:
        holding = found.holding[: max(1, ink.lines)]
        shown = [Mrkdwn(_line(check, claims.values(check, _VALUES), ink)) for check in holding]
        left = ink.more(len(found.holding) - len(shown))
        return (Mrkdwn("*Speaks against it:*"), *shown, *((Mrkdwn(left),) if left else ()))
    told = found.sentence(ink.said(small(found.open)) if found.open else "")
    return (Mrkdwn(told),) if told else ()


def value_seen(check: Check, ink: Ink) -> Mrkdwn:
    """The first value that a check looked at, where it says more than the claim; else ""."""
    more = next((value for value in claims.values(check, 1) if not value.same), None)
    return Mrkdwn(_value(more, ink, needs=False)) if more else Mrkdwn("")
