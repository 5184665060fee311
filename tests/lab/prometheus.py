"""A real Prometheus with the history of a scenario in it.

The history arrives through the remote-write API, not as blocks made by promtool: 1.2 million
samples (a usual scenario) take 1 s instead of 5 s, and a series that ends gets the staleness marker
that a real scrape would have written. The head block is told to span all of it.
"""

import http.client
import json
import struct
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import yaml

from tests.lab.history import STALE, Grid, Sampled, Value, sampled
from tests.lab.process import LabError, Server, fetched, free_port
from tests.lab.scenario import Scenario

_BATCH_BYTES = 4_000_000
_STALE = struct.pack("<Q", 0x7FF0000000000002)
_double = struct.Struct("<d").pack


class Prometheus:
    """One server with its own data folder, on a free loopback port."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        self._server: Server | None = None

    def start(self, rules: str = "", alertmanager: str = "") -> "Prometheus":
        """Start it, empty. `rules` is the text of a rule file, `alertmanager` a host:port."""
        self._folder.mkdir(parents=True, exist_ok=True)
        config = self._folder / "prometheus.yml"
        config.write_text(yaml.safe_dump(self._config(rules, alertmanager)), encoding="utf-8")
        argv = [
            "prometheus",
            f"--config.file={config}",
            f"--storage.tsdb.path={self._folder / 'data'}",
            "--storage.tsdb.retention.time=10y",
            "--storage.tsdb.min-block-duration=30d",
            "--storage.tsdb.max-block-duration=30d",
            f"--web.listen-address=127.0.0.1:{self.port}",
            f"--web.external-url={self.url}",
            "--web.enable-remote-write-receiver",
            "--rules.alert.resend-delay=1s",
        ]
        self._server = Server(argv, self._folder / "prometheus.log")
        self._server.ready(lambda: fetched(f"{self.url}/-/ready") is not None)
        return self

    def _config(self, rules: str, alertmanager: str) -> dict[str, object]:
        config: dict[str, object] = {
            "global": {"scrape_interval": "200ms", "scrape_timeout": "200ms"}
        }
        if rules:
            (self._folder / "rules.yml").write_text(rules, encoding="utf-8")
            config["rule_files"] = [str(self._folder / "rules.yml")]
            config["global"] = {"evaluation_interval": "200ms"}
        if alertmanager:
            targets = [{"targets": [alertmanager]}]
            config["alerting"] = {"alertmanagers": [{"static_configs": targets}]}
        return config

    def stop(self) -> None:
        """End it."""
        if self._server:
            self._server.stop()

    def backfill(self, scenario: Scenario, now: float) -> None:
        """Write the scenario's history; its last sample is at `now`, a whole number of seconds."""
        self._write_from(scenario, now, Grid.of(scenario.step), 0)

    def go_on(self, scenario: Scenario, now: float, scrapes: int) -> None:
        """Write one more scrape, the `scrapes`-th after `now`: the last phases go on."""
        grid = Grid.of(scenario.step, scrapes)
        self._write_from(scenario, now, grid, len(grid.times) - 1)

    def _write_from(self, scenario: Scenario, now: float, grid: Grid, begin: int) -> None:
        series = (
            Sampled(one.labels, one.values[begin:])
            for entry in scenario.series
            for one in sampled(entry, grid, scenario.step, now)
        )
        self.write(series, [now + moment for moment in grid.times[begin:]])

    def write(self, series: Iterable[Sampled], moments: list[float]) -> None:
        """Send samples by remote write; LabError when the server does not take them."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            for batch in _batches(series, moments):
                connection.request("POST", "/api/v1/write", _snappy(batch), _HEADERS)
                answer = connection.getresponse()
                text = answer.read().decode(errors="replace")
                if answer.status >= 300:
                    raise LabError(f"Prometheus refused the history: {answer.status} {text[:300]}")
        finally:
            connection.close()

    def query(self, promql: str, at: float | None = None) -> list[tuple[dict[str, str], float]]:
        """An instant query: labels and value of each element; LabError when it is refused."""
        asked = urlencode({"query": promql, "time": at if at is not None else time.time()})
        body = fetched(f"{self.url}/api/v1/query?{asked}", timeout=30)
        if body is None:
            raise LabError(f"Prometheus refused the query {promql}")
        data = json.loads(body)["data"]
        if data["resultType"] == "scalar":
            return [({}, float(data["result"][1]))]
        return [(item["metric"], float(item["value"][1])) for item in data["result"]]


_HEADERS = {
    "Content-Encoding": "snappy",
    "Content-Type": "application/x-protobuf",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}


def _batches(series: Iterable[Sampled], moments: list[float]) -> Iterator[bytes]:
    """WriteRequest messages of a few megabytes."""
    tails = [b"\x10" + _varint(round(moment * 1000)) for moment in moments]
    batch: list[bytes] = []
    size = 0
    for one in series:
        message = _field(1, _labels(one.labels) + _samples(one.values, tails))
        batch.append(message)
        size += len(message)
        if size > _BATCH_BYTES:
            yield b"".join(batch)
            batch, size = [], 0
    if batch:
        yield b"".join(batch)


def _labels(labels: dict[str, str]) -> bytes:
    return b"".join(
        _field(1, _field(1, name.encode()) + _field(2, labels[name].encode()))
        for name in sorted(labels)
        if labels[name]
    )


def _samples(values: Iterable[Value], tails: list[bytes]) -> bytes:
    """Sample{value=1 double, timestamp=2 varint}: field 2 of the series, one by one."""
    length = 9 + len(tails[0])
    head = b"\x12" + _varint(length) + b"\x09"
    return b"".join(
        [
            head + (_STALE if value == STALE else _double(value)) + tail
            for value, tail in zip(values, tails, strict=True)
            if value is not None
        ]
    )


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _snappy(data: bytes) -> bytes:
    """The snappy block format with literals only: valid, uncompressed."""
    parts = [_varint(len(data))]
    for begin in range(0, len(data), 65536):
        chunk = data[begin : begin + 65536]
        parts.append(b"\xf4" + struct.pack("<H", len(chunk) - 1) + chunk)
    return b"".join(parts)
