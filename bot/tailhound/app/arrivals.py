"""When alerts came in last: whether the path from Alertmanager to here is alive."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

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
KNOWN_FOR = timedelta(minutes=2)
"""How long counts what the database said last of other replicas: a few looks of the ops watch."""
SECTION = "Alerts"

ReadGroup = Callable[[bytes], AlertGroup]

UNTOLD = "when any process saw it last is not known: the database does not tell"
LAST_METRIC = "tailhound_last_notification_timestamp_seconds"
WATCHDOG_METRIC = "tailhound_watchdog_timestamp_seconds"
WATCHDOG_KNOWN_METRIC = "tailhound_watchdog_known"

_switch_line = partial(HealthLine, name="Dead man's switch", section=SECTION)


class Arrivals(Collector):
    """Notes what is read. Of this process alone, but for the dead man's switch: another replica may
    have got the rest.
    """

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._started = clock()
        self._last: datetime | None = None
        self._watchdog: datetime | None = None
        self._anywhere: datetime | None = None
        self._told_at: datetime | None = None

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

    def heard_anywhere(self, at: datetime | None) -> None:
        """The database says when any process saw the dead man's switch last; None = none did."""
        now = self._clock()
        with self._lock:
            self._anywhere, self._told_at = at, now

    def collect(self) -> Iterable[Metric]:
        """For /metrics: when each came in last; no sample while none has."""
        switch = self._switch(self._clock())
        with self._lock:
            seen = {LAST_METRIC: self._last, WATCHDOG_METRIC: switch.seen}
        says = {
            LAST_METRIC: "When the last notification of Alertmanager came in.",
            WATCHDOG_METRIC: f"When {WATCHDOG} was seen firing last, as far as is known.",
        }
        yield GaugeMetricFamily(
            WATCHDOG_KNOWN_METRIC,
            f"Whether it is known when any process saw {WATCHDOG} last: 1, else 0.",
            value=float(switch.is_known),
        )
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
            last = self._last
        return self._last_line(last, now), self._watchdog_line(self._switch(now), now)

    def _switch(self, now: datetime) -> "_Switch":
        with self._lock:
            own, anywhere, told_at = self._watchdog, self._anywhere, self._told_at
        is_known = told_at is not None and now - told_at <= KNOWN_FOR
        return _Switch(own, max((at for at in (own, anywhere) if at), default=None), is_known)

    def _last_line(self, last: datetime | None, now: datetime) -> HealthLine:
        state = f"{_ago(last, now)} ago" if last else f"none since {day_clock(self._started, now)}"
        return HealthLine(
            name="Last notification",
            state=state,
            works=True if last else None,
            detail="" if last else "the start of this process",
            section=SECTION,
        )

    def _watchdog_line(self, switch: "_Switch", now: datetime) -> HealthLine:
        seen = switch.seen
        if seen is not None and now - seen <= LATE:
            by = "" if seen == switch.own else "not by this process"
            return _switch_line(
                state=f"{WATCHDOG} seen {_ago(seen, now)} ago", works=True, detail=by
            )
        if switch.own is None and now - self._started <= LATE:
            return self._at_first(switch, now)
        silent = f"no {WATCHDOG} for {_ago(seen or self._started, now)}"
        if not switch.is_known:
            return _switch_line(state=silent, works=None, detail=UNTOLD)
        return _switch_line(
            state=silent,
            works=False if seen else None,
            effect="nobody notices when alerts no longer get here",
            fix=f"route the alert {WATCHDOG} to this webhook, with a repeat_interval of 5m",
        )

    def _at_first(self, switch: "_Switch", now: datetime) -> HealthLine:
        """What is known of the switch before it can be called silent."""
        since, seen = f"since {day_clock(self._started, now)}", switch.seen
        detail = since if seen is None else f"not by this process, which runs {since}"
        return _switch_line(
            state=f"{WATCHDOG} seen {_ago(seen, now)} ago" if seen else f"no {WATCHDOG} yet",
            works=None,
            detail=detail if switch.is_known else f"{detail}; {UNTOLD}",
        )


@dataclass(frozen=True, slots=True)
class _Switch:
    """When the dead man's switch was seen by this process, and by any that is known of; whether
    the database said so just now. Without it others may have seen it since.
    """

    own: datetime | None
    seen: datetime | None
    is_known: bool


def _ago(at: datetime, now: datetime) -> str:
    return duration(float(round(max(0.0, (now - at).total_seconds()))))
