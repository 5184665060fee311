"""Changes of the rules that the tests should notice: what survives is not tested.

Each named threshold is halved and doubled, each comparison reversed, each line taken out.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from tailhound.errors import Finding
from tailhound.model import Part
from tailhound.rules.condition.grammar import COMPARE, NotACondition, parsed
from tailhound.rules.condition.terms import OPPOSITE
from tailhound.rules.condition.typed import Vocabulary
from tailhound.rules.expression import compile_condition
from tailhound.rules.lint import judged_claims
from tailhound.rules.places import Place, Scalar
from tailhound.rules.runbook import Claim, Mitigation, Runbook
from tailhound.rules.selftest import run_tests

LISTS = ("applies", "confirm", "optional", "refute")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One changed runbook, or one with other thresholds."""

    place: Place
    message: str
    runbook: Runbook
    overrides: Mapping[str, float] = field(default_factory=dict)

    @property
    def survives(self) -> bool:
        """Whether every test still passes."""
        return all(result.passed for result in run_tests(self.runbook, self.overrides))


def survivors(runbook: Runbook) -> tuple[Finding, ...]:
    """The changes that no test notices, each at its place."""
    return tuple(
        mutant.place.finding(mutant.message, "mutant", "warning")
        for mutant in mutants(runbook)
        if mutant.survives
    )


def mutants(runbook: Runbook) -> Iterator[Mutant]:
    """All changes."""
    yield from _thresholds(runbook)
    for claim, changed in _places(runbook):
        yield from _reversed(runbook, claim, changed)
        yield Mutant(
            place=claim.place,
            message=f"no test notices when this line is gone: {claim.sentence}",
            runbook=changed(None),
        )


def _thresholds(runbook: Runbook) -> Iterator[Mutant]:
    used = {name for claim in judged_claims(runbook) for name in claim.condition.used}
    for name, threshold in runbook.thresholds.items():
        if name not in used or threshold.value == 0:
            continue
        for factor, word in ((0.5, "half"), (2.0, "twice")):
            message = (
                f"no test on the far side of this threshold: {word} of {name!r} changes nothing"
            )
            yield Mutant(
                place=threshold.place,
                message=message,
                runbook=runbook,
                overrides={name: threshold.value * factor},
            )


Changed = Callable[[Claim | None], Runbook]
"""The runbook with this claim in place of one of its own; None: without it."""


def _places(runbook: Runbook) -> Iterator[tuple[Claim, Changed]]:
    for part, claim in runbook.claims:
        yield claim, partial(_with_claim, runbook, part, claim)
    for mitigation in runbook.mitigations:
        for guard in mitigation.guard:
            yield guard, partial(_with_guard, runbook, mitigation, guard)


def _with_claim(runbook: Runbook, part: Part, old: Claim, new: Claim | None) -> Runbook:
    match part:
        case Part.APPLIES:
            return replace(runbook, applies=_swapped(runbook.applies, old, new))
        case Part.CONFIRM:
            return replace(runbook, confirm=_swapped(runbook.confirm, old, new))
        case Part.OPTIONAL:
            return replace(runbook, optional=_swapped(runbook.optional, old, new))
        case Part.REFUTE:
            return replace(runbook, refute=_swapped(runbook.refute, old, new))


def _with_guard(runbook: Runbook, changed: Mitigation, old: Claim, new: Claim | None) -> Runbook:
    other = replace(changed, guard=_swapped(changed.guard, old, new))
    return replace(
        runbook,
        mitigations=tuple(other if one is changed else one for one in runbook.mitigations),
    )


def _swapped(claims: tuple[Claim, ...], old: Claim, new: Claim | None) -> tuple[Claim, ...]:
    kept = (new if claim is old else claim for claim in claims)
    return tuple(claim for claim in kept if claim is not None)


def _reversed(runbook: Runbook, claim: Claim, changed: Changed) -> Iterator[Mutant]:
    vocabulary = Vocabulary(
        {name: plan.schema for name, plan in runbook.evidence.items()},
        {name: threshold.unit for name, threshold in runbook.thresholds.items()},
    )
    source = claim.condition.source
    for start, end, sign in _comparisons(source.text):
        new = f"{source.text[:start]}{OPPOSITE[sign]}{source.text[end:]}"
        condition, _ = compile_condition(Scalar(new, True, source.place, None), vocabulary)
        if condition is None:
            continue
        yield Mutant(
            place=source.at(start, end - start),
            message=f"no test notices `{OPPOSITE[sign]}` in place of `{sign}`",
            runbook=changed(replace(claim, condition=condition)),
        )


def _comparisons(text: str) -> Iterator[tuple[int, int, str]]:
    """Where each comparison's sign stands."""
    try:
        tree = parsed(text)
    except NotACondition:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
                sign = COMPARE.get(type(operator))
                start = text.find(sign, left.end_col_offset, right.col_offset) if sign else -1
                if sign and start >= 0:
                    yield start, start + len(sign), sign
