"""Fifty hosts that take a connection and then hang, and a runbook that asks every one of them."""

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.lab.sshd import make_key
from tests.unit.transports.servers import accepts_and_never_answers, misbehaving

HOSTS = 50
RUNBOOK = "hung-hosts"
ASKED_IN = "hung"
"""The runbook asks the hosts only for incidents of this namespace."""

NAMES = tuple(f"gpu-{number:02}" for number in range(1, HOSTS + 1))


def greets_and_hangs(peer: socket.socket, stop: threading.Event) -> None:
    """Says that it is an SSH server, takes whatever is sent, and never goes on."""
    peer.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
    stop.wait()


@contextmanager
def hung_hosts(folder: Path) -> Iterator[dict[str, Any]]:
    """The settings of fifty hung hosts: half of them say nothing, half hang in the key exchange."""
    with (
        misbehaving(accepts_and_never_answers) as silent,
        misbehaving(greets_and_hangs) as greeting,
    ):
        yield settings(folder, silent, greeting)


def settings(folder: Path, silent: int, greeting: int) -> dict[str, Any]:
    """Runbooks and SSH for hosts behind these two ports."""
    folder.mkdir(parents=True, exist_ok=True)
    known = folder / "known_hosts"
    known.touch()
    runbooks = folder / "runbooks"
    runbooks.mkdir(exist_ok=True)
    (runbooks / f"{RUNBOOK}.yaml").write_text(json.dumps(runbook(), indent=1))
    return {
        "runbooks": ["shipped", str(runbooks)],
        "ssh": {
            "key": {"file": str(make_key(folder / "key"))},
            "known_hosts": str(known),
            "timeout_seconds": 100,
            "hosts": {
                name: {"address": "127.0.0.1", "port": (silent, greeting)[number % 2]}
                for number, name in enumerate(NAMES)
            },
        },
    }


def runbook() -> dict[str, Any]:
    """A runbook with one question for each host, asked where Prometheus knows no engine."""
    facts = {"free_bytes": {"key": "MemFree", "unit": "bytes"}}
    asked = {"run": ["cat", "/proc/meminfo"], "parse": "key_value", "facts": facts}
    names = [name.replace("-", "") for name in NAMES]
    evidence: dict[str, Any] = {
        "engines": {
            "promql": {"none": {"query": 'absent(up{namespace="$namespace"})', "unit": "count"}}
        }
    }
    for name, host in zip(names, NAMES, strict=True):
        evidence[name] = {"ssh": {"on": host, **asked}, "when": "engines.none > 0"}
    fives = [names[start : start + 5] for start in range(0, HOSTS, 5)]
    return {
        "runbook": RUNBOOK,
        "cause": "The hosts have no memory left",
        "owner": "tests",
        "docs": "docs/responders/causes/none.md",
        "summary": "Asks every host how much memory is free.",
        "trigger": {"alerts": ["HostsSlow"], "command": "hosts <namespace>"},
        "inputs": {"namespace": "the namespace"},
        "thresholds": {"low": {"value": 1048576, "unit": "bytes", "source": "the tests' own"}},
        "evidence": evidence,
        "confirm": [
            {f"No memory on {five[0]} to {five[-1]}": _all(five, " and ", "< low")}
            for five in fives
        ],
        "refute": [
            {f"Memory on one of {five[0]} to {five[-1]}": _all(five, " or ", "> low")}
            for five in fives
        ],
        "says": "No host has memory left.",
        "status": "active",
    }


def _all(names: Sequence[str], joint: str, compared: str) -> str:
    return joint.join(f"{name}.free_bytes {compared}" for name in names)
