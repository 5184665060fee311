"""A wave ends in time and in evidence, whatever its collectors and transports do."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from tailhound.durable.gather import Ask, gather
from tailhound.errors import Refused
from tailhound.flow import Reading, Request, Turn, Write, read
from tailhound.model import Evidence, EvidenceStatus
from tailhound.requests import GetObject, Query, RunOnHost
from tests.unit.durable.gather_kit import NOW, Answers, By, Facts, once, run, value_of, vector


def test_at_the_deadline_what_is_open_is_cancelled_and_what_was_measured_is_kept() -> None:
    def three(params: Any) -> Reading[Facts]:
        first = yield from read(Query(promql="first"))
        yield from read(Query(promql="never"))
        yield from read(Query(promql="after"))
        return Facts(value_of(first))

    transport = Answers({"first": vector(1), "after": vector(3)})
    loop_time: list[float] = []

    async def timed() -> tuple[Evidence, ...]:
        loop = asyncio.get_running_loop()
        start = loop.time()
        asks = [Ask("a", By(three), None), Ask("b", once("never"), None)]
        found = await gather(asks, (transport,), Turn(start + 0.2, NOW))
        loop_time.append(loop.time() - start)
        assert len(asyncio.all_tasks()) == 1
        return found

    measured, unfinished = asyncio.run(timed())
    assert loop_time[0] < 1
    assert measured.status is EvidenceStatus.COLLECTED
    assert [asked.status for asked in measured.asked] == [
        EvidenceStatus.COLLECTED,
        EvidenceStatus.TIMEOUT,
        EvidenceStatus.SKIPPED,
    ]
    assert unfinished.status is EvidenceStatus.TIMEOUT
    assert unfinished.asked[0].question == "never"
    assert transport.asked == ["first", "never"]
    assert transport.cancelled == ["never"]


def test_a_transport_that_ignores_cancelling_does_not_hold_the_investigation_up() -> None:
    class Stubborn(Answers):
        async def ask(self, request: Request[Any], turn: Turn) -> Any:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                await asyncio.sleep(2)
                raise

    async def timed() -> float:
        loop = asyncio.get_running_loop()
        start = loop.time()
        (found,) = await gather(
            [Ask("a", once("x"), None)], (Stubborn({}),), Turn(start + 0.1, NOW)
        )
        assert found.status is EvidenceStatus.TIMEOUT
        return loop.time() - start

    assert asyncio.run(timed()) < 1.5


def test_cancelling_the_wave_cancels_its_questions() -> None:
    transport = Answers({})

    async def cancelled() -> None:
        turn = Turn(asyncio.get_running_loop().time() + 30, NOW)
        task = asyncio.create_task(gather([Ask("a", once("never"), None)], (transport,), turn))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert transport.cancelled == ["never"]


def test_a_collector_that_raises_costs_its_own_evidence_only() -> None:
    def broken(params: Any) -> Reading[Facts]:
        reply = yield from read(Query(promql="first"))
        raise KeyError(f"password=hunter2 {type(reply)}")

    failed, fine = run([By(broken), once("first")], Answers({"first": vector(1)}))
    assert failed.status is EvidenceStatus.UNPARSABLE
    assert "test.collector" in failed.reason
    assert "KeyError" in failed.reason
    assert "hunter2" not in failed.reason
    assert failed.asked[0].status is EvidenceStatus.COLLECTED
    assert fine.status is EvidenceStatus.COLLECTED


def test_a_transport_that_raises_is_told_from_an_answer() -> None:
    (found,) = run([once("first")], Answers({"first": ValueError("bug")}))
    assert found.status is EvidenceStatus.UNPARSABLE
    assert "transport" in found.reason


@dataclass(frozen=True)
class Delete(Write[None]):
    """A change, which no collector may ask for."""

    @property
    def backend(self) -> str:
        """The API server."""
        return "kubernetes"

    @property
    def shown(self) -> str:
        """The request line."""
        return "DELETE /api/v1/pods"


def test_a_write_among_reads_is_refused_and_never_sent() -> None:
    def flow(params: Any) -> Reading[Facts]:
        yield Delete()  # type: ignore[misc]  # does not type-check, and is refused at run time too
        return Facts(1)

    @dataclass
    class Eager(Answers):
        handles: tuple[type[Request[Any]], ...] = (Request,)

    transport = Eager({"DELETE /api/v1/pods": vector(1)})
    (found,) = run([By(flow)], transport)
    assert transport.asked == []
    assert found.status is EvidenceStatus.SKIPPED
    assert found.reason == "refused: a collector may only read: DELETE /api/v1/pods"
    assert found.asked[0].question == "DELETE /api/v1/pods"


def test_a_name_that_can_be_no_part_of_a_question_is_refused_with_its_reason() -> None:
    def flow(params: Any) -> Reading[Facts]:
        yield from read(GetObject(api="v1", resource="pods", namespace="../..", name="x"))
        return Facts(1)

    (found,) = run([By(flow)], Answers({}))
    assert found.status is EvidenceStatus.SKIPPED
    assert "can't be part of a Kubernetes API path" in found.reason
    with pytest.raises(Refused):
        GetObject(api="v1", resource="pods", namespace="../..", name="x")


@pytest.mark.parametrize(
    ("request_", "setting"),
    [
        (Query(promql="up"), "set prometheus.url"),
        (GetObject(api="v1", resource="nodes", name="n"), "kubernetes.in_cluster"),
        (RunOnHost(host="n", argv=("uname",)), "set ssh.key"),
    ],
)
def test_a_backend_that_is_not_configured_names_its_setting(
    request_: Request[Any], setting: str
) -> None:
    def flow(params: Any) -> Reading[Facts]:
        yield request_  # type: ignore[misc]
        return Facts()

    transport = Answers({}, handles=())
    (found,) = run([By(flow)], transport)
    assert found.status is EvidenceStatus.SKIPPED
    assert setting in found.reason


def test_a_collector_that_never_stops_asking_is_stopped() -> None:
    def endless(params: Any) -> Reading[Facts]:
        while True:
            yield from read(Query(promql="first"))

    (found,) = run([By(endless)], Answers({"first": vector(1)}))
    assert found.status is EvidenceStatus.UNPARSABLE
    assert "more than 500 questions" in found.reason


@pytest.mark.parametrize("returned", [None, {"first": 1}, Facts, 7])
def test_what_is_no_facts_is_not_taken_for_facts(returned: Any) -> None:
    def flow(params: Any) -> Reading[Any]:
        yield from read(Query(promql="first"))
        return returned

    (found,) = run([By(flow)], Answers({"first": vector(1)}))
    assert found.status is EvidenceStatus.UNPARSABLE
    assert found.facts == {}
