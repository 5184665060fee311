"""What right means, and the sums over all scenarios."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tests.accuracy.running import Ran
from tests.lab.expectations import check_expectations
from tests.lab.scenario import Expect

EXPECTED = ("confirmed", "refuted", "unknown", "not confirmed", "free")
GOT = ("confirmed", "refuted", "unknown", "not-applicable")
AT_LEAST = 0.95
"""The share of right primary causes below which the product is not good enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One scenario or variant. `primary_right` is None where nothing is said about the primary.

    `matrix` holds (runbook, expected, got). `false_confirmations` are runbooks.
    """

    name: str
    expected_primary: str
    primary: str | None
    primary_right: bool | None
    misses: tuple[str, ...]
    false_confirmations: tuple[str, ...]
    matrix: tuple[tuple[str, str, str], ...]
    variant: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Over all scenarios of a run, and over all their variants."""

    scores: Sequence[Score]
    variants: Sequence[Score] = field(default=())

    @property
    def judged(self) -> int:
        """Scenarios that say something about the primary cause."""
        return sum(score.primary_right is not None for score in self.scores)

    @property
    def right(self) -> int:
        """Those whose primary cause is right."""
        return sum(score.primary_right is True for score in self.scores)

    @property
    def false_confirmations(self) -> tuple[tuple[str, str], ...]:
        """(scenario, runbook), variants included."""
        return tuple(
            (score.name, runbook)
            for score in (*self.scores, *self.variants)
            for runbook in score.false_confirmations
        )

    @property
    def changed(self) -> tuple[Score, ...]:
        """The variants that lost a verdict."""
        return tuple(score for score in self.variants if score.misses)

    @property
    def confusion(self) -> Mapping[tuple[str, str, str], int]:
        """How often (runbook, expected, got) occurred; scenarios alone."""
        return Counter(entry for score in self.scores for entry in score.matrix)

    @property
    def good(self) -> bool:
        """Whether the bars are held: primary causes, false confirmations, every variant."""
        enough = self.judged > 0 and self.right >= AT_LEAST * self.judged
        return enough and not self.false_confirmations and not self.changed


def expected_of(runbook: str, expect: Expect) -> str:
    """What the scenario wants of a cause; "free" = it says nothing."""
    if runbook in expect.confirmed or expect.primaries == (runbook,):
        return "confirmed"
    if runbook in expect.refuted:
        return "refuted"
    if runbook in expect.unknown:
        return "unknown"
    nothing = expect.primary_given and not expect.primaries
    return "not confirmed" if nothing or runbook in expect.never_confirmed else "free"


def falsely_confirmed(ran: Ran, expect: Expect) -> tuple[str, ...]:
    """The causes that are confirmed although the scenario wants something else of them."""
    return tuple(
        sorted(
            runbook
            for runbook, verdict in ran.verdicts.items()
            if verdict == "confirmed" and expected_of(runbook, expect) not in ("confirmed", "free")
        )
    )


def score(name: str, ran: Ran, expect: Expect, known: Collection[str]) -> Score:
    """One scenario against what it expects of the runbooks that exist."""
    misses = check_expectations(ran.result, expect, known)
    said = [_explained(miss, ran) for miss in misses]
    return Score(
        name=name,
        expected_primary=_wanted(expect),
        primary=ran.primary,
        primary_right=_primary_right(ran, expect, known),
        misses=tuple(said),
        false_confirmations=falsely_confirmed(ran, expect),
        matrix=tuple(
            (runbook, expected_of(runbook, expect), verdict)
            for runbook, verdict in sorted(ran.verdicts.items())
        ),
    )


def _wanted(expect: Expect) -> str:
    if not expect.primary_given:
        return "any"
    return " or ".join(expect.primaries) or "none"


def _primary_right(ran: Ran, expect: Expect, known: Collection[str]) -> bool | None:
    """None where the scenario says nothing, or names only causes without a runbook."""
    if not expect.primary_given or (expect.primaries and not set(expect.primaries) & set(known)):
        return None
    if not expect.primaries:
        return ran.primary is None and "confirmed" not in ran.verdicts.values()
    return ran.primary in expect.primaries


def _explained(miss: str, ran: Ran) -> str:
    """The miss, with the lines that decided about the cause that it names."""
    runbook = miss.split(maxsplit=1)[0]
    because = ran.because.get(runbook) or ran.because.get(ran.primary or "")
    return f"{miss}: {because}" if because else miss


def kept(base: Ran, changed: Ran, expect: Expect, only: Collection[str] = ()) -> tuple[str, ...]:
    """The verdicts that a variant lost. `only` = look at these causes alone, else at all.

    A cause of which the scenario says nothing may become unknown, never the opposite.
    """
    lost = []
    for runbook, before in base.verdicts.items():
        after = changed.verdicts.get(runbook, "not there")
        free = expected_of(runbook, expect) == "free"
        if after == before or (only and runbook not in only):
            continue
        if free and "confirmed" not in (before, after):
            continue
        lost.append(f"{runbook} was {before}, is {after}: {changed.because.get(runbook, '')}")
    if base.primary != changed.primary:
        lost.append(f"primary was {base.primary}, is {changed.primary}")
    return tuple(lost)
