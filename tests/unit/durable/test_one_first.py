"""Who was silent is asked one question first; the others wait for its answer."""

import asyncio
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tailhound import app
from tailhound.cli import alerts
from tailhound.durable.investigation import Investigator
from tailhound.durable.offline import Terms, investigate
from tailhound.durable.one_first import OneFirst
from tailhound.durable.verdicts import unanswered
from tailhound.flow import Request, Turn
from tailhound.model import EvidenceStatus, Missing, Reason
from tailhound.requests import Labelled, Query
from tailhound.settings import Settings
from tailhound.shipped import shipped
from tailhound.store.codec import evidence_from_plain
from tailhound.transports.recording import load
from tailhound.transports.replay import ReplayTransport

NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
ANSWER = (Labelled((("pod", "llm-0"),), 1.0),)
REFUSED = Missing(Reason.UNREACHABLE, "prometheus:9090 refused the connection")


@dataclass
class Backend:
    """Answers each question with what comes next; the last answer goes on for ever."""

    replies: list[Any]
    handles: tuple[type[Request[Any]], ...] = (Query,)
    asked: list[str] = field(default_factory=list)
    most_at_once: int = 0
    turns: list[Turn] = field(default_factory=list)
    _now: int = 0

    async def ask(self, request: Request[Any], turn: Turn) -> Any:
        self.asked.append(request.shown)
        self.turns.append(turn)
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        await asyncio.sleep(0)
        self._now -= 1
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def close(self) -> None:
        pass


def ask_all(backend: Backend, *silent: str, count: int = 4) -> list[Any]:
    async def scene() -> list[Any]:
        gate = OneFirst(backend, silent, 30.0)
        turn = Turn(deadline=asyncio.get_running_loop().time() + 100, as_of=NOW)
        questions = [Query(promql=f"q{i}") for i in range(count)]
        return list(await asyncio.gather(*(gate.ask(one, turn) for one in questions)))

    return asyncio.run(scene())


def test_a_backend_that_is_still_silent_costs_one_question() -> None:
    backend = Backend([REFUSED])
    first, *others = ask_all(backend, "prometheus")
    assert backend.asked == ["q0"]
    assert first == REFUSED
    assert {one.reason for one in others} == {Reason.SKIPPED}
    assert {one.detail for one in others} == {
        "not asked: Prometheus did not answer another question"
    }


def test_a_backend_that_came_back_gets_the_others_after_its_first_answer() -> None:
    backend = Backend([ANSWER])
    assert ask_all(backend, "prometheus") == [ANSWER] * 4
    assert backend.asked == ["q0", "q1", "q2", "q3"]


def test_a_breaker_that_is_open_counts_as_no_answer_and_a_refusal_as_one() -> None:
    is_open = Backend([Missing(Reason.SKIPPED, "not asked: it is asked again in 12 s")])
    ask_all(is_open, "prometheus")
    assert is_open.asked == ["q0"]
    forbidden = Backend([Missing(Reason.FORBIDDEN, "401")])
    ask_all(forbidden, "prometheus")
    assert len(forbidden.asked) == 4


def test_who_answered_before_is_asked_everything_at_once() -> None:
    backend = Backend([REFUSED])
    ask_all(backend, "ssh db-1")
    assert backend.most_at_once == 4


def test_the_first_question_may_take_as_long_as_a_pass_and_no_longer() -> None:
    backend = Backend([ANSWER])
    ask_all(backend, "prometheus", count=2)
    first, second = backend.turns
    assert 60 < second.deadline - first.deadline < 80


def test_a_first_question_that_is_given_up_lets_nobody_wait() -> None:
    class Hangs(Backend):
        async def ask(self, request: Request[Any], turn: Turn) -> Any:
            await asyncio.Event().wait()

    async def scene() -> Any:
        gate = OneFirst(Hangs([]), ["prometheus"], 30.0)
        turn = Turn(deadline=asyncio.get_running_loop().time() + 100, as_of=NOW)
        first = asyncio.create_task(gate.ask(Query(promql="q0"), turn))
        second = asyncio.create_task(gate.ask(Query(promql="q1"), turn))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert asyncio.run(scene()).reason is Reason.SKIPPED


RECORDING = load(shipped("demo") / "cpu-throttling.json")


@dataclass
class Down:
    """A recording whose Prometheus refuses connections until it is `up`."""

    inner: ReplayTransport = field(default_factory=lambda: ReplayTransport(RECORDING))
    is_up: bool = False
    asked: int = 0

    handles: tuple[type[Request[Any]], ...] = ReplayTransport.handles

    async def ask(self, request: Request[Any], turn: Turn) -> Any:
        if request.backend != "prometheus":
            return await self.inner.ask(request, turn)
        self.asked += 1
        return await self.inner.ask(request, turn) if self.is_up else REFUSED

    def close(self) -> None:
        pass


def test_late_an_unreachable_prometheus_is_asked_once_and_everything_when_it_is_back() -> None:
    settings, backend = Settings(), Down()
    investigator = Investigator(app.compiled(settings), app.collectors(), (backend,), settings)
    group = alerts.group_of(json.dumps(RECORDING.alert).encode(), "recording")
    (incident,), _ = alerts.incidents_of(group, settings, RECORDING.as_of)

    async def scene() -> None:
        turn = Turn(deadline=asyncio.get_running_loop().time() + 30, as_of=RECORDING.as_of)
        resolved = await investigator.resolve(incident, turn, record=lambda *_: None)
        blind = await investigate(investigator, incident, Terms(as_of=RECORDING.as_of, seconds=10))
        assert blind.diagnosis is not None
        names = unanswered(blind.diagnosis.evidence)
        assert len(names) > 5

        async def late() -> EvidenceStatus:
            found = await investigator.again(blind, resolved, names, turn, record=lambda *_: None)
            items = {item.name: item for item in evidence_from_plain(found["evidence"])}
            return items["cpu"].status

        backend.asked = 0
        assert await late() is not EvidenceStatus.COLLECTED
        assert backend.asked == 1
        backend.is_up = True
        assert await late() is EvidenceStatus.COLLECTED
        assert backend.asked > 10

    asyncio.run(scene())
