"""RDMA counters: sysfs files, `rdma statistic`, `perfquery`, `ibqueryerrors`.

The names are those of sysfs for every tool. InfiniBand's own port counters stop at their ceiling
(linux: drivers/infiniband/core/sysfs.c, PORT_PMA_ATTR): a counter that stands there can't show a
new event, its increase is unknown.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.parse.json_text import document, objects
from tailhound_collectors.parse.lines import columns, complete, word
from tailhound_collectors.parse.numbers import (
    counter,
    integer,
    json_integer,
    multiplied,
    total,
    unsigned,
)
from tailhound_collectors.parse.tool import Parsed, absent, nothing

CEILINGS = {
    "symbol_error": 2**16 - 1,
    "link_error_recovery": 2**8 - 1,
    "link_downed": 2**8 - 1,
    "port_rcv_errors": 2**16 - 1,
    "port_rcv_remote_physical_errors": 2**16 - 1,
    "port_rcv_switch_relay_errors": 2**16 - 1,
    "port_xmit_discards": 2**16 - 1,
    "port_xmit_constraint_errors": 2**8 - 1,
    "port_rcv_constraint_errors": 2**8 - 1,
    "local_link_integrity_errors": 2**4 - 1,
    "excessive_buffer_overrun_errors": 2**4 - 1,
    "VL15_dropped": 2**16 - 1,
    "port_xmit_data": 2**32 - 1,
    "port_rcv_data": 2**32 - 1,
    "port_xmit_packets": 2**32 - 1,
    "port_rcv_packets": 2**32 - 1,
    "port_xmit_wait": 2**32 - 1,
}
ERRORS = (
    "symbol_error",
    "link_error_recovery",
    "link_downed",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "port_xmit_discards",
    "port_xmit_constraint_errors",
    "port_rcv_constraint_errors",
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
)
"""What counts as an error. Switch relay errors and dropped VL15 packets are normal operation."""

_WORD_BYTES = 4
PORT_GROUP = "counters"
"""InfiniBand's own counters; the other group is "hw_counters"."""

_SYSFS = re.compile(
    r"^(?:/sys/class/infiniband/([^/\s]{1,64})/ports/(\d{1,4})/)?(?:(counters|hw_counters)/)?"
    r"([^/\s:]{1,80}):(.{0,80})$"
)
_LINK = re.compile(r"^link ([^\s/]{1,64})/(\d{1,4})(?:\s(.*))?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """One counter since the port was last reset. `saturated`: at its ceiling; see the module."""

    name: str
    value: int | None
    saturated: bool = False
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortCounters:
    """The counters of one port. A counter that is not listed was not there: that is not 0.

    `sampling_seconds` is the driver's setting `lifespan`. `error_count` adds up the errors; None
    unless all of them were read.
    """

    device: str | None = None
    port: int | None = None
    lid: int | None = None
    guid: str | None = None
    all_ports: bool = False
    extended: bool = False
    counters: tuple[Counter, ...] = ()
    sampling_seconds: float | None = None
    xmit_bytes: int | None = None
    rcv_bytes: int | None = None
    error_count: int | None = None

    def value(self, name: str, group: str = "") -> int | None:
        """The counter of this name; None when it was not read."""
        found = (one for one in self.counters if one.name == name and group in ("", one.group))
        return next((one.value for one in found), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RdmaCounters:
    """The counters of the host's ports, or of those that the tool reports."""

    ports: tuple[PortCounters, ...]
    truncated: bool = False


def sysfs_counters(output: Output) -> Parsed:
    """RdmaCounters, from `grep -H "" .../ports/*/{counters,hw_counters}/*`."""
    lines, rest = complete(output.stdout)
    found: dict[tuple[str | None, str | None], dict[tuple[str, str], str]] = {}
    for line in lines:
        row = _SYSFS.match(line)
        if row and (row[3] or row[1] is None) and not line.startswith(("grep:", "cat:")):
            found.setdefault((row[1], row[2]), {})[row[3] or "", row[4]] = row[5]
    ports = tuple(
        _port(device, port, values)
        for (device, port), values in found.items()
        if any(integer(value) is not None for value in values.values())
    )
    if not ports:
        return nothing(output, "it has no line like .../counters/NAME:NUMBER")
    return RdmaCounters(ports=ports, truncated=rest)


def _port(
    device: str | None, port: str | None, values: Mapping[tuple[str, str], str]
) -> PortCounters:
    counters = tuple(
        counted(name, counter(value), group)
        for (group, name), value in values.items()
        if name != "lifespan"
    )
    milliseconds = next(
        (integer(value) for (_, name), value in values.items() if name == "lifespan"), None
    )
    return with_sums(
        PortCounters(
            device=word(device),
            port=int(port) if port else None,
            counters=counters,
            sampling_seconds=None if milliseconds is None else milliseconds / 1000,
        )
    )


def counted(name: str, value: int | None, group: str, *, wide: bool = False) -> Counter:
    """InfiniBand's own counters saturate; hardware counters and 64-bit ones do not."""
    narrow = group == PORT_GROUP and not wide
    at_top = narrow and value is not None and value == CEILINGS.get(name)
    return Counter(name=word(name) or "", value=value, saturated=at_top, group=group)


def with_sums(port: PortCounters) -> PortCounters:
    """With the sums: bytes (InfiniBand counts words of four), and all errors."""
    return PortCounters(
        device=port.device,
        port=port.port,
        lid=port.lid,
        guid=port.guid,
        all_ports=port.all_ports,
        extended=port.extended,
        counters=port.counters,
        sampling_seconds=port.sampling_seconds,
        xmit_bytes=multiplied(port.value("port_xmit_data", PORT_GROUP), _WORD_BYTES),
        rcv_bytes=multiplied(port.value("port_rcv_data", PORT_GROUP), _WORD_BYTES),
        error_count=total(port.value(name, PORT_GROUP) for name in ERRORS),
    )


def rdma_statistic(output: Output) -> Parsed:
    """RdmaCounters, from `rdma statistic show link`: JSON, one line a link, or -p."""
    found = document(output.stdout)
    if isinstance(found, Missing):
        lines, rest = complete(output.stdout)
        ports = tuple(_link_ports(lines))
        return RdmaCounters(ports=ports, truncated=rest) if ports else found
    ports = tuple(
        _hardware(
            item.text("ifname"),
            json_integer(item.get("port")),
            [(key, unsigned(json_integer(value))) for key, value in _as_printed(found.value, at)],
        )
        for at, item in enumerate(objects(found.value))
        if item.text("ifname")
    )
    if ports:
        return RdmaCounters(ports=ports)
    return (
        absent("no RDMA link on this host")
        if found.value == []
        else nothing(output, "it names no link")
    )


def _as_printed(links: object, at: int) -> Iterator[tuple[str, object]]:
    """The members of one link, with the names as rdma prints them."""
    listed = (
        [item for item in links if isinstance(item, Mapping)] if isinstance(links, list) else []
    )
    for key, value in listed[at].items():
        if key not in ("ifname", "ifindex", "port"):
            yield str(key), value


def _link_ports(lines: Iterable[str]) -> Iterator[PortCounters]:
    device, port, words = "", 0, list[str]()
    for line in lines:
        if head := _LINK.match(line.strip()):
            if device:
                yield _hardware(device, port, _paired(words))
            device, port, words = head[1], int(head[2]), columns(head[3] or "")
        elif device and line[:1].isspace():
            words += columns(line)
        elif device and line.strip():
            yield _hardware(device, port, _paired(words))
            device, words = "", []
    if device:
        yield _hardware(device, port, _paired(words))


def _paired(words: list[str]) -> list[tuple[str, int | None]]:
    """`name value name value`: a value is one only between a name and the next name."""
    found: list[tuple[str, int | None]] = []
    for at, name in enumerate(words[:-1]):
        after = words[at + 2] if at + 2 < len(words) else "end"
        if not name[0].isdigit() and words[at + 1][0].isdigit() and not after[0].isdigit():
            found.append((name, counter(words[at + 1])))
    return found


def _hardware(
    device: str | None, port: int | None, values: Iterable[tuple[str, int | None]]
) -> PortCounters:
    return PortCounters(
        device=word(device),
        port=port,
        counters=tuple(counted(name, value, "hw_counters") for name, value in values),
    )
