"""Evidence of 100 hosts at once: five commands on each, over connections that are made for it.

The hosts are real sshd, one process and one host key each. asyncssh reads the same hosts with the
same command lines in the same run, turn by turn, under the same bounds: so many log-ins and
commands at once in all, so many sessions on one connection.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

from benchmarks.fleet_read import BY, COMMANDS, Fleet, Hosted, Took
from benchmarks.processes import BenchmarkFailed, output_of
from benchmarks.rows import Row
from benchmarks.sizes import Sizes
from tailhound.settings import Ssh
from tailhound.transports.ssh_links import SESSIONS_AT_MOST
from tests.lab.sshd import SshHosts

PATIENCE = 120.0
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def run(sizes: Sizes) -> Iterator[Row]:
    """Seconds until the last answer, and CPU seconds of the reading process."""
    with SshHosts() as hosts:
        job = _job(hosts, sizes.hosts)
        took = _in_turns(job, sizes.fleet_rounds)
    about = (
        f"{sizes.hosts} sshd x {len(COMMANDS)} commands, cold connections, {Ssh().concurrency} "
        f"log-ins and commands at once, {SESSIONS_AT_MOST} sessions a connection, median of "
        f"{sizes.fleet_rounds}; probe: asyncssh, the same hosts, lines and bounds, in turns"
    )
    ours, theirs = (took[who] for who in BY)
    ratios = [one.seconds / other.seconds for one, other in zip(ours, theirs, strict=True)]
    for name, what in (("until the last answer", "seconds"), ("CPU of the reader", "cpu")):
        yield Row(
            benchmark="hosts",
            name=name,
            value=median(getattr(one, what) for one in ours),
            unit="s",
            probe=median(getattr(one, what) for one in theirs),
            better="less",
            how=about,
            details={"median_ratio": median(ratios), "worst_ratio": max(ratios)},
        )


def _job(hosts: SshHosts, count: int) -> Path:
    """Start the hosts; the file that tells a reader where they are."""
    for number in range(count):
        hosts.start(f"host-{number}")
    fleet = Fleet(
        user=hosts.user,
        key=str(hosts.key),
        known_hosts=str(hosts.known_hosts),
        hosts=tuple(Hosted(one.name, one.address, one.port) for one in hosts.hosts.values()),
        at_once=Ssh().concurrency,
        sessions=SESSIONS_AT_MOST,
    )
    path = hosts.folder / "fleet.json"
    path.write_text(json.dumps(asdict(fleet)), encoding="utf-8")
    return path


def _in_turns(job: Path, rounds: int) -> Mapping[str, Sequence[Took]]:
    """Each round asks both, and who comes first changes: what warms up serves both."""
    took: dict[str, list[Took]] = {who: [] for who in BY}
    for number in range(rounds):
        for who in BY if number % 2 else reversed(BY):
            took[who].append(_read(job, who))
    return took


def _read(job: Path, who: str) -> Took:
    took = Took(**json.loads(output_of(["-m", "benchmarks.fleet_read", str(job), who], PATIENCE)))
    if took.missing:
        raise BenchmarkFailed(f"{who}: {len(took.missing)} without an answer: {took.missing[0]}")
    return took
