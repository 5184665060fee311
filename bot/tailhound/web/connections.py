"""The connections of one server: bounded, impatient with slow clients, with room for new ones."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tailhound.web.strays import Seldom
from tailhound.web.visitor import network

LOG = logging.getLogger(__name__)
HEADER_BYTES = 64 * 1024
CONNECTIONS = 500
SPARE = 100
"""How many more are let in while every one of CONNECTIONS is being answered."""
PIPELINED = 16
"""Requests that one connection may send ahead of their answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a client may take: for the head of a request, without taking any of an answer."""

    header_seconds: float = 10.0
    unread_seconds: float = 30.0


class Guest(Protocol):
    """One connection, as far as making room for another one goes."""

    @property
    def address(self) -> str:
        """Whose it is."""

    @property
    def waits_since(self) -> float | None:
        """Since when it is the client's turn; None while tailhound works for it."""

    def drop(self) -> None:
        """Close it at once, whatever is on its way."""


class House:
    """Who is connected. Beyond `most` a new one comes in and one that waits for its client goes.

    Nobody is shut out by address, for behind a proxy everybody has the same one. Of the address
    that has the most connections the one goes that has waited longest: a client that came to ask
    something has asked it before `most` others came after it.
    """

    def __init__(self, most: int = CONNECTIONS) -> None:
        self._most = most
        self._guests: dict[Guest, str] = {}
        self._of: Counter[str] = Counter()
        self._seldom, self._strange = Seldom(), Seldom()

    def no_http(self, address: str) -> None:
        """Somebody sent what is no request; whoever does so again and again fills no log."""
        self._strange.warn(f"{address or 'somebody'} sent what is no HTTP request")

    def __len__(self) -> int:
        return len(self._guests)

    def enter(self, guest: Guest) -> None:
        """One more."""
        self._guests[guest] = guest.address
        self._of[guest.address] += 1
        if len(self._guests) > self._most:
            self._make_room(guest)

    def leave(self, guest: Guest) -> None:
        """It is gone, or counts as gone."""
        address = self._guests.pop(guest, None)
        if address is None:
            return
        self._of[address] -= 1
        if not self._of[address]:
            del self._of[address]

    def _make_room(self, newest: Guest) -> None:
        goes = min(self._waiting(newest), default=None, key=lambda found: found[:2])
        if goes is not None:
            self._send_away(goes[2])
        elif len(self._guests) > self._most + SPARE:
            self._send_away(newest)

    def _waiting(self, newest: Guest) -> Iterator[tuple[int, float, Guest]]:
        for guest, address in self._guests.items():
            since = guest.waits_since
            if since is not None and guest is not newest:
                yield -self._of[address], since, guest

    def _send_away(self, guest: Guest) -> None:
        address = self._guests[guest]
        self._seldom.warn(
            f"more than {self._most} connections: one that waited for its client was closed, "
            f"of {address or 'somebody'}, who has {self._of[address]}"
        )
        self.leave(guest)
        guest.drop()


class Impatient(HttpToolsProtocol):
    """Closes a connection whose next request is not there in time, or whose head is too large.

    uvicorn waits for a head without end, and for a client that does not take its answer. `cycle`
    is the request that is being answered.
    """

    patience = Patience()
    header_bytes = HEADER_BYTES
    house = House()
    cycle: Any
    _timer: asyncio.TimerHandle | None = None
    _watch: asyncio.TimerHandle | None = None
    _unanswered = 0
    _is_stalled = False
    _since = 0.0

    @property
    def address(self) -> str:
        """The address of the other side, of IPv6 its network."""
        peer = self.client[0] if self.client else ""
        return network(peer) or peer

    @property
    def waits_since(self) -> float | None:
        """Since when it is the client's turn: to ask, to send the rest, to take the answer."""
        works = self._busy() and not self.cycle.more_body and not self._is_stalled
        return None if works else self._since

    def drop(self) -> None:
        """Close it at once."""
        self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client came: its first request must be there in time."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._since = self.loop.time()
        self.house.enter(self)
        self._arm()
        self._watch_unread(0)

    def data_received(self, data: bytes) -> None:
        """Bytes came: they began a request, or are one more piece of a head."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._since = self.loop.time()
        if len(self.pipeline) > PIPELINED:
            self.drop()
        if self._busy():
            self._disarm()
            return
        self._unanswered += len(data)
        self._arm()
        if self._unanswered > self.header_bytes:
            self.transport.close()

    def pause_writing(self) -> None:
        """The client does not take what it is sent."""
        self._is_stalled, self._since = True, self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """It takes it again."""
        self._is_stalled = False
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """What came is no HTTP."""
        self.house.no_http(self.address)
        super().send_400_response(msg)

    def on_response_complete(self) -> None:
        """All of an answer was given out: it is the client's turn again."""
        super().on_response_complete()
        self._since = self.loop.time()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self.house.leave(self)
        self._disarm()
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def _busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _arm(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self.patience.header_seconds, self._too_late)

    def _disarm(self) -> None:
        self._unanswered = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_late(self) -> None:
        self._timer = None
        if not self._busy():
            self.drop()

    def _watch_unread(self, before: int) -> None:
        """Look again and again whether the client takes what lies ready, closing or not."""
        left = self.transport.get_write_buffer_size()
        if left and left >= before > 0:
            self.drop()
        else:
            self._watch = self.loop.call_later(
                self.patience.unread_seconds, self._watch_unread, left
            )


def impatient(patience: Patience) -> type[Impatient]:
    """The protocol of one server, with a house of its own."""
    return type("Http", (Impatient,), {"patience": patience, "house": House()})
