"""RDMA ports from node_exporter: link state, lost packets, congestion notices, and their change.

No counter says anything by its value: they have counted since the port was last reset. All that is
compared is a rate with the same port's usual rate. Each mechanism is told of the port that departs
most from its usual, which need not be the same port.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tailhound.flow import Reading, together
from tailhound.model import Missing, Reason
from tailhound.model.facts import Series, fact
from tailhound.requests import Query
from tailhound.requests.prometheus import matchers
from tailhound_collectors import rdma_series as series
from tailhound_collectors.now_and_usual import Asked, now_and_usual
from tailhound_collectors.rdma_ports import Port, leading_of, ports_of
from tailhound_collectors.reading import ONSET_WINDOW, STEP_SECONDS, WINDOW, by, history

JUST_NOW_SECONDS = 300.0
"""How far back "all the time" looks: the rate window of verdicts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RdmaParams:
    """Which nodes, by their Kubernetes names."""

    nodes: tuple[str, ...]
    usual: tuple[float, ...] = (3600.0, 86400.0, 604800.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortRow:
    """One port that is not as usual, or carries traffic."""

    port: str
    active: bool | None = None
    losses_per_second: float | None = None
    notices_per_second: float | None = None
    traffic_bytes_per_second: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rdma:
    """The RDMA ports of the nodes.

    `has_ports`: false only where node_exporter looked for ports on every node and found none.
    `down_ports_count` are ports that are usually active and are not now; `vanished_ports_count`
    are no longer reported at all, though they usually carry traffic: a port that moved into a
    container looks the same, so it is not called down. `lost_speed` is the part of its usual
    speed that a link lost, 1 when it is down, of the ports that usually carry a megabyte a second
    or more: what an unused port does says nothing. `traffic_times` is the port's that carries
    least compared with its usual.

    `losses_times`, `cnp_times` and `errors_times` compare with the usual rate, or with that of a
    quiet port (0.1/s, 100/s, 0.1/s: our own defaults) where the usual rate is lower.
    `lossy_ratio` is the share of the last five minutes in which packets were lost,
    `burst_count` how many more than usual in 45 minutes. `refused_per_second` is what the sender
    itself was told: out of sequence alone may be adaptive routing. `errors_per_second` is None
    while counters stand at their ceiling. `wait_times` is relative, ticks differ by device;
    `waiting_traffic_times` is what the port that waits most still carries, compared with usual.
    """

    has_ports: bool | None = None
    ports_count: int | None = None
    port: str | None = None
    leading: str | None = None
    down_ports_count: int | None = None
    down_port: str | None = None
    down_port_state: str | None = None
    lost_speed: float | None = fact("ratio")
    lost_speed_port: str | None = None
    vanished_ports_count: int | None = None
    traffic_bytes_per_second: float | None = None
    traffic_bytes_per_second_usual: float | None = None
    traffic_times: float | None = fact("times")
    loss_port: str | None = None
    losses_per_second: float | None = None
    losses_per_second_usual: float | None = None
    losses_times: float | None = fact("times")
    refused_per_second: float | None = None
    lossy_ratio: float | None = None
    burst_count: float | None = None
    errors_per_second: float | None = None
    errors_times: float | None = fact("times")
    saturated_count: int | None = None
    notice_port: str | None = None
    notices_per_second: float | None = None
    notices_per_second_usual: float | None = None
    cnp_times: float | None = fact("times")
    notices_say: str | None = None
    wait_port: str | None = None
    wait_times: float | None = fact("times")
    waiting_traffic_times: float | None = fact("times")
    ports: tuple[PortRow, ...] | None = None
    leading_value: float | None = None
    leading_value_series: Series | None = None
    leading_value_usual_series: Series | None = None


class RdmaCollector:
    """`prometheus.rdma`: node_exporter's `node_infiniband_*` of the nodes."""

    name = "prometheus.rdma"
    params = RdmaParams
    facts = Rdma

    def collect(self, params: RdmaParams) -> Reading[Rdma]:
        """Who exports for these nodes; all their ports; the history of the one that stands out."""
        names = f"node_uname_info{matchers(nodename=params.nodes)}"
        reply = (yield from together([Query(promql=f"max by (instance, nodename) ({names})")]))[0]
        nodes = dict(by(reply, "instance", "nodename"))
        if not nodes:
            return Rdma()
        exporters = {instance: node for instance, node in nodes}
        answers = yield from _asked(tuple(sorted(exporters)), params)
        ports = ports_of(answers["states"], answers["rates"], exporters)
        if not ports:
            return Rdma(has_ports=_none_found(answers, exporters))
        return (yield from _with_history(ports, _facts(ports, answers["ceiling"]), params))


def _asked(instances: tuple[str, ...], params: RdmaParams) -> Reading[dict[str, Asked]]:
    looked = matchers('collector="infiniband"', instance=instances)
    return (
        yield from now_and_usual(
            {
                "states": series.values(series.STATES, instances),
                "rates": series.rates(series.RATES, instances, WINDOW),
            },
            {
                "looked": f"max by (instance) (node_scrape_collector_success{looked})",
                "ceiling": series.at_their_ceiling(instances),
            },
            params.usual,
        )
    )


def _none_found(answers: Mapping[str, Asked], exporters: Mapping[str, str]) -> bool | None:
    """False where Prometheus answered, and every exporter says that it looked for ports."""
    now = answers["states"].now
    empty = isinstance(now, Missing) and now.reason is Reason.EMPTY
    looked = {instance for (instance,) in answers["looked"].by("instance")}
    return False if empty and looked == set(exporters) else None


def _facts(ports: tuple[Port, ...], ceiling: Asked) -> Rdma:
    """Each mechanism, told of the port that departs most from its usual."""
    down = [port for port in ports if port.down]
    dead = max(down, key=lambda port: port.usual_traffic or 0.0, default=None)
    known = [port for port in ports if port.reported and port.lost_speed is not None]
    slow = max(known, key=lambda port: port.lost_speed or 0.0, default=None)
    busy = max(ports, key=lambda port: max(port.traffic or 0.0, port.usual_traffic or 0.0))
    carrying = [port.traffic_times for port in ports if port.carries and port.reported]
    least = min((times for times in carrying if times is not None), default=None)
    answered = not isinstance(ceiling.now, Missing) or ceiling.now.reason is Reason.EMPTY
    facts = Rdma(
        has_ports=True,
        ports_count=sum(port.reported for port in ports),
        down_ports_count=len(down) if all(port.state_known for port in ports) or down else None,
        down_port=dead.name if dead else None,
        down_port_state=dead.why_down if dead else None,
        lost_speed=slow.lost_speed if slow else None,
        lost_speed_port=slow.name if slow and slow.lost_speed else None,
        vanished_ports_count=sum(not port.reported for port in ports),
        traffic_bytes_per_second=busy.traffic,
        traffic_bytes_per_second_usual=busy.usual_traffic,
        traffic_times=least,
        saturated_count=len(ceiling.by(*series.PER_PORT, "kind")) if answered else None,
        ports=tuple(
            PortRow(
                port=port.name,
                active=port.active,
                losses_per_second=port.losses.now,
                notices_per_second=port.notices.now,
                traffic_bytes_per_second=port.traffic,
            )
            for port in ports
            if port.reported
        ),
    )
    return _with_errors(_with_waits(_with_losses(facts, ports), ports), ports)


def _with_losses(facts: Rdma, ports: tuple[Port, ...]) -> Rdma:
    counting = [port for port in ports if port.losses.now is not None]
    losing = max(counting, key=lambda port: port.losses.excess, default=None)
    noticing = [port for port in ports if port.notices.now is not None]
    told = max(noticing, key=lambda port: port.notices.excess, default=None)
    if losing:
        facts = replace(
            facts,
            loss_port=losing.name,
            losses_per_second=losing.losses.now,
            losses_per_second_usual=losing.losses.usual,
            losses_times=losing.losses.times,
            refused_per_second=losing.refused,
        )
    if told:
        facts = replace(
            facts,
            notice_port=told.name,
            notices_per_second=told.notices.now,
            notices_per_second_usual=told.notices.usual,
            cnp_times=told.notices.times,
            notices_say=told.notices_say,
        )
    return facts


def _with_waits(facts: Rdma, ports: tuple[Port, ...]) -> Rdma:
    waiting = [port for port in ports if port.wait_times is not None]
    most = max(waiting, key=lambda port: port.wait_times or 0.0, default=None)
    if most is None:
        return facts
    return replace(
        facts,
        wait_port=most.name,
        wait_times=most.wait_times,
        waiting_traffic_times=most.traffic_times,
    )


def _with_errors(facts: Rdma, ports: tuple[Port, ...]) -> Rdma:
    """A counter at its ceiling hides new errors: then only errors that others show count."""
    counting = [port for port in ports if port.errors.now is not None]
    worst = max(counting, key=lambda port: port.errors.excess, default=None)
    hidden = facts.saturated_count != 0
    if worst is None or (hidden and not worst.errors.now):
        return facts
    return replace(facts, errors_per_second=worst.errors.now, errors_times=worst.errors.times)


def _with_history(ports: tuple[Port, ...], facts: Rdma, params: RdmaParams) -> Reading[Rdma]:
    """What stands out, since when, and how much was lost meanwhile."""
    leading, port, names = leading_of(ports)
    loss = next((port for port in ports if port.name == facts.loss_port), None)
    text = (
        series.port_rates(names, port.key, ONSET_WINDOW) if names else series.port_state(port.key)
    )
    found, usually = yield from history(text, params.usual)
    lost, lost_usually = found, usually
    if loss and (port != loss or names != series.LOSSES):
        query = series.port_rates(series.LOSSES, loss.key, ONSET_WINDOW)
        lost, lost_usually = yield from history(query, params.usual)
    return replace(
        facts,
        port=port.name,
        leading=leading,
        leading_value=found[-1].value if found else None,
        leading_value_series=found,
        leading_value_usual_series=usually,
        lossy_ratio=_share(lost) if loss else None,
        burst_count=_burst(lost, lost_usually, loss) if loss else None,
    )


def _share(samples: Series | None) -> float | None:
    """The share of the last five minutes' samples above zero; None with a gap in them."""
    if not samples:
        return None
    last = [one.value for one in samples if one.at > samples[-1].at - JUST_NOW_SECONDS]
    if len(last) < JUST_NOW_SECONDS / STEP_SECONDS / 2:
        return None
    return sum(value > 0 for value in last) / len(last)


def _burst(samples: Series | None, usually: Series | None, port: Port) -> float | None:
    """How many more than usual in the whole history; unknown without a usual."""
    usual = port.losses.usual
    if not samples or usual is None:
        return None
    values = [one.value for one in usually or ()]
    quiet = max([usual, *values])
    return sum(max(0.0, one.value - quiet) for one in samples) * STEP_SECONDS
