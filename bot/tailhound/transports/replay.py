"""Answers out of a recording: the same question gets the same reply, nothing else is asked."""

import asyncio
from typing import Any

from tailhound.flow import Request, Turn
from tailhound.model import Missing, Reason
from tailhound.transports.recording import Recording, without_secrets
from tailhound.transports.recording_answers import REQUESTS

UNKNOWN = Missing(
    Reason.SKIPPED, "a recording has no answer to this: it was not asked when that was made"
)


class ReplayTransport:
    """Stands for every backend at once.

    `pace` is the most seconds that one answer may take of the time it took when it was recorded,
    `slower` times over: 0 answers at once, a demo may take a moment. `reused` are the questions
    that it answered, `not_held` those that the recording does not hold.
    """

    handles: tuple[type[Request[Any]], ...] = tuple(REQUESTS.values())

    def __init__(self, recording: Recording, *, pace: float = 0.0, slower: float = 1.0) -> None:
        self._answers = {answer.request: answer for answer in recording.answers}
        self._pace = pace
        self._slower = slower
        self.reused: set[Request[Any]] = set()
        self.not_held: set[Request[Any]] = set()

    async def ask(self, request: Request[Any], turn: Turn) -> Any:
        """The recorded reply, or Missing(SKIPPED) for a question that was not recorded."""
        answer = self._answers.get(request) or self._answers.get(without_secrets(request))
        if answer is None:
            self.not_held.add(request)
            return UNKNOWN
        self.reused.add(request)
        wait = min(self._pace, answer.took * self._slower)
        if wait > 0:
            await asyncio.sleep(wait)
        return answer.reply

    def close(self) -> None:
        """Nothing is open."""
