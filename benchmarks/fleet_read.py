"""Reads five commands of each host once, by tailhound's transport or by asyncssh.

`python -m benchmarks.fleet_read JOB tailhound|asyncssh` prints one line of JSON. It is a process of
its own, so that every connection is new and neither client works in what the other left.
"""

import argparse
import asyncio
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import asyncssh

from tailhound.flow import Turn
from tailhound.model import Missing
from tailhound.requests import Output, RunOnHost
from tailhound.settings import Host, Secret, Ssh
from tailhound.transports.ssh import SshTransport
from tailhound.transports.ssh_command import Ended, meaning, through_shell

BY = ("tailhound", "asyncssh")
COMMANDS = (
    ("cat", "/proc/diskstats"),
    ("cat", "/proc/pressure/io"),
    ("cat", "/proc/pressure/memory"),
    ("cat", "/sys/class/net/lo/statistics/rx_bytes"),
    ("uname", "-r"),
)
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Hosted:
    """One host: its name, and where its sshd listens."""

    name: str
    address: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """What is read. `at_once` bounds log-ins and commands in all, `sessions` those of one host."""

    user: str
    key: str
    known_hosts: str
    hosts: tuple[Hosted, ...]
    at_once: int
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """Seconds from the first question to the last answer, CPU seconds of this process meanwhile,
    and the reasons of those that have no answer.
    """

    seconds: float
    cpu: float
    missing: tuple[str, ...] = field(default=())


async def by_tailhound(fleet: Fleet) -> Sequence[Output | Missing]:
    """Through the transport, as an incident would."""
    settings = Ssh(
        user=fleet.user,
        key=Secret(file=fleet.key),
        known_hosts=fleet.known_hosts,
        hosts={one.name: Host(address=one.address, port=one.port) for one in fleet.hosts},
        concurrency=fleet.at_once,
        timeout_seconds=SECONDS,
    )
    transport = SshTransport(settings)
    turn = Turn(time.monotonic() + SECONDS, datetime.now(UTC))
    try:
        return await asyncio.gather(
            *(
                transport.ask(RunOnHost(host=one.name, argv=argv), turn)
                for one in fleet.hosts
                for argv in COMMANDS
            )
        )
    finally:
        transport.close()


async def by_asyncssh(fleet: Fleet) -> Sequence[Output | Missing]:
    """The same lines, host keys and bounds through asyncssh."""
    known = asyncssh.read_known_hosts(fleet.known_hosts)
    key = asyncssh.read_private_key(fleet.key)
    slots = asyncio.Semaphore(fleet.at_once)

    async def host(one: Hosted) -> list[Output | Missing]:
        async with slots:
            connection = await asyncssh.connect(
                one.address,
                one.port,
                username=fleet.user,
                client_keys=[key],
                known_hosts=known,
                agent_path=None,
                config=None,
            )
        sessions = asyncio.Semaphore(fleet.sessions)

        async def command(argv: Sequence[str]) -> Output | Missing:
            sent = through_shell(argv, secrets.token_hex(8), int(SECONDS), sudo=True)
            async with sessions, slots:
                done = await connection.run(sent.line, encoding=None, check=False)
            assert isinstance(done.stdout, bytes)
            assert isinstance(done.stderr, bytes)
            ended = Ended(done.stdout, done.stderr, done.returncode or 0)
            return meaning(sent, ended, one.name, fleet.user)

        found = await asyncio.gather(*(command(argv) for argv in COMMANDS))
        connection.close()
        return found

    answers = await asyncio.gather(*(host(one) for one in fleet.hosts))
    return [answer for each in answers for answer in each]


def read(fleet: Fleet, who: str) -> Took:
    """All commands of all hosts."""
    ask = {"tailhound": by_tailhound, "asyncssh": by_asyncssh}[who]

    async def timed() -> Took:
        begun, cpu = time.perf_counter(), time.process_time()
        answers = await ask(fleet)
        return Took(
            seconds=time.perf_counter() - begun,
            cpu=time.process_time() - cpu,
            missing=tuple(_why(one) for one in answers if not _is_good(one)),
        )

    return asyncio.run(timed())


def _is_good(answer: Output | Missing) -> bool:
    return isinstance(answer, Output) and answer.exit_code == 0 and bool(answer.stdout)


def _why(answer: Output | Missing) -> str:
    return answer.detail if isinstance(answer, Missing) else f"exit {answer.exit_code}"


def main() -> None:
    """Read, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", type=Path)
    parser.add_argument("who", choices=BY)
    options = parser.parse_args()
    told = json.loads(options.job.read_text(encoding="utf-8"))
    fleet = Fleet(**told | {"hosts": tuple(Hosted(**one) for one in told["hosts"])})
    print(json.dumps(asdict(read(fleet, options.who))))


if __name__ == "__main__":
    main()
