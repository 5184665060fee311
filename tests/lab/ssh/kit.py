"""Questions to real sshd, and servers that are none."""

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import psutil

from tailhound.flow import Turn
from tailhound.model import Missing, Reason
from tailhound.requests.ssh import Output, RunOnHost
from tailhound.settings import Host, Secret, Ssh
from tailhound.transports.ssh import SshTransport
from tests.lab.sshd import SshHost, SshHosts

T = TypeVar("T")


@dataclass
class Site:
    """The settings of one test: where the hosts are, and what differs."""

    hosts: SshHosts

    def settings(self, *hosts: SshHost, **changes: Any) -> Ssh:
        places = {host.name: Host(address=host.address, port=host.port) for host in hosts}
        base: dict[str, Any] = {
            "user": self.hosts.user,
            "key": Secret(file=str(self.hosts.key)),
            "known_hosts": str(self.hosts.known_hosts),
            "hosts": places,
        }
        return Ssh(**{**base, **changes})


def turn(seconds: float) -> Turn:
    return Turn(time.monotonic() + seconds, datetime.now(UTC))


def using(settings: Ssh, work: Callable[[SshTransport], Awaitable[T]]) -> T:
    """Run a flow with a transport, close it, and see that every thread has ended."""
    before = set(threading.enumerate())

    async def whole() -> T:
        transport = SshTransport(settings)
        try:
            return await work(transport)
        finally:
            transport.close()

    result = asyncio.run(whole())
    assert wait_until(lambda: not (set(threading.enumerate()) - before), 1.0), threading.enumerate()
    return result


def wait_until(true: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def ask(
    settings: Ssh, host: str, *argv: str, seconds: float = 5.0, twice: bool = False
) -> Output | Missing:
    return using(
        settings,
        lambda transport: transport.ask(
            RunOnHost(host=host, argv=argv, twice=twice), turn(seconds)
        ),
    )


def missing(answer: Output | Missing, reason: Reason) -> str:
    assert isinstance(answer, Missing), answer
    assert answer.reason is reason, answer
    return answer.detail


def output(answer: Output | Missing) -> Output:
    assert isinstance(answer, Output), answer
    return answer


def known_file(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "known_hosts"
    path.write_text("# ours\n\n" + "\n".join(lines) + "\nbroken line\nx ssh-ed25519 !!!\n")
    return str(path)


@contextlib.contextmanager
def serving(talk: Callable[[socket.socket], None] | None) -> Iterator[Host]:
    """A port that accepts; `talk` is what it says to each client (None: never accepts)."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server:
        ended = threading.Event()

        def serve() -> None:
            while not ended.is_set():
                with contextlib.suppress(OSError):
                    client, _ = server.accept()
                    with client:
                        if talk is not None:
                            talk(client)

        thread = threading.Thread(target=serve, daemon=True)
        if talk is not None:
            server.settimeout(0.02)
            thread.start()
        try:
            yield Host(address="127.0.0.1", port=server.getsockname()[1])
        finally:
            ended.set()
            if talk is not None:
                thread.join(5)


def runs(host: SshHost, name: str) -> bool:
    for process in host.commands():
        with contextlib.suppress(psutil.NoSuchProcess):
            if any(word.endswith(f"/{name}") for word in process.cmdline()):
                return True
    return False


def until_closed(client: socket.socket) -> None:
    client.settimeout(5)
    with contextlib.suppress(OSError):
        while client.recv(1024):
            pass


def drip(client: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            client.sendall(b"S")
            time.sleep(0.02)


def banner_only(client: socket.socket) -> None:
    client.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
    until_closed(client)
