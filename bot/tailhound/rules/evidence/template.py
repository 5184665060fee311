"""PromQL with `$name`: where a name may stand, and how its value is escaped for that place.

A `$name` stands only inside a double-quoted label value. Behind `=` and `!=` its value becomes part
of a PromQL string, behind `=~` and `!~` a literal regular expression (a set: its alternatives).

Metric names are written as vLLM has them (`vllm:...`). A site that scrapes it under another prefix
says so in its profile (`metric_prefix`), and the prefix alone is replaced, in a name and in a
matcher of `__name__`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tailhound.requests.prometheus import literal_regex, one_of, quoted
from tailhound.rules.condition.typed import Mistake

_HOLE = re.compile(r"\$(?:\{[^}]*\}?|[A-Za-z_][A-Za-z0-9_]*)")
_MATCHER = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*(=~|!~|!=|=)\s*$")
_NAME = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*")
_NAMED = re.compile(r"(?<![A-Za-z0-9_:])vllm:")
PREFIX = "vllm:"
"""The prefix of metric names that a profile may replace."""

_LONGEST_LABEL = 200
_NOTHING = "^$none"
"""A regular expression that matches nothing: what an empty set becomes."""


@dataclass(frozen=True, slots=True)
class Hole:
    """One `$name`: in a regular expression or not, as the whole value or as a part of it."""

    name: str
    regex: bool
    whole: bool
    offset: int

    def filled(self, value: str | Sequence[str]) -> str:
        """The value, escaped for where it stands."""
        if not self.regex:
            text = value if isinstance(value, str) else (value[0] if len(value) == 1 else "")
            return quoted(text)[1:-1]
        if isinstance(value, str):
            return quoted(literal_regex(value))[1:-1]
        text = one_of(value) or _NOTHING
        return quoted(text if self.whole else f"(?:{text})")[1:-1]


@dataclass(frozen=True, slots=True)
class Prefix:
    """A place where the site's prefix of metric names stands."""


@dataclass(frozen=True, slots=True)
class Template:
    """A query with holes. `unclear` is not a query: see `mistakes`."""

    parts: tuple[str | Hole | Prefix, ...]

    @property
    def holes(self) -> tuple[Hole, ...]:
        """Its `$name`s."""
        return tuple(part for part in self.parts if isinstance(part, Hole))

    @property
    def prefixed(self) -> bool:
        """Whether the site's prefix of metric names stands in it."""
        return any(isinstance(part, Prefix) for part in self.parts)

    def filled(self, values: Mapping[str, str | Sequence[str]], prefix: str = PREFIX) -> str:
        """The query for these values, and for the site's prefix of metric names."""
        return "".join(_filled(part, values, prefix) for part in self.parts)


def _filled(
    part: str | Hole | Prefix, values: Mapping[str, str | Sequence[str]], prefix: str
) -> str:
    if isinstance(part, Hole):
        return part.filled(values[part.name])
    return prefix if isinstance(part, Prefix) else part


@dataclass(slots=True)
class _Scanner:
    """Walks a query: strings, comments and braces, nothing more."""

    text: str
    parts: list[str | Hole | Prefix] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    depth: int = 0

    def run(self) -> None:
        at = 0
        while at < len(self.text):
            sign = self.text[at]
            if sign in "\"'`":
                at = self._string(at)
            elif sign == "#":
                end = self.text.find("\n", at)
                at = self._plain(at, end if end >= 0 else len(self.text))
            elif sign == "$":
                at = self._outside(at)
            elif name := _NAME.match(self.text, at):
                at = self._metrics(at, name.end())
            else:
                self.depth += {"{": 1, "}": -1}.get(sign, 0)
                at = self._plain(at, at + 1)

    def _plain(self, start: int, end: int) -> int:
        self.parts.append(self.text[start:end])
        return end

    def _metrics(self, start: int, end: int) -> int:
        """Text in which `vllm:` begins the name of a metric."""
        for named in _NAMED.finditer(self.text, start, end):
            self._plain(start, named.start())
            self.parts.append(Prefix())
            start = named.end()
        return self._plain(start, end)

    def _outside(self, at: int) -> int:
        hole = _HOLE.match(self.text, at)
        if hole is None:
            return self._plain(at, at + 1)
        before = _MATCHER.search(self.text, max(0, at - _LONGEST_LABEL), at)
        label, sign = before.groups() if before else ("pod", "=")
        message = (
            f"{hole.group()} may stand only inside a quoted label value: "
            f'`{label}{sign}"{hole.group()}"`'
        )
        self.mistakes.append(Mistake(at, len(hole.group()), message))
        return self._plain(at, hole.end())

    def _string(self, start: int) -> int:
        quote, end = self.text[start], start + 1
        while end < len(self.text) and self.text[end] != quote:
            end += 2 if self.text[end] == "\\" and quote != "`" else 1
        end = min(end + 1, len(self.text))
        before = max(0, start - _LONGEST_LABEL)
        operator = _MATCHER.search(self.text, before, start) if self.depth > 0 else None
        label, sign = operator.groups() if operator else ("", "")
        told = self._metrics if label == "__name__" else self._plain
        at = start
        for hole in _HOLE.finditer(self.text, start, end):
            at = told(at, hole.start())
            at = self._hole(hole, quote, sign, (start, end))
        return told(at, end)

    def _hole(self, hole: re.Match[str], quote: str, operator: str, span: tuple[int, int]) -> int:
        text, offset = hole.group(), hole.start()
        message = ""
        if text.startswith("${"):
            message = f"{text} is written without braces: ${text.strip('${}')}"
        elif not operator:
            message = f"{text} may stand only in the value of a label matcher"
        elif quote != '"':
            message = f"{text} needs double quotes around the label value"
        if message:
            self.mistakes.append(Mistake(offset, len(text), message))
            return self._plain(offset, hole.end())
        whole = offset == span[0] + 1 and hole.end() == span[1] - 1
        self.parts.append(Hole(text[1:], operator in ("=~", "!~"), whole, offset))
        return hole.end()


def template(text: str) -> tuple[Template, tuple[Mistake, ...]]:
    """The query's parts, and what is wrong with the places of its `$name`s."""
    scanner = _Scanner(text)
    scanner.run()
    joined: list[str | Hole | Prefix] = []
    for part in scanner.parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return Template(tuple(joined)), tuple(scanner.mistakes)
