"""SSH evidence: one allowed command on a host, or on each host of a set, and what it prints."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from tailhound.flow import Reading, together
from tailhound.model import Missing
from tailhound.model.facts import Fact, Kind, Schema, unit_of
from tailhound.requests import Output, RunOnHost
from tailhound.rules.evidence.common import (
    Whole,
    Workshop,
    facts_class,
    params_class,
    record_class,
    text_of,
)
from tailhound.rules.evidence.values import json_path, number_of, value_of
from tailhound.rules.schema_evidence import JsonFact, KeyFact, SshEvidence

_KIB = "kB"
_SATURATED = frozenset(float(2**bits - 1) for bits in (16, 31, 32, 63, 64))
"""Counters that stick at their top say nothing any more."""

Parser = Callable[[str], Mapping[str, Any]]


class Allows(Protocol):
    """The site's allow-list, as far as loading needs it."""

    def why_no_template(self, argv: Sequence[str]) -> str | None:
        """Why an argv with `$name` holes never runs; None when it may."""
        ...


class SshCollector:
    """Runs one command on a host. A command that failed measures nothing.

    With `twice`, a number is its increase between two readings; a counter that went down (it was
    reset) or is saturated is not measured.
    """

    def __init__(self, name: str, shop: Workshop, told: SshEvidence, command: "Command") -> None:
        self.name = name
        self._command = command
        self._twice = told.twice is not None
        self._single = told.fact or ""
        self._schema = dict(command.schema)
        self.schema: Schema = self._schema
        if command.many:
            fields = {"host": Fact(Kind.TEXT), **_renamed(self._schema, self._single)}
            self.schema = {self._single or "hosts": Fact(Kind.SET, fields=fields)}
        self.params: type[Any] = params_class(shop)
        self.facts: type[Any] = facts_class(self.schema)

    def collect(self, params: Any) -> Reading[Any]:
        """The command on every host at the same time."""
        argv = tuple(text_of(word, params) for word in self._command.argv)
        hosts = self._command.hosts(params)
        replies = yield from together(
            RunOnHost(host=host, argv=argv, twice=self._twice) for host in hosts
        )
        found = [self._values(reply) for reply in replies]
        if not self._command.many:
            return self.facts(**found[0]) if found else self.facts()
        (name,) = self.schema
        record = record_class(self.facts, name)
        records = [
            record(host=host, **_renamed(values, self._single))
            for host, values in zip(hosts, found, strict=True)
        ]
        return self.facts(**{name: tuple(records)}) if records else self.facts()

    def _values(self, reply: Output | Missing) -> Mapping[str, Any]:
        nothing = dict.fromkeys(self._schema)
        if isinstance(reply, Missing) or reply.exit_code != 0:
            return nothing
        first = {**nothing, **self._command.parse(reply.stdout)}
        if not self._twice:
            return first
        if reply.second is None or reply.second.exit_code != 0:
            return nothing
        second = {**nothing, **self._command.parse(reply.second.stdout)}
        return {
            fact: increase(first[fact], second[fact]) if told.kind is Kind.NUMBER else second[fact]
            for fact, told in self._schema.items()
        }


class Command:
    """A checked command: where, what, how its output is read, which facts that gives."""

    def __init__(
        self, on: "str | Whole", argv: Sequence["str | Whole"], parse: Parser, schema: Schema
    ) -> None:
        self.on, self.argv, self.parse, self.schema = on, tuple(argv), parse, schema
        self.many = False

    def hosts(self, params: Any) -> list[str]:
        """The hosts to ask, each once."""
        found = self.on.of(params) if isinstance(self.on, Whole) else self.on
        several = [found] if isinstance(found, str) else [str(host) for host in found]
        return list(dict.fromkeys(host for host in several if host))


def increase(first: Any, second: Any) -> float | None:
    """How much a counter grew; None when it was reset, is saturated, or was not measured."""
    if not isinstance(first, int | float) or not isinstance(second, int | float):
        return None
    if second < first or float(second) in _SATURATED:
        return None
    return float(second - first)


def _renamed(values: Mapping[str, Any], single: str) -> dict[str, Any]:
    return {"value" if name == single else name: value for name, value in values.items()}


def compile_ssh(name: str, shop: Workshop, told: SshEvidence, allow: Allows) -> SshCollector | None:
    """The collector; None, with findings in the shop, when something is wrong."""
    on = shop.whole(told.on, ("ssh", "on"), "parameter")
    argv = [
        shop.whole(str(word), ("ssh", "run", index), "argument")
        for index, word in enumerate(told.run)
    ]
    for index, word in enumerate(argv):
        if isinstance(word, Whole) and shop.used[word.name]:
            shop.wrong(("ssh", "run", index), f"${word.name} is a set; one value is needed here")
    if not shop.findings and (why := allow.why_no_template([str(word) for word in told.run])):
        shop.wrong(("ssh", "run"), why)
    parse, schema = _parser(shop, told)
    for fact in schema:
        shop.fact_name(fact, ("ssh",))
    if shop.findings:
        return None
    command = Command(on, argv, parse, schema)
    command.many = isinstance(on, Whole) and shop.used[on.name]
    return SshCollector(name, shop, told, command)


def _parser(shop: Workshop, told: SshEvidence) -> tuple[Parser, Schema]:
    if told.parse in ("json", "key_value"):
        return _several(shop, told)
    name = told.fact or ""
    if not name:
        shop.wrong(("ssh", "parse"), f"`parse: {told.parse}` needs `fact: <name>`")
    if told.facts:
        shop.wrong(("ssh", "facts"), f"`parse: {told.parse}` gives one `fact:`, not `facts:`")
    if told.parse == "text":
        return (lambda text: {name: value_of(text.strip(), Kind.TEXT)}), {name: Fact(Kind.TEXT)}
    if told.parse == "lines":
        return (lambda text: {name: _lines(text)}), {name: Fact(Kind.NUMBER, told.unit or "count")}
    unit = told.unit or unit_of(name)
    return (lambda text: {name: number_of(text)}), {name: Fact(Kind.NUMBER, unit)}


def _lines(text: str) -> int:
    return sum(1 for line in text.splitlines() if line.strip())


def _several(shop: Workshop, told: SshEvidence) -> tuple[Parser, Schema]:
    wanted = JsonFact if told.parse == "json" else KeyFact
    example = "{jmespath: .., unit: ..}" if told.parse == "json" else "{key: .., unit: ..}"
    if told.fact or not told.facts:
        shop.wrong(("ssh",), f"`parse: {told.parse}` needs `facts: {{name: {example}}}`")
    for name, fact in told.facts.items():
        if not isinstance(fact, wanted):
            shop.wrong(("ssh", "facts", name), f"`parse: {told.parse}` reads {example}")
    if told.parse == "json":
        return _json_parser(shop, told)
    keys = {name: fact for name, fact in told.facts.items() if isinstance(fact, KeyFact)}
    schema = {name: Fact(Kind.NUMBER, fact.unit) for name, fact in keys.items()}
    return (lambda text: {name: key_value(text, fact) for name, fact in keys.items()}), schema


def _json_parser(shop: Workshop, told: SshEvidence) -> tuple[Parser, Schema]:
    paths = {}
    for name, fact in told.facts.items():
        path = json_path(fact) if isinstance(fact, JsonFact) else ""
        if isinstance(path, str):
            shop.wrong(("ssh", "facts", name), path or "needs `jmespath:`")
        else:
            paths[name] = path

    def parse(text: str) -> Mapping[str, Any]:
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            return {}
        return {name: path.of(document) for name, path in paths.items()}

    return parse, {name: path.fact for name, path in paths.items()}


def key_value(text: str, fact: KeyFact) -> float | None:
    """The number behind a key at the start of a line, alone or in kB.

    kB become bytes where bytes are wanted; any other word behind the number leaves it unread.
    """
    for line in text.splitlines():
        rest = line.strip().removeprefix(fact.key)
        words = rest.lstrip(" \t:=").split(maxsplit=2)
        if len(rest) == len(line.strip()) or rest[:1] not in (" ", "\t", ":", "=") or not words:
            continue
        value = number_of(words[0]) if words[1:] in ([], [_KIB]) else None
        return value * 1024 if value is not None and words[1:] and fact.unit == "bytes" else value
    return None
