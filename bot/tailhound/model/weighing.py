"""What the claims of a cause say for and against it, and which of them nobody could answer."""

from collections.abc import Iterable
from dataclasses import dataclass

from tailhound.model.verdict import Cause, Check, Part, Verdict
from tailhound.truth import Truth

FOR = (Part.CONFIRM, Part.OPTIONAL)
"""The lists whose claims speak for a cause."""

DECIDING = (Part.APPLIES, Part.CONFIRM, Part.REFUTE)
"""The lists whose claims a verdict waits for; the others make it surer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """What speaks against a cause: the refuting claims that hold, and how many could be looked at.

    `open` is the first claim that nobody could answer, "" when all were.
    """

    holding: tuple[Check, ...] = ()
    asked: int = 0
    answered: int = 0
    open: str = ""

    def sentence(self, open_claim: str = "") -> str:
        """`Nothing speaks against it (3 of 4 checked).`; "" when something does, or can't.

        `open_claim` is `open` as the surface writes it, told in the same brackets.
        """
        if self.holding or not self.asked:
            return ""
        checked = f"{self.answered} of {self.asked} checked"
        if not self.answered:
            return f"Whether something speaks against it is not known ({checked})."
        missing = f"; not known whether {open_claim}" if open_claim else ""
        return f"Nothing speaks against it ({checked}{missing})."


def against(checks: Iterable[Check]) -> Against:
    """What speaks against a cause, or a chain of them. A `✗` here is good news, and not listed."""
    refuting = [check for check in checks if check.part is Part.REFUTE]
    unknown = [check for check in refuting if check.truth is Truth.UNKNOWN]
    return Against(
        holding=tuple(check for check in refuting if check.truth is Truth.TRUE),
        asked=len(refuting),
        answered=len(refuting) - len(unknown),
        open=unknown[0].claim if unknown else "",
    )


def deciding(cause: Cause) -> Check | None:
    """The check that decided against a cause: what must apply and does not, else a refuting claim
    that holds, else a claim that does not.
    """

    def of(part: Part, truth: Truth) -> list[Check]:
        return [check for check in cause.checks if check.part is part and check.counts is truth]

    found = [*of(Part.REFUTE, Truth.TRUE), *of(Part.CONFIRM, Truth.FALSE)]
    if cause.verdict is Verdict.NOT_APPLICABLE:
        found = [*of(Part.APPLIES, Truth.FALSE), *found]
    return next(iter(found), None)


def unsettled(cause: Cause, parts: Iterable[Part] = Part) -> tuple[Check, ...]:
    """The claims of these lists that nobody could answer. What the verdict does not wait for, as
    its condition says what then holds, changes nothing and is none of them.
    """
    wanted = tuple(parts)
    return tuple(
        check for check in cause.checks if check.part in wanted and check.counts is Truth.UNKNOWN
    )


def measured(cause: Cause) -> int:
    """How many of the claims for a cause hold by something that was measured."""
    return sum(
        check.part in FOR
        and check.truth is Truth.TRUE
        and any(seen.value is not None for seen in check.seen)
        for check in cause.checks
    )


def unanswered(cause: Cause) -> int:
    """How many of the claims for a cause nobody could answer."""
    return sum(check.part in FOR and check.truth is Truth.UNKNOWN for check in cause.checks)
