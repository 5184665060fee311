"""From the bytes of a file to its checked shape: every finding at its place, with a suggestion."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import ValidationError

from tailhound.errors import Finding, RunbookErrors
from tailhound.rules import parsing, places
from tailhound.rules.condition.typed import meant
from tailhound.rules.places import Node, Pairs, Place, Scalar
from tailhound.rules.schema import RunbookFile, json_schema
from tailhound.rules.schema_parts import PATTERNS

_KINDS: Mapping[str, str] = {
    "string_type": "must be text; put it in quotes",
    "dict_type": "must be a mapping: `key: value` lines",
    "model_type": "must be a mapping: `key: value` lines",
    "model_attributes_type": "must be a mapping: `key: value` lines",
    "mapping_type": "must be a mapping: `key: value` lines",
    "list_type": "must be a list: lines that begin with `- `",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
}


@dataclass(frozen=True, slots=True)
class Read:
    """What could be read of a file: its shape, the nodes behind it, and all nodes as written.

    Parts of a wrong shape are left out of `file` and `node`, so that the rest is checked too.
    """

    file: RunbookFile
    node: Pairs
    written: Pairs


def read_file(path: str, source: str | bytes) -> tuple[Read | None, tuple[Finding, ...]]:
    """What could be read, None when too much is wrong; with everything that is wrong."""
    try:
        written, findings = parsing.read(path, source)
    except RunbookErrors as errors:
        return None, errors.findings
    node = written
    for _ in range(_ROUNDS):
        try:
            file = RunbookFile.model_validate(places.plain(node))
        except ValidationError as error:
            if node is written:
                findings = (*findings, *_findings(error, node))
            pruned = _pruned(node, error)
            if pruned is None:
                break
            node = pruned
        else:
            return Read(file, node, written), findings
    return None, findings


def _pruned(node: Pairs, error: ValidationError) -> Pairs | None:
    """Without the values that are wrong; None when the file itself is."""
    wrong: set[tuple[str | int, ...]] = set()
    for item in error.errors(include_url=False):
        steps = _steps(node, item["loc"])
        wrong.add(tuple(steps[:-1] if item["type"] == "missing" else steps))
    if () in wrong:
        return None
    pruned: Node = node
    last_first = sorted(wrong, key=lambda path: [str(step).zfill(9) for step in path])[::-1]
    for path in last_first:
        pruned = places.without(pruned, path)
    return pruned if isinstance(pruned, Pairs) else None


def _findings(error: ValidationError, node: Pairs) -> Iterator[Finding]:
    """One finding for each place that is wrong."""
    seen: set[tuple[int, int, str]] = set()
    for item in error.errors(include_url=False, include_context=True):
        steps = _steps(node, item["loc"])
        finding = _finding(node, steps, item)
        key = (finding.line, finding.column, "" if item["type"] in _KINDS else item["type"])
        if key not in seen:
            seen.add(key)
            yield finding


def _steps(node: Node, location: Sequence[str | int]) -> list[str | int]:
    """The location without the names of union branches, which pydantic mixes in."""
    steps: list[str | int] = []
    here: Node | None = node
    for index, step in enumerate(location):
        last = index == len(location) - 1
        found = _child(here, step)
        if found is not None or (last and isinstance(here, Pairs) and step not in _BRANCHES):
            steps.append(step)
            here = found if found is not None else here
    return steps


_ROUNDS = 20
_BRANCHES = frozenset({"[key]", "str", "int", "float", "bool", "mapping", "text", "json", "key"})


def _child(node: Node | None, step: str | int) -> Node | None:
    if isinstance(node, Pairs) and isinstance(step, str):
        return node.get(step)
    if isinstance(node, places.Items) and isinstance(step, int):
        return node.items[step] if step < len(node.items) else None
    return None


def _finding(node: Pairs, steps: list[str | int], item: Any) -> Finding:
    kind, where = item["type"], ".".join(str(step) for step in steps)
    if kind == "extra_forbidden":
        parent = places.follow(node, steps[:-1])
        known = _known_keys(steps[:-1])
        message = f"{where}: no such key{meant(str(steps[-1]), known)}"
        return _key_place(parent, str(steps[-1])).finding(message)
    if kind == "missing":
        return _missing(node, steps)
    found = places.follow(node, steps)
    if "[key]" in item["loc"]:
        parent = places.follow(node, steps[:-1])
        return _key_place(parent, str(steps[-1])).finding(_words(item))
    message = f"{where}: {_words(item)}" if where else _words(item)
    return found.place.finding(message)


def _missing(node: Pairs, steps: list[str | int]) -> Finding:
    parent, name = places.follow(node, steps[:-1]), steps[-1]
    if len(steps) == 1:
        return Place(node.place.path, 1, 1).finding(f"`{name}:` is missing")
    owner = ".".join(str(step) for step in steps[:-1])
    return parent.place.finding(f"{owner}: `{name}:` is missing")


def _key_place(parent: Node, key: str) -> Place:
    found: Scalar | None = parent.key(key) if isinstance(parent, Pairs) else None
    return found.place if found else parent.place


def _words(item: Any) -> str:
    """What pydantic says, in our words."""
    kind, context = item["type"], item.get("ctx", {})
    if kind in _KINDS:
        return _KINDS[kind]
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        options = [
            word.strip("'") for word in context["expected"].replace(" or ", ", ").split(", ")
        ]
        return f"must be one of {', '.join(options)}{_close(str(item['input']), options)}"
    if kind == "string_pattern_mismatch":
        return PATTERNS.get(context["pattern"], f"must look like {context['pattern']}")
    if kind in ("string_too_short", "too_short"):
        return "must not be empty"
    text = str(item["msg"])
    return text[:1].lower() + text[1:].replace("Input should", "should")


def _close(word: str, options: Sequence[str]) -> str:
    said = meant(word, options)
    return said if said.startswith("; did you mean") else ""


@cache
def _schema() -> Mapping[str, Any]:
    return json_schema()


def _known_keys(steps: Sequence[str | int]) -> tuple[str, ...]:
    """The keys that may stand at a place, by the JSON schema."""
    here = _expanded(_schema())
    for step in steps:
        here = [further for one in here for further in _below(one, step)]
    return tuple(dict.fromkeys(key for one in here for key in one.get("properties", {})))


def _below(schema: Mapping[str, Any], step: str | int) -> list[Mapping[str, Any]]:
    if isinstance(step, int):
        return _expanded(schema.get("items", {}))
    named = schema.get("properties", {}).get(step)
    if named is not None:
        return _expanded(named)
    patterns = list(schema.get("patternProperties", {}).values())
    more = schema.get("additionalProperties")
    patterns += [more] if isinstance(more, dict) else []
    return [found for pattern in patterns for found in _expanded(pattern)]


def _expanded(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The schema itself, or the alternatives that it refers to."""
    if "$ref" in schema:
        return _expanded(_schema()["$defs"][schema["$ref"].rsplit("/", 1)[-1]])
    options = schema.get("anyOf", schema.get("oneOf"))
    if options is None:
        return [schema]
    return [found for option in options for found in _expanded(option)]
