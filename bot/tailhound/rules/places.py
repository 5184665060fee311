"""A tree of values in which each knows its line and column. `rules.parsing` makes it of a file."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tailhound.errors import Finding

_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_INT = re.compile(r"[-+]?[0-9]{1,30}")
_HEX = re.compile(r"0x[0-9a-fA-F]{1,30}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
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
