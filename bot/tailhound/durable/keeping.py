"""What a step hears, made ready to be kept: texts for people, and a typed recording for a replay.

Hearing happens on the event loop and costs nothing; what it costs to redact, write and compress is
paid in the thread that stores it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tailhound.durable.answers import QUESTION_AT_MOST
from tailhound.durable.whole import whole
from tailhound.flow import Request
from tailhound.model import Missing
from tailhound.model.redaction import plain, redacted, scrubbed
from tailhound.store.incidents import RawOutput
from tailhound.transports.recording import Recorder, written


@dataclass(frozen=True, slots=True)
class Heard:
    """One question that was asked, its reply as it came, and the seconds it took."""

    request: Request[Any]
    reply: Any
    seconds: float


class Notebook:
    """Notes what is heard; `hear` fits the callback of `gather`."""

    def __init__(self) -> None:
        self._heard: list[Heard] = []

    def hear(self, request: Request[Any], reply: Any, seconds: float) -> None:
        """Note one answer."""
        self._heard.append(Heard(request, reply, seconds))

    def taken(self) -> tuple[Heard, ...]:
        """What was noted since this was called last."""
        heard, self._heard = self._heard, []
        return tuple(heard)


def raw_outputs(heard: Sequence[Heard], asked_at: datetime, n: int) -> list[RawOutput]:
    """The answers as texts, redacted; a question without an answer has none."""
    return [
        RawOutput(
            question=plain(redacted(one.request.shown), QUESTION_AT_MOST),
            backend=one.request.backend,
            text=whole(scrubbed(one.reply)),
            asked_at=asked_at,
            n=n,
        )
        for one in heard
        if not isinstance(one.reply, Missing)
    ]


def typed(heard: Sequence[Heard], asked_at: datetime) -> bytes:
    """The questions and their replies as a recording, redacted; failures are kept too."""
    recorder = Recorder(asked_at, None)
    for one in heard:
        recorder.record(one.request, one.reply, one.seconds)
    return written(recorder.recording(), indent=None).encode()
