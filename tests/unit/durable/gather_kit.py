"""Collectors and a transport for the tests of what drives collectors."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tailhound.durable.gather import Ask, gather
from tailhound.flow import Reading, Request, Turn, read
from tailhound.model import Evidence, Missing, Reason
from tailhound.model.facts import Series
from tailhound.requests import GetObject, Labelled, Query, RunOnHost, Vector

NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)


TIMEOUT = Missing(Reason.TIMEOUT, "prometheus:9090 sent nothing for 5 s")


EMPTY = Missing(Reason.EMPTY, "no such series in Prometheus")


@dataclass(frozen=True)
class Facts:
    """What the collectors of these tests find."""

    first: float | None = None
    second: float | None = None
    text: str | None = None
    rows: tuple["Row", ...] | None = None
    first_series: Series | None = None


@dataclass(frozen=True)
class Row:
    """One record of a set."""

    pod: str


@dataclass
class By:
    """A collector whose flow is a function of the test."""

    flow: Callable[[Any], Reading[Any]]
    name: str = "test.collector"
    params: type[Any] = object
    facts: type[Any] = Facts

    def collect(self, params: Any) -> Reading[Any]:
        """The test's flow."""
        return self.flow(params)


@dataclass
class Answers:
    """A transport that answers from a table after a delay, and counts what it is asked."""

    replies: dict[str, Any]
    delay: Callable[[Request[Any]], float] = lambda _: 0.0
    handles: tuple[type[Request[Any]], ...] = (Query, GetObject, RunOnHost)
    asked: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)

    async def ask(self, request: Request[Any], turn: Turn) -> Any:
        """The reply in the table; a question without one is never answered."""
        self.asked.append(request.shown)
        try:
            await asyncio.sleep(self.delay(request))
            if request.shown not in self.replies:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.append(request.shown)
            raise
        reply = self.replies[request.shown]
        if isinstance(reply, Exception):
            raise reply
        return reply

    def close(self) -> None:
        """Nothing to close."""


def vector(value: float) -> Vector:
    return (Labelled((("pod", "llm-0"),), value),)


def value_of(reply: Vector | Missing) -> float | None:
    return None if isinstance(reply, Missing) else reply[0].value


def two(params: Any) -> Reading[Facts]:
    """Asks two queries one after the other."""
    first = yield from read(Query(promql="first"))
    second = yield from read(Query(promql="second"))
    return Facts(value_of(first), value_of(second))


def once(promql: str) -> By:
    def flow(params: Any) -> Reading[Facts]:
        return Facts(value_of((yield from read(Query(promql=promql)))))

    return By(flow)


def run(
    collectors: Sequence[By], transport: Answers, seconds: float = 5.0, **options: Any
) -> tuple[Evidence, ...]:
    async def wave() -> tuple[Evidence, ...]:
        turn = Turn(asyncio.get_running_loop().time() + seconds, NOW)
        asks = [Ask(f"e{index}", one, None) for index, one in enumerate(collectors)]
        return await gather(asks, (transport,), turn, **options)

    return asyncio.run(wave())
