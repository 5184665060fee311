"""Names and values in a condition, checked against what there is."""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tailhound.model.facts import Fact, Kind, Schema, number_of
from tailhound.rules.condition import terms
from tailhound.rules.condition.grammar import NOT_OURS
from tailhound.rules.condition.typed import (
    WRONG,
    Limit,
    Look,
    Mistake,
    Piece,
    Vocabulary,
    meant,
)
from tailhound.rules.condition.units import ANY

_SHOWN = 60
_NO_VALUE = "missing evidence is no value; write `known(..)`"


@dataclass(slots=True)
class Loop:
    """The generator that is being walked: `for variable in collection`."""

    variable: str
    collection: str
    fields: Schema
    key: int


@dataclass(slots=True)
class Names:
    """Walks one condition. Everything wrong is collected in `mistakes`, bare numbers in `bare`.

    `path` are the alternatives of an `or` that are being walked, outermost first; `alternatives` is
    how many there were so far. `asides` are values of which only counts whether they are known:
    they are shown where nothing else is.
    """

    vocabulary: Vocabulary
    text: str
    mistakes: list[Mistake] = field(default_factory=list)
    bare: list[Mistake] = field(default_factory=list)
    limits: list[Limit] = field(default_factory=list)
    reckoned: list[Limit] = field(default_factory=list)
    looks: dict[str, Look] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    positive: bool = True
    loop: Loop | None = None
    loops: int = 0
    path: tuple[int, ...] = ()
    alternatives: int = 0
    asides: dict[str, Look] = field(default_factory=dict)
    aside: bool = False

    def look(self, key: str, look: Look) -> None:
        """Show this value, unless something is shown under that key already."""
        looks = self.asides if self.aside else self.looks
        known = looks.get(key, look)
        looks[key] = replace(known, paths=(*known.paths, self.path))

    def wrong(self, node: ast.expr, message: str) -> Piece:
        """Report a mistake at its place."""
        length = (node.end_col_offset or 0) - node.col_offset
        self.mistakes.append(Mistake(node.col_offset, max(1, length), message))
        return WRONG

    def said(self, node: ast.expr) -> str:
        """The text of a part, as written."""
        text = " ".join(self.text[node.col_offset : node.end_col_offset].split())
        return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"

    def visit(self, node: ast.expr) -> Piece:
        """Any part of the language."""
        visit: Callable[[Any], Piece] | None = getattr(
            self, f"on_{type(node).__name__.lower()}", None
        )
        if visit is None:
            what = NOT_OURS.get(type(node), type(node).__name__)
            return self.wrong(node, f"{what} is not part of the condition language")
        return visit(node)

    def yesno(self, node: ast.expr) -> Piece:
        """A part that must be a yes/no."""
        piece = self.visit(node)
        if piece.kind in (None, Kind.YESNO):
            return piece
        message = f"must be a yes/no condition, but is a {piece.word}"
        if piece.kind is Kind.SET:
            message += f"; ask `any(v.value > limit for v in {piece.name})`"
        return self.wrong(node, message)

    def number(self, node: ast.expr) -> Piece:
        """A part that must be a number."""
        piece = self.visit(node)
        if piece.kind in (None, Kind.NUMBER):
            return piece
        return self.wrong(node, f"{self.said(node)!r} must be a number, but is a {piece.word}")

    def on_name(self, node: ast.Name) -> Piece:
        """A threshold, or `true` and `false`."""
        known = self.vocabulary
        if node.id in ("true", "false"):
            return Piece(kind=Kind.YESNO, run=terms.constant(node.id == "true"))
        if node.id in known.thresholds:
            self.used.add(node.id)
            unit = known.thresholds[node.id]
            return Piece(kind=Kind.NUMBER, unit=unit, run=terms.threshold(node.id), name=node.id)
        if node.id in known.broken:
            return WRONG
        return self.wrong(node, self._no_value(node.id))

    def _no_value(self, name: str) -> str:
        known = self.vocabulary
        if self.loop and name == self.loop.variable:
            return f"say which field of the record: `{name}.{_first(self.loop.fields)}`"
        if name in known.evidence:
            return f"say which fact of it: `{name}.{_first(known.evidence[name])}`"
        if name in ("null", "none", "nil"):
            return _NO_VALUE
        return f"no threshold named {name!r}{meant(name, [*known.thresholds, *known.evidence])}"

    def on_attribute(self, node: ast.Attribute) -> Piece:
        """`evidence.fact`, or `record.field` inside a generator."""
        if not isinstance(node.value, ast.Name):
            return self.wrong(node, "a fact is written `evidence.fact`, with one dot")
        owner, name = node.value.id, node.attr
        if self.loop and owner == self.loop.variable:
            return self._field(node, self.loop)
        if owner in self.vocabulary.broken:
            return WRONG
        schema = self.vocabulary.evidence.get(owner)
        if schema is None:
            meaning = meant(owner, self.vocabulary.evidence)
            return self.wrong(node.value, f"no evidence named {owner!r}{meaning}")
        if name not in schema:
            return self.wrong(node, f"no field on {owner} named {name!r}{meant(name, schema)}")
        return self._fact(node, owner, schema)

    def _fact(self, node: ast.Attribute, owner: str, schema: Schema) -> Piece:
        name = node.attr
        declared, full = schema[name], f"{owner}.{name}"
        if declared.kind is Kind.SERIES:
            return self.wrong(node, f"{full!r} is a series; a condition looks at single values")
        if declared.kind is not Kind.SET:
            look = _look(full, declared, name, schema)
            self.look(full, Look(**look, evidence=owner))
        return Piece(
            kind=declared.kind,
            unit=declared.unit,
            names=(full,),
            name=full,
            fact=declared,
            run=terms.fact(owner, name, declared.kind),
        )

    def _field(self, node: ast.Attribute, loop: Loop) -> Piece:
        name = node.attr
        if name not in loop.fields:
            message = f"no field on the records of {loop.collection} named {name!r}"
            return self.wrong(node, message + meant(name, loop.fields))
        declared, full = loop.fields[name], f"{loop.collection}.{name}"
        if declared.kind not in (Kind.NUMBER, Kind.TEXT, Kind.YESNO):
            message = f"{full!r} is a {declared.kind.value}; a condition looks one level deep"
            return self.wrong(node, message)
        look = _look(full, declared, name, loop.fields)
        labels = tuple(n for n, fact in loop.fields.items() if fact.kind is Kind.TEXT)
        self.look(f"{full}#{loop.key}", Look(**look, key=loop.key, labels=labels))
        return Piece(
            kind=declared.kind,
            unit=declared.unit,
            names=(full,),
            name=full,
            run=terms.record_field(loop.collection, name, declared.kind),
        )

    def on_constant(self, node: ast.Constant) -> Piece:
        """A value written out. A number other than 0 and 1 should have a name."""
        value = node.value
        if isinstance(value, bool):
            return Piece(kind=Kind.YESNO, run=terms.constant(value))
        if isinstance(value, str):
            return Piece(kind=Kind.TEXT, run=terms.constant(value))
        number = number_of(value)
        if number is None:
            said = f"{self.said(node)} can't stand in a condition"
            return self.wrong(node, _NO_VALUE if value is None else said)
        if number not in (0, 1):
            said = f"{self.said(node)} is a bare number; name it under `thresholds:`"
            length = (node.end_col_offset or 0) - node.col_offset
            self.bare.append(Mistake(node.col_offset, length, f"{said}, with its source"))
        return Piece(kind=Kind.NUMBER, unit=ANY, run=terms.constant(number))


def _first(schema: Schema) -> str:
    return next(iter(schema), "fact")


def _look(full: str, declared: Fact, name: str, schema: Schema) -> dict[str, Any]:
    usual = f"{name}_usual"
    return {
        "name": full,
        "unit": declared.unit,
        "fact": name,
        "kind": declared.kind,
        "usual": usual if usual in schema else "",
    }
