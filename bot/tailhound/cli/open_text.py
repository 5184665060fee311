"""What a diagnosis leaves to do, as plain lines for a terminal: offers, open causes, gaps. Pure."""

from tailhound.cli.safely import safe
from tailhound.cli.width import Whole
from tailhound.model import (
    Cause,
    Check,
    Diagnosis,
    Incident,
    Offer,
    Outlook,
    Part,
    Verdict,
    by_hand,
    candidates,
    claims,
    telling,
    weighing,
)
from tailhound.model.gaps import left_open
from tailhound.model.lacking import lacking
from tailhound.model.names import backend_name, capital, cause_name, listed, small
from tailhound.model.next_look import next_look
from tailhound.model.steps import steps
from tailhound.truth import Truth

MARKS = {Truth.TRUE: "yes", Truth.FALSE: "no", Truth.UNKNOWN: "?"}
_BY_HAND = 2
_QUESTION = 1000
"""Characters of a question that is shown whole; a longer one is not shown at all."""


def offers(incident: Incident, cause: Cause) -> list[str]:
    """What must not be done, and what can: best first; of the headline's first also the steps."""
    warnings = telling.warnings([cause]) if incident.resolved_at is None else ()
    lines = [f"  beware    {safe(one, 300)}" for one in warnings]
    first = cause in telling.headline_causes(incident.diagnosis)[:1]
    over = incident.resolved_at is not None
    for at, offer in enumerate(telling.offers([cause], over=over), 1):
        head = "  you can " if at == 1 else "          "
        lines.append(f"{head}  {at}. {safe(telling.named(offer), 240)}")
        risk = telling.risk(offer.risk, offer.risk_of)
        lines += [f"               {risk}"] if risk else []
        lines += [f"               cost: {offer.cost}"] if offer.cost else []
        if offer.when:
            lines.append(f"               when {offer.when}")
        if offer.why_not:
            lines.append(f"               not now: {safe(small(offer.why_not.rstrip('.')), 300)}")
        if first and at == 1:
            lines += _steps(incident, offer)
    return lines


def _steps(incident: Incident, offer: Offer) -> list[str]:
    return [
        f"               {letter}. {safe(step, _QUESTION)}"
        for letter, step in zip("abcdefghij", steps(incident, offer), strict=False)
    ]


def next_step(incident: Incident, diagnosis: Diagnosis) -> list[str]:
    """What to do where no cause is confirmed: check who is silent, look, or ask by hand."""
    if diagnosis.outlook is Outlook.BLIND:
        name = safe(backend_name(diagnosis.blind))
        how = f" ({telling.doctor(diagnosis)})" if telling.doctor(diagnosis) else ""
        return [f"  you can   check {name} itself{how}; it may be part of this incident"]
    look = next_look(incident)
    lines = [f"  look next {safe(look.measured, 300)}:"] if look else []
    lines += [Whole(f"            {safe(look.command or look.at, _QUESTION)}")] if look else []
    lines += [f"            {safe(look.then, 300)}"] if look and look.then else []
    asked = [one for one in by_hand.by_hand(diagnosis) if len(one.question) <= _QUESTION]
    if asked:
        lines.append("  you can   ask by hand what had no answer:")
    for one in asked[:_BY_HAND]:
        lines.append(f"            {safe(backend_name(one.backend))}:")
        lines.append(Whole(f"            {safe(one.question, _QUESTION)}"))
    if not lines:
        lines = ["  you can   look at what was measured: --format md"]
    return [*lines, *_open_causes(diagnosis)]


def _open_causes(diagnosis: Diagnosis) -> list[str]:
    """The unknown causes: what stands out of each, how its claims stand, and what would decide."""
    lines = []
    for one in candidates.opened(diagnosis):
        parts = [safe(part, 400) for part in (one.out, one.stands) if part]
        open_ = "; ".join(f"“{small(safe(claim, 200))}”" for claim in one.claims)
        parts += [f"not known, would decide: {open_}"] if open_ else []
        lines.append(f"  unknown: {safe(cause_name(one.cause.runbook))}: {'. '.join(parts)}")
    asked = " (what to ask by hand: --format md)" if by_hand.to_check(diagnosis) else ""
    named = [f"  unknown, {safe(one, 300)}" for one in candidates.by_name(diagnosis)]
    return [*lines, *named[:-1], *(f"{one}{asked}" for one in named[-1:])]


def unknown(diagnosis: Diagnosis, *, verbose: bool) -> list[str]:
    """The causes that are neither confirmed nor ruled out, a line each; `verbose` tells why."""
    causes = telling.of(diagnosis, Verdict.UNKNOWN)
    lines = [f"UNKNOWN    {len(causes)}:"] if causes else []
    for cause in causes:
        lines.append(f"    {cause.runbook}: {safe(cause.because, 160)}")
        lines += [
            f"      {MARKS[check.truth]:<4} {_open(cause, check, diagnosis)}"
            for check in cause.checks
            if verbose and _is_telling(check)
        ]
    return lines


def _is_telling(check: Check) -> bool:
    """Of a cause that is unknown: what nobody could answer, and what speaks for it or against.

    What holds although nobody has measured anything of it says nothing.
    """
    if check.truth is Truth.UNKNOWN:
        return check.part is not Part.OPTIONAL
    if all(seen.value is None for seen in check.seen):
        return False
    return check.part in weighing.FOR or (check.part is Part.REFUTE and check.truth is Truth.TRUE)


def _open(cause: Cause, check: Check, diagnosis: Diagnosis) -> str:
    """A claim with its values, or with what is missing and why."""
    if check.truth is not Truth.UNKNOWN:
        if claims.is_by_branch(check):
            return capital(safe(claims.told(check), 160))
        seen = claims.sentence(check)
        return f"{check.claim}: {safe(seen, 120)}" if seen else check.claim
    lacks = lacking(cause, check, diagnosis.evidence)
    return f"{check.claim}: missing {safe(lacks, 300)}" if lacks else check.claim


def could_not_check(diagnosis: Diagnosis) -> list[str]:
    """The questions without an answer, by reason: whose they are, why, and what would help."""
    gaps = left_open(diagnosis)
    lines = [
        f"    {listed([safe(name) for name in names], 5)}: {safe(gap.reason, 300)}"
        f"{f'. Fix: {safe(gap.fix, 200)}' if gap.fix else ''}"
        for group in (gaps.causes, gaps.evidence)
        for gap, names in group.items()
    ]
    return [f"COULD NOT CHECK  {gaps.count}:", *lines] if lines else []
