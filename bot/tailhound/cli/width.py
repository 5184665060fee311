"""Lines of at most 80 columns, wrapped under the column where their text begins. Pure."""

import re
from collections.abc import Iterable, Iterator

WIDTH = 80
_HANG_AT_MOST = 20
_KEY = re.compile(r"\s*(?:[^\s“]+(?: [^\s“]+){0,2}\s{2,})?(?:(?:\w|\d\d:\d\d)\.? (?=\S))?")
"""What stands before the text of a line: `  symptom   `, `    yes  `, `               a. `."""
_COMMAND = re.compile(r"(?<![\w/.-])(?:kubectl|helm|curl|ssh|nvme|fstrim|tailhound) (?=[a-z-])")
"""Where something begins that people paste into a shell: from there on nothing is wrapped."""


class Whole(str):
    """A line that is pasted somewhere else as it is: never wrapped."""

    __slots__ = ()


def fitted(lines: Iterable[str]) -> list[str]:
    """The lines, each no wider than WIDTH unless it is Whole or begins with a command.

    A command that stands in a longer sentence gets lines of its own.
    """
    return [short for line in lines for short in _fitted(line)]


def _fitted(line: str) -> Iterator[str]:
    if isinstance(line, Whole) or len(line) <= WIDTH:
        yield line
        return
    hang = " " * _hang(line)
    command = _COMMAND.search(line, len(hang))
    if command is None:
        yield from _wrapped(line, hang)
        return
    before, after = line[: command.start()].rstrip(), line[command.start() :]
    if before.strip():
        yield from _wrapped(before, hang)
    yield hang + after


def _hang(line: str) -> int:
    """The column where the text of a line begins, and where its next lines begin too."""
    key = _KEY.match(line)
    begins = key.end() if key else 0
    bare = len(line) - len(line.lstrip())
    return begins if bare < begins <= _HANG_AT_MOST else bare + 2


def _wrapped(line: str, hang: str) -> Iterator[str]:
    """Wrapped at spaces; a word that is wider than a line has a line of its own."""
    indent = len(line) - len(line.lstrip())
    taken = line[:indent]
    is_empty = True
    for gap, word in re.findall(r"( *)([^ ]+)", line[indent:]):
        if not is_empty and len(taken) + len(gap) + len(word) > WIDTH:
            yield taken
            taken, is_empty = hang, True
        taken += word if is_empty else gap + word
        is_empty = False
    yield taken
