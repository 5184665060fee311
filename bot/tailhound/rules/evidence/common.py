"""What the three kinds of YAML evidence share: their inputs, findings and classes."""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tailhound.errors import Finding
from tailhound.model.facts import Fact, Kind, Sample, Schema
from tailhound.rules.condition.typed import Mistake, meant, usable
from tailhound.rules.inputs import Input
from tailhound.rules.places import Node, Scalar, Steps, follow

_WHOLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
USUAL = (3600.0, 86400.0, 604800.0)
"""Seconds ago: an hour, a day, a week. Resolution leaves out what overlaps an incident."""


@dataclass(slots=True)
class Workshop:
    """Where one evidence is compiled: its place in the file, its inputs, what is wrong so far."""

    label: str
    node: Node
    inputs: Mapping[str, Input]
    literals: Mapping[str, Any]
    findings: list[Finding] = field(default_factory=list)
    used: dict[str, bool] = field(default_factory=dict)  # name -> is a set

    def wrong(self, steps: Steps, message: str, mistake: Mistake | None = None) -> None:
        """A finding at a place below the evidence."""
        found = follow(self.node, steps)
        place = found.place
        if mistake is not None and isinstance(found, Scalar):
            place = found.at(mistake.offset, mistake.length)
        self.findings.append(place.finding(message))

    def use(self, name: str, steps: Steps, mistake: Mistake | None = None) -> bool:
        """Use an input (or a literal of `with:`); False, with a finding, when there is none."""
        if name in self.inputs:
            self.used[name] = self.inputs[name].is_set
            return True
        if name in self.literals:
            self.used[name] = isinstance(self.literals[name], list | tuple)
            return True
        options = [*self.inputs, *self.literals]
        self.wrong(steps, f"no input named {name!r}{meant(name, options)}", mistake)
        return False

    def whole(self, text: str, steps: Steps, what: str) -> "str | Whole":
        """A parameter: a literal, or one `$name` as a whole."""
        match = _WHOLE.fullmatch(text)
        if match and self.use(match.group(1), steps, Mistake(0, len(text), "")):
            return Whole(match.group(1))
        if not match and "$" in text:
            self.wrong(steps, f"`$name` stands only as one whole {what}, not inside of it")
        return text

    def fact_name(self, name: str, steps: Steps) -> None:
        """A fact must have a name that a condition can use."""
        if not usable(name):
            self.wrong(steps, f"{name!r} can't be a fact's name; it means something in conditions")


@dataclass(frozen=True, slots=True)
class Whole:
    """A parameter that is one input."""

    name: str

    def of(self, params: Any) -> Any:
        """Its value."""
        return getattr(params, self.name)


def text_of(value: "str | Whole", params: Any) -> str:
    """A parameter as one text; several values that are one are that one."""
    if isinstance(value, str):
        return value
    found = value.of(params)
    if isinstance(found, tuple | list):
        return str(found[0]) if len(found) == 1 else ""
    return str(found)


def params_class(shop: Workshop, extra: Iterable[tuple[str, Any, Any]] = ()) -> type[Any]:
    """A frozen dataclass with a field for each input that is used."""
    fields: list[Any] = [
        (name, tuple[str, ...] if is_set else str) for name, is_set in shop.used.items()
    ]
    fields += [(name, hint, dataclasses.field(default=default)) for name, hint, default in extra]
    return dataclasses.make_dataclass("Params", fields, frozen=True, kw_only=True)


def facts_class(schema: Schema, name: str = "Facts") -> type[Any]:
    """A frozen dataclass for a schema, so that these facts are like those of any collector."""
    fields = [
        (fact, _hint(declared, fact), _default(declared)) for fact, declared in schema.items()
    ]
    return dataclasses.make_dataclass(name, fields, frozen=True, kw_only=True)


def _hint(declared: Fact, name: str) -> Any:
    if declared.kind is Kind.SET:
        return tuple[facts_class(declared.fields, f"{name}_record"), ...] | None  # type: ignore[misc]
    if declared.kind is Kind.SERIES:
        return tuple[Sample, ...] | None
    return {Kind.NUMBER: float, Kind.TEXT: str, Kind.YESNO: bool}[declared.kind] | None


def _default(declared: Fact) -> Any:
    metadata = {"unit": declared.unit} if declared.kind is Kind.NUMBER else {}
    return dataclasses.field(default=None, metadata=metadata)


def record_class(facts: type[Any], name: str) -> type[Any]:
    """The class of the records of a set fact."""
    hint = next(item.type for item in dataclasses.fields(facts) if item.name == name)
    made: type[Any] = hint.__args__[0].__args__[0]  # type: ignore[union-attr]
    return made
