"""What every transport does around one blocking question: slot, deadline, breaker, redaction."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from tailhound.model import Missing, Reason
from tailhound.model.redaction import scrubbed
from tailhound.transports.breaker import Breaker
from tailhound.transports.http import under_way
from tailhound.transports.pool import Pool
from tailhound.transports.sockets import Call, spoken


class Asking:
    """The pool and the breaker of one target with one address.

    `name` is what people call it, `where` its address, `timeout` the seconds that one question may
    take, waiting for a slot included.
    """

    def __init__(self, name: str, where: str, concurrency: int, timeout: float) -> None:
        self.where = where
        self.pool = Pool(name, concurrency)
        self.breaker = Breaker(time.monotonic)
        self._timeout = timeout
        self._counts_from = min(1.0, timeout / 2)

    async def ask(
        self, work: Callable[[Call], Any], deadline: float, *, is_compared: bool = False
    ) -> Any:
        """The result of `work` in a thread, or Missing; `deadline` is that of the turn.

        `is_compared`: what comes back is compared to the letter, so nothing in it is redacted, but
        for the reason of a Missing; whoever shows it redacts it.
        """
        missing = self.breaker.why_open(self.where)
        if missing is not None:
            return missing
        call = Call(min(deadline, time.monotonic() + self._timeout))
        try:
            reply = await self.pool.run(
                lambda: _run(work, call, is_compared), call.deadline, call.cancel
            )
        except asyncio.CancelledError:
            if time.monotonic() > call.deadline - 0.05:
                self._note(call, was_late=True)
            raise
        was_late = isinstance(reply, Missing) and reply.reason is Reason.TIMEOUT
        self._note(call, was_late=was_late)
        if was_late and not call.answered:
            return Missing(Reason.TIMEOUT, f"{self.where} {call.stage} for {spoken(call.seconds)}")
        return reply

    def was_in_vain(self, call: Call, begun: float) -> bool:
        """Whether a request of the call, sent at `begun`, had its time and got no answer.

        One that had next to no time, or that its asker gave up, says nothing about the target.
        """
        now = time.monotonic()
        return now > call.deadline - 0.05 and now - begun >= self._counts_from

    def close(self) -> None:
        """End all questions, waiting and running."""
        self.pool.close()

    def _note(self, call: Call, *, was_late: bool) -> None:
        """Tell the breaker. A question that had next to no time says nothing about the target."""
        if call.begun is None:
            return
        if call.answered or not was_late:
            self.breaker.answered(self.where)
        elif was_late and call.seconds >= self._counts_from:
            self.breaker.abandoned(self.where)


def _run(work: Callable[[Call], Any], call: Call, is_compared: bool) -> Any:
    call.begun = time.monotonic()
    with under_way(call):
        try:
            found = work(call)
            return found if is_compared and not isinstance(found, Missing) else scrubbed(found)
        except RecursionError:
            return Missing(Reason.UNPARSABLE, "the answer is nested too deep to be read")
