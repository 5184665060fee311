"""Markdown from templates: whatever is put in stays text, and can be no heading, link or HTML."""

import re
from typing import Any

from tailhound.model.wording import NBSP

_SPECIAL = re.compile(r"([\\`*_\[\]|#~])")
_TICKS = re.compile(r"`+")


class Ready(str):
    """Text that is Markdown already."""

    __slots__ = ()


def escaped(value: Any) -> str:
    """What a template puts out: a `Ready` text as it is, anything else as text on one line."""
    if isinstance(value, Ready):
        return value
    text = " ".join(str(value).replace(NBSP, "\0").split()).replace("\0", NBSP)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", text).replace("://", "&#58;//")


def code(text: str) -> Ready:
    """A code span: as many ticks around it as it needs."""
    line = " ".join(text.split()).replace("|", "\\|")
    longest = max((len(run) for run in _TICKS.findall(line)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return Ready(f"{ticks}{pad}{line or ' '}{pad}{ticks}")


def fence(text: str, language: str = "") -> Ready:
    """A code block, fenced by more ticks than it holds."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return Ready(f"{ticks}{language}\n{text}\n{ticks}")
