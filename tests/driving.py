"""Drives a flow by hand: the test answers each question. And waits for what others do."""

import asyncio
import gc
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from tailhound.flow import Read, Together
from tailhound.model import Missing, Reason
from tailhound.requests import Labelled, Query, Vector

T = TypeVar("T")
Answering = Callable[[Read[Any]], Any]


def drive(flow: Generator[Read[Any], Any, T], answer: Answering) -> T:
    """Run a flow to its end; `answer` gives the reply to each question."""
    reply: Any = None
    while True:
        try:
            request = flow.send(reply)
        except StopIteration as end:
            result: T = end.value
            return result
        if isinstance(request, Together):
            reply = tuple(answer(inner) for inner in request.requests)
        else:
            reply = answer(request)


@dataclass
class Took:
    """Processor time."""

    seconds: float = 0.0


@contextmanager
def on_this_thread() -> Iterator[Took]:
    """Processor time of what is done within, without other threads and the garbage of others."""
    took, started = Took(), time.thread_time()
    gc.disable()
    try:
        yield took
        took.seconds = time.thread_time() - started
    finally:
        gc.enable()


@contextmanager
def thread_seconds(most: float) -> Iterator[None]:
    """What is done within takes this thread no more processor time."""
    with on_this_thread() as took:
        yield
    assert took.seconds < most, f"{took.seconds:.3f} s"


async def until(holds: Callable[[], T | None], seconds: float = 30.0) -> T:
    """Let the others work until something is true, and say what it is; it must within this time."""
    async with asyncio.timeout(seconds):
        while not (value := holds()):
            await asyncio.sleep(0.005)
    return value


def vector(*items: tuple[dict[str, str], float]) -> Vector:
    """An instant vector out of (labels, value)."""
    return tuple(Labelled(tuple(sorted(labels.items())), value) for labels, value in items)


EMPTY = Missing(Reason.EMPTY, "no such series in Prometheus")
TIMEOUT = Missing(Reason.TIMEOUT, "did not answer within 10 s")


def by_text(answers: dict[str, Any], default: Any = EMPTY) -> Answering:
    """Answers a query by the first key that its text contains; "ago" tells past from now."""

    def answer(request: Read[Any]) -> Any:
        shown = request.shown
        past = isinstance(request, Query) and request.ago > 0
        for part, reply in answers.items():
            if part in shown:
                if isinstance(reply, dict) and "now" in reply:
                    return reply["past" if past else "now"]
                return reply
        return default

    return answer
