"""Where in the configuration a mistake stands, and what may have been meant."""

import difflib
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

Loc = tuple[str | int, ...]
Keys = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where values come from: a file's name and parsed text, and variables by the key they set."""

    name: str = "configuration"
    root: yaml.Node | None = None
    variables: Mapping[Keys, str] = field(default_factory=dict)


def explained(error: ValidationError, origin: Origin, model: type[BaseModel]) -> str:
    """All mistakes, a line each: place, key, what is wrong, what may have been meant."""
    return "\n".join(
        f"{where(item['loc'], origin)}: {'.'.join(map(str, item['loc'])) or 'top level'}: "
        f"{_what(item['type'], item['msg'], item['loc'], model)}"
        for item in error.errors()
    )


def duplicates(root: yaml.Node | None) -> Iterator[tuple[str, yaml.Mark]]:
    """Keys that a mapping holds twice, with the place of the second."""
    waiting, known = [root], set()
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in known:  # an alias; it may even hold itself
            continue
        known.add(id(node))
        if isinstance(node, yaml.MappingNode):
            names = [str(key.value) for key, _ in node.value]
            for at, (key, value) in enumerate(node.value):
                if names[at] in names[:at]:
                    yield names[at], key.start_mark
                waiting.append(value)
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value


def where(loc: Loc, origin: Origin) -> str:
    """`bot.yaml:12:3`, or the variable that set it."""
    variable = _variable(loc, origin)
    if variable:
        return variable
    mark = _mark(loc, origin.root)
    return f"{origin.name}:{mark.line + 1}:{mark.column + 1}" if mark else origin.name


def place(loc: Loc, origin: Origin) -> tuple[str, int, int]:
    """The file (or variable), line and column of a key; 1, 1 where there is no line."""
    mark = _mark(loc, origin.root)
    variable = _variable(loc, origin)
    if variable or mark is None:
        return variable or origin.name, 1, 1
    return origin.name, mark.line + 1, mark.column + 1


def _variable(loc: Loc, origin: Origin) -> str:
    for size in range(len(loc), 0, -1):
        variable = origin.variables.get(tuple(map(str, loc[:size])))
        if variable:
            return variable
    return ""


def _mark(loc: Loc, node: yaml.Node | None) -> yaml.Mark | None:
    """The place of the deepest key of `loc` that the file holds."""
    mark = node.start_mark if node is not None else None
    for part in loc:
        found = _inside(node, part)
        if found is None:
            break
        mark, node = found
    return mark


def _inside(node: yaml.Node | None, part: str | int) -> tuple[yaml.Mark, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((k.start_mark, v) for k, v in node.value if k.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark, node.value[part]
    return None


_SHAPES = {
    "model_type": "must be a section: `key: value` lines",
    "mapping_type": "must be a section: `key: value` lines",
    "dict_type": "must be a section: `key: value` lines",
    "tuple_type": "must be a list: [a, b]",
    "list_type": "must be a list: [a, b]",
    "string_type": "must be text; put it in quotes",
}


def _what(kind: str, message: str, loc: Loc, model: type[BaseModel]) -> str:
    if kind in _SHAPES:
        return _SHAPES[kind]
    if kind != "extra_forbidden":
        return message.removeprefix("Value error, ")
    known = _keys_at(model, loc[:-1])
    near = difflib.get_close_matches(str(loc[-1]), known, n=1)
    if near:
        return f"no such key; did you mean {near[0]!r}?"
    return f"no such key; there are: {', '.join(known)}" if known else "no such key"


def _keys_at(annotation: Any, loc: Loc) -> Sequence[str]:
    """The keys that may stand at a place."""
    found = _section(annotation)
    if found is None:
        arguments = [part for part in typing.get_args(annotation) if part is not Ellipsis]
        return _keys_at(arguments[-1], loc[1:]) if arguments and loc else ()
    if not loc:
        return tuple(found.model_fields)
    known = found.model_fields.get(str(loc[0]))
    return _keys_at(known.annotation, loc[1:]) if known else ()


def _section(annotation: Any) -> type[BaseModel] | None:
    """The section that an annotation names, also as `Section | None`."""
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        parts = [_section(part) for part in typing.get_args(annotation)]
        return next((part for part in parts if part is not None), None)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None
