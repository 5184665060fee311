"""All verdicts of one investigation -> one diagnosis: who acquits whom, chain, primary, outlook.

Pure. Each runbook has answered for itself; here the answers meet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tailhound.diagnosis.onset import RESOLUTION_SECONDS, after_its_effect
from tailhound.model import Cause, Confidence, Outlook, Symptom, Verdict

CONTEXT = frozenset({"software-regression", "node-drain", "telemetry-gap"})
"""Causes without a mechanism of their own: primary only when nothing else is confirmed."""

FAULTS = frozenset(
    {"gpu-fault", "nvme-timeout", "rdma-fabric", "apiserver-saturation", "cold-start"}
)
"""Faults by themselves: they can be primary without a symptom. With a cold start nothing may be in
service at all; then no latency is left to look at, and "no replica ready" takes its place."""

_ORDER = (Verdict.CONFIRMED, Verdict.UNKNOWN, Verdict.REFUTED, Verdict.NOT_APPLICABLE)
_SURE = (Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """The causes in the order people read them, and what the headline says."""

    causes: tuple[Cause, ...]
    primary: str | None
    chain: tuple[str, ...]
    confidence: Confidence | None
    outlook: Outlook


def rank(
    causes: Sequence[Cause],
    explained_by: Mapping[str, Sequence[str]],
    symptom: Symptom | None,
) -> Ranked:
    """Acquit, chain and rank. `explained_by` holds, per runbook, who acquits it when confirmed."""
    judged = _acquitted(_in_time(causes, symptom), explained_by)
    confirmed = [cause for cause in judged if cause.verdict is Verdict.CONFIRMED]
    candidates = _candidates(confirmed, symptom)
    chains = _chains(candidates)
    ordered = tuple(sorted(judged, key=lambda cause: _ORDER.index(cause.verdict)))
    if not chains:
        return Ranked(
            causes=ordered, primary=None, chain=(), confidence=None, outlook=Outlook.NONE_CONFIRMED
        )
    chain = chains[0]
    primary = next((cause for cause in chain if cause.runbook not in CONTEXT), chain[0])
    two = len(chains) > 1 and _as_early(chains[0], chains[1])
    sure = primary.confidence
    if two and sure is Confidence.HIGH:
        sure = Confidence.MEDIUM
    return Ranked(
        causes=_primary_first(ordered, primary.runbook),
        primary=primary.runbook,
        chain=tuple(cause.runbook for cause in chain),
        confidence=sure,
        outlook=Outlook.TWO_FIT if two else Outlook.CAUSE_FOUND,
    )


def _in_time(causes: Sequence[Cause], symptom: Symptom | None) -> tuple[Cause, ...]:
    """A cause that began after its effect is none. Its effect is what grew after it: a trigger may
    slow a little at once, and the mechanism that it leads to much more later.
    """
    effect = (symptom.half_grown or symptom.onset) if symptom else None
    return tuple(
        replace(
            cause,
            verdict=Verdict.REFUTED,
            confidence=None,
            confidence_because="",
            because=f"began at {cause.onset:%H:%M} UTC, after the symptom at {effect:%H:%M} UTC",
        )
        if cause.verdict is Verdict.CONFIRMED and after_its_effect(cause.onset, effect)
        else cause
        for cause in causes
    )


def _acquitted(
    causes: Sequence[Cause], explained_by: Mapping[str, Sequence[str]]
) -> tuple[Cause, ...]:
    confirmed = {cause.runbook for cause in causes if cause.verdict is Verdict.CONFIRMED}
    result = []
    for cause in causes:
        by = [name for name in explained_by.get(cause.runbook, ()) if name in confirmed]
        if cause.verdict is Verdict.CONFIRMED and by:
            result.append(
                replace(
                    cause,
                    verdict=Verdict.REFUTED,
                    confidence=None,
                    confidence_because="",
                    because=f"explained by {by[0]}, which is confirmed",
                )
            )
        else:
            result.append(cause)
    return tuple(result)


def _candidates(confirmed: Sequence[Cause], symptom: Symptom | None) -> list[Cause]:
    """Who may be primary: without a symptom only what is a fault by itself."""
    if symptom is not None:
        return list(confirmed)
    return [cause for cause in confirmed if cause.runbook in FAULTS]


def _chains(confirmed: Sequence[Cause]) -> list[list[Cause]]:
    """The confirmed causes as chains along `leads_to`, trigger first; the best chain first."""
    left = sorted(confirmed, key=_earliest)
    chains: list[list[Cause]] = []
    while left:
        group, left = _connected(left[0], left)
        chains.append(_in_causal_order(group))
    alone = [chain for chain in chains if any(cause.runbook not in CONTEXT for cause in chain)]
    return alone or chains


def _connected(start: Cause, causes: Sequence[Cause]) -> tuple[list[Cause], list[Cause]]:
    group, rest = [start], [cause for cause in causes if cause is not start]
    grown = True
    while grown:
        joined = [c for c in rest if any(_linked(c, member) for member in group)]
        grown = bool(joined)
        group += joined
        rest = [cause for cause in rest if cause not in joined]
    return group, rest


def _linked(a: Cause, b: Cause) -> bool:
    return a.runbook in b.leads_to or b.runbook in a.leads_to


def _in_causal_order(group: Sequence[Cause]) -> list[Cause]:
    """Triggers before what they lead to; a cycle is broken at its earliest onset."""
    left, ordered = sorted(group, key=_earliest), []
    while left:
        first = next(
            (
                c
                for c in left
                if not any(c.runbook in other.leads_to for other in left if other is not c)
            ),
            left[0],
        )
        ordered.append(first)
        left.remove(first)
    return ordered


def _earliest(cause: Cause) -> tuple[float, int, str]:
    onset = cause.onset.timestamp() if cause.onset else float("inf")
    sure = _SURE.index(cause.confidence) if cause.confidence else 0
    return onset, -sure, cause.runbook


def _as_early(a: Sequence[Cause], b: Sequence[Cause]) -> bool:
    """Whether two chains began within one resolution of each other, or nobody can tell."""
    first, second = a[0].onset, b[0].onset
    if first is None or second is None:
        return True
    return abs((first - second).total_seconds()) <= RESOLUTION_SECONDS


def _primary_first(causes: Sequence[Cause], primary: str) -> tuple[Cause, ...]:
    return tuple(sorted(causes, key=lambda c: (_ORDER.index(c.verdict), c.runbook != primary)))
