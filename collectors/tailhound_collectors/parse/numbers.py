"""Numbers out of text. What is not clearly a number is None, never a guess.

Tools group digits and mark decimals by locale although LC_ALL=C was asked for: "203,913,228",
"1.600.321.314.816" and "1,60" all occur. A whole number may be grouped, a decimal number may use a
comma; "1,234" where a decimal number is expected could be either, and is None.
"""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

ALL_ONES_64 = 2**64 - 1
"""What many devices print for "not available"."""

_LONGEST = 80
_LARGEST = 10**_LONGEST
_GROUPED = re.compile(r"\d{1,3}([.,'’\u00a0\u2009\u202f])\d{2,3}(?:\1\d{2,3})*")
_LAST_GROUP = re.compile(r"\D\d{3}$")
_DECIMAL = re.compile(r"-?\d+(?:\.\d+)?")
_COMMA = re.compile(r"(-?\d+),(\d+)")
_BOTH = re.compile(r"(-?\d{1,3}(?:([.,'’\u00a0\u2009\u202f])\d{3})+)([.,])(\d+)")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]{1,32}")


def integer(text: str) -> int | None:
    """A whole number without sign, with or without thousands separators."""
    word = text.strip()
    if len(word) > _LONGEST:
        return None
    if word.isascii() and word.isdigit():
        return int(word)
    if _GROUPED.fullmatch(word) and _LAST_GROUP.search(word):
        return int("".join(letter for letter in word if letter.isdigit()))
    return None


def signed(text: str) -> int | None:
    """A whole number that may be negative."""
    word = text.strip()
    if word.startswith("-"):
        value = integer(word[1:])
        return None if value is None else -value
    return integer(word)


def hexadecimal(text: str) -> int | None:
    """A hexadecimal number, with or without 0x."""
    word = text.strip()
    return int(word, 16) if _HEX.fullmatch(word) else None


def based(text: str) -> int | None:
    """A whole number: hexadecimal where it begins with 0x, else decimal."""
    word = text.strip()
    return hexadecimal(word) if word[:2].lower() == "0x" else integer(word)


def counter(text: str) -> int | None:
    """A counter: a whole number, where 64 ones mean that there is none."""
    value = integer(text)
    return None if value == ALL_ONES_64 else value


def decimal(text: str, *, places: int | None = None) -> float | None:
    """A number that may have a fraction. `places` = how many decimals the tool always prints.

    Without it "1,234" is ambiguous, and None.
    """
    word = text.strip()
    if not word or len(word) > _LONGEST:
        return None
    if _DECIMAL.fullmatch(word):
        return float(word)
    if comma := _COMMA.fullmatch(word):
        after = len(comma[2])
        clear = after == places if places is not None else after != 3
        return float(f"{comma[1]}.{comma[2]}") if clear else None
    both = _BOTH.fullmatch(word)
    if both and both[2] != both[3]:
        return float(f"{both[1].replace(both[2], '')}.{both[4]}")
    return None


def scaled(value: float | None, factor: str) -> float | None:
    """`value` times an exact factor ("0.001"): 0.22 ms is 0.00022 s, not 0.00021999999."""
    return None if value is None else float(Decimal(str(value)) * Decimal(factor))


def multiplied(value: int | None, factor: int) -> int | None:
    """A whole number in smaller units."""
    return None if value is None else value * factor


def percent(text: str) -> float | None:
    """A share printed as 12.5 or 12.5 %, as a ratio."""
    return scaled(decimal(text.strip().removesuffix("%")), "0.01")


def json_integer(value: Any) -> int | None:
    """A whole number of a JSON document, also printed as a string or as 960197124096.0."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return value if abs(value) < _LARGEST else None
    if isinstance(value, Decimal):
        whole = value.is_finite() and abs(value.adjusted()) < _LONGEST
        return int(value) if whole and value % 1 == 0 else None
    return based(value) if isinstance(value, str) else None


def json_decimal(value: Any) -> float | None:
    """A finite number of a JSON document; a string only if it is one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | Decimal):
        known = Decimal(value)
        small = known.is_finite() and abs(known.adjusted()) < _LONGEST
        return float(known) if small else None
    return decimal(value) if isinstance(value, str) else None


def total(values: Iterable[int | None]) -> int | None:
    """The sum, or None when one of them (or everything) is unknown."""
    known = list(values)
    if not known or any(value is None for value in known):
        return None
    return sum(value for value in known if value is not None)


def unsigned(value: int | None) -> int | None:
    """A value that can't be negative: None where the tool printed an overflow."""
    return None if value is None or value < 0 else value
