"""Driving collectors: once, together, in time, and whatever they do."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.flow import Reading, read, together
from tailhound.model import Evidence, EvidenceStatus, Missing, Progress, Reason
from tailhound.model.facts import Sample
from tailhound.requests import Output, Query, RunOnHost
from tests.unit.durable.gather_kit import (
    EMPTY,
    TIMEOUT,
    Answers,
    By,
    Facts,
    Row,
    once,
    run,
    two,
    value_of,
    vector,
)


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


def test_series_of_samples_are_plain_records_in_the_evidence() -> None:
    def flow(params: Any) -> Reading[Facts]:
        yield from read(Query(promql="first"))
        return Facts(rows=(Row("a"),), first_series=(Sample(1.0, 2.0),))

    (found,) = run([By(flow)], Answers({"first": vector(1)}))
    assert found.facts["rows"] == ({"pod": "a"},)
    assert found.facts["first_series"] == ({"at": 1.0, "value": 2.0},)
