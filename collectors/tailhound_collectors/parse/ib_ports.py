"""RDMA ports: `ibstat`, `ibstatus`, `ibv_devinfo`, `rdma link show`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.parse.json_text import document, objects
from tailhound_collectors.parse.lines import agreed, columns, complete, pairs, word
from tailhound_collectors.parse.numbers import based, decimal, integer, json_integer
from tailhound_collectors.parse.tool import Parsed, absent, nothing

_NONE = "no RDMA device on this host"
_QUOTED = re.compile(r"^(?:CA:?|Infiniband device) '([^']{0,64})'")
_PORT = re.compile(r"^Port (\d{1,4}):$")
_STATUS_HEAD = re.compile(r"^Infiniband device '([^']{1,64})' port (\d{1,4}) status:$")
_NUMBERED = re.compile(r"^(\d{1,3}): (.{1,60})$")
_RATE = re.compile(r"^([\d.,]{1,12}) Gb/sec(?: \((\d{1,3}X) (\w{1,10})\))?$")
_PANIC = re.compile(r"stat of IB device '([^']{1,64})' failed")
_LINK = re.compile(r"^(?:\d+: )?link ([^\s/]{1,64})/(\d{1,4}) (.{1,400})$")


@dataclass(frozen=True, slots=True, kw_only=True)
class RdmaPort:
    """One port of an RDMA device.

    `shown_rate_gbps` is what the tool prints, also for a port that is down, where it is a default.
    `rate_gbps` is None unless the link is up. `state` and `physical_state` are the tool's words;
    `active` and `link_up` say the same for every tool.
    """

    device: str
    port: int | None
    state: str | None = None
    physical_state: str | None = None
    active: bool | None = None
    link_up: bool | None = None
    shown_rate_gbps: float | None = None
    rate_gbps: float | None = None
    width: str | None = None
    speed: str | None = None
    link_layer: str | None = None
    base_lid: int | None = None
    sm_lid: int | None = None
    netdev: str | None = None
    model: str | None = None
    firmware: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RdmaPorts:
    """The RDMA ports of a host. `failed_device` stopped ibstat: ports after it are not known."""

    ports: tuple[RdmaPort, ...]
    failed_device: str | None = None
    truncated: bool = False


def ibstat(output: Output) -> Parsed:
    """RdmaPorts. ibstat stops at the first device that it can't read; what it printed is kept."""
    lines, rest = complete(output.stdout)
    panic = _PANIC.search(f"{output.stdout[-4096:]}\n{output.stderr[:4096]}")
    ports = tuple(_ibstat_ports(lines))
    if not ports and not panic:
        return _no_ports(output)
    return RdmaPorts(
        ports=ports,
        failed_device=word(panic[1]) if panic else None,
        truncated=rest or panic is not None,
    )


def _no_ports(output: Output) -> Missing:
    silent = not output.stdout.strip() and not output.stderr.strip() and output.exit_code == 0
    if silent or "No devices" in output.stdout:
        return absent(_NONE)
    return nothing(output, "it names no port")


def _ibstat_ports(lines: Sequence[str]) -> Iterator[RdmaPort]:
    """The lines of each port, with those of its device before them."""
    device, about = "", list[str]()
    block: list[str] | None = None
    for raw in (*lines, "CA ''"):
        line = raw.strip()
        named, number = _QUOTED.match(line), _PORT.match(line)
        if (named or number) and block is not None and device:
            yield _ibstat_port(device, block, about)
        if named:
            device, about, block = named[1], [], None
        elif number:
            block = [f"port: {number[1]}"]
        elif not line.startswith("ibpanic"):
            (about if block is None else block).append(line)


def _ibstat_port(device: str, block: Sequence[str], about: Sequence[str]) -> RdmaPort:
    adapter, fields = agreed(pairs(about)), agreed(pairs(block))
    state, physical = word(fields.get("state")), word(fields.get("physicalstate"))
    return RdmaPort(
        device=word(device) or "",
        port=integer(fields.get("port", "")),
        state=state,
        physical_state=physical,
        **_up(state, physical),
        **_rates(decimal(fields.get("rate", "")), physical),
        link_layer=word(fields.get("linklayer")),
        base_lid=integer(fields.get("baselid", "")),
        sm_lid=integer(fields.get("smlid", "")),
        model=word(adapter.get("catype")),
        firmware=word(adapter.get("firmwareversion")),
    )


def _up(state: str | None, physical: str | None) -> dict[str, Any]:
    """`Active`, `4: ACTIVE`, `PORT_ACTIVE` are one state; an unknown word is not a state."""
    plain = (state or "").upper().removeprefix("PORT_")
    linked = (physical or "").upper().replace("_", "")
    states = ("ACTIVE", "DOWN", "INIT", "INITIALIZING", "ARMED", "ACTIVEDEFER", "ACTIVE_DEFER")
    physicals = ("LINKUP", "POLLING", "DISABLED", "SLEEP", "LINKERRORRECOVERY", "PHYTEST", "TEST")
    training = "PORTCONFIGURATIONTRAINING"
    return {
        "active": plain == "ACTIVE" if plain in states else None,
        "link_up": linked == "LINKUP" if linked in (*physicals, training) else None,
    }


def _rates(shown: float | None, physical: str | None) -> dict[str, Any]:
    up = _up(None, physical)["link_up"]
    return {"shown_rate_gbps": shown, "rate_gbps": shown if up else None}


def ibstatus(output: Output) -> Parsed:
    """RdmaPorts, from the script that reads sysfs."""
    lines, rest = complete(output.stdout)
    blocks: list[tuple[str, int, list[str]]] = []
    for line in lines:
        if head := _STATUS_HEAD.match(line):
            blocks.append((head[1], int(head[2]), []))
        elif blocks:
            blocks[-1][2].append(line)
    if not blocks:
        return _no_ports(output)
    ports = tuple(_status_port(device, port, block) for device, port, block in blocks)
    return RdmaPorts(ports=ports, truncated=rest)


def _status_port(device: str, port: int, block: Sequence[str]) -> RdmaPort:
    fields = agreed(pairs(block))
    state, physical = _named(fields.get("state")), _named(fields.get("physstate"))
    rate = _RATE.match(fields.get("rate", ""))
    return RdmaPort(
        device=word(device) or "",
        port=port,
        state=state,
        physical_state=physical,
        **_up(state, physical),
        **_rates(decimal(rate[1]) if rate else None, physical),
        width=rate[2] if rate else None,
        speed=rate[3] if rate else None,
        link_layer=word(fields.get("linklayer")),
        base_lid=based(fields.get("baselid", "")),
        sm_lid=based(fields.get("smlid", "")),
    )


def _named(text: str | None) -> str | None:
    """ACTIVE of `4: ACTIVE`."""
    found = _NUMBERED.match(text or "")
    return word(found[2]) if found else None


def ibv_devinfo(output: Output) -> Parsed:
    """RdmaPorts, from ibv_devinfo with or without -v (only -v knows the physical state)."""
    lines, rest = complete(output.stdout)
    ports: list[RdmaPort] = []
    adapter: dict[str, str] = {}
    for key, value, block in _devinfo_blocks(lines):
        if key == "hca_id":
            adapter = {"hca_id": value, **agreed(pairs(block))}
        elif adapter:
            ports.append(_devinfo_port(adapter, integer(value), agreed(pairs(block))))
    return RdmaPorts(ports=tuple(ports), truncated=rest) if ports else _no_ports(output)


def _devinfo_blocks(lines: Sequence[str]) -> Iterator[tuple[str, str, list[str]]]:
    key, value, block = "", "", list[str]()
    for line in lines:
        name, colon, rest = line.strip().partition(":")
        if colon and name in ("hca_id", "port"):
            if key:
                yield key, value, block
            key, value, block = name, rest.strip(), []
        else:
            block.append(line)
    if key:
        yield key, value, block


def _devinfo_port(
    adapter: Mapping[str, str], port: int | None, fields: Mapping[str, str]
) -> RdmaPort:
    state = _bracketed(fields.get("state"))
    physical = _bracketed(fields.get("physstate"))
    speed = _bracketed(fields.get("activespeed"))
    return RdmaPort(
        device=word(adapter["hca_id"]) or "",
        port=port,
        state=state,
        physical_state=physical,
        **_up(state, physical),
        width=_bracketed(fields.get("activewidth")),
        speed=speed,
        link_layer=word(fields.get("linklayer")),
        base_lid=integer(fields.get("portlid", "")),
        sm_lid=integer(fields.get("smlid", "")),
        firmware=word(adapter.get("fwver")),
    )


def _bracketed(text: str | None) -> str | None:
    """PORT_ACTIVE of `PORT_ACTIVE (4)`."""
    return word((text or "").partition(" (")[0])


def rdma_link(output: Output) -> Parsed:
    """RdmaPorts, from `rdma link show`, as JSON (-j) or text."""
    found = document(output.stdout)
    if isinstance(found, Missing):
        lines, rest = complete(output.stdout)
        rows = [_link_row(row) for line in lines if (row := _LINK.match(line.strip()))]
        ports = tuple(port for port in rows if port is not None)
        return RdmaPorts(ports=ports, truncated=rest) if ports else found
    ports = tuple(
        _link_port(
            item.text("ifname") or "",
            json_integer(item.get("port")),
            {key: value for key, value in item.items() if isinstance(value, str)},
        )
        for item in objects(found.value)
        if item.text("ifname") and "state" in item
    )
    if ports:
        return RdmaPorts(ports=ports)
    return absent(_NONE) if found.value == [] else nothing(output, "it names no link")


def _link_row(row: re.Match[str]) -> RdmaPort | None:
    words = columns(row[3])
    fields = dict(zip(words[::2], words[1::2], strict=False))
    flat = {key.replace("_", ""): value for key, value in fields.items()}
    return _link_port(row[1], int(row[2]), flat) if "state" in fields else None


def _link_port(device: str, port: int | None, fields: Mapping[str, str]) -> RdmaPort:
    state, physical = word(fields.get("state")), word(fields.get("physicalstate"))
    return RdmaPort(
        device=word(device) or "",
        port=port,
        state=state,
        physical_state=physical,
        **_up(state, physical),
        netdev=word(fields.get("netdev")),
    )
