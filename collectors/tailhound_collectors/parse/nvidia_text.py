"""`nvidia-smi -q`: an indented listing. Its section of clock reasons changed its name with R535."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tailhound.requests import Output
from tailhound_collectors.parse import gpu as known
from tailhound_collectors.parse.gpu import Gpu
from tailhound_collectors.parse.lines import complete, indent, word
from tailhound_collectors.parse.tool import Parsed, nothing

_GPU = re.compile(r"^GPU ([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])$")
_DEEPEST = 12
_REASONS = ("Clocks Event Reasons", "Clocks Throttle Reasons")
_NAMES = {
    "idle": "Idle",
    "applications_clocks": "Applications Clocks Setting",
    "sw_power_cap": "SW Power Cap",
    "hw_slowdown": "HW Slowdown",
    "hw_thermal": "HW Thermal Slowdown",
    "hw_power_brake": "HW Power Brake Slowdown",
    "sync_boost": "Sync Boost",
    "sw_thermal": "SW Thermal Slowdown",
}
Path = tuple[str, ...]
Listing = dict[Path, str]


def query_text(output: Output) -> Parsed:
    """Gpus. A label that is not known is not read: its fact stays unknown, never "not active"."""
    if gone := known.lost(f"{output.stdout[:8192]}\n{output.stderr[:8192]}"):
        return gone
    lines, rest = complete(output.stdout)
    head, blocks = _blocks(lines)
    gpus = tuple(gpu for bus, block in blocks if (gpu := _gpu(bus, _listing(block))) is not None)
    if not gpus:
        return nothing(output, "it has no GPU")
    top = _listing(head)
    return known.listed(
        gpus,
        attached=known.whole(top.get(("Attached GPUs",))),
        driver=known.available(top.get(("Driver Version",))),
        rest=rest,
    )


def _blocks(lines: Sequence[str]) -> tuple[list[str], list[tuple[str | None, list[str]]]]:
    """The lines before the first GPU, and those of each. An excerpt has one GPU without a name."""
    head: list[str] = []
    blocks: list[tuple[str | None, list[str]]] = []
    for line in lines:
        if found := _GPU.match(line):
            blocks.append((found[1], []))
        elif blocks:
            blocks[-1][1].append(line)
        else:
            head.append(line)
    return head, blocks or [(None, head)]


def _listing(lines: Sequence[str]) -> Listing:
    """Every `label : value` under the labels that it is indented under."""
    found: Listing = {}
    above: list[tuple[int, str]] = []
    for line in lines:
        label, colon, value = line.partition(" : ")
        if not line.strip():
            continue
        deep = indent(line)
        while above and above[-1][0] >= deep:
            above.pop()
        path = (*(name for _, name in above), label.strip())
        if colon:
            found.setdefault(path, value.strip())
        if len(above) < _DEEPEST:
            above.append((deep, label.strip()))
    return found


def _gpu(bus: str | None, listing: Listing) -> Gpu | None:
    ends: dict[Path, str] = {}
    for path, value in listing.items():
        ends.setdefault(path[-2:], value)
        ends.setdefault(path[-1:], value)
    reasons = _reasons(listing)
    if bus is None and not reasons:
        return None
    return Gpu(bus_id=bus, **_state(ends), **_measured(ends), **reasons)


def _reasons(listing: Listing) -> dict[str, Any]:
    """The clock reasons, wherever their section stands; empty when it is not there."""
    section = {
        path[-1]: value for path, value in listing.items() if any(name in path for name in _REASONS)
    }
    if not section:
        return {}
    return {fact: known.active(section.get(label)) for fact, label in _NAMES.items()}


def _state(ends: Mapping[Path, str]) -> dict[str, Any]:
    return {
        "uuid": known.available(ends.get(("GPU UUID",))),
        "name": known.available(ends.get(("Product Name",))),
        "mig": known.switched(ends.get(("MIG Mode", "Current"))),
        "performance_state": word(known.available(ends.get(("Performance State",)))),
        "pcie_generation": known.whole(ends.get(("PCIe Generation", "Current"))),
        "pcie_generation_max": known.whole(ends.get(("PCIe Generation", "Max"))),
        "pcie_width": known.whole(ends.get(("Link Width", "Current"))),
        "pcie_width_max": known.whole(ends.get(("Link Width", "Max"))),
        "replay_count": known.whole(ends.get(("Replays Since Reset",))),
        "reset_required": known.affirmed(ends.get(("GPU Reset Status", "Reset Required"))),
        "remapped_rows": known.whole(ends.get(("Remapped Rows", "Uncorrectable Error"))),
    }


def _measured(ends: Mapping[Path, str]) -> dict[str, Any]:
    power = ("GPU Power Readings", "Power Readings")
    limits = ("Current Power Limit", "Enforced Power Limit", "Power Limit")
    return {
        "busy_ratio": known.share(ends.get(("Utilization", "Gpu"))),
        "memory_used_bytes": known.mebibytes(ends.get(("FB Memory Usage", "Used"))),
        "memory_total_bytes": known.mebibytes(ends.get(("FB Memory Usage", "Total"))),
        "temperature_celsius": known.amount(ends.get(("Temperature", "GPU Current Temp")), "C"),
        "memory_temperature_celsius": known.amount(
            ends.get(("Temperature", "Memory Current Temp")), "C"
        ),
        "slowdown_celsius": known.amount(ends.get(("Temperature", "GPU Slowdown Temp")), "C"),
        "margin_celsius": known.amount(ends.get(("Temperature", "GPU T.Limit Temp")), "C"),
        "power_watts": _either(ends, [(part, "Power Draw") for part in power], "W"),
        "power_limit_watts": _either(ends, [(p, limit) for p in power for limit in limits], "W"),
        "sm_mhz": known.amount(ends.get(("Clocks", "SM")), "MHz"),
        "sm_max_mhz": known.amount(ends.get(("Max Clocks", "SM")), "MHz"),
    }


def _either(ends: Mapping[Path, str], paths: Sequence[Path], unit: str) -> float | None:
    values = (known.amount(ends.get(path), unit) for path in paths)
    return next((value for value in values if value is not None), None)
