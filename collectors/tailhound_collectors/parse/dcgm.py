"""`dcgmi health -c`, the host engine's health lines, and kept results of `dcgmi diag`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tailhound.requests import Output
from tailhound_collectors.parse.lines import complete, word
from tailhound_collectors.parse.tool import Parsed, nothing

# ERROR [1514002:1514004] [[Health]] Detected a WARNING in health system Thermal: '... in GPU 2. ...
#   DCGM: modules/health/DcgmHealthWatch.cpp
_INCIDENT = re.compile(
    r"\[\[Health\]\] Detected an? (\w{1,20}) in health system ([\w ]{1,40}): '?(.{1,600})$"
)
_GPU = re.compile(r"\bGPU (\d{1,4})\b")
_CAUSES = (
    (re.compile(r"clocks event due to thermal violation", re.IGNORECASE), "clocks_event_thermal"),
    (re.compile(r"clocks event due to power", re.IGNORECASE), "clocks_event_power"),
    (re.compile(r"PCIe replay", re.IGNORECASE), "pcie_replays"),
    (re.compile(r"double[- ]bit ECC", re.IGNORECASE), "ecc_double_bit"),
    (re.compile(r"row remap", re.IGNORECASE), "row_remap"),
    (re.compile(r"NvLink", re.IGNORECASE), "nvlink"),
    (re.compile(r"XID", re.IGNORECASE), "xid"),
)
_DIAG_GPU = re.compile(r"^GPU(\d{1,4}): (\w{1,20})")
_TITLE = re.compile(r"^[|+]-{3,60} {2}(\w{1,40}) {2}-{3,60}\+")


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthIncident:
    """Something that DCGM found. Its thermal warnings come early: compare the GPU's margin."""

    system: str
    severity: str
    gpu: int | None
    cause: str | None
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DcgmHealth:
    """What DCGM's health watch says. `overall` is its own word (Healthy, Warning, Failure)."""

    incidents: tuple[HealthIncident, ...]
    overall: str | None = None
    truncated: bool = False


def health(output: Output) -> Parsed:
    """DcgmHealth, from the report's table or from log lines of the host engine."""
    lines, rest = complete(output.stdout)
    incidents = tuple(
        _incident(found) for line in lines if (found := _INCIDENT.search(line[:2000]))
    )
    overall = next((row[1] for row in _rows(lines) if row[0].startswith("Overall Health")), None)
    if not incidents and overall is None:
        return nothing(output, "it has no health incident and no Overall Health")
    return DcgmHealth(incidents=incidents, overall=word(overall), truncated=rest)


def _incident(found: re.Match[str]) -> HealthIncident:
    gpu = _GPU.search(found[3])
    return HealthIncident(
        system=word(found[2]) or "",
        severity=found[1].upper(),
        gpu=int(gpu[1]) if gpu else None,
        cause=next((cause for pattern, cause in _CAUSES if pattern.search(found[3])), None),
        text=word(found[3]),
    )


def _rows(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The two columns of each row that is whole."""
    for line in lines:
        if line.startswith("| ") and line.endswith("|"):
            left, bar, right = line[1:-1].partition("|")
            if bar:
                yield left.strip(), right.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagGpu:
    """One GPU's result of a test."""

    gpu: int
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagTest:
    """One test, and its result for each GPU."""

    name: str
    section: str | None
    result: str | None
    gpus: tuple[DiagGpu, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DcgmDiag:
    """A kept result of dcgmi diag. The bot never runs it: it loads the GPUs."""

    version: str | None
    driver: str | None
    gpu_count: int | None
    tests: tuple[DiagTest, ...]
    truncated: bool


def diag(output: Output) -> Parsed:
    """DcgmDiag. A table without its closing frame is truncated; a row cut short is left out."""
    lines, rest = complete(output.stdout)
    told, tests = _told(lines)
    if not told and not tests:
        return nothing(output, "it has no table of dcgmi diag")
    last = next((line for line in reversed(lines) if line.strip()), "")
    devices = told.get("GPU Device IDs Detected")
    return DcgmDiag(
        version=word(told.get("DCGM Version")),
        driver=word(told.get("Driver Version Detected")),
        gpu_count=len(devices.split(",")) if devices else None,
        tests=tuple(tests),
        truncated=rest or not last.startswith("+-"),
    )


def _told(lines: Sequence[str]) -> tuple[dict[str, str], list[DiagTest]]:
    told: dict[str, str] = {}
    tests: list[tuple[str, str, str, list[DiagGpu]]] = []
    section = ""
    for line in lines:
        if title := _TITLE.match(line):
            section = title[1]
        for name, result in _rows([line]):
            if section == "Metadata" and name:
                told[name] = result
            elif section and name:
                tests.append((name, section, result, []))
            elif tests and (one := _DIAG_GPU.match(result)):
                tests[-1][3].append(DiagGpu(gpu=int(one[1]), result=one[2]))
    return told, [
        DiagTest(name=word(name) or "", section=part, result=word(result), gpus=tuple(gpus))
        for name, part, result, gpus in tests
    ]
