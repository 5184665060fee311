"""Stand-ins of Prometheus and of the Kubernetes API on one port, which answer after a while.

`python -m benchmarks.backends --delay 0.05` prints its address. `GET /count` says how many
questions were asked so far.
"""

import argparse
import asyncio
import json
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

from benchmarks.wire import Incoming, Message, answer

NAMESPACE, POD, NODE = "bench", "llm-0-7d9f8b6c5-x2x2x", "bench-node"


def series_of(promql: str) -> list[tuple[dict[str, str], float]]:
    """The benchmark's own counters are 1. Pods and engines are not known: so the number of
    questions is the runbook's, however much the shipped collectors come to ask about an engine.
    """
    return [({}, 1.0)] if "benchmark_" in promql else []


def prometheus(path: str, form: dict[str, list[str]]) -> dict[str, Any]:
    """An answer of the query API."""
    found = series_of(form.get("query", [""])[0])
    if path.endswith("query_range"):
        start, end = float(form["start"][0]), float(form["end"][0])
        times = [start + step * 60 for step in range(int((end - start) // 60) + 1)]
        result = [{"metric": m, "values": [[at, str(v)] for at in times]} for m, v in found]
        return {"status": "success", "data": {"resultType": "matrix", "result": result}}
    now = time.time()
    instant = [{"metric": metric, "value": [now, str(value)]} for metric, value in found]
    return {"status": "success", "data": {"resultType": "vector", "result": instant}}


def kubernetes(path: str) -> dict[str, Any]:
    """A Deployment, its ReplicaSets or its pods."""
    name = path.rsplit("/", 1)[-1].partition("?")[0]
    if "/deployments/" in path:
        return _object("apps/v1", "Deployment", name) | {
            "spec": {"selector": {"matchLabels": {"app": name}}}
        }
    pod = _object("v1", "Pod", POD) | {"spec": _POD_SPEC, "status": {"qosClass": "Burstable"}}
    if name == "pods":
        return {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [pod]}
    return pod


_POD_SPEC = {
    "nodeName": NODE,
    "containers": [
        {"name": "engine", "image": "vllm/vllm-openai", "resources": {"limits": {"cpu": "6"}}}
    ],
}


def _object(api: str, kind: str, name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": NAMESPACE, "uid": f"uid-{name}"}
    return {"apiVersion": api, "kind": kind, "metadata": metadata}


class _Server(asyncio.Protocol):
    """One connection. `counted` is shared: how many questions were asked."""

    def __init__(self, delay: float, counted: list[int]) -> None:
        self._delay = delay
        self._counted = counted
        self._incoming = Incoming()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client came."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each question after the delay."""
        loop = asyncio.get_running_loop()
        for message in self._incoming.feed(data):
            if message.path == "/count":
                self._write(answer(b'{"questions": %d}' % self._counted[0]))
                continue
            self._counted[0] += 1
            loop.call_later(self._delay, self._write, answer(_body(message)))

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)


def _body(message: Message) -> bytes:
    parts = urlsplit(message.path)
    if parts.path.startswith(("/api/v1/query", "/api/v1/query_range")):
        form = parse_qs(parts.query) | parse_qs(message.body.decode())
        return json.dumps(prometheus(parts.path, form)).encode()
    return json.dumps(kubernetes(parts.path)).encode()


async def _serve(delay: float) -> None:
    counted = [0]
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Server(delay, counted), "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def main() -> None:
    """Serve until told to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.0)
    asyncio.run(_serve(parser.parse_args().delay))


if __name__ == "__main__":
    main()
