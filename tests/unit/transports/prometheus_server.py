"""A real Prometheus with a tiny backfilled history, on a free port, for one test module."""

import contextlib
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True)
class RealPrometheus:
    """Where it listens, and the moment of its newest sample."""

    url: str
    newest: datetime


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _history(newest: float) -> str:
    """Half an hour every 15 s: a gauge that counts the seconds before the newest sample."""
    moments = [newest - 15 * back for back in range(120, -1, -1)]
    lines = ["# TYPE age_seconds gauge"]
    lines += [f'age_seconds{{pod="llm-0"}} {newest - at:g} {at:.0f}' for at in moments]
    lines += [f'age_seconds{{pod="llm-1"}} {newest - at + 1:g} {at:.0f}' for at in moments]
    lines += ["# TYPE broken gauge"]
    lines += [
        f'broken{{pod="a"}} NaN {at:.0f}\nbroken{{pod="b"}} 1 {at:.0f}' for at in moments[:60]
    ]
    lines += [f'broken{{pod="a"}} NaN {at:.0f}' for at in moments[60:]]
    lines += ["# TYPE wide gauge"]
    lines += [f'wide{{n="{n}",text="{"x" * 200}"}} 1 {newest:.0f}' for n in range(400)]
    return "\n".join([*lines, "# EOF", ""])


@contextlib.contextmanager
def real_prometheus(folder: Path) -> Iterator[RealPrometheus]:
    """Backfill, start, wait for /-/ready; stopped at the end."""
    newest = float(int(time.time()) - 60)
    (folder / "history.om").write_text(_history(newest))
    (folder / "prometheus.yml").write_text("global: {scrape_interval: 15s}\n")
    subprocess.run(
        ["promtool", "tsdb", "create-blocks-from", "openmetrics", "history.om", "data"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    port = _free_port()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                "prometheus",
                "--config.file=prometheus.yml",
                "--storage.tsdb.path=data",
                f"--web.listen-address=127.0.0.1:{port}",
                "--query.max-samples=5000",
            ],
            cwd=folder,
            stdout=log,
            stderr=log,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, process, folder / "log")
            yield RealPrometheus(url, datetime.fromtimestamp(newest, UTC))
        finally:
            process.kill()
            process.wait()


def _wait(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError, urllib.error.URLError):
            urllib.request.urlopen(f"{url}/-/ready", timeout=1).close()  # noqa: S310
            return
        time.sleep(0.02)
    raise AssertionError(f"Prometheus did not start: {log.read_text()[-2000:]}")
