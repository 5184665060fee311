"""`smartctl -a`: JSON (-j), and the text of older versions. Temperatures are Celsius here."""

import re
from dataclasses import dataclass
from typing import Any

from tailhound.model import Missing, Reason
from tailhound.requests import Output
from tailhound_collectors.parse.json_text import Keys, document
from tailhound_collectors.parse.lines import agreed, complete, pairs, word
from tailhound_collectors.parse.numbers import (
    integer,
    json_decimal,
    json_integer,
    percent,
    scaled,
    unsigned,
)
from tailhound_collectors.parse.nvme_smart import TemperatureSensor
from tailhound_collectors.parse.tool import Parsed, absent, nothing, unparsable

ALL_NAMESPACES = frozenset({-1, 0xFFFFFFFF})
_NO_DEVICE = re.compile(r"No such (?:device|file)|Unable to detect device type", re.IGNORECASE)
_DENIED = re.compile(r"Permission denied|Operation not permitted", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartCtl:
    """A drive's identity and health.

    `passed` is the drive's own verdict; None = it gave none. `exit_status` is a bit mask in which
    bits 3 to 7 tell of the drive, bits 0 to 2 of the command. `all_namespaces`: the log is of the
    whole drive.
    """

    model: str | None = None
    serial: str | None = None
    firmware: str | None = None
    capacity_bytes: int | None = None
    passed: bool | None = None
    critical_warning: int | None = None
    temperature_celsius: float | None = None
    sensors: tuple[TemperatureSensor, ...] = ()
    warning_limit_celsius: float | None = None
    critical_limit_celsius: float | None = None
    available_spare_ratio: float | None = None
    spare_threshold_ratio: float | None = None
    used_ratio: float | None = None
    data_units_read: int | None = None
    data_units_written: int | None = None
    power_on_hours: int | None = None
    unsafe_shutdowns: int | None = None
    media_errors: int | None = None
    error_log_entries: int | None = None
    warning_temperature_minutes: int | None = None
    critical_temperature_minutes: int | None = None
    all_namespaces: bool | None = None
    exit_status: int | None = None
    truncated: bool = False


def smartctl(output: Output) -> Parsed:
    """SmartCtl; a device that could not be opened is a Missing with smartctl's own words."""
    found = document(output.stdout)
    if isinstance(found, Missing):
        return _text(output) if "smartctl" in output.stdout and "=== " in output.stdout else found
    top = Keys(found.value)
    log = top.within("nvme_smart_health_information_log")
    passed = top.within("smart_status").get("passed")
    if not log and not isinstance(passed, bool) and "model_name" not in top:
        return _said(top)
    nsid = json_integer(log.get("nsid"))
    return SmartCtl(
        model=word(top.text("model_name")),
        serial=word(top.text("serial_number")),
        firmware=word(top.text("firmware_version")),
        capacity_bytes=_capacity(top),
        passed=passed if isinstance(passed, bool) else None,
        temperature_celsius=json_decimal(
            log.get("temperature") or top.within("temperature").get("current")
        ),
        sensors=_sensors(log.get("temperature_sensors")),
        all_namespaces=nsid in ALL_NAMESPACES if nsid is not None else None,
        exit_status=json_integer(top.within("smartctl").get("exit_status")),
        **_log(log, top),
    )


def _log(log: Keys, top: Keys) -> dict[str, Any]:
    def share(key: str) -> float | None:
        return scaled(unsigned(json_integer(log.get(key))), "0.01")

    hours = log.get("power_on_hours")
    if hours is None:
        hours = top.within("power_on_time").get("hours")
    known: dict[str, Any] = {
        fact: unsigned(json_integer(log.get(key)))
        for fact, key in {
            "critical_warning": "critical_warning",
            "data_units_read": "data_units_read",
            "data_units_written": "data_units_written",
            "unsafe_shutdowns": "unsafe_shutdowns",
            "media_errors": "media_errors",
            "error_log_entries": "num_err_log_entries",
            "warning_temperature_minutes": "warning_temp_time",
            "critical_temperature_minutes": "critical_comp_time",
        }.items()
    }
    known["power_on_hours"] = unsigned(json_integer(hours))
    known["available_spare_ratio"] = share("available_spare")
    known["spare_threshold_ratio"] = share("available_spare_threshold")
    known["used_ratio"] = share("percentage_used")
    return known


def _sensors(value: Any) -> tuple[TemperatureSensor, ...]:
    """A sensor may be null: there is none at this place."""
    listed = value if isinstance(value, list) else []
    return tuple(
        TemperatureSensor(number=number, temperature_celsius=celsius)
        for number, item in enumerate(listed, 1)
        if (celsius := json_decimal(item)) is not None
    )


def _capacity(top: Keys) -> int | None:
    size = json_integer(top.get("nvme_total_capacity"))
    if size is None:
        size = json_integer(top.within("user_capacity").get("bytes"))
    return size if size is not None and size > 0 else None


def _said(top: Keys) -> Missing:
    """Why smartctl found nothing, in its words."""
    own = top.within("smartctl")
    text = "; ".join(said for item in own.each("messages") if (said := word(item.text("string"))))
    if _DENIED.search(text):
        return Missing(Reason.FORBIDDEN, f"permission_denied: smartctl needs root ({text})")
    if _NO_DEVICE.search(text):
        return absent(f"smartctl can't open the drive ({text})")
    if not own:
        return unparsable("it is no output of smartctl")
    if text:
        return unparsable(f"smartctl says: {text}")
    return absent("smartctl names no drive")


def _text(output: Output) -> Parsed:
    lines, rest = complete(output.stdout)
    fields = Keys(agreed(pairs(lines)))
    health = fields.text("SMART overall-health self-assessment test result")
    model = word(fields.text("Model Number", "Device Model"))
    if model is None and health is None:
        said = next((line for line in lines if _NO_DEVICE.search(line)), None)
        if said:
            return absent(f"smartctl can't open the drive ({word(said)})")
        return nothing(output, "it has neither a model nor a health line")
    return SmartCtl(
        model=model,
        serial=word(fields.text("Serial Number")),
        firmware=word(fields.text("Firmware Version")),
        capacity_bytes=_leading(
            fields.text("Total NVM Capacity", "Namespace 1 Size/Capacity", "User Capacity")
        ),
        passed={"PASSED": True, "FAILED!": False}.get((health or "").strip()),
        temperature_celsius=_leading(fields.text("Temperature")),
        warning_limit_celsius=_leading(fields.text("Warning  Comp. Temp. Threshold")),
        critical_limit_celsius=_leading(fields.text("Critical Comp. Temp. Threshold")),
        available_spare_ratio=percent(fields.text("Available Spare") or ""),
        spare_threshold_ratio=percent(fields.text("Available Spare Threshold") or ""),
        used_ratio=percent(fields.text("Percentage Used") or ""),
        data_units_read=_leading(fields.text("Data Units Read")),
        data_units_written=_leading(fields.text("Data Units Written")),
        power_on_hours=_leading(fields.text("Power On Hours")),
        unsafe_shutdowns=_leading(fields.text("Unsafe Shutdowns")),
        media_errors=_leading(fields.text("Media and Data Integrity Errors")),
        error_log_entries=_leading(fields.text("Error Information Log Entries")),
        warning_temperature_minutes=_leading(fields.text("Warning  Comp. Temperature Time")),
        critical_temperature_minutes=_leading(fields.text("Critical Comp. Temperature Time")),
        exit_status=output.exit_code,
        truncated=rest,
    )


def _leading(text: str | None) -> int | None:
    """1600321314816 of `1.600.321.314.816 [1,60 TB]`, 70 of `70 Celsius`."""
    if text is None:
        return None
    head = text.partition(" [")[0].strip()
    for unit in ("Celsius", "bytes"):
        head = head.removesuffix(unit).strip()
    return integer(head)
