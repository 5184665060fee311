"""`nvme list`: flat JSON, nested JSON (2.11, 2.12, -v), and the text table."""

from collections.abc import Iterator
from dataclasses import dataclass

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.parse.json_text import Keys, document
from tailhound_collectors.parse.lines import columns, complete, word
from tailhound_collectors.parse.numbers import based, decimal, json_integer, scaled
from tailhound_collectors.parse.tool import Parsed, absent, nothing, unparsable

_NO_DRIVE = "nvme list finds no NVMe drive on this host"
_UNITS = {"B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15}
_BINARY = {"B": 1, "KiB": 1024, "MiB": 1024**2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """One block device. Blank model and zero size, which nvme prints without root, are None.

    `bus_address` is a PCI address, or traddr=...,trsvcid=... of a fabric. A text table rounds sizes
    (`rounded`).
    """

    path: str | None
    generic_path: str | None = None
    controller: str | None = None
    subsystem: str | None = None
    transport: str | None = None
    bus_address: str | None = None
    nsid: int | None = None
    model: str | None = None
    serial: str | None = None
    firmware: str | None = None
    used_bytes: int | None = None
    size_bytes: int | None = None
    lba_bytes: int | None = None
    rounded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NvmeList:
    """The NVMe block devices of a host."""

    devices: tuple[Namespace, ...]
    truncated: bool = False


def nvme_list(output: Output) -> Parsed:
    """NvmeList; NOT_APPLICABLE when the host has no drive."""
    found = document(output.stdout)
    if isinstance(found, Missing):
        return (
            found if "/dev/" not in output.stdout and "Node" not in output.stdout else _text(output)
        )
    top = Keys(found.value)
    if "Devices" not in top:
        return unparsable("it has no Devices")
    devices = tuple(_devices(top))
    return NvmeList(devices=devices) if devices else absent(_NO_DRIVE)


def _devices(top: Keys) -> Iterator[Namespace]:
    for item in top.each("Devices"):
        if "DevicePath" in item:
            yield _namespace(item, Keys(None), Keys(None))
        for subsystem in item.each("Subsystems"):
            yield from _nested(subsystem)


def _nested(subsystem: Keys) -> Iterator[Namespace]:
    """Namespaces stand under their controller, or (multipath) under the subsystem."""
    controllers = subsystem.each("Controllers")
    for controller in controllers:
        for namespace in controller.each("Namespaces"):
            yield _namespace(namespace, controller, subsystem)
    shared = controllers[0] if len(controllers) == 1 else Keys(None)
    for namespace in subsystem.each("Namespaces"):
        yield _namespace(namespace, shared, subsystem)


def _namespace(item: Keys, controller: Keys, subsystem: Keys) -> Namespace:
    name = item.get("NameSpace")
    nested = isinstance(name, str) and not name.isdigit()
    path = item.text("DevicePath") or (f"/dev/{name}" if nested and name else None)
    generic = item.text("GenericPath") or item.text("Generic")
    return Namespace(
        path=word(path),
        generic_path=word(f"/dev/{generic}" if generic and "/" not in generic else generic),
        controller=word(controller.text("Controller")),
        subsystem=word(subsystem.text("Subsystem")),
        transport=word(controller.text("Transport")),
        bus_address=word(controller.text("Address")),
        nsid=json_integer(item.get("NSID")) if nested else json_integer(name),
        model=word(item.text("ModelNumber", "Model") or controller.text("ModelNumber")),
        serial=word(item.text("SerialNumber") or controller.text("SerialNumber")),
        firmware=word(item.text("Firmware") or controller.text("Firmware")),
        used_bytes=_size(item.get("UsedBytes"), at_least=0),
        size_bytes=_size(item.get("PhysicalSize"), at_least=1),
        lba_bytes=_size(item.get("SectorSize"), at_least=1),
    )


def _size(value: object, *, at_least: int) -> int | None:
    """2.0 to 2.2 print sizes as overflowing 32-bit numbers: below the least they are unknown."""
    size = json_integer(value)
    return size if size is not None and size >= at_least else None


def _text(output: Output) -> Parsed:
    lines, rest = complete(output.stdout)
    devices = tuple(row for line in lines if line.startswith("/dev/") and (row := _row(line)))
    if not devices:
        return nothing(output, "the table has no row") if lines[2:] else absent(_NO_DRIVE)
    return NvmeList(devices=devices, truncated=rest)


def _row(line: str) -> Namespace | None:
    """A row, read from both ends: a long serial number shifts the columns, so none is sliced.

    /dev/nvme0n1 /dev/ng0n1 SERIAL MODEL WORDS 1 8.00 TB / 8.00 TB 512 B + 0 B VDV10182
    """
    words = columns(line)
    slash = words.index("/") if "/" in words else 0
    if slash < 5:
        return None
    head, tail = words[: slash - 2], words[slash + 1 :]
    names = [name for name in head[:2] if name.startswith("/dev/")]
    middle = head[len(names) :]
    if len(middle) < 2 or len(tail) < 4:
        return None
    usage = words[slash - 2 : slash]
    return Namespace(
        path=word(names[0]),
        generic_path=word(names[1]) if len(names) > 1 else None,
        serial=word(middle[0]),
        model=word(" ".join(middle[1:-1])),
        nsid=based(middle[-1]),
        used_bytes=_rounded(usage, _UNITS),
        size_bytes=_rounded(tail[:2], _UNITS),
        lba_bytes=_rounded(tail[2:4], _BINARY),
        firmware=word(tail[7]) if len(tail) > 7 else None,
        rounded=True,
    )


def _rounded(parts: list[str], units: dict[str, int]) -> int | None:
    """8,000,000,000,000 of `8.00 TB`."""
    if len(parts) != 2 or parts[1] not in units:
        return None
    size = scaled(decimal(parts[0]), str(units[parts[1]]))
    return None if size is None else round(size)
