"""Where in a query a complaint of the PromQL parser points to: it names what, and not where."""

import re
from collections.abc import Iterator

from tailhound.rules.condition.typed import Mistake

_NAMED = re.compile(r"(?:function|name|identifier|keyword) '([^']+)'")
_OPEN = {"(": ")", "{": "}", "[": "]"}
_CLOSED = {closed: opened for opened, closed in _OPEN.items()}


def mistake_of(query: str, said: str) -> Mistake | None:
    """The part of the query that `said` is about; None when that can't be told."""
    offset = _bracket(query, said)
    if offset is not None:
        return Mistake(offset, 1, said)
    named = _NAMED.search(said)
    if named is None:
        return None
    word = re.compile(rf"(?<![A-Za-z0-9_:]){re.escape(named[1])}(?![A-Za-z0-9_:])")
    bare = "".join(" " if inside else sign for sign, inside in _signs(query))
    found = list(word.finditer(bare))
    return Mistake(found[0].start(), len(named[1]), said) if len(found) == 1 else None


def _bracket(query: str, said: str) -> int | None:
    """The bracket that is too many, or that nothing closes."""
    if not re.search(r"parenthes|brace|bracket", said):
        return None
    open_: list[tuple[str, int]] = []
    for at, (sign, inside) in enumerate(_signs(query)):
        if inside:
            continue
        if sign in _OPEN:
            if sign == "{" and any(earlier == "{" for earlier, _ in open_):
                return at
            open_.append((sign, at))
        elif sign in _CLOSED:
            if not open_ or open_[-1][0] != _CLOSED[sign]:
                return at
            open_.pop()
    return open_[-1][1] if open_ else None


def _signs(query: str) -> Iterator[tuple[str, bool]]:
    """Each character, and whether it belongs to a string or a comment."""
    quote, escaped = "", False
    for sign in query:
        if not quote:
            quote = sign if sign in "\"'`#" else ""
            yield sign, bool(quote)
            continue
        yield sign, True
        if escaped:
            escaped = False
        elif sign == "\\" and quote in "\"'":
            escaped = True
        elif sign == ("\n" if quote == "#" else quote):
            quote = ""
