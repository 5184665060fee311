"""What a condition is made of when it runs: values that may be missing, and how they combine.

Inside, a value is a number, a text, a yes/no, a set of records, or None = unknown. Every piece that
can't tell appends the names of what it lacks to `scope.missing`; a piece that can tell after all
takes them back.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from tailhound.model.facts import Kind, number_of

Facts: TypeAlias = Mapping[str, Mapping[str, Any]]
Record: TypeAlias = Mapping[str, Any]


class Scope:
    """One evaluation: what is known, what was found to be missing, and which alternatives are idle:
    those beside the one that made an `or` true.
    """

    __slots__ = ("facts", "idle", "missing", "picked", "record", "thresholds")

    def __init__(self, facts: Facts, thresholds: Mapping[str, float]) -> None:
        self.facts = facts
        self.thresholds = thresholds
        self.record: Record = {}
        self.missing: list[str] = []
        self.idle: set[int] = set()
        self.picked: dict[int, Any] = {}


Run: TypeAlias = Callable[[Scope], Any]


def clean_text(value: Any) -> str | None:
    """A text, or None for anything else."""
    return value if isinstance(value, str) else None


def clean_yesno(value: Any) -> bool | None:
    """A yes/no, or None for anything else."""
    return value if isinstance(value, bool) else None


def clean_set(value: Any) -> Sequence[Record] | None:
    """A set of records, or None for anything else."""
    if not isinstance(value, tuple | list):
        return None
    return value if all(isinstance(item, Mapping) for item in value) else None


CLEAN: Mapping[Kind, Callable[[Any], Any]] = {
    Kind.NUMBER: number_of,
    Kind.TEXT: clean_text,
    Kind.YESNO: clean_yesno,
    Kind.SET: clean_set,
}


def raw_fact(facts: Facts, evidence: str, fact: str) -> Any:
    """A fact as the collector gave it; None when it, or its evidence, is not there."""
    found = facts.get(evidence)
    return found.get(fact) if isinstance(found, Mapping) else None


def fact(evidence: str, name: str, kind: Kind) -> Run:
    """The value of `evidence.name`."""
    clean, full = CLEAN[kind], f"{evidence}.{name}"

    def run(scope: Scope) -> Any:
        value = clean(raw_fact(scope.facts, evidence, name))
        if value is None:
            scope.missing.append(full)
        return value

    return run


def record_field(collection: str, name: str, kind: Kind) -> Run:
    """The value of one field of the record that is looked at."""
    clean, full = CLEAN[kind], f"{collection}.{name}"

    def run(scope: Scope) -> Any:
        value = clean(scope.record.get(name))
        if value is None:
            scope.missing.append(full)
        return value

    return run


def known(value: Run) -> Run:
    """Whether something was measured; itself never unknown."""

    def run(scope: Scope) -> bool:
        mark = len(scope.missing)
        found: bool = value(scope) is not None
        del scope.missing[mark:]
        return found

    return run


def threshold(name: str) -> Run:
    """The value of a named threshold."""
    return lambda scope: number_of(scope.thresholds.get(name))


def unknown(_: Scope) -> None:
    """Nothing is known."""


def constant(value: Any) -> Run:
    """A value written in the condition."""
    return lambda _: value


def both(parts: Sequence[Run], stop: bool, alternatives: Sequence[int] = ()) -> Run:
    """`and` (stop=False) or `or` (stop=True): one part that equals `stop` decides.

    `alternatives` are the parts' numbers; those that did not decide become idle.
    """

    def run(scope: Scope) -> bool | None:
        mark, open_ = len(scope.missing), False
        for at, part in enumerate(parts):
            value: bool | None = part(scope)
            if value is stop:
                del scope.missing[mark:]
                scope.idle.update(alternatives[:at], alternatives[at + 1 :])
                return stop
            open_ = open_ or value is None
        if open_:
            return None
        del scope.missing[mark:]
        return not stop

    return run


def negated(value: Run) -> Run:
    """`not`."""

    def run(scope: Scope) -> bool | None:
        found: bool | None = value(scope)
        return None if found is None else not found

    return run


def compared(left: Run, compare: Callable[[Any, Any], bool], right: Run) -> Run:
    """A comparison; unknown when a side is."""

    def run(scope: Scope) -> bool | None:
        one, other = left(scope), right(scope)
        return None if one is None or other is None else compare(one, other)

    return run


def contained(left: Run, items: frozenset[Any], wanted: bool) -> Run:
    """`in [..]` (wanted=True) or `not in [..]`."""

    def run(scope: Scope) -> bool | None:
        value = left(scope)
        return None if value is None else (value in items) is wanted

    return run


def computed(
    parts: Sequence[Run], work: Callable[..., float | None], names: tuple[str, ...]
) -> Run:
    """A number from numbers. A division by zero or an overflow is unknown, because of `names`."""

    def run(scope: Scope) -> float | None:
        values = [part(scope) for part in parts]
        if any(value is None for value in values):
            return None
        try:
            result = work(*values)
        except ZeroDivisionError:
            result = None
        if result is None or not math.isfinite(result):
            scope.missing.extend(names)
            return None
        return result

    return run


TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "==", "!=": "!="}
"""The same comparison with its sides exchanged."""
OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "==": "!=", "!=": "=="}
"""What holds when a comparison does not."""
