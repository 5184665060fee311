"""Three-valued logic: what a condition can say when some evidence is missing."""

from collections.abc import Iterable
from enum import Enum


class Truth(Enum):
    """TRUE, FALSE, or UNKNOWN because some evidence is missing."""

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("Truth has three values; compare with `is`")

    def __invert__(self) -> "Truth":
        return {Truth.TRUE: Truth.FALSE, Truth.FALSE: Truth.TRUE}.get(self, Truth.UNKNOWN)


def truth_of(value: bool | None) -> Truth:
    """The truth of a plain yes/no that may be missing."""
    if value is None:
        return Truth.UNKNOWN
    return Truth.TRUE if value else Truth.FALSE


def all_of(values: Iterable[Truth]) -> Truth:
    """FALSE if one is false, else UNKNOWN if one is unknown, else TRUE."""
    seen = set(values)
    if Truth.FALSE in seen:
        return Truth.FALSE
    return Truth.UNKNOWN if Truth.UNKNOWN in seen else Truth.TRUE


def any_of(values: Iterable[Truth]) -> Truth:
    """TRUE if one is true, else UNKNOWN if one is unknown, else FALSE."""
    return ~all_of(~value for value in values)
