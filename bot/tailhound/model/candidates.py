"""What comes next to a cause when none is confirmed, in words. Nothing here is escaped.

`nearest` are unknown causes of which something measured speaks; `unusual` is what was measured to
be out of the ordinary although its cause is ruled out. What holds without a measurement is no sign.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tailhound.model import claims
from tailhound.model.evidence import Evidence
from tailhound.model.names import capital, cause_name, listed, plural, small
from tailhound.model.verdict import Cause, Check, Diagnosis, Outlook, Part, Verdict
from tailhound.model.wording import cut
from tailhound.truth import Truth

_PLACES = ("device", "port", "pod")
"""The facts by which evidence names what it is about, the closest first."""


def nearest(diagnosis: Diagnosis | None) -> tuple[Cause, ...]:
    """The unknown causes with most measured claims that hold, then fewest open ones; at most two.

    A cause of which nothing was measured is not near.
    """
    causes = diagnosis.causes if diagnosis else ()
    near = [c for c in causes if c.verdict is Verdict.UNKNOWN and claims.measured(c)]
    return tuple(sorted(near, key=lambda c: (-claims.measured(c), claims.unanswered(c)))[:2])


def standing(cause: Cause) -> str:
    """`2 claims hold, 3 unknown`: of the claims that speak for it, by what was measured."""
    held = claims.measured(cause)
    verb = "holds" if held == 1 else "hold"
    return f"{plural(held, 'claim')} {verb}, {claims.unanswered(cause)} unknown"


def would_decide(diagnosis: Diagnosis | None) -> tuple[str, ...]:
    """The claims that would decide about the nearest candidates, as their runbooks word them.

    Where none is near, those of the first unknown causes.
    """
    unknown = [c for c in diagnosis.causes if c.verdict is Verdict.UNKNOWN] if diagnosis else []
    return tuple(
        dict.fromkeys(
            check.claim
            for cause in nearest(diagnosis) or unknown[:2]
            for check in cause.checks
            if check.missing and check.part is not Part.OPTIONAL
        )
    )


def would_tell_apart(diagnosis: Diagnosis) -> str:
    """What would decide between two causes that fit: a claim of theirs that nobody could check, an
    onset that nobody knows; else the one that takes the symptom with it.
    """
    confirmed = [cause for cause in diagnosis.causes if cause.verdict is Verdict.CONFIRMED][:2]
    open_ = [
        f"{small(check.claim.rstrip('.'))} ({cause_name(cause.runbook)})"
        for cause in confirmed
        for check in cause.checks
        if check.counts is Truth.UNKNOWN
    ]
    if open_:
        return "; ".join(open_[:2])
    unknown = [cause_name(cause.runbook) for cause in confirmed if cause.onset is None]
    if unknown:
        return f"when {listed(unknown)} began: its onset is not known"
    return "undo one at a time and look whether the symptom goes"


def is_beyond(diagnosis: Diagnosis | None) -> bool:
    """Whether the cause is none of those that are known: no verdict is open, nothing is unusual."""
    causes = diagnosis.causes if diagnosis else ()
    open_ = (Verdict.UNKNOWN, Verdict.CONFIRMED)
    return not unusual(diagnosis) and not any(cause.verdict in open_ for cause in causes)


# --- what is unusual all the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusual:
    """Something out of the ordinary: `check` holds and was measured, yet its cause is ruled out.

    `place` names where it was seen, "" when that is not known.
    """

    cause: Cause
    check: Check
    place: str = ""

    @property
    def point(self) -> str:
        """`reads take several times as long: x5.6 (needs x5), nvme0n1 on db-1`: what is unusual."""
        return f"{claims.claimed(self.check)}{f', {self.place}' if self.place else ''}"

    @property
    def why_not(self) -> str:
        """`it is at its limit: 76 °C`: why it is not the cause."""
        against = claims.deciding(self.cause)
        return claims.claimed(against) if against else small(self.cause.because.rstrip("."))

    @property
    def text(self) -> str:
        """`SSD garbage collection is ruled out (it is at its limit: 76 °C), but reads take ...`."""
        return f"{capital(cause_name(self.cause.runbook))}{self.told}"

    @property
    def told(self) -> str:
        """The same without the name that it begins with."""
        return f" is ruled out ({self.why_not}), but {self.point}"


def unusual(diagnosis: Diagnosis | None) -> tuple[Unusual, ...]:
    """What was measured to be out of the ordinary although its cause is ruled out.

    Told only while nothing is confirmed: beside a cause it would be a second suspect. A runbook's
    first claim says what is out of the ordinary; it counts where a value lies above a bound, and no
    other claim found it to be as usual.
    """
    if diagnosis is None or diagnosis.outlook is not Outlook.NONE_CONFIRMED:
        return ()
    found = []
    for cause in diagnosis.causes:
        first = next((check for check in cause.checks if check.part is Part.CONFIRM), None)
        above = first is not None and _is_above(first) and not _is_as_usual(cause)
        if cause.verdict is Verdict.REFUTED and first is not None and above:
            place = _place(cause, first, diagnosis.evidence)
            found.append(Unusual(cause=cause, check=first, place=place))
    return tuple(found)


def _is_above(check: Check) -> bool:
    """Whether a claim holds because a value that was measured lies above what it needs."""
    above = {bound.fact for bound in check.needs if bound.comparison in (">", ">=")}
    below = {bound.fact for bound in check.needs if bound.comparison in ("<", "<=")}
    return check.truth is Truth.TRUE and any(
        seen.name in above - below and seen.value is not None for seen in check.seen
    )


def _is_as_usual(cause: Cause) -> bool:
    """Whether a claim does not hold that compares a value with its own usual one."""
    return any(
        check.part is Part.CONFIRM
        and check.truth is Truth.FALSE
        and any(seen.name.endswith("_usual") and seen.value is not None for seen in check.seen)
        for check in cause.checks
    )


def _place(cause: Cause, check: Check, evidence: Iterable[Evidence]) -> str:
    """`nvme0n1 on db-1`: what the evidence of a claim is about; "" where a value names it."""
    if any(seen.of for seen in check.seen):
        return ""
    aliases = {seen.name.partition(".")[0] for seen in check.seen}
    names = aliases | {f"{cause.runbook}.{alias}" for alias in aliases}
    item = next((one for one in evidence if one.name in names and one.name in cause.evidence), None)
    facts = item.facts if item else {}
    found = next((facts[key] for key in _PLACES if isinstance(facts.get(key), str)), "")
    node = facts.get("node")
    on = f" on {cut(node)}" if found and isinstance(node, str) and node else ""
    return f"{cut(str(found))}{on}" if found else ""
