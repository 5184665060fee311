"""Drives the collectors of one wave: all at the same time, each question once, until the deadline.

A collector is a generator; this module takes its questions, awaits the transport, sends the replies
in, and writes down what was asked. It knows no database and no engine.
"""

import asyncio
import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import Any

from tailhound.durable.answers import filled, note
from tailhound.durable.budget import fitted
from tailhound.durable.memo import Memo, Settled
from tailhound.errors import Refused
from tailhound.flow import Collector, Read, Request, Together, Transport, Turn
from tailhound.model import Asked, Evidence, EvidenceStatus, FactValue, Missing, Progress, Reason
from tailhound.model.facts import values_of
from tailhound.model.redaction import plain, redacted, scrubbed
from tailhound.requests import Output

GRACE = 0.2
"""Seconds after the deadline in which a transport may still say why there is no answer."""
QUESTIONS_AT_MOST = 500
"""Per collector; one that asks more is broken, and would never end."""
TEXT_FACT = 2000
"""Characters of a fact that is a text."""

OnCount = Callable[[Progress, tuple[Evidence, ...]], None]
"""Called when a question opens or settles, with what has been collected by then; how often that is
shown is the caller's matter."""
Record = Callable[[Request[Any], Any, float], None]
"""Called once for each question that was really asked: request, reply, seconds."""

_NOT_CONFIGURED = {
    "prometheus": "Prometheus is not configured: set prometheus.url",
    "kubernetes": "Kubernetes is not configured: set kubernetes.in_cluster, kubernetes.kubeconfig "
    "or kubernetes.server",
    "ssh": "SSH is not configured: set ssh.key and ssh.hosts",
}


@dataclass(frozen=True, slots=True)
class Ask:
    """One evidence to collect: the plan's name for it, who collects it, with which parameters."""

    name: str
    collector: Collector[Any, Any]
    params: Any


async def gather(  # noqa: PLR0913 - three that say what is asked, three for who else takes part
    asks: Sequence[Ask],
    transports: Sequence[Transport],
    turn: Turn,
    *,
    on_progress: OnCount | None = None,
    record: Record | None = None,
    memo: Memo | None = None,
) -> tuple[Evidence, ...]:
    """The evidence of each ask, in their order; together at most 256 KiB as JSON.

    At `turn.deadline` open questions are cancelled and count as Missing(TIMEOUT); what their
    collectors still want to know is not asked. So every collector comes to its end, and the
    evidence holds whatever was measured. Never raises for a collector or a question that failed.
    """
    wave = _Wave(transports, turn, memo or Memo())
    wave.on_progress, wave.record = on_progress, record
    try:
        found = await asyncio.gather(*(_collect(ask, wave) for ask in asks))
    finally:
        await wave.memo.settle(0.5)
    return fitted(tuple(found))


class _Wave:
    """What the collectors of one wave share."""

    def __init__(self, transports: Sequence[Transport], turn: Turn, memo: Memo) -> None:
        self.memo = memo
        self.on_progress: OnCount | None = None
        self.record: Record | None = None
        self.collected: list[Evidence] = []
        self._transports = transports
        self._turn = turn
        self._states: dict[Request[Any], str] = {}

    async def reply(
        self, request: Request[Any], asked: list[Asked], turn: Turn | None = None
    ) -> Any:
        """The reply to a question, or to several at once; each is noted in `asked`."""
        turn = turn or self._turn
        if isinstance(request, Together):
            part = _part(turn, request.share)
            notes: list[list[Asked]] = [[] for _ in request.requests]
            each = zip(request.requests, notes, strict=True)
            replies = await asyncio.gather(*(self.reply(inner, note, part) for inner, note in each))
            asked += [one for note in notes for one in note]
            return tuple(replies)
        if not isinstance(request, Read):
            asked.append(note(request, _REFUSED, 0.0))
            raise Refused(f"{_REFUSED.detail}: {plain(redacted(request.shown), 200)}")
        settled = await self._settled(request, turn)
        asked.append(note(request, settled.reply, settled.seconds))
        return settled.reply

    async def _settled(self, request: Request[Any], turn: Turn) -> Settled:
        loop = asyncio.get_running_loop()
        start = loop.time()
        if start >= turn.deadline:
            return Settled(_TOO_LATE, 0.0)
        self._tell(request, "waiting")
        settled = await self.memo.reply(
            request, lambda: self._ask(request, turn), turn.deadline + GRACE
        )
        if settled is None:
            missing = Missing(Reason.TIMEOUT, "no answer in the time that there was")
            settled = Settled(missing, loop.time() - start)
            if self._states.get(request) == "waiting":  # once, however many wait for it
                self._hear(request, settled)
        self._tell(request, _state(settled.reply))
        return settled

    async def _ask(self, request: Request[Any], turn: Turn) -> Any:
        start = asyncio.get_running_loop().time()
        transport = next(
            (one for one in self._transports if isinstance(request, one.handles)), None
        )
        if transport is None:
            kind = request.backend.partition(" ")[0]
            reply: Any = Missing(
                Reason.SKIPPED, f"not asked: {_NOT_CONFIGURED.get(kind, f'{kind} is unknown')}"
            )
        else:
            reply = await transport.ask(request, turn)
        reply = _clean(reply)
        self._hear(request, Settled(reply, asyncio.get_running_loop().time() - start))
        return reply

    def _hear(self, request: Request[Any], settled: Settled) -> None:
        if self.record is not None:
            self.record(request, settled.reply, settled.seconds)

    def _tell(self, request: Request[Any], state: str) -> None:
        if state == "waiting" and request in self._states:
            return
        self._states[request] = state
        self.tell()

    def tell(self) -> None:
        """Report how far the wave is."""
        if self.on_progress is not None:
            states = list(self._states.values())
            self.on_progress(
                Progress(
                    answered=states.count("answered"),
                    waiting=states.count("waiting"),
                    failed=states.count("failed"),
                ),
                tuple(self.collected),
            )


def _part(turn: Turn, share: float) -> Turn:
    """The turn that ends when this share of the time left is over."""
    now = asyncio.get_running_loop().time()
    return replace(turn, deadline=min(turn.deadline, now + share * (turn.deadline - now)))


_REFUSED = Missing(Reason.SKIPPED, "refused: a collector may only read")
_TOO_LATE = Missing(Reason.SKIPPED, "not asked: the deadline of the investigation had passed")
_KNOWN = (Reason.EMPTY, Reason.NOT_APPLICABLE)


def _state(reply: Any) -> str:
    """An empty answer is an answer."""
    failed = isinstance(reply, Missing) and reply.reason not in _KNOWN
    return "failed" if failed else "answered"


def _clean(reply: Any) -> Any:
    """Redacted, whatever the transport did: texts of hosts, and the reasons of all."""
    if isinstance(reply, Missing):
        return Missing(reply.reason, plain(redacted(reply.detail), 400))
    return scrubbed(reply) if isinstance(reply, Output) else reply


async def _collect(ask: Ask, wave: _Wave) -> Evidence:
    """The evidence of one collector, whatever happens to it."""
    clock = asyncio.get_running_loop().time
    start = clock()
    asked: list[Asked] = []
    facts: Mapping[str, FactValue] = {}
    broken: Missing | None = None
    try:
        facts = await _facts(ask, wave, asked)
    except Refused as error:
        broken = Missing(Reason.SKIPPED, plain(redacted(str(error)), 400))
    except Exception as error:  # noqa: BLE001 - a bug in a collector must not end the investigation
        what = plain(redacted(f"{type(error).__name__}: {error}"), 200)
        broken = Missing(
            Reason.UNPARSABLE,
            f"a bug in the collector {ask.collector.name}, or in a transport that it asked: {what}",
        )
    blank = Evidence(
        name=ask.name,
        collector=ask.collector.name,
        status=EvidenceStatus.EMPTY,
        took_seconds=round(clock() - start, 3),
    )
    found = filled(blank, facts, asked, broken)
    wave.collected.append(found)
    wave.tell()
    return found


async def _facts(ask: Ask, wave: _Wave, asked: list[Asked]) -> Mapping[str, FactValue]:
    flow = ask.collector.collect(ask.params)
    with contextlib.closing(flow):
        reply: Any = None
        for _ in range(QUESTIONS_AT_MOST):
            try:
                request = flow.send(reply)
            except StopIteration as end:
                return _values(end.value)
            reply = await wave.reply(request, asked)
    raise RuntimeError(f"it asked more than {QUESTIONS_AT_MOST} questions")


def _values(facts: Any) -> dict[str, FactValue]:
    if not is_dataclass(facts) or isinstance(facts, type):
        raise TypeError(f"it returned {type(facts).__name__}, not its facts")
    return {name: _plain(value) for name, value in values_of(facts).items()}


def _plain(value: FactValue) -> FactValue:
    """A value that JSON can hold: NaN and infinities are nothing measured, texts are bounded."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str):
        return plain(redacted(value), TEXT_FACT)
    if isinstance(value, tuple):
        return tuple({name: _plain(inner) for name, inner in item.items()} for item in value)
    return value
