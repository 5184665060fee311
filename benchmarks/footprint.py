"""What tailhound costs when nothing happens, and how soon it is ready."""

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from statistics import median
from typing import Any

import yaml

from benchmarks.backends import NODE
from benchmarks.bodies import LOADS
from benchmarks.first_post import slack_section
from benchmarks.load import PATH
from benchmarks.processes import BenchmarkFailed, wait_until
from benchmarks.rows import Row
from benchmarks.site import Site, fetched, site
from benchmarks.sizes import Sizes
from tests.standins.slack import SlackStandin

_BARE_SERVER = "import uvicorn, starlette.applications, sqlalchemy"
_IMPORTED = "http://127.0.0.1:0"
"""What the bare process prints when it has imported everything; nobody listens there."""

_BARE_START = "import uvicorn, starlette, sqlalchemy, dbos"
_HOST_RUNBOOK = {
    "runbook": "benchmark-host",
    "cause": "A host is asked",
    "owner": "benchmarks",
    "docs": "docs/operators/performance.md",
    "summary": "Asks each host of the incident one harmless question.",
    "inputs": {"nodes": "the nodes they run on"},
    "thresholds": {"small": {"value": 2, "unit": "count", "source": "any number larger than one"}},
    "evidence": {
        "link": {
            "ssh": {
                "on": "$nodes",
                "run": ["cat", "/sys/class/net/lo/mtu"],
                "parse": "number",
                "fact": "mtu",
                "unit": "count",
            }
        }
    },
    "confirm": [{"Its frames are tiny": "any(h.value < small for h in link.mtu)"}],
    "refute": [{"Its frames are usual": "all(h.value >= small for h in link.mtu)"}],
    "status": "active",
}


def memory(_sizes: Sizes) -> Iterator[Row]:
    """Proportional set size of `serve` after every transport was used once."""
    yield Row(
        benchmark="memory",
        name="idle, every transport used once",
        value=_used_once(),
        unit="MiB",
        probe=_bare_memory(),
        better="less",
        how="PSS of serve after one incident asked Prometheus, Kubernetes and a host and was told "
        "to Slack (Socket Mode open); probe: python with uvicorn, starlette and sqlalchemy",
    )


def start(sizes: Sizes) -> Iterator[Row]:
    """From the start of the process to the first 200 of /readyz."""
    first, again = [], []
    for _ in range(sizes.starts):
        with site() as made:
            first.append(_ready_after(made))
            again.append(_ready_after(made))
    bare = median(_seconds(["-c", _BARE_START]) for _ in range(sizes.starts))
    for name, took in (("with an empty folder", first), ("with its database", again)):
        yield Row(
            benchmark="start",
            name=name,
            value=median(took),
            unit="s",
            probe=bare,
            better="less",
            how=f"median of {len(took)}, process start to /readyz 200; "
            f'probe: python -c "{_BARE_START}"',
            details={"longest_seconds": max(took)},
        )


def _used_once() -> float:
    with ExitStack() as stack:
        made, slack = stack.enter_context(site()), stack.enter_context(SlackStandin())
        backend = stack.enter_context(made.child("-m", "benchmarks.backends"))
        host = stack.enter_context(made.child("-m", "benchmarks.host", str(made.folder)))
        _configure(made, slack, backend.address(), int(host.address().rpartition(":")[2]))
        server = stack.enter_context(made.tailhound())
        address = server.address()
        slack.wait_connected(timeout=30)
        body = LOADS["each its own incident"].body(0)
        (incident,) = fetched(f"{address}{PATH}", body)["incidents"]
        wait_until(lambda: made.states().get("diagnosed") == 1, "the verdict", 60)
        wait_until(lambda: made.unsent() == 0, "the messages", 60)
        _check(fetched(f"{address}/api/incidents/{incident}"))
        if not slack.posts():
            raise BenchmarkFailed("nothing was posted to Slack")
        return server.memory()


def _configure(made: Site, slack: SlackStandin, backend: str, port: int) -> None:
    made.file("runbooks/benchmark-host.yaml", yaml.safe_dump(_HOST_RUNBOOK, sort_keys=False))
    socket_token = made.file("app-token", "xapp-local")
    cluster_token = made.file("cluster-token", "local")
    made.configure(
        runbooks=["shipped", str(made.folder / "runbooks")],
        slack=slack_section(made, slack, app_token={"file": str(socket_token)}),
        prometheus={"url": backend},
        kubernetes={"server": backend, "token": {"file": str(cluster_token)}},
        ssh={
            "user": "tailhound",
            "key": {"file": str(made.folder / "key")},
            "known_hosts": str(made.folder / "known_hosts"),
            "hosts": {NODE: {"address": "127.0.0.1", "port": port}},
        },
    )


def _check(incident: Mapping[str, Any]) -> None:
    """Every transport gave an answer; BenchmarkFailed names the evidence when one did not."""
    status = {item["name"]: item for item in incident["evidence"]}
    for name in ("subject", "spec", "link"):
        if status.get(name, {}).get("status") != "collected":
            raise BenchmarkFailed(f"the evidence {name} was not collected: {status.get(name)}")


def _bare_memory() -> float:
    """Of a process that has the same server and database library and does nothing."""
    with site() as made:
        program = f"{_BARE_SERVER}, signal\nprint('{_IMPORTED}', flush=True)\nsignal.pause()"
        with made.child("-c", program) as bare:
            bare.address()
            return bare.memory()


def _ready_after(made: Site) -> float:
    begun = time.perf_counter()
    with made.tailhound() as server:
        url = f"{server.address()}/readyz"
        wait_until(lambda: _is_ready(url), "/readyz 200")
        return time.perf_counter() - begun


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - loopback, ours
            return bool(answer.status == 200)
    except urllib.error.HTTPError:
        return False


def _seconds(arguments: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True)
    return time.perf_counter() - begun
