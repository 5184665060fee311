"""What intake was told before: a shortcut past the database, which stays the truth."""

import hashlib
from collections.abc import Sequence

from tailhound.durable.admission import Admission
from tailhound.durable.arrivals import Arrival, Item
from tailhound.model import AlertStatus

Heard = tuple[str, AlertStatus]
"""An alert's identity, and what a delivery says of it."""


def heard(items: Sequence[Item]) -> tuple[Heard, ...]:
    """What a delivery says, in short."""
    return tuple((item.ident, item.alert.status) for item in items)


class Memory:
    """What was seen committed, as far as it is remembered: only ever a shortcut.

    The writer thread adds; the event loop looks. Who lets incidents join says so after the commit.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._alerts: dict[str, tuple[AlertStatus, str]] = {}
        self._bodies: dict[bytes, tuple[Heard, ...]] = {}
        self._said = 0  # alerts, in all of these bodies
        self._homes: dict[str, str] = {}
        self._closed: dict[str, None] = {}

    def known(self, said: Sequence[Heard]) -> tuple[str, ...] | None:
        """One incident for each alert when all are repeats; None when any of them may be news."""
        incidents = []
        for ident, status in said:
            known, incident = self._alerts.get(ident, (None, ""))
            if known is not status or incident in self._closed:
                return None
            incidents.append(self._home(incident))
        return tuple(incidents) or None

    def said_in(self, body: bytes) -> tuple[Heard, ...]:
        """What a body says that was read before, byte by byte the same; else nothing."""
        return self._bodies.get(_digest(body), ())

    def learn(self, arrival: Arrival, admission: Admission) -> None:
        """Remember what became of the alerts of an arrival, or of a part, after the commit."""
        self._correct(admission)
        if not self._size or arrival.unreadable:
            return
        for item in arrival.items:
            known = admission.alerts.known.get(item.ident)
            if known is None:
                return
            self._alerts[item.ident] = (known.status, known.incident_id)
        while len(self._alerts) > self._size:
            self._alerts.pop(next(iter(self._alerts)))

    def hold(self, arrival: Arrival) -> None:
        """Remember the body of an arrival all of which was committed; as many as say of so many
        alerts, for one may hold thousands.
        """
        if not self._size or arrival.dropped or arrival.is_nothing or arrival.unreadable:
            return
        digest, said = _digest(arrival.body), heard(arrival.items)
        self._said += len(said) - len(self._bodies.pop(digest, ()))
        self._bodies[digest] = said
        while self._said > self._size or len(self._bodies) > self._size // 10:
            self._said -= len(self._bodies.pop(next(iter(self._bodies))))

    def _correct(self, admission: Admission) -> None:
        """What ended with an alert that was delivered is no longer known as firing."""
        while admission.alerts.ended:
            ident, known = admission.alerts.ended.popitem()
            if ident in self._alerts:
                self._alerts[ident] = (known.status, known.incident_id)
        while admission.closed:
            self.closed(admission.closed.pop())

    def closed(self, id: str) -> None:
        """An incident counts as over, whatever was said of its alerts: the database is asked."""
        self._closed[id] = None
        while len(self._closed) > self._size:
            self._closed.pop(next(iter(self._closed)))

    def joined(self, id: str, into: str) -> None:
        """An incident has joined another one: what is said of its alerts is said of that one."""
        self._homes[id] = into
        while len(self._homes) > self._size:
            self._homes.pop(next(iter(self._homes)))

    def _home(self, id: str) -> str:
        seen = set()
        while id in self._homes and id not in seen:
            seen.add(id)
            id = self._homes[id]
        return id


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=16).digest()
