"""YAML in which every value knows its line and column.

What is read is a small, safe part of YAML 1.2: one document of mappings, lists and scalars.
`yes`, `no`, `on` and `off` are text. Refused, each with its place: tags, anchors and aliases (so
nothing can unfold), a key given twice, keys that aren't text, more than MAX_BYTES, MAX_DEPTH or
MAX_NODES. The file is read as a stream of events, so that a deep or endless nesting is noticed
while it is read.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

from tailhound.errors import Finding, RunbookErrors

MAX_BYTES = 256 * 1024
MAX_DEPTH = 24
MAX_NODES = 20_000

_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_INT = re.compile(r"[-+]?[0-9]{1,30}")
_HEX = re.compile(r"0x[0-9a-fA-F]{1,30}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_START = "a runbook starts with `runbook: <id>`"
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: line and column from 1, and how many characters it is long."""

    path: str
    line: int
    column: int
    length: int = 1

    def finding(self, message: str, rule: str = "error", severity: str = "error") -> Finding:
        """A finding at this place. Whatever the file holds, the message is one printable line."""
        line = "".join(sign if sign.isprintable() else "?" for sign in message)
        return Finding(self.path, self.line, self.column, line, rule, severity, self.length)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value. `text` is what was written; `plain` says that it stood without quotes.

    `inner` is the column shift from the place to the first character of the text (1 for a quote),
    or None where text and file don't run in step (several lines, escapes).
    """

    text: str
    plain: bool
    place: Place
    inner: int | None = 0

    @property
    def value(self) -> Any:
        """The value by YAML 1.2: number, yes/no (true, false), None or text."""
        return _value(self.text) if self.plain else self.text

    def at(self, offset: int, length: int) -> Place:
        """The place of a piece of the text; of the whole value where that can't be told."""
        if self.inner is None:
            return self.place
        here = self.place
        return Place(here.path, here.line, here.column + self.inner + offset, max(1, length))


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple["Node", ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Pairs:
    """A mapping, in the order of the file."""

    entries: tuple[tuple[Scalar, "Node"], ...]
    place: Place

    def get(self, key: str) -> "Node | None":
        """The value of a key."""
        return next((node for name, node in self.entries if name.text == key), None)

    def key(self, key: str) -> Scalar | None:
        """The key itself, for its place."""
        return next((name for name, _ in self.entries if name.text == key), None)


Node: TypeAlias = Scalar | Items | Pairs
Steps: TypeAlias = Sequence[str | int]
"""A path of keys and indices to a node."""


def read(path: str, source: str | bytes) -> tuple[Pairs, tuple[Finding, ...]]:
    """The mapping that a file holds, and what is wrong with it but does not end the reading.

    RunbookErrors with the place where reading can't go on.
    """
    text = _decoded(path, source)
    reader = _Reader(path, text)
    try:
        node = reader.document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(path, mark.line + 1, mark.column + 1) if mark else Place(path, 1, 1)
        raise _wrong(place, f"not YAML: {explained(error.problem or error.context)}") from error
    if not isinstance(node, Pairs):
        raise _wrong(Place(path, 1, 1), f"must hold `key: value` lines; {_START}")
    return node, tuple(reader.findings)


def explained(problem: str | None) -> str:
    """What a YAML parser complains about, with what to do where that is plain."""
    told = str(problem)
    if "mapping values are not allowed" in told:
        return f"{told}; a text with a second `: ` in it must stand in quotes"
    if "cannot start any token" in told:
        return f"{told}; a text that begins with this sign must stand in quotes"
    return told


def plain(node: Node) -> Any:
    """The plain Python value of a node."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Items):
        return [plain(item) for item in node.items]
    return {key.text: plain(value) for key, value in node.entries}


def follow(node: Node, steps: Steps) -> Node:
    """The node at the end of a path of keys and indices; the deepest one that exists."""
    for step in steps:
        if isinstance(node, Pairs) and isinstance(step, str):
            found = node.get(step)
            if found is None:
                return node
            node = found
        elif isinstance(node, Items) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
    return node


def without(node: Node, steps: Steps) -> Node:
    """The tree without the value at a path (and its key); the same tree where there is none."""
    if not steps:
        return node
    first, rest = steps[0], steps[1:]
    if isinstance(node, Pairs):
        entries = (
            (key, without(value, rest) if key.text == first else value)
            for key, value in node.entries
            if rest or key.text != first
        )
        return Pairs(tuple(entries), node.place)
    if isinstance(node, Items):
        items = (
            without(item, rest) if index == first else item
            for index, item in enumerate(node.items)
            if rest or index != first
        )
        return Items(tuple(items), node.place)
    return node


def lines(text: str) -> list[str]:
    """The lines of a file, broken where YAML breaks them."""
    return _BREAK.split(text)


def _wrong(place: Place, message: str) -> RunbookErrors:
    return RunbookErrors((place.finding(message),))


def _decoded(path: str, source: str | bytes) -> str:
    body = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    if len(body) > MAX_BYTES:
        message = f"is {len(body):,} bytes long; a runbook file may have {MAX_BYTES:,}"
        raise _wrong(Place(path, 1, 1), message)
    try:
        text = body.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        column = error.start - body.rfind(b"\n", 0, error.start)
        place = Place(path, line, column)
        raise _wrong(place, "not UTF-8 text; save the file as UTF-8") from error
    if bad := _FORBIDDEN.search(text):
        before = _BREAK.split(text[: bad.start()])
        place = Place(path, len(before), len(before[-1]) + 1)
        raise _wrong(place, f"holds the control character U+{ord(bad.group()):04X}; remove it")
    return text


class _Reader:
    """Builds nodes from events, with every limit checked on the way."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._lines = _BREAK.split(text)
        self._events: Iterator[Any] = yaml.parse(text, Loader=yaml.CSafeLoader)
        self._count = 0
        self.findings: list[Finding] = []

    def document(self) -> Node:
        event = self._next()
        while isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
            event = self._next()
        if isinstance(event, yaml.StreamEndEvent):
            raise _wrong(Place(self._path, 1, 1), f"is empty; {_START}")
        node = self._node(event, 0)
        self._next()  # the end of the document
        after = self._next()
        if not isinstance(after, yaml.StreamEndEvent):
            raise _wrong(self._place(after), "a second document begins here; one file, one runbook")
        return node

    def _next(self) -> Any:
        return next(self._events)

    def _place(self, event: Any) -> Place:
        start, end = event.start_mark, event.end_mark
        length = end.column - start.column if end.line == start.line else 1
        return Place(self._path, start.line + 1, start.column + 1, max(1, length))

    def _node(self, event: Any, depth: int) -> Node:
        self._check(event, depth)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(event, depth)
        return self._mapping(event, depth)

    def _check(self, event: Any, depth: int) -> None:
        """Places are made where one is told: a file has thousands of values."""
        self._count += 1
        if isinstance(event, yaml.AliasEvent):
            wrong = "an alias (`*name`) is not allowed; write the value out"
        elif event.anchor:
            wrong = "an anchor (`&name`) is not allowed; write the value out"
        elif event.tag not in (None, "!"):
            wrong = f"a tag (`{_tag(event.tag)}`) is not allowed; write a plain value"
        elif depth > MAX_DEPTH:
            wrong = f"is nested more than {MAX_DEPTH} levels deep"
        elif self._count > MAX_NODES:
            wrong = f"the file holds more than {MAX_NODES:,} values"
        else:
            return
        raise _wrong(self._place(event), wrong)

    def _scalar(self, event: Any) -> Scalar:
        place = self._place(event)
        is_plain = event.style in (None, "")
        inner: int | None = 0 if is_plain else 1
        line = self._lines[place.line - 1] if place.line <= len(self._lines) else ""
        if not line.startswith(event.value, place.column - 1 + (inner or 0)):
            inner = None
        return Scalar(event.value, is_plain, place, inner)

    def _list(self, event: Any, depth: int) -> Items:
        items = []
        while not isinstance(item := self._next(), yaml.SequenceEndEvent):
            items.append(self._node(item, depth + 1))
        return Items(tuple(items), self._place(event))

    def _mapping(self, event: Any, depth: int) -> Pairs:
        entries: list[tuple[Scalar, Node]] = []
        seen: dict[str, Place] = {}
        while not isinstance(item := self._next(), yaml.MappingEndEvent):
            key = self._node(item, depth + 1)
            if not isinstance(key, Scalar):
                raise _wrong(key.place, "a key must be text")
            value = self._node(self._next(), depth + 1)
            if first := seen.get(key.text):
                message = f"{key.text!r} is given twice (first on line {first.line})"
                self.findings.append(key.place.finding(message))
                continue
            seen[key.text] = key.place
            entries.append((key, value))
        return Pairs(tuple(entries), self._place(event))


def _tag(tag: str) -> str:
    short = tag.replace("tag:yaml.org,2002:", "!!")
    return short if len(short) <= 40 else short[:39] + "…"


def _value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _HEX.fullmatch(text):
        return int(text, 16)
    if len(text) < 40 and _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text
