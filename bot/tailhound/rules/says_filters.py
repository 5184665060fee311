"""The filters of a cause's paragraph: what carries the unit of a value, and its usual value."""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context

from tailhound.model import wording
from tailhound.model.facts import number_of

UNKNOWN = "\x00"
"""What stands for a value that nobody measured until its clause is left out; no text holds it."""

MOST = "characters of a value"
"""What tells a template how long a text may be; no template can name it."""

_LONGEST = 60

_BAD = {code: " " for code in (*range(32), *range(0x7F, 0xA0), 0x2028, 0x2029)}
_BAD |= {code: None for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B, 0xFEFF)}
_BAD |= {ord("`"): "'"}


class Unmeasured:
    """A value that nobody measured: no, equal to nothing, neither over nor under anything."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __gt__(self, _: object) -> bool:
        return False

    __lt__ = __ge__ = __le__ = __gt__


UNMEASURED = Unmeasured()


def _text(value: Any, most: int = _LONGEST) -> str:
    """Any value as harmless text on one line, at most `most` characters."""
    if isinstance(value, tuple | list):
        shown = ", ".join(_text(item, most) for item in value[:5])
        return f"{shown} + {len(value) - 5} more" if len(value) > 5 else shown
    if isinstance(value, bool):
        return wording.fact(value)
    number = number_of(value)
    if number is not None:
        return wording.count(number)
    if not isinstance(value, str):
        return UNKNOWN
    return wording.cut(value.translate(_BAD), most)


@pass_context
def finalized(context: Context, value: Any) -> Any:
    """What is written of a value: text of a filter as it is, any other made harmless."""
    return value if isinstance(value, _Written) else _text(value, context.get(MOST, _LONGEST))


class _Written(str):
    """Text that a filter made: already in words."""

    __slots__ = ()


def _in(unit: str) -> Callable[[Any], str]:
    def written(value: Any) -> str:
        number = number_of(value)
        return _Written(UNKNOWN if number is None else wording.number(number, unit))

    return written


class Compared(float):
    """A number that has a usual value, in the unit of its fact."""

    unit: str
    usual: float | None


def _usual(value: Any) -> str:
    """`usually 1 %`, to stand beside the value: "62 % of its periods (usually 1 %)"."""
    if not isinstance(value, Compared):
        return _Written(UNKNOWN)
    return _Written(wording.beside(value.usual, value, value.unit))


def _milliseconds(value: Any) -> str:
    number = number_of(value)
    return _in("seconds")(None if number is None else number / 1000)


FILTERS: Mapping[str, Callable[[Any], str]] = {
    "percent": _in("ratio"),
    "seconds": _in("seconds"),
    "duration": _in("seconds"),
    "ms": _milliseconds,
    "times": _in("times"),
    "cores": _in("cores"),
    "count": _in("count"),
    "bytes": _in("bytes"),
    "hours": _in("hours"),
    "tokens": _in("tokens"),
    "celsius": _in("celsius"),
    "per_second": _in("per_second"),
    "usual": _usual,
}
"""What carries the unit of a value, and what stands beside it."""
