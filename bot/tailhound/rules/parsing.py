"""Reads YAML as a tree in which every value knows its line and column.

What is read is a small, safe part of YAML 1.2: one document of mappings, lists and scalars.
`yes`, `no`, `on` and `off` are text. Refused, each with its place: tags, anchors and aliases (so
nothing can unfold), a key given twice, keys that aren't text, more than MAX_BYTES, MAX_DEPTH or
MAX_NODES. The file is read as a stream of events, so that a deep or endless nesting is noticed
while it is read.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from tailhound.errors import Finding, RunbookErrors
from tailhound.rules.places import Items, Node, Pairs, Place, Scalar, lines

MAX_BYTES = 256 * 1024
MAX_DEPTH = 24
MAX_NODES = 20_000

_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_START = "a runbook starts with `runbook: <id>`"


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
        before = lines(text[: bad.start()])
        place = Place(path, len(before), len(before[-1]) + 1)
        raise _wrong(place, f"holds the control character U+{ord(bad.group()):04X}; remove it")
    return text


class _Reader:
    """Builds nodes from events, with every limit checked on the way."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._lines = lines(text)
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
