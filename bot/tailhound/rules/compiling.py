"""From a file's shape to a compiled runbook: names, kinds, units, places, everything at once."""

import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tailhound.errors import Finding
from tailhound.flow import Collector
from tailhound.model import Confidence
from tailhound.model.facts import Fact, Kind, Schema
from tailhound.rules import schema
from tailhound.rules.compiling_cases import Cases
from tailhound.rules.compiling_changes import Changes
from tailhound.rules.compiling_evidence import Plans
from tailhound.rules.condition.typed import meant, usable
from tailhound.rules.expression import Condition, Vocabulary, compile_condition
from tailhound.rules.inputs import ALWAYS, Input
from tailhound.rules.looks import Looks
from tailhound.rules.places import Items, Pairs, Scalar, Steps, follow
from tailhound.rules.reading import Read, read_file
from tailhound.rules.runbook import Claim, Runbook, Threshold, Trigger
from tailhound.rules.says import OVER, Says, compile_says
from tailhound.rules.unseen import Unseen, mistakes
from tailhound.rules.where import Where, where
from tailhound.rules.yaml_evidence import Allows

Collectors: typing.TypeAlias = Mapping[str, Collector[Any, Any]]


def compile_runbook(
    path: str, source: str | bytes, collectors: Collectors, allow: Allows
) -> tuple[Runbook | None, tuple[Finding, ...]]:
    """The runbook of a file and all findings in file order.

    A runbook with findings is only what is left of it, good for looking at its names and no more;
    None when nothing is left.
    """
    read, findings = read_file(path, source)
    if read is None:
        return None, findings
    text = source.decode("utf-8") if isinstance(source, bytes) else source
    bench = Bench(path=path, text=text, read=read, collectors=collectors, allow=allow)
    bench.findings.extend(findings)
    runbook = bench.runbook()
    found = tuple(sorted(set(bench.findings), key=lambda f: (f.line, f.column, f.message)))
    return runbook, found


@dataclass(slots=True, kw_only=True)
class Bench:
    """One file on its way to a runbook."""

    path: str
    text: str
    read: Read
    collectors: Collectors
    allow: Allows
    findings: list[Finding] = field(default_factory=list)
    vocabulary: Vocabulary = field(default_factory=lambda: Vocabulary({}, {}))

    @property
    def file(self) -> schema.RunbookFile:
        """The shape of the file."""
        return self.read.file

    @property
    def node(self) -> Pairs:
        """The nodes behind the shape."""
        return self.read.node

    def written(self, section: str) -> frozenset[str]:
        """All keys of a section, those too whose value has a wrong shape."""
        found = self.read.written.get(section)
        entries = found.entries if isinstance(found, Pairs) else ()
        return frozenset(key.text for key, _ in entries)

    def wrong(self, steps: Steps, message: str) -> None:
        """A finding at a place of the file."""
        self.findings.append(follow(self.node, steps).place.finding(message))

    def runbook(self) -> Runbook:
        """Everything, in the order in which one thing needs another."""
        file = self.file
        inputs = self._inputs()
        thresholds = self._thresholds()
        evidence = Plans(self)
        plans = evidence.plans(inputs)
        evidence.when(plans)
        cases = Cases(self)
        applies, confirm, optional, refute = self._with_otherwise()
        return Runbook(
            id=file.runbook,
            cause=file.cause,
            was=file.was,
            path=self.path,
            source=self.text,
            root=self.node,
            owner=file.owner,
            docs=file.docs,
            summary=" ".join(file.summary.split()),
            trigger=self._trigger(),
            inputs=inputs,
            thresholds=thresholds,
            evidence=plans,
            onset=self._onsets(),
            applies=applies,
            confirm=confirm,
            optional=optional,
            refute=refute,
            leads_to=self._causes("leads_to", file.leads_to),
            explained_by=self._causes("explained_by", file.explained_by),
            slows=tuple(dict.fromkeys(file.slows)),
            at_most=Confidence(file.confidence.at_most) if file.confidence else None,
            at_most_because=file.confidence.because if file.confidence else "",
            headline=self._headline(inputs, thresholds, plans),
            says=self.says(("says",), inputs),
            beware=self.says(("beware",), inputs),
            look=self._look(inputs),
            unseen=self._unseen(),
            mitigations=Changes(self).mitigations(inputs),
            active=file.status == "active",
            baseline=cases.baseline(),
            tests=cases.tests(),
        )

    def claims(self, steps: Steps) -> tuple[Claim, ...]:
        """The claims of a list of the file."""
        found = follow(self.node, steps)
        if not isinstance(found, Items):
            return ()
        claims = []
        for item in found.items:
            assert isinstance(item, Pairs)  # noqa: S101 - the shape was checked
            ((sentence, condition),) = item.entries
            if compiled := self.condition(condition):
                claims.append(
                    Claim(sentence=sentence.text, condition=compiled, place=sentence.place)
                )
        return tuple(claims)

    def _with_otherwise(self) -> tuple[tuple[Claim, ...], ...]:
        """The claims of each list, each with what is so where it speaks against the cause."""
        found = [self.claims((one,)) for one in ("applies", "confirm", "optional", "refute")]
        told, file = self.file.otherwise, self.file
        written = (file.applies, file.confirm, file.optional, file.refute)
        names = {sentence for claims in written for claim in claims for sentence in claim}
        for sentence in told:
            if sentence not in names:
                message = f"no claim {sentence!r}"
                self.wrong(("otherwise", sentence), f"{message}{meant(sentence, names)}")
        return tuple(
            tuple(
                replace(claim, otherwise=told.get(claim.sentence, "").rstrip("."))
                for claim in claims
            )
            for claims in found
        )

    def condition(self, node: Any) -> Condition | None:
        """A condition; None with findings when it is wrong."""
        if not isinstance(node, Scalar):
            return None
        condition, findings = compile_condition(node, self.vocabulary)
        self.findings.extend(findings)
        return condition

    def _trigger(self) -> Trigger:
        told = self.file.trigger
        wheres: dict[str, Where] = {}
        for label, text in told.where.items():
            found = where(text)
            if isinstance(found, str):
                self.wrong(("trigger", "where", label), found)
            else:
                wheres[label] = found
        return Trigger(alerts=tuple(told.alerts), where=wheres, command=told.command)

    def _inputs(self) -> dict[str, Input]:
        found = {}
        for name, told in self.file.inputs.items():
            if name in ALWAYS:
                self.wrong(("inputs", name), f"{name!r} is filled by itself; use another name")
            if isinstance(told, str):
                found[name] = Input(name=name, phrase=told)
            else:
                default = None if told.default is None else str(told.default)
                found[name] = Input(name=name, from_label=told.from_label, default=default)
        return found

    def _thresholds(self) -> dict[str, Threshold]:
        found = {}
        for name, told in self.file.thresholds.items():
            if not usable(name):
                self.wrong(("thresholds", name), f"{name!r} means something else in conditions")
            place = follow(self.node, ("thresholds", name)).place
            found[name] = Threshold(
                name=name, value=told.value, unit=told.unit, source=told.source, place=place
            )
        return found

    def _onsets(self) -> tuple[str, ...]:
        alone = isinstance(self.node.get("onset"), Scalar)
        written = enumerate(self.file.onset or ())
        places = ((("onset",) if alone else ("onset", n), one) for n, one in written)
        return tuple(fact for steps, one in places for fact in self._onset(steps, one))

    def _onset(self, steps: Steps, onset: str) -> tuple[str, ...]:
        name, _, fact = onset.partition(".")
        if name in self.vocabulary.broken:
            return ()
        if not self._named_fact(steps, onset):
            return (onset,)
        schema = self.vocabulary.evidence[name]
        if not _has_series(schema, fact):
            series = [key for key in schema if _has_series(schema, key)]
            told = f"; with one: {', '.join(series)}" if series else ""
            self.wrong(steps, f"{onset} has no series, so its onset can't be seen{told}")
        return (onset,)

    def _named_fact(self, steps: Steps, full: str) -> bool:
        """Whether `cpu.throttled_ratio` names a fact of the evidence; a finding where it does not
        and the evidence itself is well.
        """
        name, _, fact = full.partition(".")
        schemas = self.vocabulary.evidence
        if name in schemas and fact in schemas[name]:
            return True
        if name in schemas:
            self.wrong(steps, f"no field on {name} named {fact!r}{meant(fact, schemas[name])}")
        elif name not in self.vocabulary.broken:
            self.wrong(steps, f"no evidence named {name!r}{meant(name, schemas)}")
        return False

    def _causes(self, key: str, ids: Iterable[str]) -> tuple[str, ...]:
        for index, id in enumerate(ids):
            if id == self.file.runbook:
                self.wrong((key, index), f"a runbook can't name itself in `{key}:`")
        return tuple(ids)

    def _headline(self, inputs: Iterable[str], *named: Iterable[str]) -> Says | None:
        """The headline, which may ask whether it is over: no other name may be that one."""
        if self.file.headline and any(OVER in names for names in (inputs, *named)):
            message = f"`headline:` has {OVER!r} for what is over; nothing else may be named so"
            self.wrong(("headline",), message)
        return self.says(("headline",), (*inputs, OVER))

    def says(self, steps: Steps, inputs: Iterable[str]) -> Says | None:
        """The template at a place of the file; None where there is none."""
        node = follow(self.node, steps)
        if not isinstance(node, Scalar) or not node.text:
            return None
        key = str(steps[-1])
        says, findings = compile_says(node, self.vocabulary, tuple(inputs), self.text, key)
        self.findings.extend(findings)
        return says

    def _look(self, inputs: Iterable[str]) -> Looks | None:
        """What stands out, what to look at, and the command that shows it."""
        if not isinstance(self.node.get("look"), Pairs):
            return None
        keys = ("stands_out", "at", "command")
        told = {key: self.says(("look", key), inputs) for key in keys}
        if told["stands_out"] is None or told["at"] is None:
            return None
        return Looks(stands_out=told["stands_out"], at=told["at"], command=told["command"])

    def _unseen(self) -> Unseen | None:
        """How to see by hand what was not measured."""
        told = self.file.unseen
        if told is None:
            return None
        for at, fact in enumerate(told.unless_known):
            self._named_fact(("unseen", "unless_known", at), fact)
        for key, text in (("what", told.what), ("at", told.at), ("command", told.command)):
            for mistake in mistakes(text):
                self.wrong(("unseen", key), f"`{key}:` of `unseen:` {mistake}")
        return Unseen(
            unless_known=tuple(told.unless_known),
            what=told.what.rstrip("."),
            at=told.at.rstrip("."),
            command=told.command,
        )


_NOTHING = Fact(Kind.NUMBER)


def _has_series(facts: Schema, fact: str) -> bool:
    """Whether an onset can be seen: it takes the fact's series, and what is usual for it."""
    return all(
        facts.get(f"{fact}{series}", _NOTHING).kind is Kind.SERIES
        for series in ("_series", "_usual_series")
    )
