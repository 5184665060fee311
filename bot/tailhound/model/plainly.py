"""What a person sees of a text: no terminal codes, no invisible characters, and not too much."""

import re

BROKEN = re.compile("[\ud800-\udfff]")
"""A lone surrogate: no file and no database takes it."""

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|[ -/]*[0-~])?"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_LINE_ENDS = re.compile("\r\n|\r|\u2028|\u2029|\x85|\x0b|\x0c")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_STACKED = re.compile(
    "([\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4})"
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)


def plain(text: str, limit: int) -> str:
    """What a person sees of a text: no terminal codes, control, bidi or invisible characters.

    Line ends become "\\n"; a lone surrogate becomes U+FFFD, so that the result is valid UTF-8. At
    most `limit` characters; what was cut is told at the end ("… +1,234 characters").
    """
    text = _LINE_ENDS.sub("\n", _ESCAPES.sub("", text))
    text = _STACKED.sub(r"\1", BROKEN.sub("\ufffd", _INVISIBLE.sub("", text)))
    if len(text) <= limit:
        return text
    mark = f"… +{len(text) - limit:,} characters"
    if len(mark) >= limit:
        return text[: max(0, limit - 1)] + "…"[:limit]
    return text[: limit - len(mark)] + mark
