"""`lspci -vv`: the PCI Express links. Numbers are compared, never the words (ok), (downgraded)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tailhound.model import Missing, Reason
from tailhound.requests import Output
from tailhound_collectors.parse.lines import complete, word
from tailhound_collectors.parse.tool import Parsed, nothing

_HEAD = re.compile(
    r"^((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([^:]{1,120}): ?(.{0,300})"
)
_LINK = re.compile(
    r"^\s{1,16}Lnk(Cap|Sta):\s.{0,40}?Speed ([\d.]{1,6})GT/s(?: \((\w{1,12})\))?,"
    r" Width x(\d{1,2})(?: \((\w{1,12})\))?"
)
_BUS = re.compile(r"^\s{1,16}Bus: primary=[0-9a-f]{2}, secondary=([0-9a-f]{2}),")
_NUMA = re.compile(r"^\s{1,16}NUMA node: (\d{1,4})$")
_TYPE = re.compile(r"Express \(v\d\) ([A-Z][\w ()/-]{1,40}?)(?: \(Slot|,|$)")
_DRIVER = re.compile(r"^\s{1,16}Kernel driver in use: (\S{1,60})$")
_DENIED = "<access denied>"


@dataclass(frozen=True, slots=True, kw_only=True)
class PciLink:
    """One device's link: what it can do, what it does.

    `below_capability` alone is no fault: a fast port with a slow device says so for ever.
    `degraded` compares with both ends of the link; None when the other end is not in the output.
    """

    address: str | None = None
    kind: str | None = None
    name: str | None = None
    driver: str | None = None
    port_type: str | None = None
    numa_node: int | None = None
    secondary_bus: str | None = None
    max_gigatransfers: float | None = None
    max_width: int | None = None
    gigatransfers: float | None = None
    width: int | None = None
    speed_note: str | None = None
    width_note: str | None = None
    below_capability: bool | None = None
    degraded: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PciLinks:
    """The links in the output. `degraded`: one of them surely is; None when that is not known."""

    links: tuple[PciLink, ...]
    degraded: bool | None
    truncated: bool = False


def lspci(output: Output) -> Parsed:
    """PciLinks; FORBIDDEN when lspci was not allowed to read the capabilities."""
    lines, rest = complete(output.stdout)
    links = tuple(_device(head, block) for head, block in _devices(lines))
    known = [link for link in links if link.width is not None]
    if not known:
        if _DENIED in output.stdout:
            return Missing(
                Reason.FORBIDDEN,
                "permission_denied: lspci shows capabilities only to root: run it through its "
                "sudoers line",
            )
        return nothing(output, "it has no LnkSta line (lspci -vv)")
    judged = _judged(links)
    return PciLinks(links=judged, degraded=_any(link.degraded for link in judged), truncated=rest)


def _devices(lines: Sequence[str]) -> Iterator[tuple[re.Match[str] | None, list[str]]]:
    """Each device's first line and what is indented under it; an excerpt may have no first line."""
    head: re.Match[str] | None = None
    block: list[str] = []
    for line in lines:
        if found := _HEAD.match(line):
            if head or block:
                yield head, block
            head, block = found, []
        elif line.startswith(("\t", " ")):
            block.append(line)
        elif line.strip() and block:
            yield head, block
            head, block = None, []
    if head or block:
        yield head, block


def _device(head: re.Match[str] | None, block: Sequence[str]) -> PciLink:
    found = {row[1]: row for line in block if (row := _LINK.match(line))}
    cap, sta = found.get("Cap"), found.get("Sta")
    link = PciLink(
        address=head[1] if head else None,
        kind=word(head[2]) if head else None,
        name=word(head[3]) if head else None,
        driver=_first(_DRIVER, block),
        port_type=word(_search(_TYPE, block)),
        numa_node=_whole(_first(_NUMA, block)),
        secondary_bus=_first(_BUS, block),
        max_gigatransfers=float(cap[2]) if cap else None,
        max_width=int(cap[4]) if cap else None,
        gigatransfers=float(sta[2]) if sta else None,
        width=int(sta[4]) if sta else None,
        speed_note=sta[3] if sta else None,
        width_note=sta[5] if sta else None,
    )
    return replace(link, below_capability=_below(link, link))


def _first(pattern: re.Pattern[str], block: Sequence[str]) -> str | None:
    return next((found[1] for line in block if (found := pattern.match(line))), None)


def _search(pattern: re.Pattern[str], block: Sequence[str]) -> str | None:
    return next((found[1] for line in block if (found := pattern.search(line[:200]))), None)


def _whole(text: str | None) -> int | None:
    return None if text is None else int(text)


def _below(link: PciLink, other: PciLink) -> bool | None:
    """Whether the link runs below what both ends can do."""
    if link.gigatransfers is None or link.width is None:
        return None
    speeds, widths = (
        (link.max_gigatransfers, other.max_gigatransfers),
        (
            link.max_width,
            other.max_width,
        ),
    )
    if None in speeds or None in widths:
        return None
    best_speed = min(speed for speed in speeds if speed is not None)
    best_width = min(width for width in widths if width is not None)
    return link.gigatransfers < best_speed or link.width < best_width


def _judged(links: tuple[PciLink, ...]) -> tuple[PciLink, ...]:
    """Each link against its other end: the port above it, or the device behind it."""
    behind: dict[str, list[PciLink]] = {}
    above = {_bus_of(link.secondary_bus, link): link for link in links if link.secondary_bus}
    for link in links:
        if link.address:
            behind.setdefault(_bus(link.address), []).append(link)
    return tuple(replace(link, degraded=_degraded(link, above, behind)) for link in links)


def _degraded(
    link: PciLink, above: Mapping[str, PciLink], behind: Mapping[str, list[PciLink]]
) -> bool | None:
    if link.below_capability is not True:
        return link.below_capability
    other = _other_end(link, above, behind)
    return None if other is None else _below(link, other)


def _other_end(
    link: PciLink, above: Mapping[str, PciLink], behind: Mapping[str, list[PciLink]]
) -> PciLink | None:
    """A port's link leads down, except that of a switch's upstream port."""
    if link.address is None:
        return None
    upstream = (link.port_type or "").startswith("Upstream")
    if link.secondary_bus is None or upstream:
        return above.get(_bus(link.address))
    children = behind.get(_bus_of(link.secondary_bus, link), [])
    unclear = link.port_type is None and any(child.secondary_bus for child in children)
    return children[0] if children and not unclear else None


def _bus(address: str) -> str:
    """0000:17 of 0000:17:00.0; without a domain it is domain 0."""
    parts = address.rsplit(":", 1)[0]
    return parts if ":" in parts else f"0000:{parts}"


def _bus_of(bus: str | None, link: PciLink) -> str:
    domain = _bus(link.address).split(":")[0] if link.address else "0000"
    return f"{domain}:{bus}"


def _any(values: Iterator[bool | None]) -> bool | None:
    seen = set(values)
    if True in seen:
        return True
    return None if None in seen or not seen else False
