"""Hosts that fall silent: no thread is held, and nobody else is delayed."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable
from typing import Any

import psutil
import pytest

from tailhound.model import Missing, Reason
from tailhound.requests.ssh import RunOnHost
from tailhound.settings import Host
from tailhound.transports import ssh_links
from tailhound.transports.ssh import SshTransport
from tests.driving import until
from tests.lab.ssh.kit import (
    Site,
    banner_only,
    drip,
    missing,
    output,
    runs,
    serving,
    turn,
    using,
    wait_until,
)
from tests.lab.sshd import SshHost

pytestmark = pytest.mark.lab


async def _freed_after(
    transport: SshTransport, host: str, *argv: str, when: Callable[[SshTransport], bool]
) -> float:
    """Seconds from cancelling a question, once it is so far, to its threads being free."""
    asked = asyncio.create_task(transport.ask(RunOnHost(host=host, argv=argv), turn(30)))
    await until(lambda: when(transport))
    started = time.monotonic()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    await until(lambda: not transport.pool.busy)
    return time.monotonic() - started


@pytest.mark.parametrize("talk", [None, drip, banner_only])
def test_cancelling_frees_the_thread_while_the_host_lets_us_wait(
    site: Site, talk: Callable[[socket.socket], None] | None
) -> None:
    with serving(talk) as place:
        settings = site.settings(hosts={"odd": place}, timeout_seconds=30.0)
        seconds = using(
            settings,
            lambda transport: _freed_after(
                transport, "odd", "uname", "-r", when=lambda _: _connections(place) > 0
            ),
        )
    assert seconds < 0.5


def test_cancelling_frees_the_thread_while_a_command_runs(site: Site, gpu1: SshHost) -> None:
    async def flow(transport: SshTransport) -> tuple[float, Any]:
        seconds = await _freed_after(
            transport, "gpu-1", "ibstat", when=lambda _: runs(gpu1, "ibstat")
        )
        return seconds, await transport.ask(RunOnHost(host="gpu-1", argv=("uname", "-r")), turn(5))

    log_ins = gpu1.log.count("Accepted publickey")
    seconds, next_answer = using(site.settings(gpu1, timeout_seconds=30.0), flow)
    assert seconds < 0.5
    assert output(next_answer).exit_code == 0
    assert gpu1.log.count("Accepted publickey") == log_ins + 1


def _connections(place: Host) -> int:
    """How many connections this process has to a port, taken up there or waiting to be."""
    return sum(
        one.raddr.port == place.port
        for one in psutil.Process().net_connections("tcp")
        if one.raddr and one.status == psutil.CONN_ESTABLISHED
    )


def _freeze(host: SshHost) -> None:
    for process in host.sessions():
        process.suspend()


def test_a_connection_that_falls_silent_ends_at_the_deadline_and_is_replaced(
    site: Site, host: Callable[..., SshHost]
) -> None:
    frozen = host("frozen")
    question = RunOnHost(host="frozen", argv=("uname", "-r"))

    async def flow(transport: SshTransport) -> tuple[Any, float, Any]:
        await transport.ask(question, turn(5))
        _freeze(frozen)
        started = time.monotonic()
        silent = await transport.ask(question, turn(0.4))
        await until(lambda: not transport.pool.busy)
        freed = time.monotonic() - started - 0.4
        return silent, freed, await transport.ask(question, turn(5))

    silent, freed, answer = using(site.settings(frozen), flow)
    assert "opened no session" in missing(silent, Reason.TIMEOUT)
    assert freed < 0.5
    assert output(answer).exit_code == 0


def test_cancelling_a_question_on_a_silent_connection_frees_the_thread(
    site: Site, host: Callable[..., SshHost]
) -> None:
    frozen = host("frozen2")

    async def flow(transport: SshTransport) -> float:
        await transport.ask(RunOnHost(host="frozen2", argv=("uname", "-r")), turn(5))
        _freeze(frozen)
        return await _freed_after(
            transport, "frozen2", "uname", "-r", when=lambda here: here.pool.busy > 0
        )

    assert using(site.settings(frozen, timeout_seconds=30.0), flow) < 0.5


def test_closing_ends_what_is_under_way(site: Site, gpu1: SshHost) -> None:
    async def flow(transport: SshTransport) -> Any:
        asked = asyncio.create_task(
            transport.ask(RunOnHost(host="gpu-1", argv=("ibstat",)), turn(30))
        )
        await until(lambda: runs(gpu1, "ibstat"))
        transport.close()
        return await asyncio.wait_for(asked, 0.5)

    answer = using(site.settings(gpu1, timeout_seconds=30.0), flow)
    assert isinstance(answer, Missing)


@pytest.mark.parametrize("talk", [None, banner_only])
def test_closing_ends_the_wait_for_a_host_that_says_nothing(
    site: Site, talk: Callable[[socket.socket], None] | None
) -> None:
    async def flow(transport: SshTransport) -> Any:
        question = RunOnHost(host="odd", argv=("uname", "-r"))
        asked = asyncio.create_task(transport.ask(question, turn(30)))
        await until(lambda: _connections(place) > 0)
        transport.close()
        ended = await asyncio.wait_for(asked, 0.5)
        return ended, await transport.ask(question, turn(5))

    with serving(talk) as place:
        ended, late = using(site.settings(hosts={"odd": place}, timeout_seconds=30.0), flow)
    assert isinstance(ended, Missing)
    assert isinstance(late, Missing)


def test_a_connection_that_nobody_uses_is_closed(
    site: Site, gpu1: SshHost, host: Callable[..., SshHost], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_links, "_IDLE_SECONDS", 0.0)
    idle = host("idle")

    async def flow(transport: SshTransport) -> bool:
        await transport.ask(RunOnHost(host="idle", argv=("uname", "-r")), turn(5))
        held = bool(idle.sessions())
        await transport.ask(RunOnHost(host="gpu-1", argv=("uname", "-r")), turn(5))
        return held and wait_until(lambda: not idle.sessions(), 2)

    assert using(site.settings(gpu1, idle), flow)


def test_three_abandoned_reads_open_the_breaker_of_that_host_alone(
    site: Site, gpu1: SshHost
) -> None:
    with serving(None) as place:
        here = Host(address=gpu1.address, port=gpu1.port)
        settings = site.settings(hosts={"hung": place, "gpu-1": here}, timeout_seconds=0.4)
        question = RunOnHost(host="hung", argv=("uname", "-r"))

        async def flow(transport: SshTransport) -> list[Any]:
            answers: list[Any] = [await transport.ask(question, turn(5)) for _ in range(4)]
            return [*answers, await transport.ask(RunOnHost(host="gpu-1", argv=("true",)), turn(5))]

        *silent, skipped, healthy = using(settings, flow)
    assert [missing(one, Reason.TIMEOUT) for one in silent]
    assert "left 3 reads in a row" in missing(skipped, Reason.SKIPPED)
    assert output(healthy).exit_code == 0


def test_fifty_hung_hosts_hold_no_thread_and_delay_nobody(site: Site, gpu1: SshHost) -> None:
    with serving(None) as place:
        hosts = {f"hung-{n}": place for n in range(50)}
        hosts["gpu-1"] = Host(address=gpu1.address, port=gpu1.port)
        settings = site.settings(hosts=hosts, concurrency=4)

        async def flow(transport: SshTransport) -> tuple[float, Any, list[Any], int, float]:
            hung = [
                asyncio.create_task(
                    transport.ask(RunOnHost(host=f"hung-{n}", argv=("uname", "-r")), turn(1.5))
                )
                for n in range(50)
                for _ in range(2)
            ]
            await until(lambda: _connections(place) >= settings.concurrency)
            started = time.monotonic()
            healthy = await transport.ask(RunOnHost(host="gpu-1", argv=("true",)), turn(5))
            took = time.monotonic() - started
            answers = await asyncio.gather(*hung)
            return took, healthy, list(answers), transport.pool.busy, time.monotonic() - started

        took, healthy, answers, busy, whole = using(settings, flow)
    assert output(healthy).exit_code == 0
    assert took < 1.0
    assert whole < 2.0
    assert busy == 0
    assert len([missing(answer, Reason.TIMEOUT) for answer in answers]) == 100


def test_fifty_hosts_that_hang_in_the_key_exchange_give_their_threads_back(site: Site) -> None:
    with contextlib.ExitStack() as stack:
        hosts = {f"hung-{n}": stack.enter_context(serving(banner_only)) for n in range(50)}

        async def flow(transport: SshTransport) -> tuple[list[Any], float]:
            questions = [RunOnHost(host=name, argv=("uname", "-r")) for name in hosts]
            deadline = turn(1.0)
            answers = await asyncio.gather(*(transport.ask(one, deadline) for one in questions))
            started = time.monotonic()
            await until(lambda: not transport.pool.busy)
            return list(answers), time.monotonic() - started

        answers, freed = using(site.settings(hosts=hosts, concurrency=16), flow)
    assert freed < 0.5
    assert Reason.TIMEOUT in {one.reason for one in answers} <= {Reason.TIMEOUT, Reason.SKIPPED}
