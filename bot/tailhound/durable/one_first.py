"""In front of backends that were silent: each is asked one question first, the others after it."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tailhound.flow import Request, Transport, Turn
from tailhound.model import Missing, Reason
from tailhound.model.names import backend_name

_SILENT = (Reason.TIMEOUT, Reason.UNREACHABLE, Reason.SKIPPED)


@dataclass(slots=True)
class _First:
    """The first question to a backend: whether it is settled, and whether it was answered."""

    settled: asyncio.Event = field(default_factory=asyncio.Event)
    was_answered: bool = False


class OneFirst:
    """A transport for one pass over questions that had no answer; used on one event loop.

    A backend of `silent` gets one question, for at most `seconds`. The others wait for it, and are
    not asked when it has no answer: who comes back is not met by a crowd, and who does not costs
    one question. Backends that answered before are asked as ever. `refusing` are those of `silent`
    that were spared, with the words for it: they hold for what is not asked now.
    """

    def __init__(
        self,
        transport: Transport,
        silent: Collection[str],
        seconds: float,
        refusing: Mapping[str, str] | None = None,
    ) -> None:
        self.handles = transport.handles
        self._transport = transport
        self._silent = frozenset(silent)
        self._seconds = seconds
        self._refusing = dict(refusing or {})
        self._firsts: dict[str, _First] = {}

    async def ask(self, request: Request[Any], turn: Turn) -> Any:
        """The answer, or Missing; SKIPPED when the first question to that backend had none."""
        backend = request.backend
        if backend not in self._silent:
            return await self._transport.ask(request, turn)
        first = self._firsts.get(backend)
        if first is None:
            return await self._ask_first(request, turn)
        await first.settled.wait()
        if first.was_answered:
            return await self._transport.ask(request, turn)
        told = f"not asked: {backend_name(backend)} did not answer another question"
        return Missing(Reason.SKIPPED, self._refusing.get(backend, told))

    async def _ask_first(self, request: Request[Any], turn: Turn) -> Any:
        first = self._firsts[request.backend] = _First()
        by = min(turn.deadline, asyncio.get_running_loop().time() + self._seconds)
        try:
            reply = await self._transport.ask(request, replace(turn, deadline=by))
            first.was_answered = not (isinstance(reply, Missing) and reply.reason in _SILENT)
            return reply
        finally:
            first.settled.set()

    def close(self) -> None:
        """The transport is closed by who made it."""
