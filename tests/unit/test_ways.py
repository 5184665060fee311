"""What /metrics tells of the ways to the backends."""

import asyncio
import time
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from tailhound.app.ways import Ways
from tailhound.flow import Transport, Turn
from tailhound.requests import GetObject, Query
from tailhound.settings import Kubernetes, Prometheus
from tailhound.transports.kubernetes import KubernetesTransport
from tailhound.transports.prometheus import PrometheusTransport
from tailhound.transports.recording import Recorder
from tailhound.transports.replay import ReplayTransport
from tests.unit.transports import servers
from tests.unit.transports.servers import misbehaving, reply, scripted

NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
NODE = GetObject(api="v1", resource="nodes", name="node-1")


def told(*transports: Transport) -> dict[tuple[str, str], float]:
    """The values by metric and backend, as a scrape finds them."""
    registry = CollectorRegistry()
    registry.register(Ways(transports))
    text = generate_latest(registry).decode()
    return {
        (sample.name.removeprefix("tailhound_backend_"), sample.labels["backend"]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def turn(seconds: float) -> Turn:
    return Turn(time.monotonic() + seconds, NOW)


def test_a_server_that_says_429_gets_fewer_requests_and_they_are_counted() -> None:
    with scripted(lambda _script, handler, _body: reply(handler, 429, "", Retry_After="1")) as api:
        settings = Kubernetes(server=f"http://127.0.0.1:{api.port}", concurrency=6)
        transport = KubernetesTransport(settings)
        before = told(transport)
        asyncio.run(transport.ask(NODE, turn(0.5)))
        asyncio.run(transport.ask(NODE, turn(0.5)))  # it asked to wait: nothing is sent
        after = told(transport)
        transport.close()
        assert len(api.asked) == 1
    assert before["slots", "kubernetes"] == 6
    assert before["requests_total", "kubernetes"] == before["slowed_total", "kubernetes"] == 0
    assert after["slots", "kubernetes"] == 3
    assert after["requests_total", "kubernetes"] == after["slowed_total", "kubernetes"] == 1


def test_what_a_server_that_refuses_most_is_spared_is_counted_and_it_is_left_alone() -> None:
    with scripted(lambda _script, handler, _body: reply(handler, 503, "")) as api:
        settings = Kubernetes(server=f"http://127.0.0.1:{api.port}", concurrency=1)
        transport = KubernetesTransport(settings)
        before = told(transport)

        async def wave() -> None:
            await asyncio.gather(*(transport.ask(NODE, turn(5)) for _ in range(7)))

        asyncio.run(wave())
        after = told(transport)
        transport.close()
    assert before["spared_total", "kubernetes"] == before["resting", "kubernetes"] == 0
    assert after["requests_total", "kubernetes"] == 5
    assert after["spared_total", "kubernetes"] == 2
    assert after["resting", "kubernetes"] == 1


def test_what_is_busy_waits_or_is_left_alone_is_told() -> None:
    with misbehaving(servers.accepts_and_never_answers) as port:
        transport = PrometheusTransport(
            Prometheus(url=f"http://127.0.0.1:{port}", concurrency=1, timeout_seconds=0.2)
        )

        async def flow() -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]:
            asks = [
                asyncio.create_task(transport.ask(Query(promql=name), turn(5))) for name in "ab"
            ]
            while not transport.asking.pool.busy:
                await asyncio.sleep(0.001)
            during = told(transport)
            await asyncio.gather(*asks)
            for name in "cde":
                await transport.ask(Query(promql=name), turn(5))
            return during, told(transport)

        during, after = asyncio.run(flow())
        transport.close()
    assert (during["busy", "prometheus"], during["waiting", "prometheus"]) == (1, 1)
    assert during["resting", "prometheus"] == 0
    assert after["resting", "prometheus"] == 1
    assert ("requests_total", "prometheus") not in after


def test_a_recording_is_no_backend() -> None:
    assert told(ReplayTransport(Recorder(NOW, None).recording())) == {}
