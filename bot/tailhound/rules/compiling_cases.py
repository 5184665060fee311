"""The baseline and the tests of a runbook: every fact must exist and have a value of its kind."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tailhound.model import Confidence, EvidenceStatus, FactValue, Verdict
from tailhound.model.facts import Fact, Kind, Schema, number_of
from tailhound.rules import schema
from tailhound.rules.condition.typed import meant
from tailhound.rules.places import Steps, follow
from tailhound.rules.runbook import Test

if TYPE_CHECKING:
    from tailhound.rules.compiling import Bench

GONE: Mapping[str, EvidenceStatus] = {
    "failed": EvidenceStatus.UNREACHABLE,
    "timed out": EvidenceStatus.TIMEOUT,
    **{status.value: status for status in EvidenceStatus if status is not EvidenceStatus.COLLECTED},
}
"""What `given:` may say in place of facts: why there are none."""


class Cases:
    """Compiles the baseline and the tests of one file."""

    def __init__(self, bench: "Bench") -> None:
        self._bench = bench

    def baseline(self) -> Mapping[str, Mapping[str, FactValue]]:
        """The facts of a healthy system."""
        told = self._bench.file.baseline
        return {name: self._facts(("baseline", name), name, facts) for name, facts in told.items()}

    def tests(self) -> tuple[Test, ...]:
        """All tests; two of the same name are a finding."""
        tests, names = [], set()
        for index, told in enumerate(self._bench.file.tests):
            if told.name in names:
                self._bench.wrong(("tests", index, "name"), f"a second test named {told.name!r}")
            names.add(told.name)
            tests.append(self._test(("tests", index), told))
        return tuple(tests)

    def _test(self, steps: Steps, told: schema.Test) -> Test:
        for position, offer in enumerate(told.offers or ()):
            mitigations = self._bench.written("mitigations")
            if offer not in mitigations:
                known = meant(offer, mitigations)
                message = f"no mitigation named {offer!r}{known}"
                self._bench.wrong((*steps, "offers", position), message)
        for position, name in enumerate(told.missing or ()):
            self._name((*steps, "missing", position), name)
        return Test(
            name=told.name,
            given={name: self._given(steps, name, facts) for name, facts in told.given.items()},
            expect=Verdict(told.expect),
            place=follow(self._bench.node, (*steps, "name")).place,
            offers=None if told.offers is None else tuple(told.offers),
            missing=None if told.missing is None else tuple(told.missing),
            says=told.says,
            title=told.title,
            look=told.look,
            confidence=Confidence(told.confidence) if told.confidence else None,
        )

    def _given(
        self, steps: Steps, name: str, told: Mapping[str, Any] | str
    ) -> Mapping[str, FactValue] | EvidenceStatus:
        at = (*steps, "given", name)
        if not isinstance(told, str):
            return self._facts(at, name, told)
        self._schema(at, name)
        if told not in GONE:
            self._bench.wrong(at, f"{told!r} is no reason{meant(told, GONE)}")
        return GONE.get(told, EvidenceStatus.UNREACHABLE)

    def _schema(self, steps: Steps, name: str) -> Schema | None:
        known = self._bench.vocabulary
        if name in known.evidence:
            return known.evidence[name]
        if name not in known.broken:
            message = f"no evidence named {name!r}{meant(name, known.evidence)}"
            self._bench.wrong(steps, message)
        return None

    def _name(self, steps: Steps, full: str) -> None:
        """A fact's full name, as in `missing:`."""
        name, _, fact = full.partition(".")
        schema = self._schema(steps, name)
        if schema is not None and fact.partition(".")[0] not in schema:
            self._bench.wrong(steps, f"no field on {name} named {fact!r}{meant(fact, schema)}")

    def _facts(self, steps: Steps, name: str, told: Mapping[str, Any]) -> dict[str, FactValue]:
        schema = self._schema(steps, name)
        return {} if schema is None else self._record(steps, schema, told, name)

    def _record(
        self, steps: Steps, schema: Schema, told: Mapping[str, Any], owner: str
    ) -> dict[str, FactValue]:
        found: dict[str, FactValue] = {}
        for key, value in told.items():
            at = (*steps, key)
            if key not in schema:
                message = f"no field on {owner} named {key!r}{meant(key, schema)}"
                self._bench.wrong(at, message)
            elif value is None:
                found[key] = None
            else:
                found[key] = self._value(at, schema[key], value, f"{owner}.{key}")
        return found

    def _value(self, steps: Steps, fact: Fact, value: Any, name: str) -> FactValue:
        if fact.kind is Kind.SET:
            return self._set(steps, fact, value, name)
        fits = {
            Kind.NUMBER: number_of(value) is not None,
            Kind.TEXT: isinstance(value, str),
            Kind.YESNO: isinstance(value, bool),
        }.get(fact.kind)
        if fits is None:
            self._bench.wrong(steps, f"{name} is a series; conditions don't look at it")
        elif not fits:
            self._bench.wrong(steps, f"{name} is a {fact.kind.value}; {value!r} is none")
        return value if fits else None

    def _set(self, steps: Steps, fact: Fact, value: Any, name: str) -> FactValue:
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self._bench.wrong(steps, f"{name} is a set: a list of {{{', '.join(fact.fields)}}}")
            return None
        return tuple(
            self._record((*steps, index), fact.fields, item, name)
            for index, item in enumerate(value)
        )
