"""The open connections, one per host: made once for all who wait for it, kept, and let go of."""

import asyncio
import io
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

import paramiko

from tailhound.errors import SettingsError
from tailhound.model import Missing, Reason
from tailhound.settings import Ssh
from tailhound.transports.names import is_ip
from tailhound.transports.pool import STOPPING, Pool
from tailhound.transports.ssh_inventory import Place
from tailhound.transports.ssh_known_hosts import KnownHosts
from tailhound.transports.ssh_leg import (
    BadGreeting,
    Leg,
    greeted,
    unconnected,
    why_bad_greeting,
    why_unreachable,
)
from tailhound.transports.ssh_session import Attempt, NoAnswer, log_in, tunnel
from tailhound.transports.ssh_slots import Slots

T = TypeVar("T")

SESSIONS_AT_MOST = 6
"""Sessions on one connection: with 8 and more some opens fail although sshd allows 10."""
_IDLE_SECONDS = 300.0
_GRACE_SECONDS = 0.3
_NAME_THREADS = 4


@dataclass(slots=True)
class Link:
    """One authenticated connection. `retired`: nobody new uses it, it ends with its last user."""

    place: Place
    leg: Leg
    transport: paramiko.Transport
    jump: "Link | None"
    slots: Slots = field(default_factory=lambda: Slots(SESSIONS_AT_MOST))
    used_at: float = field(default_factory=time.monotonic)
    retired: bool = False

    @property
    def usable(self) -> bool:
        """Whether a new command may use it."""
        return not self.retired and self.transport.is_active()

    def retire(self) -> None:
        """Use it no more; end it when nobody does."""
        self.retired = True
        if self.slots.taken == 0:
            self.leg.shut()


class Links:
    """All connections of a site. Used from one event loop at a time."""

    def __init__(self, settings: Ssh, pool: Pool) -> None:
        self._settings = settings
        self._pool = pool
        self._names = Pool("name resolution", _NAME_THREADS)
        self._links: dict[str, Link] = {}
        self._connecting: dict[str, Future[Link | NoAnswer | None]] = {}
        self._opening: set[socket.socket] = set()
        self._closed = False

    async def link(self, place: Place, deadline: float) -> Link:
        """The connection to a place; one attempt serves all who wait for it. Raises NoAnswer."""
        while True:
            link = self._links.get(place.name)
            if link is not None and link.usable:
                link.used_at = time.monotonic()
                return link
            under_way = self._connecting.get(place.name)
            if under_way is None:
                return await self._first(place, deadline)
            if (found := await self._shared(under_way, place, deadline)) is not None:
                return found

    def close(self) -> None:
        """End every connection at once."""
        self._closed = True
        self._names.close()
        for sock in tuple(self._opening):
            with suppress(OSError):  # it never connected
                sock.shutdown(socket.SHUT_RDWR)
        for link in self._links.values():
            link.retired = True
            link.leg.shut()
        self._links.clear()

    async def in_thread(
        self, work: Callable[[], T], attempt: Attempt, place: Place, leg: Leg | None = None
    ) -> T:
        """Run blocking work in the pool. NoAnswer when it did not end in time."""
        started = time.monotonic()
        try:
            result = await self._pool.run(work, attempt.deadline, attempt.cancel)
        except asyncio.CancelledError:
            self._see_to_its_end(attempt, leg)
            raise
        except TimeoutError as error:
            raise _silent(place, attempt.stage, started) from error
        if not isinstance(result, Missing):
            return result
        if result.reason is Reason.TIMEOUT:
            self._see_to_its_end(attempt, leg)
            raise _silent(place, attempt.stage, started)
        raise NoAnswer(result.reason, result.detail)

    def _see_to_its_end(self, attempt: Attempt, leg: Leg | None) -> None:
        """A thread that is not free a moment after it was given up: cut its connection."""
        if leg is not None:
            asyncio.get_running_loop().call_later(
                _GRACE_SECONDS, lambda: None if attempt.done else leg.shut()
            )

    async def _first(self, place: Place, deadline: float) -> Link:
        """Connect, and tell those who wait. Given up: one of them tries for itself."""
        shared: Future[Link | NoAnswer | None] = Future()
        self._connecting[place.name] = shared
        outcome: Link | NoAnswer | None = None
        self._forget_idle()
        try:
            link = await self._connect(place, deadline)
            outcome = self._links[place.name] = link
            return link
        except NoAnswer as no:
            outcome = None if no.silent or no.missing.reason is Reason.SKIPPED else no
            raise
        finally:
            del self._connecting[place.name]
            shared.set_result(outcome)

    async def _shared(
        self, under_way: "Future[Link | NoAnswer | None]", place: Place, deadline: float
    ) -> Link | None:
        started = time.monotonic()
        try:
            async with asyncio.timeout(deadline - started):
                outcome = await asyncio.shield(asyncio.wrap_future(under_way))
        except TimeoutError as error:
            raise _silent(place, "did not let us log in", started) from error
        if isinstance(outcome, NoAnswer):
            raise outcome
        return outcome

    async def _connect(self, place: Place, deadline: float) -> Link:
        key, known = self._key(), KnownHosts.read(self._settings.known_hosts)
        jump = await self._jump(place, deadline)
        leg = await (
            self._tunnelled(place, jump, deadline) if jump else self._direct(place, deadline)
        )
        attempt = Attempt(deadline, "did not finish the log-in")
        try:
            transport = await self.in_thread(
                lambda: log_in(leg, place, known, key, attempt), attempt, place
            )
        except BaseException:
            leg.shut()
            leg.close()
            raise
        return Link(place, leg, transport, jump)

    async def _jump(self, place: Place, deadline: float) -> Link | None:
        if place.jump is None:
            return None
        try:
            return await self.link(place.jump, deadline)
        except NoAnswer as no:
            detail = f"{place.name} is reached by way of {place.jump.name}, and {no.missing.detail}"
            raise NoAnswer(no.missing.reason, detail, silent=no.silent) from no

    async def _tunnelled(self, place: Place, jump: Link, deadline: float) -> Leg:
        attempt = Attempt(deadline, f"was not reached through {jump.place.name}")
        channel = await self.in_thread(
            lambda: tunnel(jump.transport, place, jump.place.shown, attempt),
            attempt,
            place,
            jump.leg,
        )
        return Leg(channel)

    async def _direct(self, place: Place, deadline: float) -> Leg:
        addresses = await self._addresses(place, deadline)
        for index, (family, address) in enumerate(addresses):
            share = (deadline - time.monotonic()) / (len(addresses) - index)
            try:
                return await self._greeted(place, address, family, share)
            except NoAnswer:
                if index == len(addresses) - 1:
                    raise
        raise NoAnswer(Reason.UNREACHABLE, why_unreachable(place.shown, socket.gaierror()))

    async def _greeted(self, place: Place, address: str, family: int, seconds: float) -> Leg:
        started = time.monotonic()
        stage = "did not accept a connection (host down, or packets dropped)"
        sock = unconnected(family)
        leg = None
        self._opening.add(sock)
        try:
            async with asyncio.timeout(seconds):
                await asyncio.get_running_loop().sock_connect(sock, (address, place.port))
                stage = "accepted a connection and sent no SSH banner (it hangs or is overloaded)"
                leg = await greeted(sock)
                return leg
        except (OSError, BadGreeting) as error:
            raise self._why_not_greeted(place, stage, started, error) from error
        finally:
            self._opening.discard(sock)
            if leg is None:
                sock.close()

    def _why_not_greeted(
        self, place: Place, stage: str, started: float, error: OSError | BadGreeting
    ) -> NoAnswer:
        if self._closed:
            return NoAnswer(STOPPING.reason, STOPPING.detail)
        if isinstance(error, TimeoutError):
            return _silent(place, stage, started)
        if isinstance(error, BadGreeting):
            return NoAnswer(Reason.UNREACHABLE, why_bad_greeting(place.shown, error.said))
        return NoAnswer(Reason.UNREACHABLE, why_unreachable(place.shown, error))

    async def _addresses(
        self, place: Place, deadline: float
    ) -> list[tuple[socket.AddressFamily, str]]:
        if is_ip(place.address):
            family = socket.AF_INET6 if ":" in place.address else socket.AF_INET
            return [(family, place.address)]
        try:
            found = await self._names.run(
                lambda: socket.getaddrinfo(place.address, place.port, type=socket.SOCK_STREAM),
                deadline,
                lambda: None,
            )
        except OSError as error:
            raise NoAnswer(Reason.UNREACHABLE, why_unreachable(place.shown, error)) from error
        if isinstance(found, Missing):
            detail = f"the name {place.address} was not resolved in time; give its address"
            raise NoAnswer(found.reason, detail)
        return [(family, str(address[0])) for family, _, _, _, address in found]

    def _key(self) -> paramiko.PKey:
        if self._settings.key is None:
            raise NoAnswer(Reason.SKIPPED, "not asked: there is no ssh.key in the configuration")
        try:
            return read_key(self._settings.key.read())
        except SettingsError as error:
            raise NoAnswer(Reason.SKIPPED, f"not asked: ssh.key: {error}") from error

    def _forget_idle(self) -> None:
        """Close what nobody used for a while, except the jump hosts of others."""
        jumps = [link.jump for link in self._links.values()]
        now = time.monotonic()
        for name, link in list(self._links.items()):
            idle = now - link.used_at > _IDLE_SECONDS and link.slots.taken == 0
            if not link.transport.is_active() or (idle and link not in jumps):
                del self._links[name]
                link.retire()


def _silent(place: Place, stage: str, started: float) -> NoAnswer:
    seconds = time.monotonic() - started
    return NoAnswer(Reason.TIMEOUT, f"{place.shown} {stage}, for {seconds:.3g} s", silent=True)


@lru_cache(maxsize=2)
def read_key(text: str) -> paramiko.PKey:
    """A private key without a passphrase (Ed25519, ECDSA, RSA); SettingsError says what it is."""
    for kind in (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey):
        try:
            key: paramiko.PKey = kind.from_private_key(io.StringIO(text + "\n"))
        except paramiko.PasswordRequiredException as error:
            raise SettingsError("the key is encrypted; give one without a passphrase") from error
        except (paramiko.SSHException, ValueError):
            continue
        return key
    raise SettingsError("not a private key of a kind that is supported (Ed25519, ECDSA, RSA)")
