"""InfiniBand counters out of management packets: `perfquery` and `ibqueryerrors`."""

import re
from collections.abc import Mapping

from tailhound.requests import Output
from tailhound_collectors.parse.ib_counters import (
    PORT_GROUP,
    PortCounters,
    RdmaCounters,
    counted,
    with_sums,
)
from tailhound_collectors.parse.lines import complete
from tailhound_collectors.parse.numbers import counter, integer
from tailhound_collectors.parse.tool import Parsed, nothing

_SYSFS_NAMES = {
    "SymbolErrorCounter": "symbol_error",
    "LinkErrorRecoveryCounter": "link_error_recovery",
    "LinkDownedCounter": "link_downed",
    "PortRcvErrors": "port_rcv_errors",
    "PortRcvRemotePhysicalErrors": "port_rcv_remote_physical_errors",
    "PortRcvSwitchRelayErrors": "port_rcv_switch_relay_errors",
    "PortXmitDiscards": "port_xmit_discards",
    "PortXmitConstraintErrors": "port_xmit_constraint_errors",
    "PortRcvConstraintErrors": "port_rcv_constraint_errors",
    "LocalLinkIntegrityErrors": "local_link_integrity_errors",
    "ExcessiveBufferOverrunErrors": "excessive_buffer_overrun_errors",
    "VL15Dropped": "VL15_dropped",
    "PortXmitData": "port_xmit_data",
    "PortRcvData": "port_rcv_data",
    "PortXmitPkts": "port_xmit_packets",
    "PortRcvPkts": "port_rcv_packets",
    "PortUnicastXmitPkts": "unicast_xmit_packets",
    "PortUnicastRcvPkts": "unicast_rcv_packets",
    "PortMulticastXmitPkts": "multicast_xmit_packets",
    "PortMulticastRcvPkts": "multicast_rcv_packets",
    "PortXmitWait": "port_xmit_wait",
}
_SETTINGS = frozenset({"PortSelect", "CounterSelect", "CounterSelect2"})
_HEADER = re.compile(r"^# Port (extended )?counters: Lid (\d{1,6}) port (\d{1,4})")
_DOTTED = re.compile(r"^(\w{1,60}):\.{1,60}(\S{1,40})$")
_QUERY = re.compile(r"^\s{0,8}GUID (0x[0-9a-fA-F]{1,16}) port (\w{1,8}):(.*)$")
_BOX = re.compile(r"\[(\w{1,60}) == (\S{1,40}) \(")


def perfquery(output: Output) -> Parsed:
    """RdmaCounters. A block begins at its header, or at PortSelect where the header is cut.

    A last block with fewer counters than the first was cut.
    """
    lines, rest = complete(output.stdout)
    found: list[tuple[re.Match[str] | None, dict[str, str]]] = []
    for line in lines:
        header, row = _HEADER.match(line), _DOTTED.match(line)
        if header:
            found.append((header, {}))
        elif row and (not found or row[1] in found[-1][1]):
            found.append((None, {row[1]: row[2]}))
        elif row:
            found[-1][1][row[1]] = row[2]
    ports = tuple(_queried(header, values) for header, values in found if values)
    if not ports:
        return nothing(output, "it has no counter")
    shorter = bool(found[0][1].keys() - found[-1][1].keys())
    return RdmaCounters(ports=ports, truncated=rest or shorter)


def _queried(header: re.Match[str] | None, values: Mapping[str, str]) -> PortCounters:
    wide = bool(header and header[1]) or "PortUnicastXmitPkts" in values
    port = integer(values.get("PortSelect", ""))
    counters = tuple(
        counted(_SYSFS_NAMES.get(name, name), counter(value), PORT_GROUP, wide=wide)
        for name, value in values.items()
        if name not in _SETTINGS
    )
    return with_sums(
        PortCounters(
            lid=int(header[2]) if header else None,
            port=port if port is not None else int(header[3]) if header else None,
            extended=wide,
            counters=counters,
        )
    )


def query_errors(output: Output) -> Parsed:
    """RdmaCounters of the ports above their threshold, from `ibqueryerrors`. Exit code 1 is usual.

    A counter that is not printed is below the threshold or was not asked for: not 0.
    """
    lines, rest = complete(output.stdout)
    rows = [row for line in lines if (row := _QUERY.match(line))]
    ports = tuple(
        with_sums(
            PortCounters(
                guid=row[1],
                port=integer(row[2]),
                all_ports=row[2] == "ALL",
                counters=tuple(
                    counted(_SYSFS_NAMES.get(name, name), value, PORT_GROUP, wide=row[2] == "ALL")
                    for name, shown in _BOX.findall(row[3])
                    if (value := counter(shown)) is not None
                ),
            )
        )
        for row in rows
    )
    if ports:
        return RdmaCounters(ports=ports, truncated=rest)
    return nothing(output, "it names no port with errors")
