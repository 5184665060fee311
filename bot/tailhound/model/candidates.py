"""What comes next to a cause when none is confirmed, in words. Nothing here is escaped.

`nearest` are unknown causes of which something measured speaks. What holds without a measurement is
no sign. Every unknown cause is in one of `nearest`, `beyond_the_nearest`, `explaining` and
`without_sign`. What is out of the ordinary all the same is in `model.unusual`.
"""

from dataclasses import dataclass
from functools import lru_cache

from tailhound.model import claims, weighing
from tailhound.model.facts import number_of
from tailhound.model.lacking import item_of
from tailhound.model.names import cause_name, listed, plural, small
from tailhound.model.neighbours import is_told
from tailhound.model.stages import explained
from tailhound.model.symptomless import LATENCY
from tailhound.model.unusual import shown
from tailhound.model.verdict import Cause, Check, Diagnosis, Part, Verdict
from tailhound.truth import Truth

WITH_SIGN, NO_SIGN, DARK = "with a sign, too", "without a sign", "not measured"
"""Of a cause for which something speaks that was measured, for which nothing of it does, and of
which nothing was measured that a confirmation waits for.
"""


def nearest(diagnosis: Diagnosis | None) -> tuple[Cause, ...]:
    """The unknown causes with most measured claims that hold, then fewest open ones; at most 2."""
    return with_sign(diagnosis)[:2]


def with_sign(diagnosis: Diagnosis | None) -> tuple[Cause, ...]:
    """All of them; a cause of which nothing was measured is not near."""
    return _with_sign(_Same(diagnosis)) if diagnosis else ()


@dataclass(frozen=True, slots=True, eq=False)
class _Same:
    """One diagnosis, by what it is and not by what it holds: a message is written many times over
    until it fits, and asks the same of it each time.
    """

    diagnosis: Diagnosis

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.diagnosis is self.diagnosis

    def __hash__(self) -> int:
        return id(self.diagnosis)


@lru_cache(maxsize=8)
def _with_sign(of: _Same) -> tuple[Cause, ...]:
    near = [cause for cause in _unknown(of.diagnosis) if has_sign(cause, of.diagnosis)]
    return tuple(sorted(near, key=lambda c: (-weighing.measured(c), weighing.unanswered(c))))


def _unknown(diagnosis: Diagnosis | None) -> list[Cause]:
    causes = diagnosis.causes if diagnosis else ()
    return [cause for cause in causes if cause.verdict is Verdict.UNKNOWN]


def has_sign(cause: Cause, diagnosis: Diagnosis) -> bool:
    """Whether a measured claim for a cause holds that is about more than the symptom itself."""
    return any(
        check.part in weighing.FOR
        and check.truth is Truth.TRUE
        and _is_measured(cause, check, diagnosis)
        for check in cause.checks
    )


def _is_measured(cause: Cause, check: Check, diagnosis: Diagnosis) -> bool:
    """Whether a claim saw a value that is not the symptom's: that something is slow, or is not,
    tells of no cause.
    """
    items = (
        item_of(cause, seen.name, diagnosis.evidence)
        for seen in check.seen
        if seen.value is not None
    )
    return any(item is None or item.collector != LATENCY for item in items)


def stands_out(cause: Cause, diagnosis: Diagnosis) -> str:
    """`nvme0n1 on db-1: reads take x9 their usual time`: by which value, and where, a cause shows;
    "" where only a count of its claims could be told.
    """
    if cause.look is not None:
        return cause.look.measured
    found = (check for check in cause.checks if _shows(cause, check, diagnosis))
    return next((shown(cause, check, diagnosis) for check in found), "")


def _shows(cause: Cause, check: Check, diagnosis: Diagnosis) -> bool:
    """Whether a claim holds by an amount that is told nowhere else: not as the symptom, nor beside
    it.
    """
    if check.part is not Part.CONFIRM or check.truth is not Truth.TRUE:
        return False
    for seen in check.seen:
        item = item_of(cause, seen.name, diagnosis.evidence)
        fact = seen.name.rpartition(".")[2]
        told = item and (item.collector == LATENCY or is_told(item.collector, fact, diagnosis))
        if number_of(seen.value) and not told:
            return True
    return False


def standing(cause: Cause) -> str:
    """`14 claims hold, 1 does not: its queue is long: 40, usually 2`, `2 claims hold, 3 unknown`:
    of the claims that speak for it, by what was measured; unknown are those that would decide.
    """
    held, open_ = weighing.measured(cause), len(_would_decide(cause))
    failed = [c for c in cause.checks if c.part in weighing.FOR and c.truth is Truth.FALSE]
    parts = [f"{plural(held, 'claim')} {'holds' if held == 1 else 'hold'}"]
    parts += [f"{open_} unknown"] if open_ or not failed else []
    parts += [f"{len(failed)} {'does' if len(failed) == 1 else 'do'} not"] if failed else []
    return ", ".join(parts) + (f": {claims.claimed(failed[0])}" if failed else "")


def explaining(diagnosis: Diagnosis | None) -> tuple[Cause, ...]:
    """The unknown causes that could explain this incident, at most two: the nearest ones, else
    those that slow a stage that is slow. No sign of any other was measured.
    """
    near = nearest(diagnosis)
    fitting = (
        cause
        for cause in _unknown(diagnosis)
        if diagnosis and cause not in near and explained(diagnosis, cause)
    )
    return (*near, *fitting)[:2]


def without_sign(diagnosis: Diagnosis | None) -> tuple[Cause, ...]:
    """The unknown causes of which no sign was measured, and that are not told for what they could
    explain.
    """
    told = (*with_sign(diagnosis), *explaining(diagnosis))
    return tuple(cause for cause in _unknown(diagnosis) if cause not in told)


def is_measured(cause: Cause, diagnosis: Diagnosis) -> bool:
    """Whether something was measured that a confirmation waits for, beside the symptom. What would
    only make one surer tells nothing of a cause while the rest is not known.
    """
    return any(
        check.part is Part.CONFIRM and _is_measured(cause, check, diagnosis)
        for check in cause.checks
    )


def beyond_the_nearest(diagnosis: Diagnosis | None) -> tuple[Cause, ...]:
    """Unknown causes with a sign that are not among the nearest."""
    return with_sign(diagnosis)[2:]


@dataclass(frozen=True, slots=True)
class Open:
    """An unknown cause as it is told: what stands out of it, how its claims stand, and those that
    nobody knows and that would decide.
    """

    cause: Cause
    out: str
    stands: str
    claims: tuple[str, ...]

    @property
    def says_why(self) -> bool:
        """Whether how its claims stand tells why it is not confirmed: one does not hold."""
        return any(c.part in weighing.FOR and c.truth is Truth.FALSE for c in self.cause.checks)


def opened(diagnosis: Diagnosis | None) -> tuple[Open, ...]:
    """The nearest ones, then what slows the slow stage and shows no sign."""
    return _opened(_Same(diagnosis)) if diagnosis else ()


@lru_cache(maxsize=8)
def _opened(of: _Same) -> tuple[Open, ...]:
    diagnosis = of.diagnosis
    open_ = {one.cause.runbook: one.claims for one in not_known(diagnosis)}
    near = nearest(diagnosis)
    return tuple(
        Open(
            cause,
            stands_out(cause, diagnosis) if cause in near else "",
            standing(cause) if cause in near else _signless(cause, diagnosis),
            open_.get(cause.runbook, ()),
        )
        for cause in (*near, *(one for one in explaining(diagnosis) if one not in near))
    )


def _signless(cause: Cause, diagnosis: Diagnosis) -> str:
    return NO_SIGN if is_measured(cause, diagnosis) else DARK


def bare(diagnosis: Diagnosis | None) -> tuple[tuple[str, list[Cause]], ...]:
    """The unknown causes that are told by their names alone, below what is said of them: WITH_SIGN,
    NO_SIGN or DARK; no head without any.
    """
    if diagnosis is None:
        return ()
    others = [(_signless(one, diagnosis), one) for one in without_sign(diagnosis)]
    found = (
        (WITH_SIGN, list(beyond_the_nearest(diagnosis))),
        *((head, [one for of, one in others if of == head]) for head in (NO_SIGN, DARK)),
    )
    return tuple((head, causes) for head, causes in found if causes)


def by_name(diagnosis: Diagnosis | None) -> tuple[str, ...]:
    """`with a sign, too: cold start`, `not measured: RDMA fabric`: the same in words."""
    return tuple(
        f"{head}: {listed([cause_name(cause.runbook) for cause in causes], 12)}"
        for head, causes in bare(diagnosis)
    )


@dataclass(frozen=True, slots=True)
class WouldDecide:
    """What nobody knows of a cause and would decide about it, for or against, as its runbook words
    the claims.
    """

    cause: Cause
    claims: tuple[str, ...]


def not_known(diagnosis: Diagnosis | None) -> tuple[WouldDecide, ...]:
    """What would decide about the causes that could explain this incident, without the remarks."""
    found = (WouldDecide(cause, _would_decide(cause)) for cause in explaining(diagnosis))
    return tuple(one for one in found if one.claims)


def _would_decide(cause: Cause) -> tuple[str, ...]:
    """What nobody knows of a cause and would decide, for or against; each once."""
    found = weighing.unsettled(cause, weighing.DECIDING)
    return tuple(dict.fromkeys(claims.brief(check.claim) for check in found))


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
