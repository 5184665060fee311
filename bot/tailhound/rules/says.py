"""The paragraph of a confirmed cause: Jinja, cut down to values, filters, `if` and one flat `for`.

Templates come from runbook files. What they are filled with (facts, inputs) are values and never
templates. A clause with a value that nobody measured is left out; where no other is left, the value
is written "not measured".
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from jinja2 import StrictUndefined, TemplateSyntaxError, nodes
from jinja2.environment import Template
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tailhound.errors import Finding
from tailhound.model import wording
from tailhound.model.facts import Fact, Kind, Schema
from tailhound.model.names import capital
from tailhound.rules import places
from tailhound.rules.condition.terms import CLEAN, Facts, clean_number, clean_set
from tailhound.rules.condition.typed import Vocabulary, meant
from tailhound.rules.places import Place, Scalar

MAX_RENDERED = 1500
_UNKNOWN = "\x00"
"""What stands for a value that nobody measured until its clause is left out; no text holds it."""

_CLAUSES = re.compile(r"(?<=[.;]) (?=\S)")
_BLANKS = re.compile(r"[ \n]+")
_BAD = {code: " " for code in (*range(32), *range(0x7F, 0xA0), 0x2028, 0x2029)}
_BAD |= {code: None for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B, 0xFEFF)}
_BAD |= {ord("`"): "'"}


def _text(value: Any) -> str:
    """Any value as harmless text on one line, at most 60 characters."""
    if isinstance(value, tuple | list):
        shown = ", ".join(_text(item) for item in value[:5])
        return f"{shown} + {len(value) - 5} more" if len(value) > 5 else shown
    if isinstance(value, bool):
        return wording.fact(value)
    number = clean_number(value)
    if number is not None:
        return wording.count(number)
    if not isinstance(value, str):
        return _UNKNOWN
    return wording.cut(value.translate(_BAD))


def _finalize(value: Any) -> Any:
    return value if isinstance(value, _Written) else _text(value)


class _Written(str):
    """Text that a filter made: already in words."""

    __slots__ = ()


def _in(unit: str) -> Callable[[Any], str]:
    def written(value: Any) -> str:
        number = clean_number(value)
        return _Written(_UNKNOWN if number is None else wording.number(number, unit))

    return written


class _Compared(float):
    """A number that has a usual value, in the unit of its fact."""

    unit: str
    usual: float | None


def _usual(value: Any) -> str:
    """`usually 1 %`, to stand beside the value: "62 % of its periods (usually 1 %)"."""
    if not isinstance(value, _Compared):
        return _Written(_UNKNOWN)
    return _Written(wording.beside(value.usual, value, value.unit))


def _milliseconds(value: Any) -> str:
    number = clean_number(value)
    return _in("seconds")(None if number is None else number / 1000)


FILTERS: Mapping[str, Callable[[Any], str]] = {
    "percent": _in("ratio"),
    "seconds": _in("seconds"),
    "duration": _in("seconds"),
    "ms": _milliseconds,
    "times": _in("times"),
    "cores": _in("cores"),
    "count": _in("count"),
    "bytes": _in("bytes"),
    "hours": _in("hours"),
    "tokens": _in("tokens"),
    "celsius": _in("celsius"),
    "per_second": _in("per_second"),
    "usual": _usual,
}
"""What carries the unit of a value, and what stands beside it."""

_ALLOWED = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Getattr, nodes.Filter,
    nodes.Const, nodes.CondExpr, nodes.If, nodes.For, nodes.And, nodes.Or, nodes.Not,
)  # fmt: skip


def _environment() -> ImmutableSandboxedEnvironment:
    made = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, finalize=_finalize, autoescape=False, keep_trailing_newline=False
    )
    made.filters.clear()
    made.filters.update(FILTERS)
    made.globals.clear()
    made.tests.clear()
    return made


_ENVIRONMENT = _environment()


@dataclass(frozen=True, slots=True, eq=False)
class Says:
    """One checked paragraph."""

    text: str
    _template: Template
    _evidence: Mapping[str, Schema]
    _inputs: tuple[str, ...]

    def render(
        self, inputs: Mapping[str, Any], facts: Facts, thresholds: Mapping[str, float]
    ) -> str:
        """The paragraph on one line, at most 1,500 characters."""
        values: dict[str, Any] = {**{name: inputs.get(name) for name in self._inputs}, **thresholds}
        for name, schema in self._evidence.items():
            values[name] = _namespace(schema, facts.get(name))
        text = " ".join(_BLANKS.split(self._template.render(values))).strip()
        return wording.cut(_known(text), MAX_RENDERED)


def _known(text: str) -> str:
    """The clauses without a value that nobody measured, as sentences of their own."""
    if _UNKNOWN not in text:
        return text
    kept = [clause for clause in _CLAUSES.split(text) if _UNKNOWN not in clause]
    if not kept:
        return text.replace(_UNKNOWN, wording.NOT_MEASURED)
    told = " ".join(kept)
    return capital(f"{told[:-1]}." if told.endswith(";") else told)


def _namespace(schema: Schema, found: Any) -> SimpleNamespace:
    """The declared fields and no others; what is not there is None."""
    known = found if isinstance(found, Mapping) else {}
    values = {name: _value(told, known.get(name)) for name, told in schema.items()}
    return SimpleNamespace(
        **{name: _compared(name, value, schema, values) for name, value in values.items()}
    )


def _compared(name: str, value: Any, schema: Schema, values: Mapping[str, Any]) -> Any:
    """The value, with its usual one where its fact has one."""
    number = clean_number(value)
    if number is None or f"{name}_usual" not in schema:
        return value
    compared = _Compared(number)
    compared.unit, compared.usual = schema[name].unit, clean_number(values[f"{name}_usual"])
    return compared


def _value(told: Fact, value: Any) -> Any:
    if told.kind is not Kind.SET:
        return CLEAN[told.kind](value) if told.kind in CLEAN else None
    return [_namespace(told.fields, record) for record in clean_set(value) or ()]


def compile_says(
    source: Scalar,
    vocabulary: Vocabulary,
    inputs: tuple[str, ...],
    file: str = "",
    key: str = "says",
) -> tuple[Says | None, tuple[Finding, ...]]:
    """The checked template under `key:`, or what is wrong with it. `file` is the text around it."""
    try:
        tree = _ENVIRONMENT.parse(source.text)
        scalars = (*inputs, *vocabulary.thresholds)
        mistakes = list(_mistakes(tree, _Reader(vocabulary, scalars)))
        if not mistakes:
            template = _ENVIRONMENT.from_string(source.text)
    except (TemplateSyntaxError, RecursionError) as error:
        mistakes = [f"not a template: {str(error)[:200]}"]
    if mistakes:
        return None, tuple(
            _place(source.place, text, file).finding(f"{key}: {text}")
            for text in dict.fromkeys(mistakes)
        )
    return Says(source.text, template, vocabulary.evidence, inputs), ()


_FIELD = re.compile(r"no field on (\w+) named '(\w+)'")
_NAME = re.compile(r"named '(\w+)'|filter '(\w+)'|`(\w+)` alone|`(\w+\.\w+)` is")
_PARAGRAPH = 80
"""Lines below `says:` in which a mistake is looked for."""


def _place(start: Place, mistake: str, file: str) -> Place:
    """Where the name that a mistake tells stands in the paragraph; its start where that is unclear.

    A folded paragraph (`>`) does not run in step with the file, so the name is looked for.
    """
    field, name = _FIELD.search(mistake), _NAME.search(mistake)
    groups = (f"{field[1]}.{field[2]}",) if field else name.groups() if name else ()
    wanted = next(filter(None, groups), "")
    if not wanted:
        return start
    no_dot = "." if "` alone" in mistake else ""
    word = re.compile(rf"(?<![\w.]){re.escape(wanted)}(?![\w{no_dot}])")
    for at, line in enumerate(places.lines(file)[start.line - 1 :][:_PARAGRAPH]):
        found = word.search(line, start.column - 1 if at == 0 else 0)
        if found:
            return Place(start.path, start.line + at, found.start() + 1, len(wanted))
    return start


@dataclass(frozen=True, slots=True)
class _Reader:
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


def _mistakes(node: nodes.Node, reader: _Reader) -> Iterator[str]:
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
            yield from _mistakes(child, reader)


def _filter(node: nodes.Filter, reader: _Reader) -> Iterator[str]:
    if node.name not in FILTERS:
        yield f"no filter named {node.name!r}{meant(node.name, FILTERS)}"
    elif node.node is None or node.args or node.kwargs or node.dyn_args or node.dyn_kwargs:
        yield f"the filter {node.name!r} takes nothing but the value before it"
    elif node.name == "usual" and not _has_usual(node.node, reader):
        yield "the filter 'usual' stands behind a fact of which a usual value is collected"
    else:
        yield from _mistakes(node.node, reader)


def _has_usual(node: nodes.Node, reader: _Reader) -> bool:
    """Whether a node is a fact beside which its usual value is collected, or may be one."""
    if not (isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name)):
        return False
    schema = reader.schema(node.node.name)
    return schema is None or node.attr not in schema or f"{node.attr}_usual" in schema


def _getattr(node: nodes.Getattr, reader: _Reader, refused: Kind) -> Iterator[str]:
    if not isinstance(node.node, nodes.Name):
        yield "a fact is written `evidence.fact`, with one dot"
        return
    wrong, kind = reader.fact(node.node.name, node.attr)
    if wrong:
        yield wrong
    elif kind in (refused, Kind.SERIES):
        yield f"`{node.node.name}.{node.attr}` is a {kind.value}" if kind else ""


def _loop(node: nodes.For, reader: _Reader) -> Iterator[str]:
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
    inner = _Reader(reader.vocabulary, reader.inputs, {target.name: declared.fields})
    for child in (*node.body, *node.else_):
        yield from _mistakes(child, inner)
