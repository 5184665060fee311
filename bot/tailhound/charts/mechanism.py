"""Which series of the evidence shows the mechanism of a cause, and which claims speak of it. Pure.

A verdict does not name its series. The runbook's `onset:` was read from one of them, so the series
that left its usual band at that very moment is the one; without an onset it is the one that a claim
for the cause looks at, or the only one of the evidence that such a claim looks at.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailhound.charts.chart import Run
from tailhound.charts.series import number_of, points_of
from tailhound.diagnosis.course import Course
from tailhound.model import Cause, Check, Evidence, FactValue, Seen
from tailhound.model.facts import unit_of
from tailhound.model.weighing import FOR
from tailhound.truth import Truth

LIST_BOUND_SECONDS = 60.0
"""The last finite bound of the API server's histogram; `list_clipped` says that a LIST is at it."""

_SERIES = "_series"
_USUAL = "_usual_series"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """One series of one evidence. `checks` are the claims for the cause that look at its fact."""

    item: Evidence
    fact: str
    checks: tuple[Check, ...] = ()

    @property
    def series(self) -> FactValue:
        """The samples up to the verdict."""
        return self.item.facts.get(f"{self.fact}{_SERIES}")

    @property
    def usual_series(self) -> FactValue:
        """The samples of the usual moments."""
        return self.item.facts.get(f"{self.fact}{_USUAL}")

    @property
    def course(self) -> Course:
        """What all its samples tell, also those that are not kept."""
        return Course(self.item.facts, f"{self.fact}_")

    @property
    def points(self) -> Run:
        """The finite samples, in the order of time."""
        return points_of(self.series)

    @property
    def seen(self) -> Seen | None:
        """How the first of its claims saw it."""
        return next(
            (seen for check in self.checks for seen in check.seen if _fact(seen.name) == self.fact),
            None,
        )

    @property
    def unit(self) -> str:
        """The unit of its values, as in `model.facts`."""
        seen = self.seen
        return seen.unit if seen and seen.unit != "times" else unit_of(self.fact)

    @property
    def value(self) -> float:
        """What the fact was; its last sample where it has no value of its own."""
        stated = number_of(self.item.facts.get(self.fact))
        return self.points[-1][1] if stated is None else stated

    @property
    def usual(self) -> float | None:
        """Its usual value; None where nobody knows."""
        stated = number_of(self.item.facts.get(f"{self.fact}_usual"))
        return number_of(self.course.usual) if stated is None else stated

    @property
    def holds(self) -> Check | None:
        """The first claim about it that holds."""
        return next((check for check in self.checks if check.truth is Truth.TRUE), None)

    @property
    def clipped(self) -> bool:
        """Whether it is a quantile at the last finite bound of its histogram."""
        facts = self.item.facts
        if facts.get(f"{self.fact}_clipped") is True:
            return True
        return facts.get("list_clipped") is True and self.value >= LIST_BOUND_SECONDS


def mechanisms_of(cause: Cause, evidence: Mapping[str, Evidence]) -> tuple[Mechanism, ...]:
    """The series of a cause: the mechanism's first, then others that a claim which holds speaks of.

    Empty when nothing that it asked for has a series.
    """
    found = [
        Mechanism(item=item, fact=fact, checks=_checks(cause, item, fact))
        for item in (evidence[name] for name in cause.evidence if name in evidence)
        for fact in _facts_with_series(item)
    ]
    main = _main(cause, found)
    if main is None:
        return ()
    return (main, *(one for one in _by_claim(cause, found) if one != main and one.holds))


def _facts_with_series(item: Evidence) -> list[str]:
    return [
        name.removesuffix(_SERIES)
        for name, value in item.facts.items()
        if name.endswith(_SERIES) and not name.endswith(_USUAL) and points_of(value)
    ]


def _checks(cause: Cause, item: Evidence, fact: str) -> tuple[Check, ...]:
    return tuple(
        check
        for check in cause.checks
        if check.part in FOR and any(_means(cause, item, fact, seen.name) for seen in check.seen)
    )


def _means(cause: Cause, item: Evidence, fact: str, name: str) -> bool:
    """Whether a name in a condition is this fact; the runbook may call the evidence otherwise."""
    alias = name.partition(".")[0]
    return _fact(name) == fact and (alias not in cause.evidence or alias == item.name)


def _fact(name: str) -> str:
    return name.partition(".")[2]


def _main(cause: Cause, found: Sequence[Mechanism]) -> Mechanism | None:
    claimed = _by_claim(cause, found)
    ordered = [*claimed, *(one for one in found if one not in claimed)]
    if cause.onset is not None:
        for one in ordered:
            if one.course.onset == cause.onset:
                return one
    if claimed:
        return claimed[0]
    near = [one for one in found if _looked_at(cause, one.item)]
    return near[0] if len(near) == 1 else None


def _by_claim(cause: Cause, found: Sequence[Mechanism]) -> list[Mechanism]:
    """Those that claims speak of, in the order of the claims."""
    places = {id(check): at for at, check in enumerate(cause.checks)}
    spoken = [one for one in found if one.checks]
    return sorted(spoken, key=lambda one: places[id(one.checks[0])])


def _looked_at(cause: Cause, item: Evidence) -> bool:
    """Whether a claim for the cause looks at any fact of this evidence."""
    return any(
        seen.name.partition(".")[0] == item.name
        for check in cause.checks
        if check.part in FOR
        for seen in check.seen
    )
