"""Hosts that are reached by way of another one."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tailhound.model import Reason
from tailhound.requests.ssh import Output
from tailhound.settings import Host, Ssh
from tests.lab.ssh.kit import Site, ask, known_file, missing, output, serving
from tests.lab.sshd import SshHost, free_port

pytestmark = pytest.mark.lab


def _jumping(site: Site, jump: SshHost, target: SshHost, **target_changes: Any) -> Ssh:
    there = {"address": target.address, "port": target.port, "jump": "bastion", **target_changes}
    hosts = {"bastion": Host(address=jump.address, port=jump.port), "inner": Host(**there)}
    return site.settings(hosts=hosts)


def test_a_host_is_reached_through_its_jump_host(
    site: Site, gpu1: SshHost, host: Callable[..., SshHost]
) -> None:
    jump = host("jump", address="127.0.0.7")
    answer = output(ask(_jumping(site, jump, gpu1), "inner", "lscpu", "-J"))
    assert answer == Output("out\n", "err\n", 3)
    assert "from 127.0.0.1 port" in gpu1.log
    assert "Accepted publickey" in jump.log


def test_what_fails_behind_or_at_the_jump_host_is_told_apart(
    site: Site, gpu1: SshHost, host: Callable[..., SshHost], tmp_path: Path
) -> None:
    jump = host("jump2")
    closed = _jumping(site, jump, gpu1, port=free_port("127.0.0.1"))
    detail = missing(ask(closed, "inner", "uname", "-r"), Reason.UNREACHABLE)
    assert "can't reach inner" in detail
    forbidding = host("jump3", options=("AllowTcpForwarding no",))
    detail = missing(
        ask(_jumping(site, forbidding, gpu1), "inner", "uname", "-r"), Reason.UNREACHABLE
    )
    assert "forbids tunnels" in detail
    known = known_file(tmp_path, gpu1.known_hosts_line)
    settings = _jumping(site, jump, gpu1).model_copy(update={"known_hosts": known})
    detail = missing(ask(settings, "inner", "uname", "-r"), Reason.UNREACHABLE)
    assert "by way of bastion" in detail
    assert "host key" in detail


def test_the_host_key_behind_a_jump_host_is_checked_too(
    site: Site, gpu1: SshHost, host: Callable[..., SshHost], tmp_path: Path
) -> None:
    jump = host("jump4")
    known = known_file(tmp_path, jump.known_hosts_line)
    settings = _jumping(site, jump, gpu1).model_copy(update={"known_hosts": known})
    detail = missing(ask(settings, "inner", "uname", "-r"), Reason.UNREACHABLE)
    assert f"host key of [127.0.0.1]:{gpu1.port} is unknown" in detail


def test_silence_behind_a_jump_host_ends_at_the_deadline(
    site: Site, host: Callable[..., SshHost]
) -> None:
    jump = host("jump5")
    with serving(None) as place:
        behind = place.model_copy(update={"jump": "bastion"})
        bastion = Host(address=jump.address, port=jump.port)
        settings = site.settings(hosts={"bastion": bastion, "inner": behind})
        started = time.monotonic()
        answer = ask(settings, "inner", "uname", "-r", seconds=0.6)
        assert time.monotonic() - started < 1.3
    assert "did not finish the key exchange" in missing(answer, Reason.TIMEOUT)
