"""Runbooks + inputs -> what to ask: each distinct question once, whoever wants it."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailhound.diagnosis.resolve import Resolved
from tailhound.diagnosis.resolved import blamed
from tailhound.flow import Collector
from tailhound.model import Evidence, EvidenceStatus, FactValue
from tailhound.model.symptomless import NOTHING_KNOWN
from tailhound.model.unanswered import KNOWN_HERE
from tailhound.rules.expression import Condition
from tailhound.rules.runbook import EvidencePlan, Runbook
from tailhound.truth import Truth

Facts = Mapping[str, Mapping[str, FactValue]]
Key = tuple[str, str]
"""(runbook, its own name for the evidence)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One evidence to collect. `why_not` says why it can't be asked; then `params` is None.

    `wanted_when` are the conditions of those who want it; empty = wanted at once.
    """

    name: str
    collector: Collector[Any, Any]
    params: Any
    why_not: str = ""
    wanted_when: tuple[tuple[str, Condition], ...] = ()

    @property
    def unasked(self) -> Evidence:
        """The evidence that stands for a question that can't be asked."""
        return Evidence(
            name=self.name,
            collector=self.collector.name,
            status=EvidenceStatus.SKIPPED,
            reason=f"not asked: {self.why_not}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All evidence of an investigation; `names` leads from a runbook's name to the plan's."""

    evidence: tuple[Planned, ...]
    names: Mapping[Key, str]

    @property
    def first(self) -> tuple[Planned, ...]:
        """What is asked in the first wave."""
        return tuple(item for item in self.evidence if not item.wanted_when)

    def second(
        self, facts: Mapping[str, Facts], thresholds: Mapping[str, Any]
    ) -> tuple[Planned, ...]:
        """What is asked in the second wave: whose condition holds on the facts of the first.

        `facts` and `thresholds` are by runbook.
        """
        return tuple(
            item
            for item in self.evidence
            if any(
                condition.truth(facts[runbook], thresholds[runbook]) is Truth.TRUE
                for runbook, condition in item.wanted_when
            )
        )

    def facts_of(self, runbook: Runbook, evidence: Sequence[Evidence]) -> Facts:
        """A runbook's evidence under its own names; what was not collected is absent."""
        found = {item.name: item.facts for item in evidence}
        named = {alias: name for (owner, alias), name in self.names.items() if owner == runbook.id}
        return {alias: found[name] for alias, name in named.items() if name in found}


def plan(
    runbooks: Sequence[Runbook], resolved: Resolved, always: Sequence[Collector[Any, Any]]
) -> Plan:
    """What these runbooks want to know of this subject. `always` are asked whatever they
    want."""
    shared: dict[tuple[str, Any], Planned] = {}
    names: dict[Key, str] = {}
    for runbook in runbooks:
        for wanted in runbook.evidence.values():
            params, why_not = _params(runbook, wanted, resolved)
            key = (
                wanted.collector.name,
                params if params is not None else (runbook.id, wanted.name),
            )
            item = shared.get(key) or Planned(
                name=_free(wanted.name, runbook.id, shared),
                collector=wanted.collector,
                params=params,
                why_not=why_not,
                wanted_when=((runbook.id, wanted.when),) if wanted.when else (),
            )
            shared[key] = _merged(item, runbook.id, wanted)
            names[runbook.id, wanted.name] = item.name
    found = tuple(shared.values())
    asked = {item.collector.name for item in found}
    more = (_always(one, resolved) for one in always if one.name not in asked)
    return Plan(evidence=(*found, *filter(_is_about_something, more)), names=names)


def _merged(item: Planned, runbook: str, wanted: EvidencePlan) -> Planned:
    """Wanted at once by one is wanted at once."""
    if wanted.when is None:
        return dataclasses.replace(item, wanted_when=())
    if not item.wanted_when or any(owner == runbook for owner, _ in item.wanted_when):
        return item
    return dataclasses.replace(item, wanted_when=(*item.wanted_when, (runbook, wanted.when)))


def _free(name: str, runbook: str, shared: Mapping[Any, Planned]) -> str:
    taken = {item.name for item in shared.values()}
    return name if name not in taken else f"{runbook}.{name}"


def _always(collector: Collector[Any, Any], resolved: Resolved) -> Planned:
    params, why_not = _filled(collector, {}, resolved)
    name = collector.name.rpartition(".")[2]
    return Planned(name=name, collector=collector, params=params, why_not=why_not)


def _is_about_something(item: Planned) -> bool:
    """Whether more than a namespace is known of what it asks about; else it would ask nothing."""
    if item.params is None:
        return True
    fields = dataclasses.fields(item.params)
    return any(
        field.name != "namespace" and getattr(item.params, field.name) != field.default
        for field in fields
    )


def _params(runbook: Runbook, wanted: EvidencePlan, resolved: Resolved) -> tuple[Any, str]:
    """The collector's parameters from the runbook's inputs, or why they can't be filled."""
    given = inputs_of(runbook, resolved)
    return _filled(wanted.collector, {**given, **wanted.with_}, resolved)


def inputs_of(runbook: Runbook, resolved: Resolved) -> dict[str, Any]:
    """A runbook's inputs by name: from the alert's labels, or found by resolution."""
    return {
        name: resolved.labels.get(item.from_label, item.default or "")
        if item.from_label
        else getattr(resolved, item.attribute)
        for name, item in runbook.inputs.items()
    }


def _filled(
    collector: Collector[Any, Any], given: Mapping[str, Any], resolved: Resolved
) -> tuple[Any, str]:
    values: dict[str, Any] = {}
    for field in dataclasses.fields(collector.params):
        name = field.name
        value = given[name] if name in given else getattr(resolved, name, "")
        if name == "usual" and value == ():  # every usual moment lies in an earlier incident
            values[name] = value
            continue
        optional = field.default is not dataclasses.MISSING
        if not value and optional:
            continue
        if value in ("", ()):
            why = blamed(resolved.notes)
            if why.startswith(NOTHING_KNOWN):  # the same for pods, nodes and namespace
                return None, why
            told = f"no {name} {'are' if name.endswith('s') else 'is'} {KNOWN_HERE}"
            return None, f"{told}: {why}" if why else told
        values[name] = value
    return collector.params(**values), ""
