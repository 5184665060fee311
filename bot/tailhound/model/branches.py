"""A claim with an `or`, told by the branch that holds. Nothing here is escaped.

`Replicas were missing for more than a minute, or the service started from zero: 5 min 15 s` makes
people ask which of the two it is. What was measured says it: `missing for 5 min 15 s`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from tailhound.model import claims
from tailhound.model.evidence import Evidence
from tailhound.model.facts import number_of
from tailhound.model.lacking import item_of
from tailhound.model.names import fact_name, plural
from tailhound.model.verdict import Cause, Check, Seen
from tailhound.model.wording import beside, cut, number

Own = tuple[str, str]
"""A collector and a plain fact of it: another's fact of that name is something else."""

_ALONE: Final[Mapping[Own, str]] = {
    ("prometheus.apiserver", "critical_wait_seconds"): "nodes and controllers wait {}",
    ("prometheus.batching", "wait_seconds"): "{} of waiting for a batch",
    ("prometheus.batching", "wait_ratio"): "{} the usual wait for a batch",
    ("prometheus.container_cpu", "throttled_ratio"): "stopped in {} of its CPU periods",
    ("prometheus.container_cpu", "lost_seconds_per_second"): "its CPU limit takes {}",
    ("prometheus.replicas", "missing_seconds"): "missing for {}",
}
"""Facts whose phrase needs its claim, or is too long beside how many there are."""

_OF: Final[Mapping[Own, tuple[str, str, str]]] = {
    ("prometheus.replicas", "missing_count"): ("desired_count", "replica", "missing"),
}
"""An amount that is told as `2 of 3 replicas missing`: the fact that tells the whole, its words."""


@dataclass(frozen=True, slots=True)
class Branch:
    """The fact by which a claim with an `or` holds, and its usual value (None = not known)."""

    cause: Cause
    check: Check
    seen: Seen
    usual: float | None

    @property
    def is_one(self) -> bool:
        """Whether its claim has an `or`, and there are words for the fact alone."""
        chosen = any(
            bound.alternative and bound.fact == self.seen.name for bound in self.check.needs
        )
        return chosen and bool(self._words)

    def told(self, evidence: Iterable[Evidence]) -> str:
        """`2 of 3 replicas missing (usually 0)`, `x5.6 the usual time to read`."""
        text = self._of_all(evidence) or self._words
        where = f" on {cut(self.seen.of)}" if self.seen.of else ""
        if self.usual is None or "usual" in text:
            return f"{text}{where}"
        return f"{text}{where} ({beside(self.usual, self._value, self.seen.unit)})"

    @property
    def _fact(self) -> Own:
        return self.seen.collector, self.seen.name.rpartition(".")[2]

    @property
    def _value(self) -> float:
        return number_of(self.seen.value) or 0.0

    @property
    def _words(self) -> str:
        """The phrase of the fact with its value; "" where it would be told by its name alone."""
        if self._fact in _ALONE:
            return _ALONE[self._fact].format(number(self._value, self.seen.unit))
        found = claims.values(replace(self.check, seen=(self.seen,)), 1)
        text = found[0].text.removeprefix("or ") if found else ""
        by_name = f"{fact_name(self.seen.name)} {number(self._value, self.seen.unit)}"
        return "" if text.startswith(by_name) else text

    def _of_all(self, evidence: Iterable[Evidence]) -> str:
        whole, noun, what = _OF.get(self._fact, ("", "", ""))
        item = item_of(self.cause, self.seen.name, evidence) if whole else None
        total = number_of(item.facts.get(whole)) if item else None
        if total is None or total < self._value:
            return ""
        return f"{number(self._value, 'count')} of {plural(round(total), noun)} {what}"


def joined(found: Iterable[Branch], evidence: Iterable[Evidence]) -> str:
    """All of them as one point, those with a usual value first."""
    evidence = tuple(evidence)
    ordered = sorted(found, key=lambda one: one.usual is None)
    return ", ".join(dict.fromkeys(one.told(evidence) for one in ordered))
