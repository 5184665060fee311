"""What the hosts themselves say of their RDMA ports: link state, and hardware counters twice.

`ibstat` and `rdma link` tell the state; the counters come from `rdma statistic`, or from sysfs
where that tool is missing. InfiniBand's own counters in `ports/*/counters` are left alone: on
functions that a fabric manager owns, reading them floods the kernel log.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tailhound.flow import Reading, together
from tailhound.model import Missing, Reason
from tailhound.requests import Output, RunOnHost
from tailhound_collectors.parse.ib_counters import (
    PortCounters,
    RdmaCounters,
    rdma_statistic,
    sysfs_counters,
)
from tailhound_collectors.parse.ib_ports import RdmaPort, RdmaPorts, ibstat, rdma_link
from tailhound_collectors.parse.tool import Parsed
from tailhound_collectors.reading import side_by_side

HOSTS_AT_MOST = 4
"""So many hosts are asked: our own default, because each is read twice."""

PORTS_AT_MOST = 16
REFUSED = (
    "packet_seq_err",
    "local_ack_timeout_err",
    "rcvd_seq_err",
    "retry_exceeded_err",
    "seq_err_naks_rcvd",
    "to_retransmits",
)
"""What a sender counts, by mlx5, soft-RoCE and bnxt_re."""

LOSSES = (
    *REFUSED,
    "implied_nak_seq_err",
    "out_of_sequence",
    "out_of_seq_request",
    "oos_drop_count",
)
NOTICES = ("rp_cnp_handled", "np_cnp_sent")
STUCK = frozenset({2**32 - 1, 2**64 - 1})
"""Values at which a counter can't grow any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostParams:
    """Which nodes, by their Kubernetes names; the first four are asked."""

    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPortRow:
    """One port of one host. `losses_count` is the increase between the two readings."""

    port: str
    active: bool | None = None
    state: str | None = None
    physical_state: str | None = None
    losses_count: float | None = None
    notices_count: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRdma:
    """The RDMA ports of the hosts that answered.

    `has_ports`: false only where every host said that it has none. The counts are increases
    between two readings, ten seconds apart unless configured, of the port that lost most; a counter
    that went down or stands at its end is None. `dark_ports_count` are ports without a signal: an
    unused port looks the same.
    """

    has_ports: bool | None = None
    hosts_count: int | None = None
    ports_count: int | None = None
    inactive_ports_count: int | None = None
    dark_ports_count: int | None = None
    port: str | None = None
    losses_count: float | None = None
    refused_count: float | None = None
    notices_count: float | None = None
    saturated_count: int | None = None
    ports: tuple[HostPortRow, ...] | None = None


class HostRdmaCollector:
    """`ssh.rdma_ports`: ibstat, `rdma link`, and the hardware counters twice."""

    name = "ssh.rdma_ports"
    params = HostParams
    facts = HostRdma

    def collect(self, params: HostParams) -> Reading[HostRdma]:
        """All hosts at the same time."""
        hosts = params.nodes[:HOSTS_AT_MOST]
        found = yield from side_by_side(_host(host) for host in hosts)
        return _facts(found, all_asked=len(hosts) == len(params.nodes))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Port:
    host: str
    link: RdmaPort
    losses: float | None
    refused: float | None
    notices: float | None
    stuck: int

    @property
    def name(self) -> str:
        return f"{self.host} {self.link.device}/{self.link.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Host:
    """`has_ports` None: the host did not say."""

    has_ports: bool | None
    ports: tuple[_Port, ...] = ()


def _host(host: str) -> Reading[_Host]:
    """One host: its ports, and how its counters grew."""
    links = yield from together(
        [
            RunOnHost(host=host, argv=("ibstat",)),
            RunOnHost(host=host, argv=("rdma", "-j", "link", "show")),
        ]
    )
    told = [_parsed(ibstat, links[0]), _parsed(rdma_link, links[1])]
    ports = _joined([one for one in told if isinstance(one, RdmaPorts)])
    if not ports:
        nothing = any(
            isinstance(one, Missing) and one.reason is Reason.NOT_APPLICABLE for one in told
        )
        return _Host(has_ports=False if nothing else None)
    first, second = yield from _counters(host, ports)
    return _Host(
        has_ports=True,
        ports=tuple(_port(host, link, _of(first, link), _of(second, link)) for link in ports),
    )


def _joined(told: Sequence[RdmaPorts]) -> tuple[RdmaPort, ...]:
    """Each port once, as the first tool tells it that knows its state."""
    found: dict[tuple[str, int | None], RdmaPort] = {}
    for ports in told:
        for port in ports.ports:
            key = (port.device, port.port)
            if key not in found or found[key].active is None:
                found[key] = port
    return tuple(found[key] for key in sorted(found, key=str))[:PORTS_AT_MOST]


def _parsed(parse: Callable[[Output], Parsed], reply: Output | Missing) -> Parsed:
    return reply if isinstance(reply, Missing) else parse(reply)


Counters = tuple[PortCounters, ...]


def _counters(host: str, ports: Sequence[RdmaPort]) -> Reading[tuple[Counters, Counters]]:
    """Both readings, through netlink, else through sysfs."""
    argv = ("rdma", "-j", "statistic", "show", "link")
    (reply,) = yield from together([RunOnHost(host=host, argv=argv, twice=True)])
    both = _readings([reply], netlink=True)
    if both[0]:
        return both
    folders = [
        f"/sys/class/infiniband/{port.device}/ports/{port.port}/hw_counters"
        for port in ports
        if port.port is not None
    ]
    replies = yield from together(
        RunOnHost(host=host, argv=("grep", "-rsH", "", folder), twice=True) for folder in folders
    )
    return _readings(replies, netlink=False)


def _readings(replies: Iterable[Output | Missing], *, netlink: bool) -> tuple[Counters, Counters]:
    read = rdma_statistic if netlink else sysfs_counters
    first: list[PortCounters] = []
    second: list[PortCounters] = []
    for reply in replies:
        if isinstance(reply, Missing) or reply.second is None:
            continue
        before, after = read(reply), read(reply.second)
        if isinstance(before, RdmaCounters) and isinstance(after, RdmaCounters):
            first += before.ports
            second += after.ports
    return tuple(first), tuple(second)


def _of(counters: Counters, link: RdmaPort) -> PortCounters | None:
    return next((c for c in counters if (c.device, c.port) == (link.device, link.port)), None)


def _port(
    host: str, link: RdmaPort, before: PortCounters | None, after: PortCounters | None
) -> _Port:
    def grown(names: Iterable[str]) -> float | None:
        return _grown(names, before, after)

    stuck = sum(c.saturated or c.value in STUCK for c in after.counters) if after else 0
    return _Port(
        host=host,
        link=link,
        losses=grown(LOSSES),
        refused=grown(REFUSED),
        notices=grown(NOTICES),
        stuck=stuck,
    )


def _grown(
    names: Iterable[str], before: PortCounters | None, after: PortCounters | None
) -> float | None:
    """The increase of those counters that are there; None when one of them can't tell."""
    if before is None or after is None:
        return None
    total, seen = 0.0, False
    for name in names:
        old, new = before.value(name), after.value(name)
        if old is None and new is None:
            continue
        if old is None or new is None or new < old or new in STUCK:
            return None
        total, seen = total + (new - old), True
    return total if seen else None


def _facts(found: Sequence[_Host], *, all_asked: bool) -> HostRdma:
    answered = [host for host in found if host.has_ports is not None]
    ports = [port for host in found for port in host.ports]
    if not ports:
        none = all_asked and bool(found) and len(answered) == len(found)
        return HostRdma(has_ports=False if none else None, hosts_count=len(answered) or None)
    counting = [port for port in ports if port.losses is not None]
    worst = max(counting, key=lambda port: port.losses or 0.0, default=None)
    complete = len(counting) == len(ports) and len(answered) == len(found)
    losses = worst.losses if worst and (complete or worst.losses) else None
    states = [port.link.active for port in ports]
    return HostRdma(
        has_ports=True,
        hosts_count=len(answered),
        ports_count=len(ports),
        inactive_ports_count=None if None in states else states.count(False),
        dark_ports_count=sum((p.link.physical_state or "").upper() == "POLLING" for p in ports),
        port=worst.name if worst else None,
        losses_count=losses,
        refused_count=worst.refused if worst else None,
        notices_count=max((p.notices for p in ports if p.notices is not None), default=None),
        saturated_count=sum(port.stuck for port in ports),
        ports=tuple(
            HostPortRow(
                port=port.name,
                active=port.link.active,
                state=port.link.state,
                physical_state=port.link.physical_state,
                losses_count=port.losses,
                notices_count=port.notices,
            )
            for port in ports
        ),
    )
