"""One kind of line of the kernel log, and the pieces that several kinds share."""

import re
from dataclasses import dataclass

BDF = r"(?P<bus_id>[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?)"
"""A PCI address: domain, bus, device, function."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One kind of line. `hint` is a piece of text without which the pattern can't match.

    `actionable` is False for lines that look like faults and are none.
    """

    kind: str
    hint: str
    regex: re.Pattern[str]
    actionable: bool = True


def pattern(kind: str, hint: str, regex: str, *, actionable: bool = True) -> Pattern:
    """A pattern, compiled."""
    return Pattern(kind, hint, re.compile(regex), actionable)
