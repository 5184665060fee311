"""`mpstat`, `vmstat` and `/proc/pressure/*`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.parse.json_text import Keys, document
from tailhound_collectors.parse.lines import columns, complete, word
from tailhound_collectors.parse.numbers import decimal, integer, json_decimal, multiplied, scaled
from tailhound_collectors.parse.tool import Parsed, nothing, unparsable

_MPSTAT = {
    "user_ratio": ("usr", "user"),
    "nice_ratio": ("nice",),
    "system_ratio": ("sys", "system"),
    "iowait_ratio": ("iowait",),
    "irq_ratio": ("irq",),
    "softirq_ratio": ("soft",),
    "steal_ratio": ("steal",),
    "guest_ratio": ("guest",),
    "idle_ratio": ("idle",),
}
_TIME = re.compile(r"(?:\d{2}:\d{2}:\d{2}|Average:)(?: (?:AM|PM))?")
_KIB = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuShare:
    """Where one CPU ("all" = the mean of all) spent its time. Steal is taken by the hypervisor."""

    cpu: str
    user_ratio: float | None = None
    nice_ratio: float | None = None
    system_ratio: float | None = None
    iowait_ratio: float | None = None
    irq_ratio: float | None = None
    softirq_ratio: float | None = None
    steal_ratio: float | None = None
    guest_ratio: float | None = None
    idle_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MpStat:
    """The last sample of every CPU, or the average that mpstat printed at its end."""

    cpus: tuple[CpuShare, ...]
    averaged: bool = False
    truncated: bool = False


def mpstat(output: Output) -> Parsed:
    """MpStat, from JSON or text."""
    found = document(output.stdout)
    if isinstance(found, Missing):
        return _mpstat_text(output) if "CPU" in output.stdout else found
    hosts = Keys(found.value).within("sysstat").each("hosts")
    samples = hosts[0].each("statistics") if hosts else []
    loads = samples[-1].each("cpu-load") if samples else []
    cpus = tuple(
        _share(name, {key: json_decimal(value) for key, value in load.items()})
        for load in loads
        if (name := word(load.text("cpu")))
    )
    return MpStat(cpus=cpus) if cpus else unparsable("it has no cpu-load of a host")


def _share(cpu: str, values: Mapping[str, float | None]) -> CpuShare:
    shares = {
        fact: next((scaled(values[key], "0.01") for key in keys if key in values), None)
        for fact, keys in _MPSTAT.items()
    }
    return CpuShare(cpu=cpu, **shares)


def _mpstat_text(output: Output) -> Parsed:
    lines, rest = complete(output.stdout)
    header: list[str] = []
    last: dict[str, CpuShare] = {}
    averages: dict[str, CpuShare] = {}
    for line in lines:
        words = columns(line)
        if "CPU" in words and "%idle" in words:
            header = words[words.index("CPU") :]
        elif "CPU" in words or not words:
            header = []
        elif header and (share := _mpstat_row(header, words)):
            (averages if words[0] == "Average:" else last)[share.cpu] = share
    cpus = averages or last
    if not cpus:
        return nothing(output, "it has no row of a CPU")
    return MpStat(cpus=tuple(cpus.values()), averaged=bool(averages), truncated=rest)


def _mpstat_row(header: Sequence[str], words: Sequence[str]) -> CpuShare | None:
    """The row from its end; before it stands a time of one or two words, and nothing else."""
    time, row = words[: -len(header)], words[-len(header) :]
    if len(row) != len(header) or not _TIME.fullmatch(" ".join(time)):
        return None
    values = {
        name.lstrip("%"): decimal(value, places=2)
        for name, value in zip(header[1:], row[1:], strict=True)
    }
    return _share(word(row[0]) or "", values)


@dataclass(frozen=True, slots=True, kw_only=True)
class VmStat:
    """The last row of vmstat. `since_boot`: it is the only one, a mean since boot.

    Swapped memory (`swapped_bytes`) with nothing going in or out is old history. `steal_ratio` is
    None where vmstat has no such column.
    """

    row_count: int
    since_boot: bool
    runnable: int | None = None
    blocked: int | None = None
    swapped_bytes: int | None = None
    free_bytes: int | None = None
    buffer_bytes: int | None = None
    cache_bytes: int | None = None
    swap_in_bytes_per_second: int | None = None
    swap_out_bytes_per_second: int | None = None
    interrupts_per_second: int | None = None
    context_switches_per_second: int | None = None
    user_ratio: float | None = None
    system_ratio: float | None = None
    idle_ratio: float | None = None
    iowait_ratio: float | None = None
    steal_ratio: float | None = None
    truncated: bool = False


def vmstat(output: Output) -> Parsed:
    """VmStat. Columns are found by their names; a row that does not fit them is not read."""
    lines, rest = complete(output.stdout)
    header: list[str] = []
    rows: list[dict[str, int | None]] = []
    for line in lines:
        words = columns(line)
        if words[:2] == ["r", "b"]:
            header = words
        elif header and _fits(header, words):
            values = zip(header, words, strict=False)
            rows.append({name: integer(value) for name, value in values})
    if not rows:
        return nothing(output, "it has no row under `r b ...`")
    return _vmstat(rows, rest)


def _fits(header: Sequence[str], words: Sequence[str]) -> bool:
    """As many words as columns; with -t the last column, a time zone, holds date and time."""
    extra = 1 if header[-1].isupper() else 0
    return len(words) == len(header) + extra and words[0].isdigit()


def _vmstat(rows: Sequence[Mapping[str, int | None]], rest: bool) -> VmStat:
    row = rows[-1]

    def share(name: str) -> float | None:
        return scaled(row.get(name), "0.01")

    def size(name: str) -> int | None:
        return multiplied(row.get(name), _KIB)

    return VmStat(
        row_count=len(rows),
        since_boot=len(rows) == 1,
        runnable=row.get("r"),
        blocked=row.get("b"),
        swapped_bytes=size("swpd"),
        free_bytes=size("free"),
        buffer_bytes=size("buff"),
        cache_bytes=size("cache"),
        swap_in_bytes_per_second=size("si"),
        swap_out_bytes_per_second=size("so"),
        interrupts_per_second=row.get("in"),
        context_switches_per_second=row.get("cs"),
        user_ratio=share("us"),
        system_ratio=share("sy"),
        idle_ratio=share("id"),
        iowait_ratio=share("wa"),
        steal_ratio=share("st"),
        truncated=rest,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourcePressure:
    """Time in which tasks waited for one resource: some of them, or all (`full`).

    The shares are means over 10, 60 and 300 s; the totals are counters since boot.
    """

    resource: str | None = None
    some_10s_ratio: float | None = None
    some_60s_ratio: float | None = None
    some_300s_ratio: float | None = None
    some_total_seconds: float | None = None
    full_10s_ratio: float | None = None
    full_60s_ratio: float | None = None
    full_300s_ratio: float | None = None
    full_total_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressure:
    """Pressure stall information. Old kernels have no `full` line for the CPU: None, not 0."""

    resources: tuple[ResourcePressure, ...]
    truncated: bool = False


_PRESSURE = re.compile(
    r"^(?:/proc/pressure/(?P<resource>cpu|io|memory|irq):)?(?P<who>some|full)"
    r"(?P<values>(?: \w+=\S+)+)$"
)
_RESOURCE_FIELDS = frozenset(item.name for item in fields(ResourcePressure))


def pressure(output: Output) -> Parsed:
    """Pressure, from `cat` of one file or `grep -H ""` of several."""
    lines, rest = complete(output.stdout)
    found: dict[str | None, dict[str, float | None]] = {}
    for line in lines:
        if row := _PRESSURE.match(line[:400]):
            found.setdefault(row["resource"], {}).update(_stalls(row["who"], row["values"]))
    if not found:
        return nothing(output, "it has no line like `some avg10=...`")
    resources = tuple(
        ResourcePressure(resource=resource, **values) for resource, values in found.items()
    )
    return Pressure(resources=resources, truncated=rest)


def _stalls(who: str, values: str) -> Iterator[tuple[str, Any]]:
    for part in columns(values):
        key, _, shown = part.partition("=")
        name = f"{who}_{key.removeprefix('avg')}s_ratio"
        if key == "total":
            yield f"{who}_total_seconds", scaled(integer(shown), "0.000001")
        elif key.startswith("avg") and name in _RESOURCE_FIELDS:
            yield name, scaled(decimal(shown, places=2), "0.01")
