"""Conditions over a set of records: `any`, `all`, `count`, `max`, `min`, `sum`, `len`.

An empty set is unknown (the set itself is what is missing); only `count` and `len` of it are 0,
since the backend did answer. A record that lacks a value makes the answer unknown, unless the
others decide it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tailhound.model.facts import number_of
from tailhound.rules.condition.terms import Record, Run, Scope


@dataclass(frozen=True, slots=True)
class Flat:
    """`body for v in collection`: `key` tells apart the generators of one condition.

    `lead` is the field whose size decides which record is shown, `up` whether the largest or the
    smallest makes the body true; lead = "" shows the first that decides.
    """

    key: int
    name: str
    collection: Run
    body: Run
    lead: str = ""
    up: bool = True

    def answers(self, scope: Scope) -> list[tuple[Record, Any]] | None:
        """Each record with the body's answer; None when the set is unknown."""
        records = self.collection(scope)
        if records is None:
            return None
        found = []
        for record in records:
            scope.record = record
            found.append((record, self.body(scope)))
        scope.record = {}
        return found

    def measured(self, scope: Scope) -> list[tuple[Record, Any]] | None:
        """Each record with the body's answer; None when one is unknown, or there is no record.

        An empty set has no such number: that is missing.
        """
        found = self.answers(scope)
        if found is None or any(value is None for _, value in found):
            return None
        if not found:
            scope.missing.append(self.name)
            return None
        return found

    def extreme(self, records: Sequence[Record], largest: bool) -> Record:
        """The record to show."""
        if not self.lead:
            return records[0]
        sized = [(number_of(record.get(self.lead)), record) for record in records]
        fit = [(size, record) for size, record in sized if size is not None]
        if not fit:
            return records[0]
        choose = max if largest else min
        return choose(fit, key=lambda pair: pair[0])[1]


def quantified(flat: Flat, decider: bool) -> Run:
    """`any` (decider=True) or `all` (decider=False)."""
    largest = flat.up is decider

    def run(scope: Scope) -> bool | None:
        mark = len(scope.missing)
        found = flat.answers(scope)
        if found is None:
            return None
        if not found:
            scope.missing.append(flat.name)
            return None
        deciding = [record for record, answer in found if answer is decider]
        if not deciding and any(answer is None for _, answer in found):
            return None
        del scope.missing[mark:]
        shown = deciding or [record for record, _ in found]
        scope.picked[flat.key] = flat.extreme(shown, largest)
        return decider if deciding else not decider

    return run


def counted(flat: Flat) -> Run:
    """`count`: how many records fulfil the body."""

    def run(scope: Scope) -> float | None:
        found = flat.answers(scope)
        if found is None or any(answer is None for _, answer in found):
            return None
        scope.picked[flat.key] = count = float(sum(answer is True for _, answer in found))
        return count

    return run


def extremal(flat: Flat, choose: Callable[..., Any]) -> Run:
    """`max` or `min` of a number over the records."""

    def run(scope: Scope) -> float | None:
        found = flat.measured(scope)
        if found is None:
            return None
        record, value = choose(found, key=lambda pair: pair[1])
        scope.picked[flat.key] = record
        return float(value)

    return run


def summed(flat: Flat) -> Run:
    """`sum` of a number over the records."""

    def run(scope: Scope) -> float | None:
        found = flat.measured(scope)
        if found is None:
            return None
        total = number_of(sum(value for _, value in found))
        if total is None:
            scope.missing.append(flat.name)
            return None
        scope.picked[flat.key] = total
        return total

    return run


def length(collection: Run, key: int) -> Run:
    """`len`: how many records there are."""

    def run(scope: Scope) -> float | None:
        records = collection(scope)
        if records is None:
            return None
        scope.picked[key] = size = float(len(records))
        return size

    return run
