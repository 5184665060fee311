"""The series of RDMA ports: which node_exporter counts, and the questions about them."""

from collections.abc import Iterable, Mapping

from tailhound.requests.prometheus import matchers
from tailhound_collectors.parse.ib_counters import CEILINGS

PREFIX = "node_infiniband_"
PER_PORT = ("instance", "device", "port")
_BY = ", ".join(PER_PORT)

REFUSED = ("packet_sequence_errors_total", "local_ack_timeout_errors_total")
"""What a sender counts: the other side asked for a packet again, or never acknowledged it."""

LOSSES = (
    *REFUSED,
    "implied_nak_seq_errors_total",
    "out_of_sequence_packets_received_total",
)
"""Signs that packets were lost. Out of sequence alone may be adaptive routing."""

ERRORS = (
    "port_errors_received_total",
    "port_discards_transmitted_total",
    "symbol_error_total",
    "link_error_recovery_total",
)
"""InfiniBand's own counters of a bad link. They stop at their ceiling."""

TOLD, TELLING = "rp_cnp_packets_handled_total", "np_cnp_packets_sent_total"
"""Congestion notices: this port was told to slow down; this port told others to."""

NOTICES = (TOLD, TELLING)
WAIT = "port_transmit_wait_total"
TRAFFIC = ("port_data_transmitted_bytes_total", "port_data_received_bytes_total")
RATES = (*LOSSES, *ERRORS, *NOTICES, WAIT, *TRAFFIC)
STATES = ("state_id", "physical_state_id", "rate_bytes_per_second")

CEILING_OF = {
    "port_errors_received_total": CEILINGS["port_rcv_errors"],
    "port_discards_transmitted_total": CEILINGS["port_xmit_discards"],
    "symbol_error_total": CEILINGS["symbol_error"],
    "link_error_recovery_total": CEILINGS["link_error_recovery"],
}
WIDEST_CEILING = 2**32 - 1
"""Where the driver keeps 32 bits of them, that is the ceiling."""

ACTIVE = 4.0
"""`state_id` of a port that carries traffic."""

PHYSICAL = {1: "sleeping", 2: "no signal from the other end", 3: "switched off", 6: "recovering"}
"""`physical_state_id` in words, where it says why a port is down."""


def rates(names: Iterable[str], instances: tuple[str, ...], window: str) -> str:
    """The rates of several counters by port, told apart by the label `kind`."""
    here = matchers(instance=instances)
    return " or ".join(_kind(f"rate({PREFIX}{name}{here}[{window}])", name) for name in names)


def values(names: Iterable[str], instances: tuple[str, ...]) -> str:
    """The values of several series by port, told apart by the label `kind`."""
    here = matchers(instance=instances)
    return " or ".join(_kind(f"{PREFIX}{name}{here}", name) for name in names)


def at_their_ceiling(instances: tuple[str, ...]) -> str:
    """The error counters that can't grow any more."""
    here = matchers(instance=instances)
    tops: Mapping[str, tuple[int, int]] = {
        name: (top, WIDEST_CEILING) for name, top in CEILING_OF.items()
    }
    return " or ".join(
        _kind(f"({PREFIX}{name}{here} == {top})", name)
        for name, both in tops.items()
        for top in both
    )


def _kind(selected: str, name: str) -> str:
    return f'label_replace(sum by ({_BY}) ({selected}), "kind", "{name}", "", "")'


def port_rates(names: Iterable[str], port: tuple[str, ...], window: str) -> str:
    """The sum of the rates of several counters of one port."""
    here = matchers(**dict(zip(PER_PORT, port, strict=True)))
    found = " or ".join(_kind(f"rate({PREFIX}{name}{here}[{window}])", name) for name in names)
    return f"sum ({found})"


def port_state(port: tuple[str, ...]) -> str:
    """The state of one port."""
    return f"max ({PREFIX}state_id{matchers(**dict(zip(PER_PORT, port, strict=True)))})"
