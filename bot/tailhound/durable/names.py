"""Short names of incidents, for people: 7F3K."""

import hashlib
from collections.abc import Callable

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32: no I, L, O, U, which are read as other signs or spell words."""

SHORTEST = 4


def long_name(key: str, ordinal: int) -> str:
    """52 signs from an incident's key and the count of earlier incidents of that key."""
    digest = hashlib.sha256(f"{key}\0{ordinal}".encode("utf-8", "replace")).digest()
    number = int.from_bytes(digest, "big") >> 1
    return "".join(ALPHABET[(number >> shift) & 31] for shift in range(250, -5, -5))


def short_name(key: str, ordinal: int, is_taken: Callable[[str], bool]) -> str:
    """The shortest prefix of the long name, from four signs on, that nobody has."""
    name = long_name(key, ordinal)
    for length in range(SHORTEST, len(name)):
        if not is_taken(name[:length]):
            return name[:length]
    return name
