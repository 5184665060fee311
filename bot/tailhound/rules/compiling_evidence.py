"""The evidence of a runbook: which collector gives it, with which parameters, and when."""

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tailhound.flow import Collector
from tailhound.rules.compiling_lost import is_halved, lost_facts
from tailhound.rules.compiling_params import parameter_mistakes
from tailhound.rules.condition.typed import meant, usable
from tailhound.rules.expression import Vocabulary
from tailhound.rules.inputs import Input
from tailhound.rules.places import Pairs, follow
from tailhound.rules.runbook import EvidencePlan
from tailhound.rules.schema_evidence import Evidence
from tailhound.rules.yaml_evidence import Surroundings, compile_evidence, schema_for

if TYPE_CHECKING:
    from tailhound.rules.compiling import Bench

_KINDS = ("collect", "promql", "kubernetes", "ssh")


class Plans:
    """Compiles the evidence of one file."""

    def __init__(self, bench: "Bench") -> None:
        self._bench, self._file, self._wrong = bench, bench.file, bench.wrong

    def plans(self, inputs: Mapping[str, Input]) -> dict[str, EvidencePlan]:
        """All evidence, and with it the names that conditions may use."""
        plans: dict[str, EvidencePlan] = {}
        for name, told in self._file.evidence.items():
            before = len(self._bench.findings)
            self._name(name, inputs)
            collector = self._collector(name, told, inputs)
            if collector is None or len(self._bench.findings) > before:
                continue
            facts = told.promql or {}
            plans[name] = EvidencePlan(
                name=name,
                collector=collector,
                schema={
                    **schema_for(collector),
                    **lost_facts(told, follow(self._bench.read.written, ("evidence", name))),
                },
                place=follow(self._bench.node, ("evidence", name)).place,
                with_={
                    key: tuple(value) if isinstance(value, list) else value
                    for key, value in told.with_.items()
                },
                unchecked=tuple(n for n, fact in facts.items() if fact.promql == "unchecked"),
            )
        self._bench.vocabulary = Vocabulary(
            {name: plan.schema for name, plan in plans.items()},
            {name: told.unit for name, told in self._file.thresholds.items()},
            frozenset(self._bench.written("evidence") - frozenset(plans))
            | (self._bench.written("thresholds") - frozenset(self._file.thresholds)),
        )
        return plans

    def _name(self, name: str, inputs: Mapping[str, Input]) -> None:
        steps = ("evidence", name)
        if name in inputs:
            self._wrong(steps, f"{name!r} is already the name of an input")
        if name in self._file.thresholds:
            self._wrong(steps, f"{name!r} is already the name of a threshold")
        if not usable(name):
            self._wrong(steps, f"{name!r} means something else in conditions; use another name")

    def _collector(
        self, name: str, told: Evidence, inputs: Mapping[str, Input]
    ) -> Collector[Any, Any] | None:
        steps = ("evidence", name)
        given = [kind for kind in _KINDS if getattr(told, kind) is not None]
        written = follow(self._bench.read.written, steps)
        if isinstance(written, Pairs) and any(
            written.get(kind) is not None and kind not in given for kind in _KINDS
        ):
            return None  # its shape is wrong, and has been reported
        if len(given) != 1:
            self._wrong(steps, f"{name}: give exactly one of {', '.join(_KINDS)}")
            return None
        if told.compare_to and given != ["promql"]:
            self._wrong((*steps, "compare_to"), "`compare_to:` goes with `promql:` only")
        if is_halved(told, written):
            return None  # a unit or kind is wrong, and has been reported
        if told.collect is None:
            around = Surroundings(self._file.runbook, self._or_broken(inputs), self._bench.allow)
            parted = (fact.partition(".") for fact in self._file.onset or ())
            wanted = next((fact for of, _, fact in parted if of == name), "")
            node = follow(self._bench.node, steps)
            made, findings = compile_evidence(name, told, node, around, wanted)
            self._bench.findings.extend(findings)
            return made
        collector = self._bench.collectors.get(told.collect)
        if collector is None:
            known = meant(told.collect, self._bench.collectors)
            self._wrong((*steps, "collect"), f"no collector named {told.collect!r}{known}")
            return None
        for below, message in parameter_mistakes(told.with_, collector, self._or_broken(inputs)):
            self._wrong((*steps, *below), message)
        return collector

    def _or_broken(self, inputs: Mapping[str, Input]) -> Mapping[str, Input]:
        """The inputs, and in place of those that are wrong themselves some that fit."""
        broken = self._bench.written("inputs") - frozenset(inputs)
        return {**inputs, **{name: Input(name=name, from_label=name) for name in broken}}

    def when(self, plans: dict[str, EvidencePlan]) -> None:
        """Compile `when:`; it may look at the first wave only."""
        for name, told in self._file.evidence.items():
            if told.when is None:
                continue
            steps = ("evidence", name, "when")
            condition = self._bench.condition(follow(self._bench.node, steps))
            later = [
                other
                for other in (condition.evidence if condition else ())
                if other in self._file.evidence and self._file.evidence[other].when is not None
            ]
            if later:
                self._wrong(steps, f"{later[0]!r} has a `when:` itself; there are two waves only")
            elif condition and name in plans:
                plans[name] = dataclasses.replace(plans[name], when=condition)
