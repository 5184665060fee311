"""`nvme id-ctrl` and `nvme id-ns`, as JSON and as text."""

import re
from dataclasses import dataclass
from typing import Any

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.parse.json_text import Keys, document
from tailhound_collectors.parse.lines import agreed, complete, pairs, word
from tailhound_collectors.parse.numbers import based, json_integer, unsigned
from tailhound_collectors.parse.tool import Parsed, nothing, unparsable

_FORMAT = re.compile(
    r"lbaf\s{1,4}(\d{1,2}) : ms:(\d{1,6})\s{1,8}lbads:(\d{1,2})\s{1,8}rp:\S{1,6}(.*)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller:
    """What an NVMe controller says about itself.

    `warning_temperature_celsius` and `critical_*` are its own limits: None = not reported, and then
    its temperature times stay 0. `sanitize_flags` is the 32-bit word, also where nvme-cli printed
    it as a negative number. A total capacity of 0 means that the drive does not report it.
    """

    model: str | None = None
    serial: str | None = None
    firmware: str | None = None
    warning_temperature_celsius: float | None = None
    critical_temperature_celsius: float | None = None
    light_throttle_celsius: float | None = None
    heavy_throttle_celsius: float | None = None
    total_capacity_bytes: int | None = None
    unallocated_capacity_bytes: int | None = None
    sanitize_flags: int | None = None
    namespace_limit: int | None = None
    truncated: bool = False


def id_controller(output: Output) -> Parsed:
    """Controller."""
    read = _fields(output)
    if isinstance(read, Missing):
        return read
    fields, rest = read
    if not any(key in fields for key in ("mn", "tnvmcap", "wctemp", "sn", "sanicap")):
        return nothing(output, "it has none of the fields of id-ctrl")
    flags = _number(fields.get("sanicap"))
    total = unsigned(_number(fields.get("tnvmcap"))) or None
    return Controller(
        model=word(fields.text("mn")),
        serial=word(fields.text("sn")),
        firmware=word(fields.text("fr")),
        warning_temperature_celsius=_celsius(fields.get("wctemp")),
        critical_temperature_celsius=_celsius(fields.get("cctemp")),
        light_throttle_celsius=_celsius(fields.get("mntmt")),
        heavy_throttle_celsius=_celsius(fields.get("mxtmt")),
        total_capacity_bytes=total,
        unallocated_capacity_bytes=unsigned(_number(fields.get("unvmcap"))) if total else None,
        sanitize_flags=None if flags is None else flags & 0xFFFFFFFF,
        namespace_limit=unsigned(_number(fields.get("nn"))),
        truncated=rest,
    )


def _fields(output: Output) -> tuple[Keys, bool] | Missing:
    found = document(output.stdout)
    if not isinstance(found, Missing):
        keys = Keys(found.value)
        return (keys, False) if keys else unparsable("its JSON is no object")
    if " : " not in output.stdout and "\t: " not in output.stdout:
        return found
    lines, rest = complete(output.stdout)
    return Keys(agreed(pairs(lines))), rest


def _number(value: Any) -> int | None:
    """A JSON number, or the leading number of `343 [70 °C]`."""
    if isinstance(value, str):
        return based(value.partition(" [")[0].partition(" (")[0])
    return json_integer(value)


def _celsius(value: Any) -> float | None:
    """Identify data holds Kelvin; 0 means that the drive does not report it."""
    kelvin = _number(value)
    return float(kelvin - 273) if kelvin is not None and kelvin > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockFormat:
    """One way to format the namespace: bytes of data and of metadata per block."""

    number: int
    data_bytes: int
    metadata_bytes: int | None
    in_use: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceIdentity:
    """What a namespace says about itself. Sizes in blocks are of the format in use."""

    size_blocks: int | None = None
    capacity_blocks: int | None = None
    used_blocks: int | None = None
    capacity_bytes: int | None = None
    lba_bytes: int | None = None
    formats: tuple[BlockFormat, ...] = ()
    truncated: bool = False


def id_namespace(output: Output) -> Parsed:
    """NamespaceIdentity."""
    read = _fields(output)
    if isinstance(read, Missing):
        return read
    fields, rest = read
    if "nsze" not in fields and "nvmcap" not in fields:
        return nothing(output, "it has none of the fields of id-ns")
    formats = _json_formats(fields) if "lbafs" in fields else _text_formats(output)
    return NamespaceIdentity(
        size_blocks=unsigned(_number(fields.get("nsze"))),
        capacity_blocks=unsigned(_number(fields.get("ncap"))),
        used_blocks=unsigned(_number(fields.get("nuse"))),
        capacity_bytes=unsigned(_number(fields.get("nvmcap"))),
        lba_bytes=next((item.data_bytes for item in formats if item.in_use), None),
        formats=formats,
        truncated=rest,
    )


def _json_formats(fields: Keys) -> tuple[BlockFormat, ...]:
    chosen = json_integer(fields.get("flbas"))
    in_use = None if chosen is None else chosen & 0xF | (chosen >> 5 & 3) << 4
    return tuple(
        BlockFormat(
            number=number,
            data_bytes=1 << power,
            metadata_bytes=json_integer(item.get("ms")),
            in_use=number == in_use,
        )
        for number, item in enumerate(fields.each("lbafs"))
        if (power := json_integer(item.get("ds"))) is not None and 9 <= power <= 30
    )


def _text_formats(output: Output) -> tuple[BlockFormat, ...]:
    """lbaf  0 : ms:0   lbads:9  rp:0 (in use)"""
    lines, _ = complete(output.stdout)
    return tuple(
        BlockFormat(
            number=int(found[1]),
            data_bytes=1 << int(found[3]),
            metadata_bytes=int(found[2]),
            in_use="(in use)" in found[4],
        )
        for line in lines
        if (found := _FORMAT.match(line)) and 9 <= int(found[3]) <= 30
    )
