"""One RDMA port as node_exporter tells it: now, and usually."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tailhound_collectors import rdma_series as series
from tailhound_collectors.now_and_usual import Asked
from tailhound_collectors.reading import ratio

QUIET_LOSSES_PER_SECOND = 0.1
"""A port that loses less is quiet, whatever its usual rate: our own default."""

QUIET_NOTICES_PER_SECOND = 100.0
"""Congestion notices are normal operation; below this rate they slow nobody: our own default."""

IDLE_BYTES_PER_SECOND = 1e6
"""A port that usually moves less carries no KV cache and no collective: our own default."""

QUIET_TICKS_PER_SECOND = 100000.0
"""A port that waits less to send is quiet: our own default. Ticks differ by device."""

STANDS_OUT_TIMES = 3.0
"""From this much above usual on a mechanism is what the history is told of: our own default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A rate now and usually, per second. `quiet` is the least that it is compared with."""

    now: float | None
    usual: float | None
    quiet: float

    @property
    def excess(self) -> float:
        """How far it is above its usual."""
        return (self.now or 0.0) - (self.usual or 0.0)

    @property
    def times(self) -> float | None:
        """How many times its usual rate; 0 when nothing happens, whatever is usual."""
        if self.now == 0:
            return 0.0
        return ratio(self.now, None if self.usual is None else max(self.usual, self.quiet))


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """One port. `reported`: node_exporter tells of it now; it may be one of the past."""

    key: tuple[str, ...]
    name: str
    reported: bool
    state: float | None
    usual_state: float | None
    physical: float | None
    rate_times: float | None
    traffic: float | None
    usual_traffic: float | None
    losses: Rate
    refused: float | None
    errors: Rate
    notices: Rate
    told: float | None
    telling: float | None
    wait_times: float | None

    @property
    def active(self) -> bool | None:
        """Whether it carries traffic."""
        return None if self.state is None else self.state == series.ACTIVE

    @property
    def down(self) -> bool:
        """Not active, though it usually is."""
        return self.active is False and self.usual_state == series.ACTIVE

    @property
    def state_known(self) -> bool:
        """Whether it can be told if it should be active; a port that is needs no usual."""
        return self.active is True or (self.state is not None and self.usual_state is not None)

    @property
    def why_down(self) -> str:
        """What the physical state says."""
        return series.PHYSICAL.get(int(self.physical or 0), "not active")

    @property
    def carries(self) -> bool:
        """Whether traffic usually goes over it."""
        return (self.usual_traffic or 0.0) >= IDLE_BYTES_PER_SECOND

    @property
    def lost_speed(self) -> float | None:
        """The part of its usual speed that it lost; None where that is not known.

        A port that usually carries nothing loses nothing.
        """
        if self.usual_traffic is None or self.state is None:
            return None
        if not self.carries:
            return 0.0
        if self.down:
            return 1.0
        return None if self.rate_times is None else max(0.0, 1.0 - self.rate_times)

    @property
    def traffic_times(self) -> float | None:
        """What it carries compared with usual."""
        return ratio(self.traffic, self.usual_traffic)

    @property
    def notices_say(self) -> str:
        """Which side is short of room."""
        if (self.telling or 0.0) > (self.told or 0.0):
            return "this node receives more than it can take in"
        return "this node is told to send more slowly"


def ports_of(states: Asked, rates: Asked, nodes: Mapping[str, str]) -> tuple[Port, ...]:
    """All ports of now, and those no longer reported that usually carry traffic."""
    labels = (*series.PER_PORT, "kind")
    now = {**states.by(*labels), **rates.by(*labels)}
    usual = {**states.usually_by(*labels), **rates.usually_by(*labels)}
    keys = {row[:-1] for row in states.by(*labels)}
    usually_there = {
        row[:-1] for row, value in usual.items() if row[-1] == "state_id" and value == series.ACTIVE
    }
    ports = (
        _port(key, _kinds(now, key), _kinds(usual, key), nodes, reported=key in keys)
        for key in sorted(keys | (usually_there if keys else set()))
    )
    return tuple(port for port in ports if port.reported or port.carries)


def _kinds(values: Mapping[tuple[str, ...], float], key: tuple[str, ...]) -> dict[str, float]:
    return {row[-1]: value for row, value in values.items() if row[:-1] == key}


def _port(
    key: tuple[str, ...],
    now: Mapping[str, float],
    usual: Mapping[str, float],
    nodes: Mapping[str, str],
    *,
    reported: bool,
) -> Port:
    def rate(names: Iterable[str], quiet: float) -> Rate:
        names = tuple(names)
        return Rate(now=_sum(now, names), usual=_sum(usual, names), quiet=quiet)

    instance, device, number = key
    return Port(
        key=key,
        name=f"{nodes.get(instance, instance)} {device}/{number}",
        reported=reported,
        state=now.get("state_id"),
        usual_state=usual.get("state_id"),
        physical=now.get("physical_state_id"),
        rate_times=ratio(now.get("rate_bytes_per_second"), usual.get("rate_bytes_per_second")),
        traffic=_sum(now, series.TRAFFIC),
        usual_traffic=_sum(usual, series.TRAFFIC),
        losses=rate(series.LOSSES, QUIET_LOSSES_PER_SECOND),
        refused=_sum(now, series.REFUSED),
        errors=rate(series.ERRORS, QUIET_LOSSES_PER_SECOND),
        notices=rate(series.NOTICES, QUIET_NOTICES_PER_SECOND),
        told=now.get(series.TOLD),
        telling=now.get(series.TELLING),
        wait_times=rate((series.WAIT,), QUIET_TICKS_PER_SECOND).times,
    )


def _sum(values: Mapping[str, float], names: Iterable[str]) -> float | None:
    """The sum of what is counted; None when nothing is."""
    known = [values[name] for name in names if name in values]
    return sum(known) if known else None


def leading_of(ports: tuple[Port, ...]) -> tuple[str | None, Port, tuple[str, ...]]:
    """The mechanism that stands out, its port, and the counters that show it (none: the state).

    When nothing does: None, the busiest port, and its losses.
    """
    down = [port for port in ports if port.down]
    if down:
        return "the link is down", max(down, key=lambda port: port.usual_traffic or 0.0), ()
    there = [port for port in ports if port.reported]
    choices = (
        ("lost packets", series.LOSSES, {port: port.losses.times for port in there}),
        ("link errors", series.ERRORS, {port: port.errors.times for port in there}),
        ("congestion notices", series.NOTICES, {port: port.notices.times for port in there}),
        ("waiting to send", (series.WAIT,), {port: port.wait_times for port in there}),
    )
    for name, counters, times in choices:
        worst = max(there, key=lambda port: times[port] or 0.0)
        if (times[worst] or 0.0) > STANDS_OUT_TIMES:
            return name, worst, tuple(counters)
    return None, max(there, key=lambda port: port.traffic or 0.0), series.LOSSES
