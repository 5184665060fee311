"""A webhook that waits to be written: whole, or in parts where it tells of very many alerts."""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from tailhound.durable.arrivals import Arrival, Item
from tailhound.durable.known import Accepted
from tailhound.errors import StoreUnavailable


class Entry:
    """One webhook in the line, until it is answered: once all of its parts are on disk, or one of
    them can't be. `leave` is called when it is answered.
    """

    def __init__(self, arrival: Arrival, most: int, leave: Callable[[], None]) -> None:
        self.arrival = arrival
        self.answer: Future[Accepted] = Future()
        self.is_answered = False
        self._leave = leave
        self._most = most
        self._rest = arrival.items if len(arrival.items) <= most else _by_key(arrival.items)
        self._told: list[Accepted] = []

    @property
    def left(self) -> int:
        """How many alerts were not taken out yet; a body that can't be read counts as one."""
        return len(self._rest) or (1 if self.arrival.unreadable else 0)

    @property
    def is_large(self) -> bool:
        """Whether it goes on after its next part."""
        return self.left > self._most

    def keys(self) -> set[str]:
        """The incidents that what is left belongs to, by their keys."""
        return {item.key for item in self._rest}

    def part(self) -> "Part":
        """What is to be written next."""
        end = _end(self._rest, self._most)
        items, self._rest = self._rest[:end], self._rest[end:]
        arrival = self.arrival
        if len(items) < len(arrival.items):
            dropped = arrival.dropped if not self._rest else MappingProxyType({})
            arrival = replace(arrival, items=items, dropped=dropped)
        return Part(self, arrival, is_last=not self._rest)

    def heard(self, accepted: Accepted, *, is_last: bool) -> None:
        """A part is on disk."""
        self._told.append(accepted)
        if is_last and self._is_heard():
            self.answer.set_result(_together(self._told))

    def refuse(self, error: StoreUnavailable) -> None:
        """It must be sent again; what is on disk of it will be a repeat then."""
        if self._is_heard():
            # an error of its own: the traceback of the other holds all that was in the batch
            self.answer.set_exception(StoreUnavailable(str(error)))

    def _is_heard(self) -> bool:
        """Whether somebody still waits for the answer, which is given once."""
        if self.is_answered:
            return False
        self.is_answered = True
        self._leave()
        return self.answer.set_running_or_notify_cancel()


@dataclass(slots=True, eq=False)
class Part:
    """What is written of an entry at once; nearly always all of it."""

    entry: Entry
    arrival: Arrival
    is_last: bool
    _is_answered: bool = field(default=False, init=False)

    def tell(self, accepted: Accepted) -> None:
        """It is on disk."""
        self._is_answered = True
        self.entry.heard(accepted, is_last=self.is_last)

    def refuse(self, error: StoreUnavailable) -> None:
        """It is not stored, unless it was told before that it is."""
        if not self._is_answered:
            self._is_answered = True
            self.entry.refuse(error)


class Batch:
    """What is written together: small entries with so many alerts at most, and one part of a large
    one. What tells of an incident of which something is held back is held back too, for of two
    notifications of one alert the later one counts.
    """

    def __init__(self, alerts: int) -> None:
        self.parts: list[Part] = []
        self.held: list[Entry] = []
        self._keys: set[str] = set()
        self._unread: list[Entry] = []  # held, and their keys are not among these yet
        self._room = alerts
        self._has_large = False

    def takes(self, entry: Entry) -> bool:
        """Take the next one in, or hold it back; False when there is no room for it."""
        if entry.is_answered:
            return True
        if (self._has_large and entry.is_large) or self._is_behind(entry):
            self._hold(entry)
            return True
        if entry.is_large:
            self._has_large = True
        elif entry.left > self._room:
            return False
        else:
            self._room -= entry.left
        part = entry.part()
        self.parts.append(part)
        if not part.is_last:
            self._hold(entry)
        return True

    def _hold(self, entry: Entry) -> None:
        self.held.append(entry)
        self._unread.append(entry)

    def _is_behind(self, entry: Entry) -> bool:
        while self._unread:
            self._keys |= self._unread.pop().keys()
        return bool(self._keys) and not self._keys.isdisjoint(entry.keys())


def _by_key(items: Sequence[Item]) -> tuple[Item, ...]:
    """The alerts of one incident together, in their order: it is read and written once."""
    first: dict[str, int] = {}
    for item in items:
        first.setdefault(item.key, len(first))
    return tuple(sorted(items, key=lambda item: first[item.key]))


def _end(items: Sequence[Item], most: int) -> int:
    """Where the next part of these alerts ends: between two incidents, if one has not so many."""
    if len(items) <= most:
        return len(items)
    end = most
    while end and items[end - 1].key == items[end].key:
        end -= 1
    return end or most


def _together(told: Sequence[Accepted]) -> Accepted:
    if len(told) == 1:
        return told[0]
    dropped: Counter[str] = Counter()
    for one in told:
        dropped.update(one.dropped)
    return Accepted(
        tuple(dict.fromkeys(id for one in told for id in one.incidents)),
        sum(one.new for one in told),
        sum(one.repeats for one in told),
        MappingProxyType(dict(dropped)),
    )
