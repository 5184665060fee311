"""Driving collectors: once, together, in time, and whatever they do."""

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.durable.budget import LIMIT, bytes_of, fitted
from tailhound.durable.gather import Ask, gather
from tailhound.durable.memo import Memo
from tailhound.errors import Refused
from tailhound.flow import Reading, Request, Turn, Write, read, together
from tailhound.model import (
    Asked,
    Evidence,
    EvidenceStatus,
    Missing,
    Progress,
    Reason,
)
from tailhound.model.facts import Sample, Series
from tailhound.requests import GetObject, Labelled, Output, Query, RunOnHost, Vector

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


def test_answers_become_facts_and_every_question_is_noted() -> None:
    transport = Answers({"first": vector(1), "second": vector(2.5)})
    (found,) = run([By(two)], transport)
    assert found.status is EvidenceStatus.COLLECTED
    assert found.facts["first"] == 1
    assert found.facts["second"] == 2.5
    assert found.reason == ""
    assert [asked.question for asked in found.asked] == ["first", "second"]
    assert found.asked[1].answer == '{pod="llm-0"} 2.5'
    assert found.asked[1].backend == "prometheus"
    assert (found.name, found.collector) == ("e0", "test.collector")


def test_an_equal_question_is_asked_once_also_while_it_is_open() -> None:
    transport = Answers({"first": vector(1), "second": vector(2)}, delay=lambda _: 0.01)
    found = run([By(two)] * 5, transport)
    assert sorted(transport.asked) == ["first", "second"]
    assert {one.facts["second"] for one in found} == {2}
    assert all(len(one.asked) == 2 for one in found)


def test_the_answers_are_shared_between_the_waves_of_an_investigation() -> None:
    transport = Answers({"first": vector(1), "second": vector(2)})

    async def two_waves() -> tuple[Evidence, ...]:
        memo = Memo()
        turn = Turn(asyncio.get_running_loop().time() + 5, NOW)
        await gather([Ask("a", once("first"), None)], (transport,), turn, memo=memo)
        return await gather([Ask("b", By(two), None)], (transport,), turn, memo=memo)

    (found,) = asyncio.run(two_waves())
    assert found.facts["first"] == 1
    assert transport.asked == ["first", "second"]


@dataclass
class Slow(Answers):
    """A transport that needs half a second, and says so when there is less."""

    async def ask(self, request: Request[Any], turn: Turn) -> Any:
        """The reply in the table, when there is time for it."""
        self.asked.append(request.shown)
        left = turn.deadline - asyncio.get_running_loop().time()
        await asyncio.sleep(min(0.5, left))
        return self.replies[request.shown] if left >= 0.5 else TIMEOUT


def test_what_ran_out_of_time_in_a_short_wave_is_asked_again_in_a_longer_one() -> None:
    transport = Slow({"first": vector(1)})

    async def waves() -> list[EvidenceStatus]:
        memo, found = Memo(), list[Evidence]()
        for seconds in (0.1, 0.1, 5.0, 5.0):
            turn = Turn(asyncio.get_running_loop().time() + seconds, NOW)
            found += await gather([Ask("a", once("first"), None)], (transport,), turn, memo=memo)
        return [item.status for item in found]

    out, collected = EvidenceStatus.TIMEOUT, EvidenceStatus.COLLECTED
    assert asyncio.run(waves()) == [out, out, collected, collected]
    assert transport.asked == ["first", "first"]


def test_who_waits_for_a_question_with_less_time_asks_it_again_in_its_own() -> None:
    transport = Slow({"first": vector(1)})

    async def waves() -> list[EvidenceStatus]:
        memo, clock = Memo(), asyncio.get_running_loop().time

        async def wave(seconds: float, count: int) -> tuple[Evidence, ...]:
            asks = [Ask(f"e{index}", once("first"), None) for index in range(count)]
            return await gather(asks, (transport,), Turn(clock() + seconds, NOW), memo=memo)

        short = asyncio.create_task(wave(0.1, 1))
        while not transport.asked:
            await asyncio.sleep(0)
        long = await wave(5.0, 2)
        return [one.status for one in (*await short, *long)]

    collected = EvidenceStatus.COLLECTED
    assert asyncio.run(waves()) == [EvidenceStatus.TIMEOUT, collected, collected]
    assert transport.asked == ["first", "first"]


def test_a_question_that_failed_is_a_reason_and_not_zero() -> None:
    (found,) = run([By(two)], Answers({"first": EMPTY, "second": TIMEOUT}))
    assert found.status is EvidenceStatus.TIMEOUT
    assert found.facts["first"] is None
    assert found.reason == (
        "1 of 2 questions had no answer, 1 found nothing: prometheus:9090 sent nothing for 5 s"
    )


def test_questions_that_found_nothing_were_answered_and_the_reason_says_so() -> None:
    (found,) = run([By(two)], Answers({"first": EMPTY, "second": EMPTY}))
    assert found.status is EvidenceStatus.EMPTY
    assert found.reason == f"2 of 2 questions found nothing: {EMPTY.detail}"


def test_one_fact_is_enough_to_be_collected_and_what_failed_is_told() -> None:
    (found,) = run([By(two)], Answers({"first": vector(1), "second": TIMEOUT}))
    assert found.status is EvidenceStatus.COLLECTED
    assert found.reason.startswith("1 of 2 questions had no answer: prometheus:9090")
    assert found.asked[1].status is EvidenceStatus.TIMEOUT
    assert found.asked[1].answer == ""


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        (Reason.FORBIDDEN, Reason.UNREACHABLE),
        (Reason.UNREACHABLE, Reason.TIMEOUT),
        (Reason.TIMEOUT, Reason.TRUNCATED),
        (Reason.TRUNCATED, Reason.UNPARSABLE),
        (Reason.UNPARSABLE, Reason.SKIPPED),
        (Reason.SKIPPED, Reason.NOT_APPLICABLE),
        (Reason.NOT_APPLICABLE, Reason.EMPTY),
    ],
)
def test_the_most_telling_reason_stands_for_all(worse: Reason, better: Reason) -> None:
    for first, second in ((worse, better), (better, worse)):
        replies = {"first": Missing(first, first.value), "second": Missing(second, second.value)}
        (found,) = run([By(two)], Answers(replies))
        assert found.status.value == worse.value


def test_answers_without_a_fact_in_them_are_empty() -> None:
    def flow(params: Any) -> Reading[Facts]:
        yield from read(Query(promql="first"))
        return Facts()

    (found,) = run([By(flow)], Answers({"first": vector(1)}))
    assert found.status is EvidenceStatus.EMPTY
    assert found.reason == "the answers held nothing that could be measured"


def test_several_questions_at_once_are_asked_at_the_same_time_and_answered_in_order() -> None:
    def flow(params: Any) -> Reading[Facts]:
        replies = yield from together(Query(promql=text) for text in ("slow", "quick", "never"))
        assert isinstance(replies[2], Missing)
        return Facts(value_of(replies[0]), value_of(replies[1]))

    transport = Answers(
        {"slow": vector(1), "quick": vector(2)},
        delay=lambda request: 0.1 if request.shown == "slow" else 0,
    )
    (found,) = run([By(flow)], transport, seconds=0.2)
    assert (found.facts["first"], found.facts["second"]) == (1, 2)
    assert [asked.question for asked in found.asked] == ["slow", "quick", "never"]
    assert transport.cancelled == ["never"]


def test_one_that_hangs_leaves_time_for_the_next_question_of_the_others() -> None:
    def flow(params: Any) -> Reading[Facts]:
        asked = [Query(promql="first"), Query(promql="never")]
        first, hung = yield from together(asked, share=0.5)
        assert isinstance(hung, Missing)
        second = yield from read(Query(promql="second"))
        return Facts(value_of(first), value_of(second))

    transport = Answers({"first": vector(1), "second": vector(2)})
    (found,) = run([By(flow)], transport, seconds=0.6)
    assert (found.facts["first"], found.facts["second"]) == (1, 2)
    assert transport.cancelled == ["never"]


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


def test_a_number_that_is_none_is_not_measured() -> None:
    def flow(params: Any) -> Reading[Facts]:
        yield from read(Query(promql="first"))
        return Facts(float("nan"), float("inf"), text="a\x1b[31mb\u202e" + "x" * 9999)

    (found,) = run([By(flow)], Answers({"first": vector(1)}))
    assert (found.facts["first"], found.facts["second"]) == (None, None)
    text = found.facts["text"]
    assert isinstance(text, str)
    assert text.startswith("abx")
    assert len(text) <= 2000


def test_secrets_reach_neither_collector_nor_notes_nor_recording() -> None:
    seen: list[Any] = []

    def flow(params: Any) -> Reading[Facts]:
        reply = yield from read(RunOnHost(host="n", argv=("env", "--password=hunter2")))
        seen.append(reply)
        return Facts(1)

    heard: list[Any] = []
    argv = "env --password=hunter2"
    transport = Answers({argv: Output("DB_PASSWORD=hunter2\nok", "token: abc123def", 0)})
    (found,) = run([By(flow)], transport, record=lambda *told: heard.append(told[1]))
    assert "hunter2" not in repr((seen, found, heard))
    assert "abc123def" not in repr((seen, found, heard))
    assert seen[0].stdout.endswith("\nok")
    (refused,) = run([once("x")], Answers({"x": Missing(Reason.FORBIDDEN, "token: abc123def")}))
    assert "abc123def" not in repr(refused)


def test_progress_counts_questions_and_ends_with_none_waiting() -> None:
    told: list[tuple[Progress, tuple[Evidence, ...]]] = []
    replies = {"first": vector(1), "second": TIMEOUT, "third": EMPTY}
    found = run(
        [By(two), once("first"), once("third")],
        Answers(replies),
        on_progress=lambda *report: told.append(report),
    )
    assert told[0] == (Progress(answered=0, waiting=1, failed=0), ())
    assert told[-1][0] == Progress(answered=2, waiting=0, failed=1)
    assert sorted(map(id, told[-1][1])) == sorted(map(id, found))


def test_each_question_is_recorded_once_with_its_reply() -> None:
    heard: list[tuple[Any, Any]] = []
    run(
        [By(two), By(two), once("never"), once("never")],
        Answers({"first": vector(1), "second": TIMEOUT}),
        seconds=0.1,
        record=lambda request, reply, _: heard.append((request.shown, reply)),
    )
    assert sorted(shown for shown, _ in heard) == ["first", "never", "second"]
    replies = dict(heard)
    assert replies["first"] == vector(1)
    assert replies["never"].reason is Reason.TIMEOUT


def test_a_wave_without_collectors_finds_nothing() -> None:
    assert run([], Answers({})) == ()


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_outcome_does_not_depend_on_the_order_of_answers(random_: random.Random) -> None:
    replies: dict[str, Any] = {f"q{n}": vector(n) for n in range(6)}
    replies["q2"] = TIMEOUT
    replies["q4"] = EMPTY

    def flow(params: Any) -> Reading[Facts]:
        first = yield from read(Query(promql="q0"))
        rest = yield from together(Query(promql=f"q{n}") for n in range(1, 5))
        last = yield from read(Query(promql="q5"))
        return Facts(value_of(first), value_of(last), text=str([value_of(one) for one in rest]))

    delays = {name: random_.random() * 0.004 for name in replies}
    collectors = [By(flow), once("q2"), By(flow), once("q3"), once("q4")]
    found = run(collectors, Answers(replies, delay=lambda request: delays[request.shown]))
    again = run(collectors, Answers(replies))
    assert _without_times(found) == _without_times(again)


def _without_times(wave: tuple[Evidence, ...]) -> list[Any]:
    return [
        (one.name, one.status, one.facts, one.reason, [(a.question, a.answer) for a in one.asked])
        for one in wave
    ]


def _evidence(name: str, **changes: Any) -> Evidence:
    asked = tuple(
        Asked(
            question="q" * 200,
            backend="prometheus",
            status=EvidenceStatus.COLLECTED,
            answer="a" * 400,
        )
        for _ in range(20)
    )
    values: dict[str, Any] = {
        "collector": "c",
        "status": EvidenceStatus.COLLECTED,
        "facts": {"x": 1.0},
        "asked": asked,
    }
    return Evidence(name=name, **(values | changes))


def _size(wave: tuple[Evidence, ...]) -> int:
    return sum(map(bytes_of, wave))


def test_a_small_wave_is_not_touched() -> None:
    wave = (_evidence("a"), _evidence("b"))
    assert fitted(wave) is wave


def test_answers_are_cut_first() -> None:
    wave = tuple(_evidence(f"e{n}") for n in range(30))
    assert _size(wave) > LIMIT
    cut = fitted(wave)
    assert _size(cut) <= LIMIT
    assert all(one.facts == {"x": 1.0} and len(one.asked) == 20 for one in cut)
    assert all(len(asked.answer) == 80 for one in cut for asked in one.asked)


def test_long_series_are_thinned_and_keep_their_span_and_their_newest_sample() -> None:
    series = tuple({"at": 1764489600.0 + 15 * n, "value": 0.123456789} for n in range(961))
    wave = tuple(_evidence(f"e{n}", facts={"x_series": series, "x": 1.0}) for n in range(12))
    cut = fitted(wave)
    assert _size(cut) <= LIMIT
    for one in cut:
        kept = one.facts["x_series"]
        assert isinstance(kept, tuple)
        assert 60 < len(kept) < 961
        assert kept[-1] == series[-1]
        assert f"x_series was thinned to {len(kept)} samples" in one.reason
        assert one.reason.count("thinned") == 1


def test_series_inside_sets_are_thinned_too_and_nothing_is_lost_of_the_records() -> None:
    series = tuple({"at": 1764489600.0 + 15 * n, "value": 0.123456789} for n in range(961))
    rows = ({"symptom": "ttft", "series": series}, {"symptom": "e2e", "series": series[:3]})
    wave = tuple(_evidence(f"e{n}", facts={"symptoms": rows, "x": 1.0}) for n in range(12))
    cut = fitted(wave)
    assert _size(cut) <= LIMIT
    for one in cut:
        records: Any = one.facts["symptoms"]
        long, short = records
        assert (long["symptom"], short) == ("ttft", rows[1])
        assert 30 < len(long["series"]) < 961
        assert long["series"][-1] == series[-1]
        assert f"symptoms was thinned to {len(long['series'])} samples" in one.reason


def test_long_questions_lose_their_ends_before_a_series_is_lost() -> None:
    series = tuple({"at": 1764489600.0 + 15 * n, "value": 0.5} for n in range(181))
    asked = tuple(
        Asked(question="q" * 4000, backend="prometheus", status=EvidenceStatus.COLLECTED)
        for _ in range(20)
    )
    wave = tuple(_evidence(f"e{n}", facts={"x_series": series}, asked=asked) for n in range(12))
    cut = fitted(wave)
    assert _size(cut) <= LIMIT
    assert all(one.facts["x_series"] for one in cut)
    assert all(len(asked.question) == 300 for one in cut for asked in one.asked)


def test_a_set_that_is_too_large_counts_as_not_measured() -> None:
    big = tuple({"pod": f"pod-{n}", "value": n} for n in range(20_000))
    cut = fitted((_evidence("a", facts={"pods": big, "x": 1.0}), _evidence("b")))
    assert _size(cut) <= LIMIT
    assert cut[0].facts == {"pods": None, "x": 1.0}
    assert "pods held 20,000 records, too many to keep" in cut[0].reason
    assert cut[0].status is EvidenceStatus.COLLECTED
    assert cut[1].facts == {"x": 1.0}
    (alone,) = fitted((_evidence("a", facts={"pods": big}),))
    assert alone.status is EvidenceStatus.TRUNCATED


def test_nothing_makes_a_wave_larger_than_its_limit() -> None:
    texts = {f"t{n}": "é" * 2000 for n in range(60)}
    questions = tuple(
        Asked(question="ü" * 4000, backend="x", status=EvidenceStatus.TIMEOUT, detail="d" * 400)
        for _ in range(200)
    )
    wave = tuple(_evidence(f"e{n}", facts=texts, asked=questions) for n in range(5))
    cut = fitted(wave)
    assert _size(cut) <= LIMIT
    assert [one.name for one in cut] == [one.name for one in wave]
    assert any("not kept" in one.reason for one in cut)
    json.dumps([dict(one.facts) for one in cut])


def test_series_of_samples_are_plain_records_in_the_evidence() -> None:
    def flow(params: Any) -> Reading[Facts]:
        yield from read(Query(promql="first"))
        return Facts(rows=(Row("a"),), first_series=(Sample(1.0, 2.0),))

    (found,) = run([By(flow)], Answers({"first": vector(1)}))
    assert found.facts["rows"] == ({"pod": "a"},)
    assert found.facts["first_series"] == ({"at": 1.0, "value": 2.0},)
