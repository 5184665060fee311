"""What is wrong with a cause's paragraph: names that nothing has, and what is not allowed in it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import nodes

from tailhound.model.facts import Fact, Kind, Schema
from tailhound.rules.condition import units
from tailhound.rules.condition.typed import Vocabulary, meant
from tailhound.rules.says_filters import FILTERS

_ALLOWED = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Getattr, nodes.Filter,
    nodes.Const, nodes.CondExpr, nodes.If, nodes.For, nodes.And, nodes.Or, nodes.Not,
    nodes.Compare,
)  # fmt: skip
_COMPARISON = "a comparison is `evidence.fact == 'text'`, or `evidence.fact > threshold`"
_SIGNS = ("gt", "gteq", "lt", "lteq")


@dataclass(frozen=True, slots=True)
class Reader:
    """What the template may name; `inputs` are the thresholds too."""

    vocabulary: Vocabulary
    inputs: tuple[str, ...]
    loops: Mapping[str, Schema] | None = None

    def name(self, name: str) -> str:
        """What is wrong with a name, "" when nothing is."""
        loops = self.loops or {}
        if name in self.inputs or name in self.vocabulary.broken:
            return ""
        if name in loops or name in self.vocabulary.evidence:
            return f"`{name}` alone says nothing; write `{name}.<fact>`"
        return f"no evidence, input or threshold named {name!r}{meant(name, self.options)}"

    @property
    def options(self) -> list[str]:
        """All names."""
        return [*self.vocabulary.evidence, *self.inputs, *(self.loops or {})]

    def schema(self, owner: str) -> Schema | None:
        """The fields of evidence, or of what a loop runs over."""
        return (self.loops or {}).get(owner) or self.vocabulary.evidence.get(owner)

    def fact(self, owner: str, name: str) -> tuple[str, Fact | None]:
        """What is wrong with `owner.name`, and what it is."""
        if owner in self.vocabulary.broken:
            return "", None
        schema = self.schema(owner)
        if schema is None:
            return f"no evidence named {owner!r}{meant(owner, self.options)}", None
        if name not in schema:
            return f"no field on {owner} named {name!r}{meant(name, schema)}", None
        return "", schema[name]


def mistakes(node: nodes.Node, reader: Reader) -> Iterator[str]:
    """All that is wrong in a part of a template."""
    if not isinstance(node, _ALLOWED):
        yield f"{type(node).__name__.lower()} is not allowed in a paragraph"
    elif read := _READ.get(type(node)):
        yield from read(node, reader)
    else:
        for child in node.iter_child_nodes():
            yield from mistakes(child, reader)


def _name(node: nodes.Name, reader: Reader) -> Iterator[str]:
    if wrong := reader.name(node.name):
        yield wrong


def _filter(node: nodes.Filter, reader: Reader) -> Iterator[str]:
    if node.name not in FILTERS:
        yield f"no filter named {node.name!r}{meant(node.name, FILTERS)}"
    elif node.node is None or node.args or node.kwargs or node.dyn_args or node.dyn_kwargs:
        yield f"the filter {node.name!r} takes nothing but the value before it"
    elif node.name == "usual" and not _has_usual(node.node, reader):
        yield "the filter 'usual' stands behind a fact of which a usual value is collected"
    else:
        yield from mistakes(node.node, reader)


def _has_usual(node: nodes.Node, reader: Reader) -> bool:
    """Whether a node is a fact beside which its usual value is collected, or may be one."""
    if not (isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name)):
        return False
    schema = reader.schema(node.node.name)
    return schema is None or node.attr not in schema or f"{node.attr}_usual" in schema


def _getattr(node: nodes.Getattr, reader: Reader) -> Iterator[str]:
    if not isinstance(node.node, nodes.Name):
        yield "a fact is written `evidence.fact`, with one dot"
        return
    wrong, found = reader.fact(node.node.name, node.attr)
    if wrong:
        yield wrong
    elif found and found.kind in (Kind.SET, Kind.SERIES):
        yield f"`{node.node.name}.{node.attr}` is a {found.kind.value}"


def _compare(node: nodes.Compare, reader: Reader) -> Iterator[str]:
    """A fact beside a text, or beside a threshold of its unit: what is not measured is neither."""
    left, right = node.expr, node.ops[0].expr
    if len(node.ops) > 1 or not isinstance(left, nodes.Getattr):
        yield _COMPARISON
        return
    if wrong := list(_getattr(left, reader)):
        yield from wrong
        return
    owner = left.node.name if isinstance(left.node, nodes.Name) else ""
    _, found = reader.fact(owner, left.attr)
    if found is None:
        return
    if not _comparable(found, node.ops[0].op, right, reader.vocabulary.thresholds):
        yield f"`{owner}.{left.attr}` is a {found.kind.value} ({found.unit}); {_COMPARISON}"


def _comparable(found: Fact, sign: str, right: nodes.Node, thresholds: Mapping[str, str]) -> bool:
    if found.kind is Kind.TEXT:
        return sign == "eq" and isinstance(right, nodes.Const) and isinstance(right.value, str)
    named = isinstance(right, nodes.Name) and right.name in thresholds
    unit = thresholds[right.name] if isinstance(right, nodes.Name) and named else None
    fits = unit is not None and units.same(found.unit, unit)
    return found.kind is Kind.NUMBER and sign in _SIGNS and fits


def _loop(node: nodes.For, reader: Reader) -> Iterator[str]:
    target, over = node.target, node.iter
    simple = not (node.test or node.recursive) and reader.loops is None
    if not (simple and isinstance(target, nodes.Name) and isinstance(over, nodes.Getattr)):
        yield "a loop is `{% for p in evidence.set %}..{% endfor %}`, and not inside another"
        return
    owner = over.node.name if isinstance(over.node, nodes.Name) else ""
    if owner in reader.vocabulary.broken:
        return
    declared = reader.vocabulary.evidence.get(owner, {}).get(over.attr)
    if declared is None or declared.kind is not Kind.SET:
        yield f"`{owner}.{over.attr}` is no set"
        return
    inner = Reader(reader.vocabulary, reader.inputs, {target.name: declared.fields})
    for child in (*node.body, *node.else_):
        yield from mistakes(child, inner)


_READ: Mapping[type[nodes.Node], Callable[[Any, Reader], Iterator[str]]] = {
    nodes.For: _loop,
    nodes.Getattr: _getattr,
    nodes.Name: _name,
    nodes.Filter: _filter,
    nodes.Compare: _compare,
}
"""Who looks at a part that is more than its pieces."""
