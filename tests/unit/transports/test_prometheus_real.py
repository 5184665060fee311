"""The Prometheus transport against a real Prometheus."""

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tailhound.flow import Turn
from tailhound.model import Missing, Reason
from tailhound.requests import Query, RangeQuery
from tailhound.requests.prometheus import quoted
from tailhound.settings import Prometheus
from tailhound.transports.prometheus import PrometheusTransport
from tests.unit.transports.prometheus_server import RealPrometheus, real_prometheus


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealPrometheus]:
    folder: Path = tmp_path_factory.mktemp("prometheus")
    with real_prometheus(folder) as running:
        yield running


def ask(server: RealPrometheus, *requests: Any, **settings: Any) -> list[Any]:
    transport = PrometheusTransport(Prometheus(url=server.url, **settings))
    turn = Turn(deadline=time.monotonic() + 10, as_of=server.newest)

    async def all_of_them() -> list[Any]:
        return list(await asyncio.gather(*(transport.ask(request, turn) for request in requests)))

    try:
        return asyncio.run(all_of_them())
    finally:
        transport.close()


def test_a_query_is_evaluated_at_the_moment_of_the_turn(server: RealPrometheus) -> None:
    (reply,) = ask(server, Query(promql='age_seconds{pod="llm-0"}'))
    (one,) = reply
    assert one.value == 0
    assert one.label("pod") == "llm-0"
    assert one.label("nothing") == ""


def test_a_query_looks_back_as_far_as_it_says(server: RealPrometheus) -> None:
    (reply,) = ask(server, Query(promql='age_seconds{pod="llm-1"}', ago=600))
    assert [one.value for one in reply] == [601]


def test_a_range_has_a_sample_per_step_in_order(server: RealPrometheus) -> None:
    (reply,) = ask(server, RangeQuery(promql="age_seconds", start_ago=300, end_ago=60, step=60))
    assert [series.label("pod") for series in reply] == ["llm-0", "llm-1"]
    assert [sample.value for sample in reply[0].samples] == [300, 240, 180, 120, 60]
    assert reply[0].samples[-1].at == server.newest.timestamp() - 60


def test_a_scalar_is_one_element_without_labels(server: RealPrometheus) -> None:
    (reply,) = ask(server, Query(promql="scalar(sum(age_seconds))"))
    assert [(one.labels, one.value) for one in reply] == [((), 1.0)]


def test_nothing_found_is_empty_and_not_zero(server: RealPrometheus) -> None:
    instant, ranged = ask(
        server, Query(promql="no_such_series"), RangeQuery(promql="no_such_series", start_ago=60)
    )
    assert instant == Missing(Reason.EMPTY, "no such series in Prometheus")
    assert ranged == instant


def test_values_that_are_no_numbers_are_left_out(server: RealPrometheus) -> None:
    only, some, infinite = ask(
        server,
        Query(promql='broken{pod="a"}'),
        Query(promql="broken", ago=1200),
        Query(promql="vector(1) / 0"),
    )
    assert only == Missing(Reason.EMPTY, "only NaN or infinite values")
    assert [one.label("pod") for one in some] == ["b"]
    assert infinite.reason is Reason.EMPTY


def test_gaps_of_a_series_stay_gaps(server: RealPrometheus) -> None:
    (reply,) = ask(server, RangeQuery(promql='broken{pod="b"}', start_ago=1800, step=60))
    assert 0 < len(reply[0].samples) < 30


def test_a_query_that_prometheus_cannot_read_says_why(server: RealPrometheus) -> None:
    (reply,) = ask(server, Query(promql="sum by ("))
    assert reply.reason is Reason.UNPARSABLE
    assert "parse error" in reply.detail


def test_a_query_that_cannot_be_evaluated_says_why(server: RealPrometheus) -> None:
    (reply,) = ask(server, Query(promql="age_seconds * on() group_left age_seconds"))
    assert reply.reason is Reason.UNPARSABLE
    assert "many-to-many" in reply.detail or "duplicate" in reply.detail


def test_a_query_over_a_limit_of_the_server_is_truncated(server: RealPrometheus) -> None:
    (reply,) = ask(server, RangeQuery(promql="age_seconds[20m]", start_ago=1))
    assert reply.reason is Reason.UNPARSABLE
    (reply,) = ask(server, Query(promql="max_over_time(age_seconds[30m:100ms])"))
    assert reply.reason is Reason.TRUNCATED
    assert "too many samples" in reply.detail


def test_an_answer_over_the_cap_is_truncated_and_the_next_one_works(
    server: RealPrometheus,
) -> None:
    wide, fine = ask(
        server, Query(promql="wide"), Query(promql="count(wide)"), max_bytes=20_000, concurrency=1
    )
    assert wide.reason is Reason.TRUNCATED
    assert "19.5 KiB" in wide.detail
    assert fine[0].value == 400


def test_a_very_long_query_arrives_too(server: RealPrometheus) -> None:
    pods = "|".join(f"some-pod-with-a-long-name-{number}" for number in range(2000))
    (reply,) = ask(server, Query(promql=f'count(age_seconds{{pod=~"llm-0|{pods}"}})'))
    assert [one.value for one in reply] == [1]


def test_hostile_label_values_arrive_as_themselves(server: RealPrometheus) -> None:
    text = 'a"b\\c\nd`e{}x\u202e<!channel>'
    (reply,) = ask(server, Query(promql=f'label_replace(vector(1), "x", {quoted(text)}, "", "")'))
    assert reply[0].label("x") == text


def test_the_connection_is_kept_between_questions(server: RealPrometheus) -> None:
    transport = PrometheusTransport(Prometheus(url=server.url, concurrency=1))
    turn = Turn(deadline=time.monotonic() + 10, as_of=server.newest)

    async def twice() -> None:
        for _ in range(2):
            assert not isinstance(await transport.ask(Query(promql="vector(1)"), turn), Missing)

    asyncio.run(twice())
    assert transport._client is not None
    session: Any = transport._client._session
    pool = session.pool
    transport.close()
    assert pool.num_connections == 1
    assert pool.num_requests == 2


def test_two_hundred_questions_at_once_are_all_answered(server: RealPrometheus) -> None:
    replies = ask(server, *(Query(promql=f"vector({number})") for number in range(200)))
    assert [reply[0].value for reply in replies] == list(range(200))


def test_the_past_of_a_replay_is_asked_for_exactly(server: RealPrometheus) -> None:
    early = RealPrometheus(server.url, server.newest - timedelta(minutes=15))
    (reply,) = ask(early, Query(promql='age_seconds{pod="llm-0"}'))
    assert reply[0].value == 900
    before = RealPrometheus(server.url, datetime(2020, 1, 1, tzinfo=UTC))
    (reply,) = ask(before, Query(promql="age_seconds"))
    assert reply.reason is Reason.EMPTY
