"""Printed text as lines, keys and words."""

import re
from collections.abc import Iterable, Iterator

from tailhound.model.redaction import plain

_WORD = 200
_COLUMN = re.compile(r"[^ \t\r\n\f\v]+")


def complete(text: str) -> tuple[list[str], bool]:
    """The lines that end in a newline, and whether something after them was cut off.

    A last line without its newline is not read: it may end in the middle of a number.
    """
    lines = text.split("\n")
    rest = lines.pop()
    return [line.rstrip("\r") for line in lines], bool(rest.strip())


def pairs(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """`key : value` of each line that has a colon; split at the first one."""
    for line in lines:
        key, colon, value = line.partition(":")
        if colon and key.strip():
            yield key.strip(), value.strip()


def agreed(found: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The pairs by normalised key. A key that came twice with two answers is left out."""
    values: dict[str, str] = {}
    torn: set[str] = set()
    for key, value in found:
        name = bare(key)
        if values.setdefault(name, value) != value:
            torn.add(name)
    return {key: value for key, value in values.items() if key not in torn}


def columns(line: str) -> list[str]:
    """The words of a line, divided by ASCII white space: some locales group digits by other."""
    return _COLUMN.findall(line)


def bare(key: str) -> str:
    """A key without case, spaces, underscores, hyphens: tools change these between versions."""
    return "".join(letter for letter in key.lower() if letter not in " _-\t")


def indent(line: str) -> int:
    """How many columns of white space a line begins with; a tab goes on to the next eighth."""
    head = line[: len(line) - len(line.lstrip())]
    return len(head.expandtabs(8))


def word(text: str | None) -> str | None:
    """A name or sentence from outside: no control characters, cut; None when empty."""
    if text is None:
        return None
    shown = text.strip()
    if shown.isascii() and shown.isprintable() and len(shown) <= _WORD:
        return shown or None
    cleaned = plain(shown, _WORD).strip()
    return cleaned or None


def yes_no(text: str, yes: str = "yes", no: str = "no") -> bool | None:
    """True and False for exactly these two words, whatever their case."""
    return {yes.lower(): True, no.lower(): False}.get(text.strip().lower())
