"""The kernel log: `dmesg` in any of its time formats, `journalctl -k`, and records of /dev/kmsg."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from tailhound.requests import Output
from tailhound_collectors.parse.kernel_facts import KernelEvent, KernelLog, Kmsg, KmsgRecord
from tailhound_collectors.parse.kernel_pattern import Pattern
from tailhound_collectors.parse.kernel_patterns import HINTED, PATTERNS
from tailhound_collectors.parse.lines import complete, word
from tailhound_collectors.parse.numbers import based, integer, signed
from tailhound_collectors.parse.tool import Parsed, nothing

_LONGEST_LINE = 2000
_LOOKED_AT = 200
_BOOT = re.compile(r"^\[\s{0,12}(\d{1,10}\.\d{1,9})\] ?")
_CALENDAR = re.compile(r"^\[([A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})\] ?")
_ISO = re.compile(
    r"^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})([.,]\d{1,9})?(Z|[+-]\d{2}:?\d{2})"
    r"(?: \S{1,64} kernel:)? ?"
)
_DECODED = re.compile(r"^(\w{1,8})\s{0,8}:(\w{1,8})\s{0,8}: ")
_KMSG = re.compile(r"^(\d{1,6}),(\d{1,20}),(\d{1,20}),[-c+](?:,[^;]{1,80})?;(.*)$")
_CALLER = re.compile(r"^\[\s{0,8}[TC]\d{1,9}\] ?")
_GPU_BUS = re.compile(
    r"NVRM: .{0,40}?(?<![0-9a-f])((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}(?:\.\d)?)(?![0-9a-f])"
)
_RPC = re.compile(r"Timeout after (\d{1,6})s of waiting for RPC response from GPU(\d{1,4})")
_SEVERITIES = {
    "Corrected": "aer_corrected",
    "Correctable": "aer_corrected",
    "Uncorrected (Non-Fatal)": "aer_nonfatal",
    "Uncorrectable (Non-Fatal)": "aer_nonfatal",
    "Uncorrected (Fatal)": "aer_fatal",
    "Uncorrectable (Fatal)": "aer_fatal",
}
_FELL_OFF_XID = 79
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class _Stamp:
    """When and how a line was logged, and what is left of it."""

    text: str
    boot_seconds: float | None = None
    time: str | None = None
    facility: str | None = None
    level: str | None = None

    @property
    def stamped(self) -> bool:
        """Whether it began with a time."""
        return self.boot_seconds is not None or self.time is not None


def kernel_log(output: Output) -> Parsed:
    """KernelLog. An empty log with exit code 0 is an answer: nothing was logged."""
    lines, rest = complete(output.stdout)
    if not output.stdout.strip():
        refused = output.exit_code != 0 or output.stderr.strip()
        return nothing(output, "") if refused else KernelLog(events=(), line_count=0)
    said = [line[:_LONGEST_LINE] for line in lines if line.strip()]
    events = _events(_stamp(line) for line in said if _of_interest(line))
    if not events and not any(_stamp(line).stamped for line in said[:_LOOKED_AT]):
        return nothing(output, "no line of it looks like one of the kernel log")
    return KernelLog(events=events, line_count=len(said), truncated=rest)


def kmsg(output: Output) -> Parsed:
    """Kmsg. Lines that begin with a space continue the record before, and are left out."""
    lines, rest = complete(output.stdout)
    rows = [found for line in lines if (found := _KMSG.match(line[:_LONGEST_LINE]))]
    if not rows:
        return nothing(output, "it has no record like 6,3964,206764307,-;TEXT")
    records = tuple(
        KmsgRecord(
            priority=int(row[1]) & 7,
            facility=int(row[1]) >> 3,
            sequence=int(row[2]),
            boot_seconds=int(row[3]) / 1_000_000,
            text=word(row[4]),
        )
        for row in rows
    )
    stamps = [
        _Stamp(row[4], boot_seconds=int(row[3]) / 1_000_000) for row in rows if _of_interest(row[4])
    ]
    return Kmsg(records=records, record_count=len(records), events=_events(stamps), truncated=rest)


def _of_interest(line: str) -> bool:
    """Whether the line may match a pattern, or names a GPU that a later line tells of."""
    return HINTED.search(line) is not None or "NVRM" in line


def _stamp(line: str) -> _Stamp:
    """The line without its time and level, whatever dmesg or journalctl put before it."""
    facility = level = None
    if decoded := _DECODED.match(line):
        facility, level = decoded[1], decoded[2]
        line = line[decoded.end() :]
    if boot := _BOOT.match(line):
        at = float(boot[1])
        said = _CALLER.sub("", line[boot.end() :])
        return _Stamp(said, boot_seconds=at, facility=facility, level=level)
    if calendar := _CALENDAR.match(line):
        time = _calendar(calendar[1])
        return _Stamp(line[calendar.end() :], time=time, facility=facility, level=level)
    if iso := _ISO.match(line):
        time = f"{iso[1]}{(iso[2] or '').replace(',', '.')}{iso[3]}"
        return _Stamp(line[iso.end() :], time=time, facility=facility, level=level)
    return _Stamp(line, facility=facility, level=level)


def _calendar(text: str) -> str | None:
    """dmesg -T prints the host's local time, without its zone."""
    _, month, day, clock, year = text.split()
    if month not in _MONTHS:
        return None
    stamp = f"{year}-{_MONTHS.index(month) + 1:02}-{int(day):02}T{clock}"
    try:
        datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return stamp


def _found(text: str) -> tuple[Pattern, re.Match[str]] | None:
    for pattern in PATTERNS:
        if pattern.hint in text and (found := pattern.regex.search(text)):
            return pattern, found
    return None


def _events(stamps: Iterable[_Stamp]) -> tuple[KernelEvent, ...]:
    events: list[KernelEvent] = []
    several: set[str] = set()
    gpu_bus: str | None = None
    for stamp in stamps:
        if named := _GPU_BUS.search(stamp.text):
            gpu_bus = named[1]
        if (match := _found(stamp.text)) is None:
            continue
        pattern, found = match
        parts = found.groupdict()
        if pattern.kind == "aer_received":
            if parts["multiple"]:
                several |= {parts["bus_id"], parts["source"]}
        elif pattern.kind in ("aer_status", "aer_bit"):
            _complete_aer(events, parts)
        else:
            events.append(_event(pattern, stamp, parts, gpu_bus))
    return tuple(
        replace(event, multiple=event.bus_id in several) if event.kind.startswith("aer_") else event
        for event in events
    )


def _complete_aer(events: list[KernelEvent], parts: dict[str, str | None]) -> None:
    """The lines after `PCIe Bus Error` belong to it when they are of the same device."""
    last = events[-1] if events else None
    if last is None or not last.kind.startswith("aer_") or last.bus_id != parts["bus_id"]:
        return
    status, name = parts.get("status"), parts.get("name")
    names = " ".join(filter(None, (last.name, name)))
    events[-1] = replace(
        last, status=f"0x{status}" if status else last.status, name=word(names or None)
    )


def _event(
    pattern: Pattern, stamp: _Stamp, parts: dict[str, str | None], gpu_bus: str | None
) -> KernelEvent:
    kind = pattern.kind
    if kind == "aer":
        kind = _SEVERITIES.get(parts["severity"] or "", "aer_unknown")
    event = KernelEvent(
        kind=kind,
        text=word(stamp.text) or "",
        actionable=pattern.actionable,
        boot_seconds=stamp.boot_seconds,
        time=stamp.time,
        facility=stamp.facility,
        level=stamp.level,
        device=parts.get("device"),
        driver=parts.get("driver"),
        bus_id=parts.get("bus_id"),
        source_bus_id=parts.get("source"),
        status=parts.get("status"),
        name=parts.get("name"),
        process=_named(parts.get("process")),
    )
    return _gpu_parts(_with_numbers(event, parts), stamp.text, gpu_bus)


def _with_numbers(event: KernelEvent, parts: dict[str, str | None]) -> KernelEvent:
    def whole(name: str) -> int | None:
        return integer(parts.get(name) or "")

    def real(name: str) -> float | None:
        shown = parts.get(name)
        return float(shown) if shown and shown.replace(".", "", 1).isdigit() else None

    return replace(
        event,
        queue=whole("queue"),
        tag=whole("tag"),
        lba=whole("lba"),
        error=signed(parts.get("error") or ""),
        seconds=real("seconds"),
        queue_count=whole("queues"),
        cpu=whole("cpu"),
        pid=whole("pid"),
        xid=whole("xid"),
        available_gbps=real("available"),
        capable_gbps=real("capable"),
        gigatransfers=real("speed"),
        width=whole("width"),
        capable_gigatransfers=real("capable_speed"),
        capable_width=whole("capable_width"),
    )


def _gpu_parts(event: KernelEvent, text: str, gpu_bus: str | None) -> KernelEvent:
    """A GPU that fell off the bus is Xid 79, also where the driver prints no number."""
    if event.kind == "gpu_fell_off_bus":
        return replace(event, xid=_FELL_OFF_XID, bus_id=gpu_bus)
    if event.kind == "xid" and (rpc := _RPC.search(text)):
        return replace(event, seconds=float(rpc[1]), gpu_index=based(rpc[2]))
    return event


def _named(text: str | None) -> str | None:
    """A process; None where the driver prints <unknown>."""
    return None if text is None or "<unknown>" in text else word(text)
