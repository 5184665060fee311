"""Long answers: whole lines, as many as Slack takes; what is left out is counted. Pure.

The text is escaped already, so a cut within a line must tear no entity and leave no code span open.
"""

import re
from typing import Final

from tailhound.slack.limits import SECTION_TEXT

BYTES: Final = 9_000
"""UTF-8 bytes of all paragraphs: below what Slack was seen to refuse as blocks."""

_ROOM: Final = SECTION_TEXT - 100
_LINE: Final = 1_000
_TORN: Final = re.compile(r"&[a-z]{0,4}$")


def sections(text: str) -> list[str]:
    """The text in paragraphs of whole lines; at least one, which may be empty."""
    lines = [_fitted(line) for line in text.split("\n")]
    kept = _within(lines)
    if len(kept) < len(lines):
        kept = _within(lines, spare=80)
        kept.append(f"+ {len(lines) - len(kept)} more lines, which Slack has no room for")
    found = [kept[0]]
    for line in kept[1:]:
        if len(found[-1]) + 1 + len(line) > _ROOM:
            found.append(line)
        else:
            found[-1] += f"\n{line}"
    return found


def _within(lines: list[str], spare: int = 0) -> list[str]:
    """The first lines that have room together, one in any case."""
    taken = 0
    for at, line in enumerate(lines):
        taken += len(line.encode("utf-8", "replace")) + 1
        if at and taken > BYTES - spare:
            return lines[:at]
    return list(lines)


def _fitted(line: str) -> str:
    """A line that no paragraph could hold, cut where that hurts nothing."""
    if len(line) <= _LINE:
        return line
    short = _TORN.sub("", line[:_LINE])
    return f"{short}`…" if short.count("`") % 2 else f"{short}…"
