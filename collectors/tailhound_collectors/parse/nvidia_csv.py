"""`nvidia-smi --query-gpu=FIELDS --format=csv,noheader,nounits`, and with the header.

Without a header the values carry no names: whoever asked knows the fields. `query_csv` knows the
two queries below by their number of columns; `read_csv` takes the fields that were asked for.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tailhound.requests import Output
from tailhound_collectors.parse import gpu as known
from tailhound_collectors.parse.gpu import Gpu
from tailhound_collectors.parse.lines import complete
from tailhound_collectors.parse.numbers import hexadecimal
from tailhound_collectors.parse.tool import Parsed, nothing

STATE_FIELDS = (
    "index",
    "uuid",
    "pci.bus_id",
    "temperature.gpu",
    "temperature.memory",
    "utilization.gpu",
    "memory.used",
    "clocks.sm",
    "clocks.max.sm",
    "power.draw",
    "enforced.power.limit",
    "pcie.link.gen.current",
    "pcie.link.gen.max",
    "pcie.link.width.current",
    "pcie.link.width.max",
    "clocks_throttle_reasons.active",
    "ecc.errors.uncorrected.volatile.total",
)
"""What the bot asks."""

USE_FIELDS = (
    "index",
    "uuid",
    "name",
    "temperature.gpu",
    "utilization.gpu",
    "memory.used",
    "memory.total",
)
"""What people often ask."""

_BITS = {
    "idle": 0x1,
    "applications_clocks": 0x2,
    "sw_power_cap": 0x4,
    "hw_slowdown": 0x8,
    "sync_boost": 0x10,
    "sw_thermal": 0x20,
    "hw_thermal": 0x40,
    "hw_power_brake": 0x80,
}
_HEADERS = {"index", "uuid", "pci.bus_id"}
_LONGEST_ROW = 4096
_UNIT = re.compile(r" \[[^\]]{1,10}\]$")
_UUID = re.compile(r"(?:GPU|MIG)-[0-9a-fA-F-]{8,60}")


def query_csv(output: Output) -> Parsed:
    """Gpus of one of the two known queries, or of any query with its header."""
    lines, _ = complete(output.stdout)
    for at, line in enumerate(lines):
        if "," not in line:
            continue
        row = _row(line)
        names = tuple(_UNIT.sub("", item) for item in row)
        if len(row) > 1 and _HEADERS & set(names):
            return read_csv(replace(output, stdout=_from(output, lines, at + 1)), names)
        for fields in (STATE_FIELDS, USE_FIELDS):
            if len(row) == len(fields) and _UUID.fullmatch(row[fields.index("uuid")]):
                return read_csv(replace(output, stdout=_from(output, lines, at)), fields)
    if gone := known.lost(f"{output.stdout[:8192]}\n{output.stderr[:8192]}"):
        return gone
    return nothing(output, "it has no header, and is neither of the two known queries")


def _row(line: str) -> list[str]:
    """The values of a line; one that is longer than any answer is not looked at."""
    return [item.strip() for item in line.split(",")] if len(line) <= _LONGEST_ROW else []


def _from(output: Output, lines: Sequence[str], at: int) -> str:
    """The text from one of its lines on, with a last line that was cut."""
    rest = output.stdout.rpartition("\n")[2]
    return "\n".join((*lines[at:], rest))


def read_csv(output: Output, fields: Sequence[str]) -> Parsed:
    """Gpus of a query for these fields. A row with another number of columns is not read."""
    if gone := known.lost(f"{output.stdout[:8192]}\n{output.stderr[:8192]}"):
        return gone
    lines, rest = complete(output.stdout)
    rows = [_row(line) for line in lines if line.strip()]
    gpus = tuple(
        _gpu(dict(zip(fields, row, strict=True))) for row in rows if len(row) == len(fields)
    )
    if not gpus:
        return nothing(output, "no row has as many columns as fields were asked for")
    return known.listed(gpus, rest=rest or len(gpus) < len(rows))


def _gpu(row: dict[str, str]) -> Gpu:
    lost = any("requires reset" in value for value in row.values())
    return Gpu(
        index=known.whole(row.get("index")),
        uuid=known.available(row.get("uuid", row.get("gpu_uuid"))),
        name=known.available(row.get("name", row.get("gpu_name"))),
        bus_id=known.available(row.get("pci.bus_id", row.get("gpu_bus_id"))),
        performance_state=known.available(row.get("pstate")),
        busy_ratio=known.share(row.get("utilization.gpu")),
        memory_used_bytes=known.mebibytes(row.get("memory.used")),
        memory_total_bytes=known.mebibytes(row.get("memory.total")),
        temperature_celsius=known.amount(row.get("temperature.gpu"), "C"),
        memory_temperature_celsius=known.amount(row.get("temperature.memory"), "C"),
        power_watts=known.amount(row.get("power.draw"), "W"),
        power_limit_watts=known.amount(row.get("enforced.power.limit"), "W"),
        sm_mhz=known.amount(row.get("clocks.sm", row.get("clocks.current.sm")), "MHz"),
        sm_max_mhz=known.amount(row.get("clocks.max.sm"), "MHz"),
        pcie_generation=known.whole(row.get("pcie.link.gen.current")),
        pcie_generation_max=known.whole(row.get("pcie.link.gen.max")),
        pcie_width=known.whole(row.get("pcie.link.width.current")),
        pcie_width_max=known.whole(row.get("pcie.link.width.max")),
        uncorrected_errors=known.whole(row.get("ecc.errors.uncorrected.volatile.total")),
        reset_required=True if lost else None,
        **_reasons(row),
    )


def _reasons(row: dict[str, str]) -> dict[str, Any]:
    """The bits of the clock reasons, which have two names."""
    shown = row.get("clocks_event_reasons.active", row.get("clocks_throttle_reasons.active"))
    word = known.available(shown)
    bits = hexadecimal(word) if word else None
    return {fact: None if bits is None else bool(bits & bit) for fact, bit in _BITS.items()}
