"""The claims of all causes as rows of a table that a phone shows whole: two columns. Pure.

A row of its own names each cause, once, with its verdict; below it stand its claims that have an
answer. What nobody measured is counted, and stands in the file.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tailhound.model import Cause, Check, Diagnosis, Part, Verdict, claims, needs, telling
from tailhound.model.names import capital, cause_name
from tailhound.model.wording import NOT_MEASURED, cut
from tailhound.slack.escape import clean
from tailhound.truth import Truth

HEAD: Final = ("Claim", "Seen (needs)")
_CELLS: Final = (90, 90)
_SEEN: Final = 48
"""Characters of the cells of a row, and of what was seen, beside what is needed of it."""

_ORDER: Final = (Truth.TRUE, Truth.FALSE, Truth.UNKNOWN)
_VERDICTS: Final = dict(telling.GROUPS)


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a row: a claim with its mark, or the name of a cause with its verdict."""

    cells: tuple[str, str]
    is_claim: bool = True

    @property
    def line(self) -> str:
        """The same as a line of text."""
        return ": ".join(self.cells)


def rows_of(diagnosis: Diagnosis) -> list[Row]:
    """The claims that have an answer below their causes, confirmed ones first."""
    return [row for cause in diagnosis.causes for row in _of(cause)]


def _of(cause: Cause) -> Iterator[Row]:
    found = [check for check in cause.checks if _is_answered(cause, check)]
    if found:
        yield _row(capital(cause_name(cause.runbook)), _VERDICTS[cause.verdict], is_claim=False)
    for check in sorted(found, key=lambda one: _ORDER.index(one.truth)):
        yield _told(check)


def _told(check: Check) -> Row:
    """`✓ Stopped in more than a tenth of its periods | 95 % of periods (needs over 10 %)`, `✓ Held
    up: x40 the usual pauses | needs over x10`.
    """
    if not claims.is_by_branch(check):
        return _row(f"{claims.mark(check)} {check.claim.rstrip('.')}", _answer(check))
    seen, values = _seen(check)
    names = [value.fact for value in values]
    wanted = "" if needs.is_bare(check, names) else needs.bounds(check, names)
    return _row(f"{claims.mark(check)} {capital(seen)}", f"needs {wanted}" if wanted else "yes")


def _is_answered(cause: Cause, check: Check) -> bool:
    """Whether something was measured; what follows from nothing tells only of a confirmed cause."""
    if any(seen.value is not None for seen in check.seen):
        return True
    return cause.verdict is Verdict.CONFIRMED and check.truth is not Truth.UNKNOWN


def _row(first: str, second: str, *, is_claim: bool = True) -> Row:
    one, two = (
        cut(clean(text), most) or "-" for text, most in zip((first, second), _CELLS, strict=True)
    )
    return Row((one, two), is_claim)


def _answer(check: Check) -> str:
    """`95 % of periods (needs over 10 %)`; a value without a bound stands behind a yes or no, for
    alone it does not answer the claim: `yes: none preempted`.
    """
    seen, values = _seen(check)
    names = [value.fact for value in values]
    wanted = needs.bounds(check, names)
    if check.truth is Truth.UNKNOWN:
        return seen or NOT_MEASURED
    if wanted and not needs.is_bare(check, names):
        return f"{seen} ({wanted if check.part is Part.REFUTE else f'needs {wanted}'})"
    answer = "yes" if check.truth is Truth.TRUE else "no"
    told = f"{answer}: {seen}" if values else answer
    refutes = check.part is Part.REFUTE and check.truth is Truth.FALSE
    return f"{told} (a yes would refute it)" if refutes else told


def _seen(check: Check) -> tuple[str, tuple[claims.Value, ...]]:
    """What was seen, in whole values where one fits: half of one says something else."""
    both = claims.told(check, 2, with_needs=False)
    most = 2 if len(both) <= _SEEN else 1
    return claims.told(check, most, with_needs=False), claims.values(check, most)
