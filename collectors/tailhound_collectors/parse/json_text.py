"""JSON out of what a tool printed: other lines may come first, the end may be missing."""

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tailhound.model import Missing
from tailhound_collectors.parse.lines import bare
from tailhound_collectors.parse.tool import cut, silent, unparsable

_STARTS = re.compile(r"^[{\[]", re.MULTILINE)
_TRIES = 50
_CUT_VALUE = re.compile(r"(?:[-.eE+]{0,2}|t|tr|tru|f|fa|fal|fals|n|nu|nul)")
_TAIL = 64
_NOTHING_MORE = re.compile(r"[ \t\r]*(?:\n|$)")
_NO_END = (
    "the JSON document has no end; the command was stopped, or its output cut "
    "(stop iostat with timeout -s INT)"
)


@dataclass(frozen=True, slots=True)
class Document:
    """The first JSON value that begins a line, and the text before it."""

    value: Any
    before: str


def document(text: str) -> Document | Missing:
    """The JSON document in the text. Numbers with a fraction are Decimal; NaN is None.

    It begins a line and ends one: `[  12.3] a kernel's note` is none.

    UNPARSABLE without one, TRUNCATED when it has begun and not ended.
    """
    if not text.strip():
        return silent()
    decoder = json.JSONDecoder(parse_float=Decimal, parse_constant=lambda _: None, strict=False)
    for start in itertools.islice(_STARTS.finditer(text), _TRIES):
        try:
            value, end = decoder.raw_decode(text, start.start())
        except (ValueError, ArithmeticError, RecursionError) as error:
            if (why := _hopeless(text, error)) is not None:
                return why
        else:
            if _NOTHING_MORE.match(text, end):
                return Document(value, text[: start.start()])
    return unparsable("it holds no JSON document")


def _hopeless(text: str, error: Exception) -> Missing | None:
    """Why looking further makes no sense; None when this was only a line that is no JSON."""
    if isinstance(error, RecursionError):
        return unparsable("it is nested too deeply")
    if not isinstance(error, json.JSONDecodeError):
        return unparsable(f"a number of it can't be read: {error}")
    return cut(_NO_END) if _unfinished(text, error) else None


def _unfinished(text: str, error: json.JSONDecodeError) -> bool:
    """Whether reading stopped because the text did, not because of what it says."""
    if error.msg.startswith("Unterminated string"):
        return True
    rest = text[error.pos :]
    if error.msg.startswith("Invalid \\"):
        return len(rest) < 8
    return len(rest) < _TAIL and _CUT_VALUE.fullmatch(rest.strip()) is not None


class Keys:
    """A JSON object whose keys are found whatever their case, spaces and underscores."""

    def __init__(self, value: Any) -> None:
        self._by_name = (
            {bare(str(key)): item for key, item in value.items()}
            if isinstance(value, Mapping)
            else {}
        )

    def __bool__(self) -> bool:
        return bool(self._by_name)

    def __contains__(self, name: str) -> bool:
        return bare(name) in self._by_name

    def get(self, *names: str) -> Any:
        """The value of the first of these keys that is there; None without one."""
        for name in names:
            if bare(name) in self._by_name:
                return self._by_name[bare(name)]
        return None

    def text(self, *names: str) -> str | None:
        """The same, if it is text."""
        value = self.get(*names)
        return value if isinstance(value, str) else None

    def within(self, *names: str) -> "Keys":
        """The object under a key; an empty one if there is none."""
        return Keys(self.get(*names))

    def each(self, *names: str) -> list["Keys"]:
        """The objects of the list under a key; what is no object is left out."""
        return list(objects(self.get(*names)))

    def items(self) -> Iterator[tuple[str, Any]]:
        """All of it, keys normalised."""
        yield from self._by_name.items()


def objects(value: Any) -> Iterator[Keys]:
    """The objects of a JSON list."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        yield from (Keys(item) for item in value if isinstance(item, Mapping))
