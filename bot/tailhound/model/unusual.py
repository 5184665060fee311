"""What was measured to be out of the ordinary although its cause is ruled out. Not escaped."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import isclose

from tailhound.model import claims, reasons, weighing
from tailhound.model.branches import Branch, joined
from tailhound.model.evidence import Evidence
from tailhound.model.facts import number_of
from tailhound.model.lacking import item_of
from tailhound.model.names import capital, cause_name, small
from tailhound.model.neighbours import is_far, is_told
from tailhound.model.stages import explained
from tailhound.model.symptomless import LATENCY
from tailhound.model.verdict import Bound, Cause, Check, Diagnosis, Outlook, Part, Seen, Verdict
from tailhound.model.wording import clock, cut, number, with_usual
from tailhound.truth import Truth

_PLACES = ("device", "port", "pod")
"""The facts by which evidence names what it is about, the closest first."""

_MOST = 2
"""Claims of one cause that are told: the next ones tell the same in other units."""

_AS_USUAL_TIMES = 1.1
_MOST_AGO_SECONDS = 86_400
_AGO = {
    ("prometheus.replicas", "missing_seconds"): "short_ago_seconds",
    ("prometheus.replicas", "missing_peak_count"): "short_ago_seconds",
}
"""The facts by which evidence tells how long ago another fact of it was last so."""


def is_beyond(diagnosis: Diagnosis | None) -> bool:
    """Whether the cause is none of those that are known: no verdict is open, nothing is unusual."""
    causes = diagnosis.causes if diagnosis else ()
    open_ = (Verdict.UNKNOWN, Verdict.CONFIRMED)
    return not unusual(diagnosis) and not any(cause.verdict in open_ for cause in causes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusual:
    """Something out of the ordinary: `check` holds and was measured, yet its cause is ruled out.

    `place` names where it was seen, "" when that is not known. `facts` tells it where its claim has
    an `or`: by what holds, with what other such claims of the cause saw.
    """

    cause: Cause
    check: Check
    place: str = ""
    facts: str = ""

    @property
    def point(self) -> str:
        """`reads take several times as long: x5.6 (needs x5), nvme0n1 on db-1`: what is unusual."""
        told = self.facts or _claimed(self.check)
        return f"{told}{f', {self.place}' if self.place else ''}"

    @property
    def why_not(self) -> str:
        """`it is at its limit: 76 °C`: why it is not the cause."""
        return reasons.against(self.cause)

    @property
    def why(self) -> str:
        """`it is at its limit`: the same without its values."""
        return reasons.against_in_short(self.cause)


def told(diagnosis: Diagnosis | None) -> tuple[str, ...]:
    """`Reads take several times as long: x5.6, nvme0n1 on db-1. But SSD garbage collection is ruled
    out: it is at its limit: 76 °C`, a line each; the last one of a cause says why it is none.
    """
    found = unusual(diagnosis)
    last = {one.cause.runbook: one for one in found}
    return tuple(
        f"{capital(one.point)}. But {cause_name(one.cause.runbook)} is ruled out: {one.why_not}"
        if last[one.cause.runbook] is one
        else capital(one.point)
        for one in found
    )


def unusual(diagnosis: Diagnosis | None) -> tuple[Unusual, ...]:
    """What was measured to be out of the ordinary although its cause is ruled out, of causes that
    slow the slow stage first.

    Told only while nothing is confirmed: beside a cause it would be a second suspect. A claim for a
    cause counts where a value lies above its bound and far above its usual one. Without a usual
    value only a runbook's first claim counts: it says what is out of the ordinary, and the others
    hold on any day. What `model.neighbours` tells, and the symptom and its stages, is not told
    again.
    """
    if diagnosis is None or diagnosis.outlook is not Outlook.NONE_CONFIRMED:
        return ()
    causes = [cause for cause in diagnosis.causes if cause.verdict is Verdict.REFUTED]
    causes.sort(key=lambda cause: explained(diagnosis, cause) is None)
    return tuple(
        one for cause in causes for one in _told_of(cause, _telling(cause, diagnosis), diagnosis)
    )


def _told_of(cause: Cause, found: list[Check], diagnosis: Diagnosis) -> Iterator[Unusual]:
    """The points of one cause; claims with an `or` are one, told by what holds."""
    facts = {check.claim: branch for check in found if (branch := _branch(cause, check))}
    first = next(iter(facts), "")
    for check in found:
        if check.claim in facts and check.claim != first:
            continue
        told = joined(facts.values(), diagnosis.evidence) if check.claim == first else ""
        yield Unusual(cause=cause, check=check, place=_place(cause, check, diagnosis), facts=told)


def _branch(cause: Cause, check: Check) -> Branch | None:
    found = (Branch(cause, check, seen, _usual(check, seen)) for seen, _ in _above(check))
    return next((one for one in found if one.is_one), None)


def _telling(cause: Cause, diagnosis: Diagnosis) -> list[Check]:
    """The claims of a cause that tell something unusual; what looks at the same value is one."""
    held = [check for check in cause.checks if check.part in weighing.FOR]
    found: dict[str, Check] = {}
    for at, check in enumerate(held):
        for seen, bound in _above(check):
            item = item_of(cause, seen.name, diagnosis.evidence)
            fact = seen.name.rpartition(".")[2]
            if item and (item.collector == LATENCY or is_told(item.collector, fact, diagnosis)):
                continue
            if _is_a_stage(seen, diagnosis):
                continue
            first = at == 0 and _usual(check, seen) is None
            if not _is_as_usual(cause) if first else _is_unlike(check, seen, bound):
                found.setdefault(seen.name, check)
    return list(dict.fromkeys(found.values()))[:_MOST]


def _above(check: Check) -> Iterator[tuple[Seen, Bound]]:
    """The values by which a claim holds because they lie above what it needs."""
    below = {bound.fact for bound in check.needs if bound.comparison in ("<", "<=")}
    if check.truth is not Truth.TRUE:
        return
    for seen in check.seen:
        for bound in check.needs:
            over = bound.comparison in (">", ">=") and bound.fact == seen.name
            if over and seen.name not in below and number_of(seen.value) is not None:
                yield seen, bound


def _is_a_stage(seen: Seen, diagnosis: Diagnosis) -> bool:
    """Whether a value is the time of a stage, or its growth: the slow stages are told already."""
    value = number_of(seen.value)
    for stage in diagnosis.stages:
        if value is None or stage.seconds is None or seen.unit not in ("seconds", "times"):
            continue
        now = stage.seconds if seen.unit == "seconds" else None
        if seen.unit == "times" and stage.usual_seconds:
            now = stage.seconds / stage.usual_seconds
        if now is not None and isclose(value, now, rel_tol=0.01):
            return True
    return False


def _is_unlike(check: Check, seen: Seen, bound: Bound) -> bool:
    """Whether a value is far above its usual one, or only now above what the claim needs."""
    value, usual = number_of(seen.value), _usual(check, seen)
    if value is None:
        return False
    if usual is None:
        return seen.unit == "times" and is_far(value, 1.0)
    crossed = usual <= bound.value < value and value > _AS_USUAL_TIMES * usual
    return is_far(value, usual) or crossed


def _usual(check: Check, seen: Seen) -> float | None:
    """The usual value of what was seen, also where the claim looks at it by name."""
    if seen.usual is not None:
        return seen.usual
    return next(
        (number_of(other.value) for other in check.seen if other.name == f"{seen.name}_usual"), None
    )


def _claimed(check: Check) -> str:
    """A claim with its values; a value that has a usual one is told beside that."""
    for seen, _ in _above(check):
        value, usual = number_of(seen.value), _usual(check, seen)
        if value is not None and usual is not None:
            where = f" on {cut(seen.of)}" if seen.of else ""
            told = with_usual(value, usual, seen.unit)
            now = number(value, seen.unit)
            return f"{small(check.claim.rstrip('.'))}: {now}{where}{told.removeprefix(now)}"
    return claims.claimed(check)


def shown(cause: Cause, check: Check, diagnosis: Diagnosis) -> str:
    """`reads take several times as long: x5.6 (needs x5), nvme0n1 on db-1`: a claim, and where."""
    branch = _branch(cause, check)
    told = joined([branch], diagnosis.evidence) if branch else _claimed(check)
    place = _place(cause, check, diagnosis)
    return f"{told}, {place}" if place else told


def _is_as_usual(cause: Cause) -> bool:
    """Whether a claim does not hold that compares a value with its own usual one."""
    return any(
        check.part is Part.CONFIRM
        and check.truth is Truth.FALSE
        and any(seen.name.endswith("_usual") and seen.value is not None for seen in check.seen)
        for check in cause.checks
    )


def _place(cause: Cause, check: Check, diagnosis: Diagnosis) -> str:
    """`nvme0n1 on db-1`, `chat-0, the slow pod, last 17:43 UTC`: what the evidence of a claim is
    about, and when the very thing that is claimed was so; "" where a value names it.
    """
    if any(seen.of for seen in check.seen):
        return ""
    items = [(seen, item_of(cause, seen.name, diagnosis.evidence)) for seen in check.seen]
    facts = next((item.facts for _, item in items if item), {})
    found = next((facts[key] for key in _PLACES if isinstance(facts.get(key), str)), "")
    node = facts.get("node")
    on = f" on {cut(node)}" if found and isinstance(node, str) and node else ""
    slow = ", the slow pod" if (found,) == diagnosis.slow_pods else ""
    agos = (_ago(seen, item) for seen, item in items if item)
    ago = next((value for value in agos if value is not None), None)
    parts = (f"{cut(str(found))}{on}{slow}" if found else "", _last(ago, diagnosis.decided_at))
    return ", ".join(part for part in parts if part)


def _ago(seen: Seen, item: Evidence) -> float | None:
    """How many seconds ago a value was last so, as its evidence says."""
    fact = _AGO.get((item.collector, seen.name.rpartition(".")[2]))
    return number_of(item.facts.get(fact)) if fact else None


def _last(ago: float | None, now: datetime | None) -> str:
    if ago is None or now is None or not 0 < ago < _MOST_AGO_SECONDS:
        return ""
    return f"last {clock(now - timedelta(seconds=ago))}"
