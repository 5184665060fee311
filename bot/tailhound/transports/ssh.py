"""SSH: runs allowed commands on hosts, and answers with their output or with why there is none.

One connection per host, opened by whoever needs it first; at most six sessions on it. A host that
does not greet takes no thread. What the deadline cuts off counts against the host, and after three
times it is left alone for a while.
"""

import asyncio
import secrets
import time
from dataclasses import replace
from typing import Any

from tailhound.flow import Request, Turn
from tailhound.model import Missing, Reason
from tailhound.requests.argv import SHIPPED, AllowList
from tailhound.requests.ssh import Output, RunOnHost
from tailhound.settings import Ssh
from tailhound.transports.breaker import Breaker
from tailhound.transports.pool import Pool
from tailhound.transports.ssh_command import Command, meaning, through_shell, through_wrapper
from tailhound.transports.ssh_inventory import Inventory, Place
from tailhound.transports.ssh_links import Link, Links
from tailhound.transports.ssh_session import (
    Attempt,
    ConnectionLost,
    NoAnswer,
    SessionRefused,
    run,
)
from tailhound.transports.way import Way

_MARGIN_SECONDS = 0.5
"""The remote `timeout` ends this much before our deadline, so that it is the host that tells us."""
_REFUSALS_AT_MOST = 6
_FIRST_PAUSE_SECONDS = 0.02


class SshTransport:
    """Answers RunOnHost. SettingsError when the settings name a host or a command that can't be."""

    handles: tuple[type[Request[Any]], ...] = (RunOnHost,)

    def __init__(self, settings: Ssh, breaker: Breaker | None = None) -> None:
        self._settings = settings
        self._inventory = Inventory(settings)
        self._allow = SHIPPED if settings.allow is None else AllowList.of(settings.allow)
        self._breaker = breaker or Breaker(time.monotonic)
        self.pool = Pool("SSH", settings.concurrency)
        self._links = Links(settings, self.pool)

    @property
    def way(self) -> Way:
        """What /metrics tells of it."""
        return Way("ssh", self.pool, self._breaker)

    async def ask(self, request: Request[Any], turn: Turn) -> Output | Missing:
        """The output of the command, or why there is none; never raises for a host's trouble."""
        if not isinstance(request, RunOnHost):
            raise TypeError(f"not a question for SSH: {request.shown}")
        place = self._may_ask(request, turn)
        if isinstance(place, Missing):
            return place
        try:
            answer = await self._read(place, request, turn)
        except NoAnswer as no:
            self._count(request.backend, no)
            return no.missing
        except asyncio.CancelledError:
            if time.monotonic() >= turn.deadline:
                self._breaker.abandoned(request.backend)
            raise
        self._breaker.answered(request.backend)
        return answer

    def close(self) -> None:
        """Cut every connection; commands under way end as Missing."""
        self.pool.close()
        self._links.close()

    def _may_ask(self, request: RunOnHost, turn: Turn) -> Place | Missing:
        if why := self._allow.why_not(request.argv):
            return Missing(Reason.FORBIDDEN, f"not run on {request.host[:60]}: {why}")
        place = self._inventory.place(request.host)
        if isinstance(place, Missing):
            return place
        left = turn.deadline - time.monotonic()
        gap = self._settings.gap_seconds if request.twice else 0.0
        if left <= gap:
            return Missing(
                Reason.SKIPPED,
                f"not asked: two readings {gap:g} s apart don't fit into {max(0.0, left):.3g} s"
                if gap
                else "not asked: the deadline has passed",
            )
        return self._breaker.why_open(request.backend) or place

    def _count(self, target: str, no: NoAnswer) -> None:
        if no.silent:
            self._breaker.abandoned(target)
        elif no.missing.reason is not Reason.SKIPPED:
            self._breaker.answered(target)

    async def _read(self, place: Place, request: RunOnHost, turn: Turn) -> Output | Missing:
        first = await self._once(place, request.argv, turn.deadline)
        if isinstance(first, Missing) or not request.twice:
            return first
        ended = time.monotonic()
        gap = self._settings.gap_seconds
        if ended + gap >= turn.deadline:
            detail = f"there was no time left for the second reading, {gap:g} s after the first"
            return Missing(Reason.TIMEOUT, detail)
        await asyncio.sleep(gap)
        second = await self._once(place, request.argv, turn.deadline)
        if isinstance(second, Missing):
            return replace(second, detail=f"the second reading failed: {second.detail}")
        return replace(first, second=second, gap_seconds=time.monotonic() - ended)

    async def _once(self, place: Place, argv: tuple[str, ...], until: float) -> Output | Missing:
        """One reading. A connection that died unnoticed is made anew, once."""
        deadline = min(until, time.monotonic() + self._settings.timeout_seconds)
        for last in (False, True):
            link = await self._links.link(place, deadline)
            try:
                return await self._in_a_session(link, argv, deadline)
            except ConnectionLost as lost:
                link.retire()
                if last:
                    detail = f"the connection to {place.shown} was lost twice: {lost}"
                    raise NoAnswer(Reason.UNREACHABLE, detail) from lost
        raise AssertionError("the second attempt returns or raises")

    async def _in_a_session(
        self, link: Link, argv: tuple[str, ...], deadline: float
    ) -> Output | Missing:
        """A session the host refuses (MaxSessions) is asked for again: below the number it allows,
        or, since sshd frees an ended session a little later, after a short pause."""
        pause = _FIRST_PAUSE_SECONDS
        for _ in range(_REFUSALS_AT_MOST):
            await _slot(link, deadline)
            try:
                return await self._command(link, argv, deadline)
            except SessionRefused:
                alone = not link.slots.shrink()
            finally:
                link.slots.give()
                if link.retired:
                    link.retire()
            if alone:
                await asyncio.sleep(min(pause, max(0.0, deadline - time.monotonic())))
                pause *= 2
        raise NoAnswer(
            Reason.FORBIDDEN,
            f"{link.place.shown} opens no session for {link.place.user}: MaxSessions in its "
            f"sshd_config is too low (it should be at least {link.slots.limit + 1})",
        )

    async def _command(
        self, link: Link, argv: tuple[str, ...], deadline: float
    ) -> Output | Missing:
        command = self._prepared(argv, deadline)
        attempt = Attempt(deadline, "opened no session")
        try:
            ended = await self._links.in_thread(
                lambda: run(link.transport, link.place, command, self._settings.max_bytes, attempt),
                attempt,
                link.place,
                link.leg,
            )
        except NoAnswer as no:
            if no.silent:
                link.retired = True
            raise
        return meaning(command, ended, link.place.name, link.place.user)

    def _prepared(self, argv: tuple[str, ...], deadline: float) -> Command:
        seconds = max(1, int(deadline - time.monotonic() - _MARGIN_SECONDS))
        through = through_wrapper if self._settings.wrapper else through_shell
        return through(argv, secrets.token_hex(8), seconds, sudo=self._settings.sudo)


async def _slot(link: Link, deadline: float) -> None:
    started = time.monotonic()
    try:
        async with asyncio.timeout(deadline - started):
            await link.slots.take()
    except TimeoutError as error:
        seconds = time.monotonic() - started
        raise NoAnswer(
            Reason.SKIPPED,
            f"not asked: all {link.slots.limit} sessions to {link.place.shown} were busy for "
            f"{seconds:.3g} s",
        ) from error
