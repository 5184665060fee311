"""`nvme smart-log`, as JSON (flat, or with critical_warning as an object) and as text."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.parse.json_text import Keys, document
from tailhound_collectors.parse.lines import agreed, complete, pairs
from tailhound_collectors.parse.numbers import (
    based,
    integer,
    json_integer,
    multiplied,
    scaled,
    unsigned,
)
from tailhound_collectors.parse.tool import Parsed, nothing, unparsable

DATA_UNIT_BYTES = 512_000
"""A data unit of the NVMe log: a thousand blocks of 512 bytes."""

_WARNINGS = ("spare_low", "temperature_bad", "reliability_degraded", "read_only", "backup_failed")
_WARNING_KEYS = ("available_spare", "temp_threshold", "reliability_degraded", "ro", "vmbu_failed")
_JSON_KEYS = {
    "available_spare": ("avail_spare", "available_spare"),
    "spare_threshold": ("spare_thresh", "available_spare_threshold"),
    "used": ("percent_used", "percentage_used"),
    "data_units_read": ("data_units_read",),
    "data_units_written": ("data_units_written",),
    "host_reads": ("host_read_commands", "host_reads"),
    "host_writes": ("host_write_commands", "host_writes"),
    "controller_busy_minutes": ("controller_busy_time",),
    "power_cycles": ("power_cycles",),
    "power_on_hours": ("power_on_hours",),
    "unsafe_shutdowns": ("unsafe_shutdowns",),
    "media_errors": ("media_errors",),
    "error_log_entries": ("num_err_log_entries",),
    "warning_temperature_minutes": ("warning_temp_time", "Warning Temperature Time"),
    "critical_temperature_minutes": (
        "critical_comp_time",
        "Critical Composite Temperature Time",
    ),
    "light_throttle_count": ("thm_temp1_trans_count", "Thermal Management T1 Trans Count"),
    "heavy_throttle_count": ("thm_temp2_trans_count", "Thermal Management T2 Trans Count"),
    "light_throttle_seconds": ("thm_temp1_total_time", "Thermal Management T1 Total Time"),
    "heavy_throttle_seconds": ("thm_temp2_total_time", "Thermal Management T2 Total Time"),
}
_SENSOR = re.compile(r"temperaturesensor(\d{1,2})")
_CELSIUS = re.compile(r"(-?\d{1,4})\s?[^\w\s()]{0,2}\s?C\b")
_KELVIN = re.compile(r"\((\d{1,4}) K")


@dataclass(frozen=True, slots=True, kw_only=True)
class TemperatureSensor:
    """One further sensor of the drive."""

    number: int
    temperature_celsius: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartLog:
    """The health log of an NVMe drive.

    `critical_warning` is the byte itself; the yes/no facts are its bits. Counters are since the
    drive was made. `light_throttle_*` is the host's thermal management state 1, `heavy_*` state 2.
    `used_ratio` may pass 1: it is wear against the maker's estimate. A data unit is 512,000 bytes.
    """

    critical_warning: int | None = None
    spare_low: bool | None = None
    temperature_bad: bool | None = None
    reliability_degraded: bool | None = None
    read_only: bool | None = None
    backup_failed: bool | None = None
    temperature_celsius: float | None = None
    temperature_kelvin: int | None = None
    sensors: tuple[TemperatureSensor, ...] = ()
    available_spare_ratio: float | None = None
    spare_threshold_ratio: float | None = None
    used_ratio: float | None = None
    data_units_read: int | None = None
    data_units_written: int | None = None
    data_read_bytes: int | None = None
    data_written_bytes: int | None = None
    host_reads: int | None = None
    host_writes: int | None = None
    controller_busy_minutes: int | None = None
    power_cycles: int | None = None
    power_on_hours: int | None = None
    unsafe_shutdowns: int | None = None
    media_errors: int | None = None
    error_log_entries: int | None = None
    warning_temperature_minutes: int | None = None
    critical_temperature_minutes: int | None = None
    light_throttle_count: int | None = None
    heavy_throttle_count: int | None = None
    light_throttle_seconds: int | None = None
    heavy_throttle_seconds: int | None = None
    truncated: bool = False


def smart_log(output: Output) -> Parsed:
    """SmartLog. Text without the temperature times at its end is marked as truncated."""
    found = document(output.stdout)
    if isinstance(found, Missing):
        text = _text(output)
        return found if isinstance(text, Missing) and "Smart Log" not in output.stdout else text
    log = Keys(found.value)
    if not log or not any(
        key in log for key in ("temperature", "critical_warning", "media_errors")
    ):
        return unparsable(_said(log) or "it is no smart-log")
    warning = log.get("critical_warning")
    bits = Keys(warning)
    byte = json_integer(bits.get("value") if bits else warning)
    return SmartLog(
        **_warnings(byte, bits),
        **_temperature(json_integer(log.get("temperature"))),
        **_numbers(lambda *names: unsigned(json_integer(log.get(*names)))),
        sensors=_sensors((key, _celsius(json_integer(item))) for key, item in log.items()),
    )


def _said(log: Keys) -> str:
    error = log.text("error")
    return f"the tool says {error[:200]!r}" if error else ""


def _text(output: Output) -> Parsed:
    lines, rest = complete(output.stdout)
    found = agreed(pairs(lines))
    log = Keys(found)
    shown = log.text("temperature") or ""
    byte = based(log.text("critical_warning") or "")
    if byte is None and not shown:
        return nothing(output, "it has neither critical_warning nor temperature")
    ends = all(
        key in log for key in ("Warning Temperature Time", "Critical Composite Temperature Time")
    )
    kelvin = _KELVIN.search(shown)
    return SmartLog(
        **_warnings(byte, Keys(None)),
        temperature_celsius=_shown_celsius(shown),
        temperature_kelvin=int(kelvin[1]) if kelvin else None,
        **_numbers(lambda *names: _leading(log.text(*names))),
        sensors=_sensors((key, _shown_celsius(str(item))) for key, item in log.items()),
        truncated=rest or not ends,
    )


def _warnings(byte: int | None, bits: Keys) -> dict[str, Any]:
    """The byte and its bits; the object's own members where there is no byte."""
    known: dict[str, Any] = {"critical_warning": byte}
    for at, (fact, key) in enumerate(zip(_WARNINGS, _WARNING_KEYS, strict=True)):
        bit = json_integer(bits.get(key)) if byte is None else byte >> at & 1
        known[fact] = None if bit is None else bit != 0
    return known


def _numbers(value: Callable[..., int | None]) -> dict[str, Any]:
    known: dict[str, Any] = {fact: value(*names) for fact, names in _JSON_KEYS.items()}
    known["available_spare_ratio"] = scaled(known.pop("available_spare"), "0.01")
    known["spare_threshold_ratio"] = scaled(known.pop("spare_threshold"), "0.01")
    known["used_ratio"] = scaled(known.pop("used"), "0.01")
    known["data_read_bytes"] = multiplied(known["data_units_read"], DATA_UNIT_BYTES)
    known["data_written_bytes"] = multiplied(known["data_units_written"], DATA_UNIT_BYTES)
    return known


def _temperature(kelvin: int | None) -> dict[str, Any]:
    """JSON holds Kelvin; 0 is no reading."""
    known = kelvin if kelvin is not None and kelvin > 0 else None
    return {"temperature_kelvin": known, "temperature_celsius": _celsius(known)}


def _celsius(kelvin: int | None) -> float | None:
    return float(kelvin - 273) if kelvin else None


def _shown_celsius(text: str) -> float | None:
    """34 of `34 C`, `34°C (307 Kelvin)`, `34 °C (307 K, 93 °F)`; None for 0 Kelvin."""
    found = _CELSIUS.match(text.strip())
    kelvin = _KELVIN.search(text)
    if found is None or (kelvin is not None and kelvin[1] == "0"):
        return None
    return float(found[1])


def _leading(text: str | None) -> int | None:
    """61521857 of `61521857 (31.50 TB)`; 100 of `100%`."""
    return None if text is None else integer(text.partition(" (")[0].strip().removesuffix("%"))


def _sensors(readings: Iterable[tuple[str, float | None]]) -> tuple[TemperatureSensor, ...]:
    return tuple(
        TemperatureSensor(number=int(found[1]), temperature_celsius=celsius)
        for key, celsius in readings
        if (found := _SENSOR.fullmatch(key)) and celsius is not None
    )
