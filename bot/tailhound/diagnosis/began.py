"""When the mechanism of a cause began, by the series that its runbook names for that. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tailhound.diagnosis.course import Course
from tailhound.model import Check, Part
from tailhound.model.wording import duration
from tailhound.rules.condition.terms import Facts
from tailhound.rules.runbook import Runbook
from tailhound.truth import Truth

UNKNOWN = "its onset is unknown"


@dataclass(frozen=True, slots=True)
class Began:
    """`at` is None where nobody knows; `why_not` says so then, "" for a runbook without `onset:`,
    of which nobody expects to know.
    """

    at: datetime | None = None
    why_not: str = ""


def began(runbook: Runbook, checks: Iterable[Check], facts: Facts) -> Began:
    """The onset of the fact by which the cause is confirmed, else of the first that has one."""
    if not runbook.onset:
        return Began()
    courses = [_course(fact, facts) for fact in _ordered(runbook.onset, checks)]
    onset = next((at for one in courses if (at := one.onset) is not None), None)
    if onset is not None:
        return Began(onset)
    looked_at = next((found for one in courses if (found := one.lasted_seconds)), 0.0)
    if looked_at:
        return Began(None, f"it has been so for all of the {duration(looked_at)} looked at")
    return Began(None, UNKNOWN)


def _ordered(onset: Sequence[str], checks: Iterable[Check]) -> Sequence[str]:
    """The facts of an onset, those first that a claim which holds looked at."""
    held = {
        seen.name
        for check in checks
        if check.part is Part.CONFIRM and check.truth is Truth.TRUE
        for seen in check.seen
    }
    return sorted(onset, key=lambda fact: fact not in held)


def _course(fact: str, facts: Facts) -> Course:
    name, _, key = fact.partition(".")
    return Course(facts.get(name, {}), f"{key}_")
