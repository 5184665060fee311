"""Who of the backends answers: noted at every question, asked once when a page opens."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tailhound.app.backends import Needs, backend_lines
from tailhound.app.board import REMEMBERED, Board, Mood, Standing
from tailhound.flow import Request, Turn
from tailhound.model import Missing, Reason
from tailhound.requests import GetObject, Labelled, Query
from tailhound.settings import Kubernetes, Settings
from tailhound.transports.http import NoAnswer
from tailhound.transports.kubernetes import KubernetesTransport
from tailhound.transports.kubernetes_answers import refusal

START = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
ANSWER = (Labelled((), 1.0),)
QUERY = Query(promql="up")


@dataclass(slots=True)
class Clock:
    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **by: float) -> None:
        self.now += timedelta(**by)


@dataclass(slots=True)
class Backend:
    """Answers what it is told to; a transport like any other."""

    answer: Any = ANSWER
    handles: tuple[type[Request[Any]], ...] = (Query,)
    asked: list[Request[Any]] = field(default_factory=list)
    waits: bool = False
    closed: bool = False

    async def ask(self, request: Request[Any], _turn: Turn) -> Any:
        self.asked.append(request)
        if self.waits:
            await asyncio.Event().wait()
        return self.answer

    def close(self) -> None:
        self.closed = True


def missing(reason: Reason, detail: str = "") -> Missing:
    return Missing(reason, detail)


def standing(board: Board, backend: str = "prometheus") -> Standing:
    return next(one for one in board.standings() if one.backend == backend)


def test_an_answer_is_noted_with_its_time_and_passed_on() -> None:
    clock = Clock()
    board = Board(clock)
    backend = Backend()
    (watched,) = board.watched([backend])

    async def ask() -> Any:
        return await watched.ask(QUERY, Turn(asyncio.get_running_loop().time() + 1, START))

    assert asyncio.run(ask()) is ANSWER
    found = standing(board)
    assert (found.mood, found.since, found.at) == (Mood.ANSWERS, START, START)
    assert found.seconds is not None
    watched.close()
    assert backend.closed


def test_what_a_backend_says_no_to_is_an_answer_too() -> None:
    board = Board(Clock())
    for reason in (Reason.EMPTY, Reason.TRUNCATED, Reason.UNPARSABLE, Reason.NOT_APPLICABLE):
        board.note(reason.value, missing(reason), 0.1)
    assert {one.mood for one in board.standings()} == {Mood.ANSWERS}


def test_one_that_is_spared_because_it_refuses_most_requests_is_no_well_one() -> None:
    board = Board(Clock())
    board.note("kubernetes", ANSWER, 0.1)
    spared = "not asked: the API server refuses most requests (9 of the last 10). Fix: wait"
    board.note("kubernetes", missing(Reason.SKIPPED, spared), 0.0)
    found = standing(board, "kubernetes")
    assert found.mood is Mood.SWAMPED
    assert found.detail.startswith("the API server refuses most requests (9 of the last 10)")
    needs = Needs(causes=7, by_backend={"kubernetes": 5})
    line = next(one for one in backend_lines([found], Settings(), needs, START) if one.since)
    assert (line.works, line.state) == (False, "refuses most requests")
    assert line.fix == "wait"
    board.note("kubernetes", ANSWER, 0.1)
    assert standing(board, "kubernetes").mood is Mood.ANSWERS


def test_what_was_not_asked_says_nothing_about_the_backend() -> None:
    board = Board(Clock())
    board.note("prometheus", missing(Reason.SKIPPED, "no slot"), 0.0)
    assert board.standings() == ()
    board.note("prometheus", missing(Reason.TIMEOUT, "silent"), 5.0)
    board.note("prometheus", missing(Reason.SKIPPED, "left alone"), 0.0)
    assert standing(board).mood is Mood.SILENT


def test_since_is_when_the_mood_began_not_when_it_was_asked_last() -> None:
    clock = Clock()
    board = Board(clock)
    board.note("prometheus", ANSWER, 0.04)
    clock.forward(minutes=1)
    board.note("prometheus", missing(Reason.UNREACHABLE, "no route"), 0.1)
    clock.forward(minutes=5)
    board.note("prometheus", missing(Reason.UNREACHABLE, "refused"), 0.1)
    found = standing(board)
    assert found.mood is Mood.GONE
    assert found.detail == "refused"
    assert (found.since, found.at) == (START + timedelta(minutes=1), START + timedelta(minutes=6))
    board.note("prometheus", ANSWER, 0.06)
    assert standing(board).detail == ""
    assert standing(board).seconds == 0.05


def test_a_refused_question_beside_answers_is_remembered_for_an_hour() -> None:
    clock = Clock()
    board = Board(clock)
    board.note("kubernetes", ANSWER, 0.1)
    board.note("kubernetes", missing(Reason.FORBIDDEN, "may not list events"), 0.1)
    found = standing(board, "kubernetes")
    assert (found.mood, found.refused) == (Mood.ANSWERS, ("may not list events",))
    clock.now += REMEMBERED
    assert standing(board, "kubernetes").refused == ()


def test_a_backend_that_only_refuses_refuses() -> None:
    board = Board(Clock())
    board.note("ssh db-1", missing(Reason.FORBIDDEN, "key refused"), 0.1)
    found = standing(board, "ssh db-1")
    assert (found.mood, found.detail, found.refused) == (Mood.REFUSES, "key refused", ())


def test_neither_hosts_nor_refusals_pile_up() -> None:
    clock = Clock()
    board = Board(clock)
    board.note("kubernetes", ANSWER, 0.1)
    for number in range(2500):
        clock.forward(seconds=0.01)
        board.note(f"ssh h-{number}", ANSWER, 0.1)
        board.note("kubernetes", missing(Reason.FORBIDDEN, f"no {number}"), 0.1)
    assert len(board.standings()) == 2000
    assert len(standing(board, "kubernetes").refused) == 3


def test_a_question_that_is_given_up_at_its_deadline_had_no_answer() -> None:
    board = Board(Clock())
    (watched,) = board.watched([Backend(waits=True)])

    async def give_up(after: float, deadline: float) -> None:
        turn = Turn(asyncio.get_running_loop().time() + deadline, START)
        task = asyncio.create_task(watched.ask(QUERY, turn))
        await asyncio.wait({task}, timeout=after)
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()

    asyncio.run(give_up(after=0.01, deadline=60))
    assert board.standings() == ()
    asyncio.run(give_up(after=0.05, deadline=0.01))
    assert standing(board).mood is Mood.SILENT


def test_looking_asks_those_that_nobody_asked_for_a_while_and_no_others() -> None:
    clock = Clock()
    board = Board(clock)
    prometheus, cluster = Backend(), Backend(handles=(GetObject,))
    board.watched([prometheus, cluster])
    asyncio.run(board.look())
    assert [len(one.asked) for one in (prometheus, cluster)] == [1, 1]
    clock.forward(seconds=20)
    board.note("kubernetes", ANSWER, 0.1)
    clock.forward(seconds=20)
    asyncio.run(board.look())
    assert [len(one.asked) for one in (prometheus, cluster)] == [2, 1]


def test_many_that_look_at_once_ask_once() -> None:
    board = Board(Clock())
    backend = Backend()
    board.watched([backend])

    async def many() -> None:
        await asyncio.gather(*(board.look() for _ in range(20)))

    asyncio.run(many())
    assert len(backend.asked) == 1


def test_looking_waits_for_nobody_who_is_silent() -> None:
    board = Board(Clock(), look_seconds=0.05)
    board.watched([Backend(waits=True)])
    asyncio.run(asyncio.wait_for(board.look(), 5))
    assert standing(board).mood is Mood.SILENT


SMALL = GetObject(api="v1", resource="namespaces", name="default")


def looked_at(backend: Backend, name: str) -> Standing:
    board = Board(Clock())
    board.watched([backend])
    asyncio.run(board.look())
    return standing(board, name)


def refused(status: int) -> Missing:
    """What the transport makes of a refusal by a real API server."""
    found = refusal(status, {}, b"", SMALL)
    assert isinstance(found, NoAnswer)
    return found.missing


def test_an_api_server_that_refuses_the_small_question_answers() -> None:
    found = looked_at(Backend(refused(403), handles=(GetObject,)), "kubernetes")
    assert (found.mood, found.refused) == (Mood.ANSWERS, ())


def test_an_api_server_that_does_not_know_us_refuses() -> None:
    found = looked_at(Backend(refused(401), handles=(GetObject,)), "kubernetes")
    assert found.mood is Mood.REFUSES
    assert "does not accept our token" in found.detail


def test_a_prometheus_that_wants_other_credentials_refuses() -> None:
    backend = Backend(missing(Reason.FORBIDDEN, "HTTP 401: other credentials"))
    assert looked_at(backend, "prometheus").mood is Mood.REFUSES


def test_a_cluster_outside_of_which_we_run_is_no_cluster_that_answers() -> None:
    transport = KubernetesTransport(Kubernetes(in_cluster=True))
    board = Board(Clock())
    board.watched([transport])
    asyncio.run(board.look())
    transport.close()
    found = standing(board, "kubernetes")
    assert found.mood is Mood.REFUSES
    assert "kubernetes.in_cluster can't be used" in found.detail
