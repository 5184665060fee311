"""What is wrong with a cause's paragraph: names that nothing has, and what is not allowed in it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jinja2 import nodes

from tailhound.model.facts import Kind, Schema
from tailhound.rules.condition.typed import Vocabulary, meant
from tailhound.rules.says_filters import FILTERS

_ALLOWED = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Getattr, nodes.Filter,
    nodes.Const, nodes.CondExpr, nodes.If, nodes.For, nodes.And, nodes.Or, nodes.Not,
)  # fmt: skip


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

    def fact(self, owner: str, name: str) -> tuple[str, Kind | None]:
        """What is wrong with `owner.name`, and its kind."""
        if owner in self.vocabulary.broken:
            return "", None
        schema = self.schema(owner)
        if schema is None:
            return f"no evidence named {owner!r}{meant(owner, self.options)}", None
        if name not in schema:
            return f"no field on {owner} named {name!r}{meant(name, schema)}", None
        return "", schema[name].kind


def mistakes(node: nodes.Node, reader: Reader) -> Iterator[str]:
    if not isinstance(node, _ALLOWED):
        yield f"{type(node).__name__.lower()} is not allowed in a paragraph"
    elif isinstance(node, nodes.For):
        yield from _loop(node, reader)
    elif isinstance(node, nodes.Getattr):
        yield from _getattr(node, reader, Kind.SET)
    elif isinstance(node, nodes.Name):
        if wrong := reader.name(node.name):
            yield wrong
    elif isinstance(node, nodes.Filter):
        yield from _filter(node, reader)
    else:
        for child in node.iter_child_nodes():
            yield from mistakes(child, reader)


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


def _getattr(node: nodes.Getattr, reader: Reader, refused: Kind) -> Iterator[str]:
    if not isinstance(node.node, nodes.Name):
        yield "a fact is written `evidence.fact`, with one dot"
        return
    wrong, kind = reader.fact(node.node.name, node.attr)
    if wrong:
        yield wrong
    elif kind in (refused, Kind.SERIES):
        yield f"`{node.node.name}.{node.attr}` is a {kind.value}" if kind else ""


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
