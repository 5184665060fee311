"""What comes next to a cause when none is confirmed, in words. Nothing here is escaped.

`nearest` are unknown causes of which something measured speaks. What holds without a measurement is
no sign. What is out of the ordinary all the same is in `model.unusual`.
"""

from dataclasses import dataclass

from tailhound.model import claims, weighing
from tailhound.model.lacking import item_of
from tailhound.model.names import cause_name, listed, plural, small
from tailhound.model.stages import explained
from tailhound.model.symptomless import LATENCY
from tailhound.model.verdict import Cause, Diagnosis, Verdict
from tailhound.truth import Truth


def nearest(diagnosis: Diagnosis | None) -> tuple[Cause, ...]:
    """The unknown causes with most measured claims that hold, then fewest open ones; at most two."""
    return with_sign(diagnosis)[:2]


def with_sign(diagnosis: Diagnosis | None) -> tuple[Cause, ...]:
    """All of them; a cause of which nothing was measured is not near."""
    causes = diagnosis.causes if diagnosis else ()
    near = [
        cause
        for cause in causes
        if diagnosis and cause.verdict is Verdict.UNKNOWN and has_sign(cause, diagnosis)
    ]
    return tuple(sorted(near, key=lambda c: (-weighing.measured(c), weighing.unanswered(c))))


def has_sign(cause: Cause, diagnosis: Diagnosis) -> bool:
    """Whether a measured claim for a cause holds that is about more than the symptom itself: that
    something is slow speaks for no cause.
    """
    return any(
        check.part in weighing.FOR and check.truth is Truth.TRUE and seen.value is not None
        for check in cause.checks
        for seen in check.seen
        if (item := item_of(cause, seen.name, diagnosis.evidence)) is None
        or item.collector != LATENCY
    )


def standing(cause: Cause) -> str:
    """`2 claims hold, 3 unknown`: of the claims that speak for it, by what was measured."""
    held = weighing.measured(cause)
    verb = "holds" if held == 1 else "hold"
    return f"{plural(held, 'claim')} {verb}, {weighing.unanswered(cause)} unknown"


def explaining(diagnosis: Diagnosis | None) -> tuple[Cause, ...]:
    """The unknown causes that could explain this incident, at most two: the nearest ones, else
    those that slow a stage that is slow. No sign of any other was measured.
    """
    causes = diagnosis.causes if diagnosis else ()
    near = nearest(diagnosis)
    fitting = (
        cause
        for cause in causes
        if diagnosis and cause.verdict is Verdict.UNKNOWN and explained(diagnosis, cause)
    )
    return (*near, *(cause for cause in fitting if cause not in near))[:2]


def without_sign(diagnosis: Diagnosis | None) -> tuple[Cause, ...]:
    """The unknown causes of which no sign was measured, and that slow no stage that is slow."""
    causes = diagnosis.causes if diagnosis else ()
    return tuple(
        cause
        for cause in causes
        if diagnosis
        and cause.verdict is Verdict.UNKNOWN
        and not has_sign(cause, diagnosis)
        and not explained(diagnosis, cause)
    )


def no_sign(diagnosis: Diagnosis | None) -> str:
    """`unknown, no sign measured: API server saturation, RDMA fabric`; "" where there is none."""
    found = without_sign(diagnosis)
    if not found:
        return ""
    names = [cause_name(cause.runbook) for cause in found]
    return f"unknown, no sign measured: {listed(names, 6)}"


@dataclass(frozen=True, slots=True)
class WouldDecide:
    """What nobody knows of a cause and would decide about it, for or against, as its runbook words
    the claims.
    """

    cause: Cause
    claims: tuple[str, ...]


def not_known(diagnosis: Diagnosis | None) -> tuple[WouldDecide, ...]:
    """What would decide about the causes that could explain this incident, without the remarks."""
    found = (
        WouldDecide(
            cause,
            tuple(
                dict.fromkeys(
                    claims.brief(check.claim)
                    for check in weighing.unsettled(cause, weighing.DECIDING)
                )
            ),
        )
        for cause in explaining(diagnosis)
    )
    return tuple(one for one in found if one.claims)


def would_tell_apart(diagnosis: Diagnosis) -> str:
    """What would decide between two causes that fit: a claim of theirs that nobody could check, an
    onset that nobody knows; else the one that takes the symptom with it.
    """
    confirmed = [cause for cause in diagnosis.causes if cause.verdict is Verdict.CONFIRMED][:2]
    open_ = [
        f"{small(check.claim.rstrip('.'))} ({cause_name(cause.runbook)})"
        for cause in confirmed
        for check in weighing.unsettled(cause)
    ]
    if open_:
        return "; ".join(open_[:2])
    unknown = [cause_name(cause.runbook) for cause in confirmed if cause.onset is None]
    if unknown:
        return f"when {listed(unknown)} began: its onset is not known"
    return "undo one at a time and look whether the symptom goes"
