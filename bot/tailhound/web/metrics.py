"""What tailhound tells Prometheus about itself, from a registry of its own."""

import math
import platform
from collections.abc import Iterable, Mapping

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from tailhound import __version__
from tailhound.model import Diagnosis, EvidenceStatus, Incident, Outlook

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120)
_REFUSALS = ("unauthorized", "foreign", "address", "oversized", "slow", "crowded", "store")


class Metrics:
    """Counters that the parts of tailhound raise, and gauges that are read when Prometheus asks."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._build()
        self._bodies()
        self._verdicts()
        self._queues()

    def _build(self) -> None:
        built = self._gauge("build_info", "Always 1; what runs here.", ("version", "python"))
        built.labels(__version__, platform.python_version()).set(1)
        self._runbooks = self._gauge("runbooks_active", "Runbooks that are active.")

    def runs(self, runbooks: int) -> None:
        """So many runbooks are active."""
        self._runbooks.set(runbooks)

    def _bodies(self) -> None:
        self._alerts = self._counter("alerts_accepted", "Alerts of stored bodies.", ("kind",))
        for kind in ("new", "repeat", "ignored"):
            self._alerts.labels(kind)
        self._unreadable = self._counter("bodies_unreadable", "Bodies stored raw: no v4 body.")
        self._refused = self._counter("bodies_refused", "Bodies not stored.", ("reason",))
        for reason in _REFUSALS:
            self._refused.labels(reason)
        self._accept = self._histogram("accept_seconds", "From the body read to the commit.")

    def _verdicts(self) -> None:
        self._decided = self._counter("verdicts", "Verdicts by what they say.", ("outcome",))
        self._evidence = self._counter("evidence", "Evidence by what came of it.", ("status",))
        for outlook in Outlook:
            self._decided.labels(outlook.value)
        self._decided.labels("failed")
        for status in EvidenceStatus:
            self._evidence.labels(status.value)
        self._diagnosis = self._histogram("diagnosis_seconds", "From the start to the verdict.")
        self._first_post = self._histogram("first_post_seconds", "From the alert to the message.")

    def _queues(self) -> None:
        self._incidents = self._gauge("incidents", "Incidents by state.", ("state",))
        self._waiting = self._gauge("outbox_waiting", "Messages that wait to be sent.")
        self._oldest = self._gauge(
            "outbox_oldest_seconds", "Age of the message that waits longest."
        )
        self._refusals = self._gauge(
            "outbox_refused", "Messages that were refused and wait for a person."
        )
        self._store = self._gauge("store_up", "1 when the database answered the last question.")
        for gauge in (*self._outbox, self._store):
            gauge.set(math.nan)  # nobody has asked yet

    def accepted(self, *, new: int, repeats: int, ignored: int, seconds: float) -> None:
        """One body is stored; its alerts changed something, were known, or start nothing."""
        for kind, alerts in (("new", new), ("repeat", repeats), ("ignored", ignored)):
            self._alerts.labels(kind).inc(alerts)
        self._accept.observe(seconds)

    def unreadable(self) -> None:
        """One body is no Alertmanager v4 notification; it is stored raw."""
        self._unreadable.inc()

    def refused(self, reason: str) -> None:
        """One body is not stored, for one of `_REFUSALS`."""
        self._refused.labels(reason).inc()

    def decided(self, incident: Incident) -> None:
        """An investigation has ended, with a verdict or with a failure.

        Nothing was investigated for a body that can't be read: `unreadable` has counted it.
        """
        if incident.unreadable:
            return
        if incident.diagnosis is None:
            self._decided.labels("failed").inc()
            return
        self._count(incident.diagnosis)

    def _count(self, diagnosis: Diagnosis) -> None:
        self._decided.labels(diagnosis.outlook.value).inc()
        self._diagnosis.observe(diagnosis.took_seconds)
        for evidence in diagnosis.evidence:
            self._evidence.labels(evidence.status.value).inc()

    def first_post(self, seconds: float) -> None:
        """The first message of an incident stands, so long after its alert came in."""
        self._first_post.observe(seconds)

    @property
    def _outbox(self) -> tuple[Gauge, ...]:
        return self._waiting, self._oldest, self._refusals

    def queued(
        self, incidents: Mapping[str, int], waiting: int, oldest_seconds: float, refused: int
    ) -> None:
        """The database answered: this is how much there is, of incidents by state."""
        self._store.set(1)
        for state, amount in incidents.items():
            self._incidents.labels(state).set(amount)
        self._waiting.set(waiting)
        self._oldest.set(oldest_seconds)
        self._refusals.set(refused)

    def unanswered(self) -> None:
        """The database did not answer: old gauges are dropped, not repeated as if they were new."""
        self._store.set(0)
        self._incidents.clear()
        for gauge in self._outbox:
            gauge.set(math.nan)

    def text(self) -> bytes:
        """The exposition text."""
        return generate_latest(self.registry)

    def _counter(self, name: str, says: str, labels: Iterable[str] = ()) -> Counter:
        return Counter(f"tailhound_{name}", says, tuple(labels), registry=self.registry)

    def _gauge(self, name: str, says: str, labels: Iterable[str] = ()) -> Gauge:
        return Gauge(f"tailhound_{name}", says, tuple(labels), registry=self.registry)

    def _histogram(self, name: str, says: str) -> Histogram:
        return Histogram(f"tailhound_{name}", says, buckets=_SECONDS, registry=self.registry)
