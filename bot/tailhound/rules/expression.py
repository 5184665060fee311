"""Conditions: compiled once, answered in three values, with the values that were seen.

    condition = compile_condition(scalar, vocabulary, thresholds)     # or findings
    answer = condition.answer(facts)
    answer.truth, answer.seen, answer.missing, answer.needs

Answering never raises, whatever the facts hold: a value of another kind than declared, or one that
is not finite, counts as not measured.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tailhound.errors import Finding
from tailhound.model import Bound, Seen
from tailhound.model.facts import Kind, number_of
from tailhound.rules.condition.calls import Checker
from tailhound.rules.condition.grammar import NotACondition, parsed
from tailhound.rules.condition.terms import CLEAN, Facts, Run, Scope, raw_fact
from tailhound.rules.condition.typed import Limit, Look, Mistake, Vocabulary
from tailhound.rules.places import Scalar
from tailhound.truth import Truth, truth_of

__all__ = ["Answer", "Condition", "Facts", "Vocabulary", "compile_condition"]


_TITLE = "title"
"""The field that names a record for people, where it has one."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a condition says: `missing` names the facts that would decide, when it is UNKNOWN.

    When an alternative made an `or` true, `seen` and `needs` are of that one alone. `assumed`: no
    value that the condition reads was measured, and it says what then holds (`not known(..)`).
    """

    truth: Truth
    seen: tuple[Seen, ...]
    missing: tuple[str, ...]
    needs: tuple[Bound, ...]
    assumed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """One checked condition. `names` are the facts it looks at, `used` its thresholds.

    `bare` are the numbers without a name, a matter for the linter. `limits` are the bounds that
    every whole answer gives as `needs`, in the same order; `reckoned` those that follow from
    other facts, given where these are known.
    """

    text: str
    source: Scalar
    names: tuple[str, ...]
    used: frozenset[str]
    bare: tuple[Mistake, ...]
    _run: Run
    limits: tuple[Limit, ...]
    reckoned: tuple[Limit, ...]
    _looks: tuple[Look, ...]
    _reads: bool

    @property
    def evidence(self) -> tuple[str, ...]:
        """The names of the evidence it looks at."""
        return tuple(dict.fromkeys(name.partition(".")[0] for name in self.names))

    @property
    def shown(self) -> tuple[tuple[str, str], ...]:
        """The numbers that it shows people, with their units."""
        numbers = (look for look in self._looks if look.kind is Kind.NUMBER)
        return tuple((look.name, look.unit) for look in numbers)

    def truth(self, facts: Facts, thresholds: Mapping[str, float]) -> Truth:
        """Just the truth."""
        value: bool | None = self._run(Scope(facts, thresholds))
        return truth_of(value)

    def answer(
        self, facts: Facts, thresholds: Mapping[str, float], *, whole: bool = False
    ) -> Answer:
        """The truth, the values seen, what is missing and the bounds.

        `whole` gives also the values and bounds of alternatives that did not decide.
        """
        scope = Scope(facts, thresholds)
        value: bool | None = self._run(scope)
        missing = tuple(dict.fromkeys(scope.missing)) if value is None else ()
        idle = frozenset() if whole else frozenset(scope.idle)
        looks = [look for look in self._looks if not look.paths or _told(look.paths, idle)]
        every = self.limits if whole else (*self.limits, *self.reckoned)
        limits = [limit for limit in every if _told((limit.path,), idle)]
        seen = tuple(found for look in looks if (found := _seen(look, scope)) is not None)
        assumed = value is not None and not seen and self._reads
        return Answer(truth_of(value), seen, missing, _needs(limits, scope), assumed)


def compile_condition(
    source: Scalar, vocabulary: Vocabulary
) -> tuple[Condition | None, tuple[Finding, ...]]:
    """The checked condition, or None with everything that is wrong with it, each at its place."""
    text = source.text
    try:
        tree = parsed(text)
    except NotACondition as error:
        return None, (source.at(error.offset, error.length).finding(error.message),)
    checker = Checker(vocabulary, text)
    piece = checker.condition(tree)
    if checker.mistakes or piece.kind is None:
        return None, tuple(
            source.at(mistake.offset, mistake.length).finding(mistake.message)
            for mistake in checker.mistakes
        )
    return (
        Condition(
            text=" ".join(text.split()),
            source=source,
            names=piece.names,
            used=frozenset(checker.used),
            bare=tuple(checker.bare),
            _run=piece.run,
            limits=tuple(checker.limits),
            reckoned=tuple(checker.reckoned),
            _looks=tuple((checker.looks or checker.asides).values()),
            _reads=bool(checker.looks),
        ),
        (),
    )


def _told(paths: Iterable[tuple[int, ...]], idle: frozenset[int]) -> bool:
    """Whether one of these places is in no idle alternative."""
    return any(idle.isdisjoint(path) for path in paths)


def _needs(limits: Iterable[Limit], scope: Scope) -> tuple[Bound, ...]:
    found = []
    for limit in limits:
        value = limit.limit(scope)
        if value is not None:
            bound = Bound(
                fact=limit.fact,
                comparison=limit.comparison,
                value=value,
                unit=limit.unit,
                alternative=limit.path[0] if limit.path else 0,
            )
            found.append(bound)
    return tuple(found)


def _seen(look: Look, scope: Scope) -> Seen | None:
    """The value that a look finds; None when there is none to show."""
    if look.key is not None:
        return _picked(look, scope.picked.get(look.key))
    if look.run is not None:
        value = look.run(scope)
        return None if value is None else Seen(name=look.name, value=value, unit=look.unit)
    value = raw_fact(scope.facts, look.evidence, look.fact)
    if CLEAN[look.kind](value) is None:
        return None
    usual = number_of(raw_fact(scope.facts, look.evidence, look.usual)) if look.usual else None
    return Seen(name=look.name, value=value, unit=look.unit, usual=usual)


def _picked(look: Look, picked: Any) -> Seen | None:
    """A count or sum, or a field of the record that decided."""
    if picked is None:
        return None
    if not isinstance(picked, Mapping):
        whole = int(picked) if float(picked).is_integer() else picked
        return Seen(name=look.name, value=whole, unit=look.unit)
    value = picked.get(look.fact)
    if CLEAN[look.kind](value) is None:
        return None
    labels = (_TITLE,) if _TITLE in look.labels else look.labels
    names = [picked[label] for label in labels if isinstance(picked.get(label), str)]
    usual = number_of(picked.get(look.usual)) if look.usual else None
    return Seen(
        name=look.name, value=value, unit=look.unit, usual=usual, of="/".join(filter(None, names))
    )
