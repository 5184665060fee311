"""Hosts that do not let us in, or not all of us."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import paramiko
import pytest
from paramiko.common import MSG_CHANNEL_EOF

from tailhound.model import Reason
from tailhound.requests.ssh import RunOnHost
from tailhound.settings import Host
from tailhound.transports.ssh import SshTransport
from tests.lab.ssh.kit import (
    Site,
    ask,
    banner_only,
    drip,
    missing,
    output,
    serving,
    turn,
    using,
    wait_until,
)
from tests.lab.sshd import SshHost, free_port

pytestmark = pytest.mark.lab


def test_a_refused_port_is_unreachable_at_once(site: Site, gpu1: SshHost) -> None:
    settings = site.settings(hosts={"down": Host(address="127.0.0.1", port=free_port("127.0.0.1"))})
    detail = missing(ask(settings, "down", "uname", "-r"), Reason.UNREACHABLE)
    assert "refuses connections" in detail


@pytest.mark.parametrize(
    ("talk", "reason", "says"),
    [
        (None, Reason.TIMEOUT, "sent no SSH banner"),
        (drip, Reason.TIMEOUT, "sent no SSH banner"),
        (banner_only, Reason.TIMEOUT, "did not finish the key exchange"),
        (lambda client: None, Reason.UNREACHABLE, "closed the connection before its SSH banner"),
        (
            lambda client: client.sendall(b"HTTP/1.1 400 Bad\x1b[31m\r\n\r\n"),
            Reason.UNREACHABLE,
            "is no SSH server; it said 'HTTP/1.1 400 Bad",
        ),
        (
            lambda client: client.sendall(b"SSH-2.0-x\r\n"),
            Reason.UNREACHABLE,
            "ended the connection during the key exchange",
        ),
        (
            lambda client: client.sendall(b"SSH-2.0-x\r\n" + b"\x00" * 4096),
            Reason.UNREACHABLE,
            "ended the connection during the key exchange",
        ),
    ],
)
def test_a_port_that_does_not_let_us_in_has_its_own_sentence(
    site: Site, talk: Callable[[socket.socket], None] | None, reason: Reason, says: str
) -> None:
    with serving(talk) as place:
        started = time.monotonic()
        answer = ask(site.settings(hosts={"odd": place}), "odd", "uname", "-r", seconds=0.4)
        assert time.monotonic() - started < 1.0
    assert says in missing(answer, reason)
    assert "\x1b" not in missing(answer, reason)


def test_a_host_with_too_many_log_ins_under_way_says_so(
    site: Site, host: Callable[..., SshHost]
) -> None:
    busy = host("busy", options=("MaxStartups 1",))
    with contextlib.ExitStack() as waiting:
        assert wait_until(lambda: _waits_for_log_in(waiting, busy), 5)
        detail = missing(ask(site.settings(busy), "busy", "uname", "-r"), Reason.UNREACHABLE)
    assert "MaxStartups" in detail


def _waits_for_log_in(waiting: contextlib.ExitStack, host: SshHost) -> bool:
    """Take the only place of MaxStartups 1; False while sshd still counts an earlier client."""
    client = waiting.enter_context(socket.create_connection((host.address, host.port)))
    client.settimeout(5)
    try:
        return client.recv(4) == b"SSH-"
    except ConnectionResetError:
        return False


def test_a_host_that_allows_few_sessions_still_answers_everything(
    site: Site, host: Callable[..., SshHost]
) -> None:
    narrow = host("narrow", options=("MaxSessions 2",))
    narrow.tool("ibstat", "#!/bin/sh\nsleep 0.02; echo ok\n")

    async def flow(transport: SshTransport) -> list[Any]:
        question = RunOnHost(host="narrow", argv=("ibstat",))
        return await asyncio.gather(*(transport.ask(question, turn(8)) for _ in range(12)))

    assert [output(answer).stdout for answer in using(site.settings(narrow), flow)] == ["ok\n"] * 12


def test_a_host_that_allows_no_session_says_so(site: Site, host: Callable[..., SshHost]) -> None:
    none = host("none", options=("MaxSessions 0",))
    detail = missing(ask(site.settings(none), "none", "uname", "-r"), Reason.FORBIDDEN)
    assert "MaxSessions" in detail


@pytest.mark.parametrize("wrapper", [False, True], ids=["shell", "wrapper"])
def test_what_reaches_the_host_after_a_quick_command_ended_cuts_nobody(
    site: Site,
    host: Callable[..., SshHost],
    monkeypatch: pytest.MonkeyPatch,
    wrapper: bool,
) -> None:
    """sshd ends a connection on which something comes for a session that is over."""
    sent: Any = getattr(paramiko.Transport, "_send_user_message")  # noqa: B009 - not in its types
    ended = bytes([MSG_CHANNEL_EOF])

    def held_up(transport: paramiko.Transport, message: paramiko.Message) -> None:
        if message.asbytes().startswith(ended):
            time.sleep(0.1)  # a busy machine: the thread that sends has to wait for its turn
        sent(transport, message)

    monkeypatch.setattr(paramiko.Transport, "_send_user_message", held_up)
    options = (f"ForceCommand {_quick_wrapper(site.hosts.folder)}",) if wrapper else ()
    gpu3 = host("gpu-3", options=options)

    async def flow(transport: SshTransport) -> list[Any]:
        asked = RunOnHost(host="gpu-3", argv=("uname", "-r"))
        slow = RunOnHost(host="gpu-3", argv=("ss", "-s"))
        return await asyncio.gather(
            *(transport.ask(one, turn(5)) for one in (asked, slow, asked, asked))
        )

    gpu3.tool("ss", "#!/bin/sh\nsleep 0.4\n")
    answers = using(site.settings(gpu3, wrapper=wrapper), flow)
    assert [getattr(one, "exit_code", one) for one in answers] == [0] * 4


def _quick_wrapper(folder: Path) -> Path:
    """Runs what its one line of input asks for, and reads no further."""
    program = folder / "wrapper"
    program.write_text(
        "#!/usr/bin/python3 -I\nimport json, os, sys\n"
        "asked = json.loads(sys.stdin.buffer.readline())\n"
        "for stream in (1, 2):\n    os.write(stream, asked['mark'].encode() + b'\\n')\n"
        "os.execvp(asked['argv'][0], asked['argv'])\n"
    )
    program.chmod(0o755)
    return program


def test_many_questions_share_one_connection(site: Site, gpu1: SshHost) -> None:
    async def flow(transport: SshTransport) -> list[Any]:
        question = RunOnHost(host="gpu-1", argv=("uname", "-r"))
        return await asyncio.gather(*(transport.ask(question, turn(8)) for _ in range(40)))

    log_ins = gpu1.log.count("Accepted publickey")
    answers = using(site.settings(gpu1), flow)
    assert all(output(answer).exit_code == 0 for answer in answers)
    assert gpu1.log.count("Accepted publickey") == log_ins + 1
