"""Asking the store on behalf of somebody who waits: an answer within 0.8 s, or a word why not."""

import logging
import queue
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from tailhound.errors import TailhoundError
from tailhound.slack.behind import Behind

_LOG = logging.getLogger(__name__)

STORE_SECONDS: Final = 0.8
"""How long a click waits for the store; with it, Slack has its answer within a second."""

NOT_RECORDED: Final = "Not recorded, press again."
_AT_ONCE: Final = 8

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Told(Generic[T]):
    """The store's answer."""

    value: T


@dataclass(frozen=True, slots=True)
class Gone:
    """There is nothing of that id."""


@dataclass(frozen=True, slots=True)
class Silent:
    """The store failed, or said nothing in time. What was to be stored may be, or not."""


class Promptly:
    """At most eight questions wait at any moment; more are silent at once."""

    def __init__(self) -> None:
        self._behind = Behind("slack-store", _AT_ONCE)

    def ask(self, question: Callable[[], T]) -> Told[T] | Gone | Silent:
        """What comes of a question to the store."""
        answer: queue.SimpleQueue[Told[T] | Gone | Silent] = queue.SimpleQueue()
        if not self._behind.do(lambda: _answered(question, answer)):
            return Silent()
        try:
            return answer.get(timeout=STORE_SECONDS)
        except queue.Empty:
            _LOG.error("the store did not answer a click within %s s", STORE_SECONDS)
            return Silent()


def _answered(
    question: Callable[[], T], answer: "queue.SimpleQueue[Told[T] | Gone | Silent]"
) -> None:
    """Answer whatever happens; what nobody foresaw goes on to the log."""
    told: Told[T] | Gone | Silent = Silent()
    try:
        told = Told(question())
    except TailhoundError as error:
        _LOG.error("a click was not stored: %s", error)
    except LookupError as error:
        if type(error) is not LookupError:  # a key or an index that a bug missed
            raise
        told = Gone()
    finally:
        answer.put(told)
