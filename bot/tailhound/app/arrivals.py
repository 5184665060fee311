"""When alerts came in last: whether the path from Alertmanager to here is alive."""

import threading
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from tailhound.model import AlertGroup, AlertStatus
from tailhound.model.wording import day_clock, duration
from tailhound.web.parts import HealthLine

WATCHDOG = "Watchdog"
"""The alert of kube-prometheus that always fires: its absence means that nothing gets through."""
LATE = timedelta(minutes=15)
"""Alertmanager repeats an alert that fires; a route for Watchdog does so every few minutes."""
SECTION = "Alerts"

ReadGroup = Callable[[bytes], AlertGroup]


LAST_METRIC = "tailhound_last_notification_timestamp_seconds"
WATCHDOG_METRIC = "tailhound_watchdog_timestamp_seconds"


class Arrivals(Collector):
    """Notes what is read. Of this process alone: another replica may have got the rest."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._started = clock()
        self._last: datetime | None = None
        self._watchdog: datetime | None = None

    def noting(self, read_group: ReadGroup) -> ReadGroup:
        """The same reader, with each group noted."""

        def read(body: bytes) -> AlertGroup:
            group = read_group(body)
            self.note(group)
            return group

        return read

    def note(self, group: AlertGroup) -> None:
        """A group of alerts came in; what a person asked for did not come from Alertmanager."""
        if group.alerts and all(alert.is_by_hand for alert in group.alerts):
            return
        now = self._clock()
        fires = any(
            alert.name == WATCHDOG and alert.status is AlertStatus.FIRING for alert in group.alerts
        )
        with self._lock:
            self._last = now
            if fires:
                self._watchdog = now

    def collect(self) -> Iterable[Metric]:
        """For /metrics: when each came in last; no sample while none has."""
        with self._lock:
            seen = {LAST_METRIC: self._last, WATCHDOG_METRIC: self._watchdog}
        says = {
            LAST_METRIC: "When the last notification of Alertmanager came in.",
            WATCHDOG_METRIC: f"When {WATCHDOG} was seen firing last.",
        }
        for name, at in seen.items():
            gauge = GaugeMetricFamily(name, says[name])
            if at is not None:
                gauge.add_metric([], at.timestamp())
            yield gauge

    @property
    def switch_seen(self) -> datetime | None:
        """When the dead man's switch was seen last; None = not since the start."""
        with self._lock:
            return self._watchdog

    def lines(self) -> tuple[HealthLine, ...]:
        """The last alert, and the dead man's switch."""
        now = self._clock()
        with self._lock:
            last, watchdog = self._last, self._watchdog
        return self._last_line(last, now), self._watchdog_line(watchdog, now)

    def _last_line(self, last: datetime | None, now: datetime) -> HealthLine:
        state = f"{_ago(last, now)} ago" if last else f"none since {day_clock(self._started, now)}"
        return HealthLine(
            name="Last notification",
            state=state,
            works=True if last else None,
            detail="" if last else "the start of this process",
            section=SECTION,
        )

    def _watchdog_line(self, watchdog: datetime | None, now: datetime) -> HealthLine:
        name = "Dead man's switch"
        if watchdog is not None and now - watchdog <= LATE:
            state = f"{WATCHDOG} seen {_ago(watchdog, now)} ago"
            return HealthLine(name=name, state=state, works=True, section=SECTION)
        if watchdog is None and now - self._started <= LATE:
            state = f"no {WATCHDOG} yet"
            return HealthLine(name=name, state=state, works=None, section=SECTION,
                              detail=f"since {day_clock(self._started, now)}")  # fmt: skip
        since = f"for {_ago(watchdog or self._started, now)}"
        return HealthLine(
            name=name,
            state=f"no {WATCHDOG} {since}",
            works=False if watchdog else None,
            effect="nobody notices when alerts no longer get here",
            fix=f"route the alert {WATCHDOG} to this webhook, with a repeat_interval of 5m",
            section=SECTION,
        )


def _ago(at: datetime, now: datetime) -> str:
    return duration(float(round(max(0.0, (now - at).total_seconds()))))
