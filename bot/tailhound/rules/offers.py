"""Which mitigations this incident gets: offered, or the reason why not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tailhound.model import Offer, Part, Verdict, claims
from tailhound.rules.expression import Facts
from tailhound.rules.judge import Judged, answered
from tailhound.rules.runbook import OF_AT_MOST, Mitigation, Runbook
from tailhound.truth import Truth

ONE_CLICK = "one-click"
SUGGESTED = "suggested"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What guards look at: the facts, the thresholds in force, the mode of the site; and the names
    of the incident. `serves` is false where nothing is known of latencies: what helps has no first
    token to help. `first_token_leads`: that is the symptom, so what makes it worse comes last.
    """

    facts: Facts
    thresholds: Mapping[str, float]
    mode: str = "observe"
    inputs: Mapping[str, Any] = field(default_factory=dict)
    serves: bool = True
    first_token_leads: bool = False


def offers(runbook: Runbook, judged: Judged, known: Known) -> tuple[Offer, ...]:
    """All mitigations of a runbook, best first: in its order, but for those that make worse what
    is the symptom.

    Nothing is offered unless the cause is confirmed and every guard holds. Where nothing may be
    changed (mode observe or shadow, a draft), a one-click mitigation with steps is suggested, one
    without steps is not offered.
    """
    found = (_offer(runbook, mitigation, judged, known) for mitigation in runbook.mitigations)
    return tuple(sorted(found, key=lambda offer: known.first_token_leads and _worsens(offer)))


def _worsens(offer: Offer) -> bool:
    return offer.ttft.startswith("worse")


def _offer(runbook: Runbook, mitigation: Mitigation, judged: Judged, known: Known) -> Offer:
    mode, why_not = mitigation.mode, None
    if judged.verdict is not Verdict.CONFIRMED:
        why_not = "the cause is not confirmed"
    elif why := _guarded(runbook, mitigation, known):
        why_not = why
    elif mode == ONE_CLICK and (held := _held(runbook, known.mode)):
        mode = SUGGESTED if mitigation.steps else mode
        why_not = None if mitigation.steps else held
    return Offer(
        id=mitigation.id,
        title=mitigation.title,
        mode=mode,
        offered=why_not is None,
        why_not=why_not,
        risk=mitigation.risk,
        risk_of=mitigation.risk_of,
        helps=mitigation.helps,
        ttft=mitigation.ttft if known.serves else "",
        cost=mitigation.cost,
        complexity=mitigation.complexity,
        when=mitigation.when,
        of="" if why_not else _of(mitigation, known),
        while_it_lasts=mitigation.while_it_lasts,
        steps=mitigation.steps,
    )


def _of(mitigation: Mitigation, known: Known) -> str:
    """What it is done to, where all of that is known."""
    if mitigation.of is None:
        return ""
    return mitigation.of.line(known.inputs, known.facts, known.thresholds, most=OF_AT_MOST)


def _held(runbook: Runbook, mode: str) -> str:
    """Why nothing may be changed with one click, "" when it may."""
    if not runbook.active:
        return "the runbook is a draft: it changes nothing"
    if mode != ONE_CLICK:
        return f"mode {mode}: it changes nothing"
    return ""


def _guarded(runbook: Runbook, mitigation: Mitigation, known: Known) -> str:
    """The first guard that does not hold, with what it saw; "" when all hold."""
    for guard in mitigation.guard:
        check = answered(runbook, guard, Part.CONFIRM, known.facts, known.thresholds)
        if check.counts is not Truth.TRUE:
            word = "is unknown" if check.counts is Truth.UNKNOWN else "does not hold"
            seen = claims.sentence(check)
            return f"“{check.claim}” {word}" + (f": {seen}" if seen else "")
    return ""
