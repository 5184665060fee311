"""`/proc/diskstats`: counters since boot; two readings make a rate."""

from collections.abc import Sequence
from dataclasses import dataclass

from tailhound.requests import Output
from tailhound_collectors.parse.lines import columns, complete, word
from tailhound_collectors.parse.numbers import integer, multiplied
from tailhound_collectors.parse.tool import Parsed, nothing

SECTOR_BYTES = 512
"""The kernel counts in sectors of 512 bytes, whatever the drive's own are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskCounters:
    """One block device since boot. Discards exist since Linux 4.18, flushes since 5.5.

    `io_seconds` is wall time with at least one request; `queue_seconds` is that times the requests.
    """

    device: str
    reads_completed: int | None
    reads_merged: int | None
    read_bytes: int | None
    read_seconds: float | None
    writes_completed: int | None
    writes_merged: int | None
    written_bytes: int | None
    write_seconds: float | None
    in_flight: int | None
    io_seconds: float | None
    queue_seconds: float | None
    discards_completed: int | None = None
    discards_merged: int | None = None
    discarded_bytes: int | None = None
    discard_seconds: float | None = None
    flushes_completed: int | None = None
    flush_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskStats:
    """Every block device and partition."""

    disks: tuple[DiskCounters, ...]
    truncated: bool = False


def diskstats(output: Output) -> Parsed:
    """DiskStats. A row is read by how many statistics it has: 11, 15, 17 or more."""
    lines, rest = complete(output.stdout)
    rows = (columns(line) for line in lines)
    disks = tuple(_disk(row) for row in rows if _fits(row))
    if not disks:
        return nothing(output, "it has no row with at least 11 statistics")
    return DiskStats(disks=disks, truncated=rest)


def _fits(row: Sequence[str]) -> bool:
    """Two numbers of the device, its name, at least 11 statistics."""
    return len(row) >= 14 and row[0].isdigit() and row[1].isdigit() and not row[2].isdigit()


def _disk(row: Sequence[str]) -> DiskCounters:
    values = [integer(item) for item in row[3:20]]
    values += [None] * (17 - len(values))
    if len(row) < 18:
        values[11:] = [None] * 6
    elif len(row) < 20:
        values[15:] = [None] * 2
    return DiskCounters(
        device=word(row[2]) or "",
        reads_completed=values[0],
        reads_merged=values[1],
        read_bytes=multiplied(values[2], SECTOR_BYTES),
        read_seconds=_seconds(values[3]),
        writes_completed=values[4],
        writes_merged=values[5],
        written_bytes=multiplied(values[6], SECTOR_BYTES),
        write_seconds=_seconds(values[7]),
        in_flight=values[8],
        io_seconds=_seconds(values[9]),
        queue_seconds=_seconds(values[10]),
        discards_completed=values[11],
        discards_merged=values[12],
        discarded_bytes=multiplied(values[13], SECTOR_BYTES),
        discard_seconds=_seconds(values[14]),
        flushes_completed=values[15],
        flush_seconds=_seconds(values[16]),
    )


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
