"""The pool, the breaker and the gate: bounded, given up in time, and fair to the others."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tailhound.flow import Turn
from tailhound.model import Missing, Reason
from tailhound.requests import Query
from tailhound.settings import Prometheus
from tailhound.transports.breaker import Breaker
from tailhound.transports.gate import Gate
from tailhound.transports.pool import Pool
from tailhound.transports.prometheus import PrometheusTransport
from tailhound.transports.sockets import Call, connect
from tailhound.transports.sparing import Sent
from tests.driving import until
from tests.unit.transports import servers
from tests.unit.transports.servers import Scripted, black_hole, misbehaving, reply, scripted

NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)


def after(seconds: float) -> float:
    return time.monotonic() + seconds


def wait_until(holds: Callable[[], bool], seconds: float = 2.0) -> None:
    end = after(seconds)
    while not holds():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.002)


class Hung:
    """Work that blocks until it is given up, as a read of a silent peer does."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.given_up = threading.Event()

    def work(self) -> str:
        """Blocks."""
        self.begun.set()
        self.given_up.wait(30)
        return "too late"


def test_work_runs_in_a_thread_of_the_pool_and_its_result_comes_back() -> None:
    pool = Pool("Prometheus", 2)

    async def one() -> Any:
        return await pool.run(lambda: threading.current_thread().name, after(5), lambda: None)

    assert asyncio.run(one()) == "Prometheus 1"
    assert asyncio.run(one()) == "Prometheus 1"
    pool.close()


def test_no_thread_exists_before_it_is_needed_and_none_keeps_the_process() -> None:
    before = threading.active_count()
    pool = Pool("x", 3)
    assert threading.active_count() == before

    async def many() -> list[Any]:
        return await asyncio.gather(
            *(pool.run(lambda: time.sleep(0.01), after(5), lambda: None) for _ in range(20))
        )

    asyncio.run(many())
    mine = [thread for thread in threading.enumerate() if thread.name.startswith("x ")]
    assert len(mine) == 3
    assert all(thread.daemon for thread in mine)
    pool.close()
    wait_until(lambda: threading.active_count() <= before)


def test_an_exception_of_the_work_is_raised_to_its_asker() -> None:
    pool = Pool("x", 1)

    def broken() -> None:
        raise KeyError("bug")

    async def one() -> Any:
        with pytest.raises(KeyError):
            await pool.run(broken, after(5), lambda: None)
        return await pool.run(lambda: "fine", after(5), lambda: None)

    assert asyncio.run(one()) == "fine"
    pool.close()


def test_at_the_deadline_running_work_is_given_up_and_waiting_work_was_never_asked() -> None:
    pool = Pool("Prometheus", 1)
    hung, never = Hung(), Hung()

    async def two() -> list[Any]:
        deadline = after(0.1)
        return list(
            await asyncio.gather(
                pool.run(hung.work, deadline, hung.given_up.set),
                pool.run(never.work, deadline, never.given_up.set),
            )
        )

    start = time.monotonic()
    running, waiting = asyncio.run(two())
    assert time.monotonic() - start < 0.5
    assert running == Missing(Reason.TIMEOUT, "Prometheus did not answer within 0.1 s")
    assert waiting == Missing(
        Reason.SKIPPED, "not asked: all 1 slots of Prometheus were busy for 0.1 s"
    )
    wait_until(lambda: pool.busy == 0, 0.5)
    assert not never.begun.is_set()
    assert pool.waiting == 0
    pool.close()


def test_cancelling_the_asker_gives_the_work_up() -> None:
    pool = Pool("x", 1)
    hung, waiting = Hung(), Hung()

    async def cancelled() -> None:
        tasks = [
            asyncio.create_task(pool.run(one.work, after(30), one.given_up.set))
            for one in (hung, waiting)
        ]
        await asyncio.sleep(0)
        await asyncio.to_thread(hung.begun.wait, 5)
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results)

    asyncio.run(cancelled())
    assert hung.given_up.is_set()
    assert not waiting.begun.is_set()
    wait_until(lambda: pool.busy == 0, 0.5)
    pool.close()


def test_a_slot_that_comes_free_is_given_to_who_waits() -> None:
    pool = Pool("x", 1)

    async def two() -> list[Any]:
        slow = asyncio.create_task(pool.run(lambda: time.sleep(0.05), after(5), lambda: None))
        second = await pool.run(lambda: "second", after(5), lambda: None)
        return [await slow, second]

    assert asyncio.run(two())[1] == "second"
    pool.close()


def test_closing_ends_running_and_waiting_work() -> None:
    pool = Pool("x", 1)
    hung = Hung()

    async def closed() -> list[Any]:
        tasks = [
            asyncio.create_task(pool.run(hung.work, after(30), hung.given_up.set)) for _ in range(3)
        ]
        await asyncio.sleep(0)
        await asyncio.to_thread(hung.begun.wait, 5)
        pool.close()
        after_it = await pool.run(lambda: 1, after(5), lambda: None)
        return [*await asyncio.wait_for(asyncio.gather(*tasks), 2), after_it]

    results = asyncio.run(closed())
    stopping = Missing(Reason.SKIPPED, "not asked: tailhound is stopping")
    assert results == ["too late", stopping, stopping, stopping]


def test_the_limit_holds_back_work_and_lets_it_go_again() -> None:
    pool = Pool("x", 4)
    pool.limit = 0
    assert pool.limit == 1
    pool.limit = 99
    assert pool.limit == 4
    pool.limit = 1
    most = [0]

    def work() -> None:
        most[0] = max(most[0], pool.busy)
        time.sleep(0.005)

    async def many() -> None:
        await asyncio.gather(*(pool.run(work, after(5), lambda: None) for _ in range(8)))

    asyncio.run(many())
    assert most == [1]
    pool.limit = 4
    asyncio.run(many())
    assert most[0] > 1
    pool.close()


def test_the_same_pool_serves_several_event_loops() -> None:
    pool = Pool("x", 2)
    results: list[Any] = []

    def own_loop() -> None:
        results.append(asyncio.run(pool.run(lambda: "fine", after(5), lambda: None)))

    threads = [threading.Thread(target=own_loop) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == ["fine"] * 5
    pool.close()


def test_fifty_hung_hosts_change_nothing_for_the_next_incidents_prometheus_reads() -> None:
    def answer(script: Scripted, handler: BaseHTTPRequestHandler, _: bytes) -> None:
        result = [{"metric": {}, "value": [1, "1"]}]
        payload = {"status": "success", "data": {"resultType": "vector", "result": result}}
        reply(handler, 200, json.dumps(payload))

    hosts = Pool("SSH", 16)
    with misbehaving(servers.accepts_and_never_answers) as silent, scripted(answer) as good:
        prometheus = PrometheusTransport(Prometheus(url=f"http://127.0.0.1:{good.port}"))

        async def read_a_host(deadline: float) -> Any:
            call = Call(deadline)

            def work() -> Any:
                try:
                    with connect("127.0.0.1", silent, call) as sock:
                        return sock.recv(1)
                except OSError as error:
                    return Missing(Reason.TIMEOUT, str(error))
                finally:
                    call.end()

            return await hosts.run(work, deadline, call.cancel)

        async def incidents() -> tuple[list[Any], list[Any], float]:
            deadline = after(1.0)
            hung = [asyncio.create_task(read_a_host(deadline)) for _ in range(50)]
            await until(lambda: hosts.busy == 16)
            start = time.monotonic()
            turn = Turn(after(5), NOW)
            queries = (Query(promql=f"vector({number})") for number in range(50))
            got = await asyncio.gather(*(prometheus.ask(query, turn) for query in queries))
            took = time.monotonic() - start
            return await asyncio.gather(*hung), got, took

        hung, got, took = asyncio.run(incidents())
        wait_until(lambda: hosts.busy == 0, 0.5)
        prometheus.close()
    hosts.close()
    assert not any(isinstance(one, Missing) for one in got)
    assert took < 0.8
    reasons = [missing.reason for missing in hung]
    assert reasons.count(Reason.TIMEOUT) == 16
    assert reasons.count(Reason.SKIPPED) == 34


def test_a_thread_that_nothing_can_free_does_not_keep_the_process_alive() -> None:
    program = """
import asyncio, time
from tailhound.transports.pool import Pool
pool = Pool("x", 2)
async def main():
    return await pool.run(lambda: time.sleep(60), time.monotonic() + 0.1, lambda: None)
print(asyncio.run(main()).reason.value)
pool.close()
"""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=True
    )
    assert done.stdout == "timeout\n"
    assert time.monotonic() - start < 10


def test_a_breaker_opens_after_three_abandoned_reads_and_tells_when_it_closes() -> None:
    now = [100.0]
    breaker = Breaker(lambda: now[0], limit=3, open_seconds=30)
    for _ in range(2):
        breaker.abandoned("gpu-1")
    assert breaker.why_open("gpu-1") is None
    breaker.abandoned("gpu-1")
    assert breaker.why_open("gpu-1") == Missing(
        Reason.SKIPPED,
        "not asked: gpu-1 left 3 reads in a row without an answer; it is asked again in 30 s",
    )
    assert breaker.why_open("gpu-2") is None
    assert breaker.open_targets() == ("gpu-1",)


def test_an_answer_between_closes_the_count() -> None:
    breaker = Breaker(lambda: 0.0)
    for _ in range(5):
        breaker.abandoned("a")
        breaker.abandoned("a")
        breaker.answered("a")
    assert breaker.why_open("a") is None


def test_when_the_time_is_over_one_read_is_let_through() -> None:
    now = [0.0]
    breaker = Breaker(lambda: now[0], limit=1, open_seconds=30)
    breaker.abandoned("a")
    assert breaker.why_open("a") is not None
    now[0] = 31
    assert breaker.why_open("a") is None
    assert breaker.why_open("a") is not None
    breaker.abandoned("a")
    now[0] = 60
    assert breaker.why_open("a") is not None
    now[0] = 62
    assert breaker.why_open("a") is None
    breaker.answered("a")
    assert breaker.why_open("a") is None
    assert breaker.open_targets() == ()


def gate(size: int = 8) -> tuple[Gate, Pool, list[float]]:
    now = [0.0]
    pool = Pool("x", size)
    return Gate(pool, lambda: now[0]), pool, now


def test_a_slow_answer_halves_the_calls_and_good_ones_give_them_back_step_by_step() -> None:
    kept, pool, now = gate()
    now[0] = 2.0
    kept.end(Sent(0.5))
    assert pool.limit == 4
    now[0] = 2.1
    for _ in range(3):
        kept.end(Sent(2.0))
    assert pool.limit == 4
    kept.end(Sent(2.0))
    assert pool.limit == 5
    for _ in range(5):
        kept.end(Sent(2.0))
    assert pool.limit == 6
    for _ in range(99):
        kept.end(Sent(2.0))
    assert pool.limit == 8
    assert (kept.calls, kept.slowed) == (109, 1)


def test_calls_that_met_the_same_trouble_halve_once() -> None:
    kept, pool, now = gate()
    now[0] = 5.0
    for begun in (1.0, 2.0, 3.0):
        kept.end(Sent(begun))
    assert pool.limit == 4
    now[0] = 9.0
    kept.end(Sent(6.0))
    assert pool.limit == 2
    for step in range(10, 30, 2):
        now[0] = float(step)
        kept.end(Sent(step - 1.0), answered=False)
    assert pool.limit == 1


def test_a_server_that_asks_for_an_hour_is_believed_for_a_minute() -> None:
    kept, _, now = gate()
    kept.wait(3600)
    assert kept.wait_left() == 60
    kept.wait(1)
    assert kept.wait_left() == 60
    now[0] = 61
    assert kept.wait_left() == 0


def test_a_call_given_up_before_it_connects_does_not_connect() -> None:
    with misbehaving(servers.accepts_and_never_answers) as port:
        call = Call(after(5))
        call.cancel()
        with pytest.raises(TimeoutError):
            connect("127.0.0.1", port, call)
        call.end()


def test_a_call_whose_time_is_over_does_not_connect() -> None:
    call = Call(after(-1))
    with pytest.raises(TimeoutError):
        connect("127.0.0.1", 1, call)


def test_giving_up_ends_a_connect_that_nobody_accepts() -> None:
    with black_hole() as port:
        call = Call(after(30))
        errors: list[BaseException] = []

        def work() -> None:
            try:
                connect("127.0.0.1", port, call)
            except OSError as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.1)
        start = time.monotonic()
        call.cancel()
        thread.join(5)
        call.end()
    assert not thread.is_alive()
    assert errors
    assert time.monotonic() - start < 0.5
