"""Asking on behalf of somebody who waits: an answer within the time there is, or a word why not."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from tailhound.errors import TailhoundError
from tailhound.slack.behind import Behind

_LOG = logging.getLogger(__name__)

STORE_SECONDS: Final = 0.8
"""How long a click waits for the store; with it, Slack has its answer within a second."""

NOT_RECORDED: Final = "Not recorded, press again."
STORE_SILENT: Final = (
    "The store did not answer in time: this is not known, and nothing was changed. Try again in a "
    "minute."
)
NOT_YET: Final = (
    "The store has not answered yet: this may be recorded or not. What came of it is told here as "
    "soon as it answers; when nothing comes within a minute, do it again."
)
_AT_ONCE: Final = 8

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Told(Generic[T]):
    """What was asked for."""

    value: T


@dataclass(frozen=True, slots=True)
class Gone:
    """There is nothing of that id."""


@dataclass(frozen=True, slots=True)
class Silent:
    """It failed, or too much was asked at once: nothing was stored."""


@dataclass(frozen=True, slots=True)
class Late:
    """No answer in time. What was to be stored may be, or will be, or not."""


Outcome: TypeAlias = Told[T] | Gone | Silent
"""How a question ends in the end."""


class Promptly:
    """At most so many questions wait at any moment; more are silent at once. `name` is that of the
    threads.
    """

    def __init__(self, name: str = "slack-store", at_once: int = _AT_ONCE) -> None:
        self._behind = Behind(name, at_once)

    def ask(
        self,
        question: Callable[[], T],
        seconds: float = STORE_SECONDS,
        *,
        late: Callable[[Outcome[T]], None] | None = None,
    ) -> Outcome[T] | Late:
        """What comes of a question; `late` hears what came of one that was given up as Late."""
        return self.begin(question).wait(seconds, late)

    def begin(self, question: Callable[[], T]) -> "Asked[T]":
        """Ask, and wait later."""
        asked = Asked[T]()
        if not self._behind.do(lambda: _answer(question, asked)):
            asked.answered(Silent())
        return asked


class Asked(Generic[T]):
    """A question that is under way."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._there = threading.Event()
        self._outcome: Outcome[T] | None = None
        self._late: Callable[[Outcome[T]], None] | None = None

    def wait(
        self, seconds: float, late: Callable[[Outcome[T]], None] | None = None
    ) -> Outcome[T] | Late:
        """What came of it, at most so long after it was asked."""
        self._there.wait(max(0.0, self._began + seconds - time.monotonic()))
        with self._lock:
            if self._outcome is not None:
                return self._outcome
            self._late = late
        _LOG.error("a click was not answered within %.1f s", seconds)
        return Late()

    def answered(self, outcome: Outcome[T]) -> None:
        """It has ended so; who has given it up hears of it."""
        with self._lock:
            self._outcome, late = outcome, self._late
        self._there.set()
        if late is not None:
            late(outcome)


def _answer(question: Callable[[], T], asked: Asked[T]) -> None:
    """Answer whatever happens; what nobody foresaw goes on to the log."""
    outcome: Outcome[T] = Silent()
    try:
        outcome = Told(question())
    except TailhoundError as error:
        _LOG.error("a click was not stored: %s", error)
    except LookupError as error:
        if type(error) is not LookupError:  # a key or an index that a bug missed
            raise
        outcome = Gone()
    finally:
        asked.answered(outcome)
