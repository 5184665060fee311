"""Protocol buffers as text (`config.pbtxt`, batching parameters): fields by path, no schema needed.

What it reads: `name: value`, `name { .. }`, `name < .. >`, lists in brackets, comments, strings in
pieces. A value is kept as its words; whoever wants a number asks for one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite

CHARACTERS_AT_MOST = 1_000_000
"""A ConfigMap holds no more."""

DEPTH_AT_MOST = 32

_TOKEN = re.compile(
    r"""\s+|\#[^\n]*                                    # nothing
    |(?P<mark>[{}\[\]<>:;,])
    |"(?P<double>(?:[^"\\\n]|\\.)*)"|'(?P<single>(?:[^'\\\n]|\\.)*)'
    |(?P<word>[^\s{}\[\]<>:;,#"']+)""",
    re.VERBOSE,
)
_OPEN = {"{": "}", "<": ">"}


class NotText(Exception):
    """The text is no message."""


@dataclass(slots=True)
class Fields:
    """A message: its fields by name, each with all its values in their order."""

    values: dict[str, list["str | Fields"]] = field(default_factory=dict)

    def inside(self, *path: str) -> "Fields | None":
        """The first message at a path of names; None where there is none."""
        at: Fields = self
        for name in path:
            found = next((one for one in at.values.get(name, ()) if isinstance(one, Fields)), None)
            if found is None:
                return None
            at = found
        return at

    def text(self, name: str) -> str:
        """The last value of a field, as proto has it; "" without one."""
        words = [one for one in self.values.get(name, ()) if isinstance(one, str)]
        return words[-1] if words else ""

    def numbers(self, name: str) -> tuple[float, ...]:
        """The values of a field that are numbers."""
        words = [one for one in self.values.get(name, ()) if isinstance(one, str)]
        return tuple(number for word in words if (number := _number(word)) is not None)

    def number(self, name: str) -> float | None:
        """The last value of a field as a number; None without one."""
        return _number(self.text(name))


def parsed(text: str) -> Fields | None:
    """The message of a text; None when it is none."""
    if len(text) > CHARACTERS_AT_MOST:
        return None
    try:
        tokens = list(_tokens(text))
        found, end = _message(tokens, 0, "", 0)
    except NotText:
        return None
    return found if end == len(tokens) else None


Token = tuple[str, str]
"""("mark" | "word" | "string", text)."""


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotText
        at = match.end()
        if match.lastgroup in ("mark", "word"):
            yield match.lastgroup, match[match.lastgroup]
        elif match.lastgroup is not None:
            yield "string", match[match.lastgroup]


def _message(tokens: Sequence[Token], at: int, close: str, depth: int) -> tuple[Fields, int]:
    """The fields up to `close` ("" = the end), and where they end."""
    if depth > DEPTH_AT_MOST:
        raise NotText
    found = Fields()
    while at < len(tokens):
        kind, text = tokens[at]
        if kind == "mark" and text in (",", ";"):
            at += 1
        elif kind == "mark" and text == close:
            return found, at + 1
        elif kind == "word":
            at = _field(tokens, at, found, depth)
        else:
            raise NotText
    if close:
        raise NotText
    return found, at


def _field(tokens: Sequence[Token], at: int, found: Fields, depth: int) -> int:
    """Read `name: value`, `name { .. }` or `name: [ .. ]`."""
    values = found.values.setdefault(tokens[at][1], [])
    at += 1
    if at < len(tokens) and tokens[at] == ("mark", ":"):
        at += 1
    if at < len(tokens) and tokens[at] == ("mark", "["):
        return _list(tokens, at + 1, values, depth)
    value, at = _value(tokens, at, depth)
    values.append(value)
    return at


def _list(tokens: Sequence[Token], at: int, values: list["str | Fields"], depth: int) -> int:
    while at < len(tokens):
        if tokens[at] == ("mark", "]"):
            return at + 1
        if tokens[at] == ("mark", ","):
            at += 1
            continue
        value, at = _value(tokens, at, depth)
        values.append(value)
    raise NotText


def _value(tokens: Sequence[Token], at: int, depth: int) -> tuple["str | Fields", int]:
    if at >= len(tokens):
        raise NotText
    kind, text = tokens[at]
    if kind == "mark":
        if text not in _OPEN:
            raise NotText
        return _message(tokens, at + 1, _OPEN[text], depth + 1)
    at += 1
    while kind == "string" and at < len(tokens) and tokens[at][0] == "string":
        text += tokens[at][1]
        at += 1
    return text, at


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if isfinite(value) else None
