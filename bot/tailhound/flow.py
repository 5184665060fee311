"""Questions as data: collectors and actions are generators that yield requests and never wait.

Who drives a generator (`durable.gather`, a test, the replay) takes a request, asks a transport, and
sends the reply back. A reply is the answer or a `Missing`: a question without an answer is a value,
not an exception.

    def container_cpu(p: Params) -> Reading[ContainerCpu]:
        reply = yield from read(Query(promql=...))
        value = number(reply)                       # float | None

A collector that yields a `Write` does not type-check, and the driver refuses it at run time too.
"""

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from tailhound.model import Missing

Answer_co = TypeVar("Answer_co", covariant=True)
T = TypeVar("T")
P_contra = TypeVar("P_contra", contravariant=True)
F_co = TypeVar("F_co", covariant=True)


class Request(Generic[Answer_co]):
    """One question to one outside system, as plain frozen, hashable data.

    Equal requests of one investigation are asked once.
    """

    __slots__ = ()

    @property
    def backend(self) -> str:
        """Who is asked: "prometheus", "kubernetes", "ssh HOST"."""
        raise NotImplementedError

    @property
    def shown(self) -> str:
        """The question as people would repeat it by hand."""
        raise NotImplementedError


class Read(Request[Answer_co]):
    """Changes nothing; the only kind that a collector may yield."""

    __slots__ = ()


class Write(Request[Answer_co]):
    """Changes something; needs an approved mitigation."""

    __slots__ = ()


Reading: TypeAlias = Generator[Read[Any], Any, T]
Changing: TypeAlias = Generator[Request[Any], Any, T]


def read(request: Read[T]) -> Reading[T | Missing]:
    """Ask one question; the typed reply, or why there is none."""
    reply: T | Missing = yield request
    return reply


@dataclass(frozen=True, slots=True)
class Turn:
    """The circumstances of asking: the absolute deadline, and the moment that is "now".

    `deadline` is in seconds of the event loop's clock (`time.monotonic()`). `as_of` is the time
    at which queries are evaluated: the wall clock for a live incident, the recorded moment in a
    replay.
    """

    deadline: float
    as_of: datetime


class Transport(Protocol):
    """Answers one kind of request. It never raises for a question that failed: it answers Missing.

    Cancelling `ask` shuts the connection down; the transport's thread is free within 0.5 s.
    """

    handles: tuple[type[Request[Any]], ...]

    async def ask(self, request: Request[Any], turn: Turn) -> Any:
        """The typed answer, or a Missing with its reason."""
        ...

    def close(self) -> None:
        """Drop all connections; waiting questions end as Missing."""
        ...


class Collector(Protocol[P_contra, F_co]):
    """One kind of evidence. `params` and `facts` are frozen dataclasses.

    The fields of `params` are filled by name from the investigation's inputs (`namespace`, `pods`,
    `container`, `nodes`, `usual`, ...) and from the runbook's `with:`. Facts carry their units in
    their names; None = not measured.
    """

    name: str
    params: type[Any]
    facts: type[Any]

    def collect(self, params: P_contra) -> Reading[F_co]:
        """The flow that asks; its return value is an instance of `facts`."""
        ...


@dataclass(frozen=True, slots=True)
class Together(Read[tuple[Any, ...]]):
    """Several reads asked at the same time; the reply holds theirs in the same order.

    Each inner question is asked, shown, deduplicated and counted by itself. `share` is the part of
    the time left that they may use: below 1 where one that hangs must not leave the others' answers
    without a next question.
    """

    requests: tuple[Read[Any], ...]
    share: float = 1.0

    @property
    def backend(self) -> str:
        """Nobody by itself."""
        return ""

    @property
    def shown(self) -> str:
        """The questions, a line each."""
        return "\n".join(request.shown for request in self.requests)


def together(
    requests: Iterable[Read[T]], *, share: float = 1.0
) -> Reading[tuple[T | Missing, ...]]:
    """Ask several questions at the same time; the replies come in the order of the questions."""
    asked = tuple(requests)
    replies: tuple[T | Missing, ...] = yield Together(asked, share)
    return replies
