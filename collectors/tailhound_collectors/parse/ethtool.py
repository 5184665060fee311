"""`ethtool IF` and `ethtool -S IF`."""

from dataclasses import dataclass

from tailhound.requests import Output
from tailhound_collectors.parse.lines import agreed, complete, pairs, word, yes_no
from tailhound_collectors.parse.numbers import counter, decimal, scaled
from tailhound_collectors.parse.tool import Parsed, nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class NicCounter:
    """One statistic under the driver's own name."""

    name: str
    value: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NicStatistics:
    """The driver's counters. One that is not listed does not exist here (prio counters: no PFC)."""

    counters: tuple[NicCounter, ...]
    truncated: bool = False

    def value(self, name: str) -> int | None:
        """The counter of this name; None when it was not there."""
        return next((one.value for one in self.counters if one.name == name), None)


def statistics(output: Output) -> Parsed:
    """NicStatistics. A name may hold a colon (`rxq0: rx_bytes: 1`): the last one divides."""
    lines, rest = complete(output.stdout)
    found: list[NicCounter] = []
    for line in lines:
        name, colon, shown = line.rpartition(":")
        value = counter(shown)
        if colon and name.strip() and value is not None:
            found.append(NicCounter(name=word(name) or "", value=value))
    if not found:
        return nothing(output, "it has no line like NAME: NUMBER")
    return NicStatistics(counters=tuple(found), truncated=rest)


_SPEEDS = {"Mb/s": "1000000", "Gb/s": "1000000000"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NicLink:
    """The link of a network interface. An unknown speed (virtual NICs, no link) is None."""

    interface: str | None
    link_detected: bool | None = None
    speed_bits_per_second: float | None = None
    full_duplex: bool | None = None
    auto_negotiation: bool | None = None
    port: str | None = None
    truncated: bool = False


def link(output: Output) -> Parsed:
    """NicLink."""
    lines, rest = complete(output.stdout)
    if not any(line.startswith("Settings for ") for line in lines):
        return nothing(output, "it does not begin with `Settings for`")
    head = next(line for line in lines if line.startswith("Settings for "))
    fields = agreed(pairs(line for line in lines if line.startswith(("\t", " "))))
    return NicLink(
        interface=word(head.removeprefix("Settings for ").removesuffix(":")),
        link_detected=yes_no(fields.get("linkdetected", "").partition(" (")[0]),
        speed_bits_per_second=_speed(fields.get("speed", "")),
        full_duplex=yes_no(fields.get("duplex", ""), "Full", "Half"),
        auto_negotiation=yes_no(fields.get("autonegotiation", ""), "on", "off"),
        port=word(fields.get("port")),
        truncated=rest,
    )


def _speed(text: str) -> float | None:
    unit = text[-4:]
    return scaled(decimal(text[:-4]), _SPEEDS[unit]) if unit in _SPEEDS else None
