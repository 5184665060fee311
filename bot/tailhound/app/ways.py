"""How busy the ways to the backends are, and how much of the API server we take, for /metrics.

What is told is read when Prometheus asks; nothing is counted twice.
"""

from collections.abc import Iterable, Iterator, Sequence

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from tailhound.flow import Transport
from tailhound.transports.way import Way


class Ways(Collector):
    """The gauges and counters of all backends that are asked."""

    def __init__(self, transports: Sequence[Transport]) -> None:
        self._ways = tuple(way for one in transports if (way := _way(one)) is not None)

    def collect(self) -> Iterable[Metric]:
        """As they are now."""
        yield from self._gauges()
        yield from self._counters()

    def _gauges(self) -> Iterator[Metric]:
        slots = _gauge("slots", "Questions that may be asked at once now.")
        busy = _gauge("busy", "Questions under way.")
        waiting = _gauge("waiting", "Questions that wait for a slot.")
        resting = _gauge("resting", "Addresses that are left alone: no answer, or mostly refusals.")
        for way in self._ways:
            slots.add_metric([way.backend], way.pool.limit)
            busy.add_metric([way.backend], way.pool.busy)
            waiting.add_metric([way.backend], way.pool.waiting)
            resting.add_metric([way.backend], way.resting)
        yield from (slots, busy, waiting, resting)

    def _counters(self) -> Iterator[Metric]:
        sent = _counter("requests", "Requests that were sent.")
        slowed = _counter("slowed", "Times that the slots were halved.")
        spared = _counter("spared", "Questions not asked, for most requests were refused.")
        for way in self._ways:
            if way.gate is not None:
                sent.add_metric([way.backend], way.gate.calls)
                slowed.add_metric([way.backend], way.gate.slowed)
                spared.add_metric([way.backend], way.gate.spared)
        yield from (sent, slowed, spared)


def _way(transport: Transport) -> Way | None:
    """None for what asks no backend: a recording. (No transport is imported to be told apart.)"""
    way = getattr(transport, "way", None)
    return way if isinstance(way, Way) else None


def _gauge(name: str, says: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"tailhound_backend_{name}", says, labels=["backend"])


def _counter(name: str, says: str) -> CounterMetricFamily:
    return CounterMetricFamily(f"tailhound_backend_{name}", says, labels=["backend"])
