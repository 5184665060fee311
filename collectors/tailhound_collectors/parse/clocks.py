"""CPU clocks: `turbostat` and `cpupower frequency-info`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tailhound.requests import Output
from tailhound_collectors.parse.lines import columns, complete, word, yes_no
from tailhound_collectors.parse.numbers import decimal, integer, scaled
from tailhound_collectors.parse.tool import Parsed, nothing

_COLUMNS = frozenset({"Bzy_MHz", "Busy%", "Avg_MHz"})
_MHZ = {"kHz": "0.001", "MHz": "1", "GHz": "1000"}
_FREQUENCY = re.compile(r"([\d.,]{1,12}) (kHz|MHz|GHz)")


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuClock:
    """One CPU, or the whole machine. `busy_mhz` is the clock while it ran, `tsc_mhz` its base.

    `clock_ratio` is the one to the other: 0.6 under load means that the clock is held down.
    """

    core: str | None = None
    cpu: str | None = None
    busy_ratio: float | None = None
    busy_mhz: float | None = None
    tsc_mhz: float | None = None
    average_mhz: float | None = None
    clock_ratio: float | None = None
    package_celsius: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurboStat:
    """The last sample. `machine` holds the line that sums up all CPUs, if there is one."""

    cpus: tuple[CpuClock, ...]
    machine: tuple[CpuClock, ...] = ()
    truncated: bool = False


def turbostat(output: Output) -> Parsed:
    """TurboStat. Lines before the header are notes; rows may end early (per-package columns)."""
    lines, rest = complete(output.stdout)
    header: list[str] = []
    rows: list[CpuClock] = []
    for line in lines:
        words = line.split("\t") if "\t" in line else columns(line)
        words = [item.strip() for item in words]
        if _COLUMNS & set(words):
            header, rows = words, []
        elif header and 1 < len(words) <= len(header):
            rows.append(_clock(dict(zip(header, words, strict=False))))
    if not rows:
        return nothing(output, "it has no row under `Bzy_MHz`")
    machine = tuple(row for row in rows if row.cpu is None)
    return TurboStat(
        cpus=tuple(row for row in rows if row.cpu is not None), machine=machine, truncated=rest
    )


def _clock(row: Mapping[str, str]) -> CpuClock:
    busy, base = (decimal(row.get(name, "")) for name in ("Bzy_MHz", "TSC_MHz"))
    return CpuClock(
        core=_number_or_none(row.get("Core")),
        cpu=_number_or_none(row.get("CPU")),
        busy_ratio=scaled(decimal(row.get("Busy%", ""), places=2), "0.01"),
        busy_mhz=busy,
        tsc_mhz=base,
        average_mhz=decimal(row.get("Avg_MHz", "")),
        clock_ratio=busy / base if busy is not None and base else None,
        package_celsius=decimal(row.get("PkgTmp", "")),
    )


def _number_or_none(text: str | None) -> str | None:
    """A CPU's number; `-` is the line of the whole machine."""
    return text if text is not None and integer(text) is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuFrequency:
    """The clock of one CPU as the kernel sees it, and its limits."""

    cpu: int | None
    driver: str | None = None
    governor: str | None = None
    hardware_min_mhz: float | None = None
    hardware_max_mhz: float | None = None
    policy_max_mhz: float | None = None
    current_mhz: float | None = None
    boost_supported: bool | None = None
    boost_active: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuFrequencies:
    """What cpupower says of each CPU that it was asked about."""

    cpus: tuple[CpuFrequency, ...]
    truncated: bool = False


def cpupower(output: Output) -> Parsed:
    """CpuFrequencies. `Unable to call hardware` is no clock: the kernel's line is used."""
    lines, rest = complete(output.stdout)
    cpus = tuple(_frequency(number, block) for number, block in _cpus(lines))
    if not cpus:
        return nothing(output, "it has no line `analyzing CPU`")
    return CpuFrequencies(cpus=cpus, truncated=rest)


def _cpus(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    number, block = "", list[str]()
    for line in lines:
        if line.startswith("analyzing CPU "):
            if number:
                yield number, block
            number, block = line.removeprefix("analyzing CPU ").rstrip(":"), []
        elif number:
            block.append(line.strip())
    if number:
        yield number, block


def _frequency(number: str, block: Sequence[str]) -> CpuFrequency:
    text = {key: value.strip() for key, _, value in (line.partition(":") for line in block)}
    low, high = _two(text.get("hardware limits", ""))
    policy = next((line for line in block if "frequency should be within" in line), "")
    governor = next((line.split('"')[1] for line in block if line.count('"') == 2), None)
    current = (line for line in block if line.startswith("current CPU frequency"))
    return CpuFrequency(
        cpu=integer(number),
        driver=word(text.get("driver")),
        governor=word(governor),
        hardware_min_mhz=low,
        hardware_max_mhz=high,
        policy_max_mhz=_two(policy)[1],
        current_mhz=next((clock for line in current if (clock := _first(line)) is not None), None),
        boost_supported=yes_no(text.get("Supported", "")),
        boost_active=yes_no(text.get("Active", "")),
    )


def _clocks(text: str) -> list[float | None]:
    return [
        scaled(decimal(value, places=2), _MHZ[unit])
        for value, unit in _FREQUENCY.findall(text[:400])
    ]


def _first(text: str) -> float | None:
    return next(iter(_clocks(text)), None)


def _two(text: str) -> tuple[float | None, float | None]:
    """The two clocks of `400 MHz - 2.00 GHz`; none unless there are exactly two."""
    clocks = _clocks(text)
    return (clocks[0], clocks[1]) if len(clocks) == 2 else (None, None)
