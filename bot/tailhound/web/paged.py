"""Long lists in pages that stay small: as much as fits, and where the rest begins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
ROOM = 40_000
"""Bytes of a page that a list may fill; the frame and the style of a page take less than a tenth
of what is left to the 70 kB of a page."""


@dataclass(frozen=True, slots=True)
class Paged(Generic[T]):
    """The items from `start` (counted from 0) on; `left` are behind them."""

    items: Sequence[T]
    start: int
    left: int

    @property
    def next(self) -> int:
        """Where the next page begins."""
        return self.start + len(self.items)


def paged(given: Sequence[T], start: int, weight: Callable[[T], int]) -> Paged[T]:
    """As many as weigh no more than ROOM together, and at least one where there is one."""
    taken = 0
    room = ROOM
    for item in given[start:]:
        room -= weight(item)
        if room < 0 and taken:
            break
        taken += 1
    return Paged(given[start : start + taken], start, max(0, len(given) - start - taken))
