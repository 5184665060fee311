"""How full a drive is, and whether it is ever told which blocks are free."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.disk_rates import partition_of
from tailhound_collectors.parse.diskstats import DiskCounters, DiskStats, diskstats
from tailhound_collectors.parse.filesystems import Filesystem, Mount, devices_on, disk_free, mounts
from tailhound_collectors.parse.numbers import integer


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """`used_ratio` is that of the fullest file system. The counters are since boot."""

    used_ratio: float | None = None
    mounted_with_discard: bool | None = None
    can_discard: bool | None = None
    discards: int | None = None
    written_bytes: int | None = None


def space_of(device: str, replies: Mapping[str, Output | Missing]) -> Space:
    """What df, lsblk, /proc/mounts, /proc/diskstats and /sys/block say of the drive."""
    told = {name: reply for name, reply in replies.items() if isinstance(reply, Output)}
    names = devices_on(told["tree"], device) if "tree" in told else None
    rows = disk_free(told["free"]) if "free" in told else ()
    listed = mounts(told["mounts"]) if "mounts" in told else ()
    counters = _counters(device, told.get("counters"))
    shares = [row.used_ratio for row in rows if _lies_on(row, device, names)]
    options = [row.options for row in listed if _lies_on(row, device, names)]
    return Space(
        used_ratio=max((share for share in shares if share is not None), default=None),
        mounted_with_discard=any("discard" in one for one in options) if options else None,
        can_discard=_can_discard(told.get("discard")),
        discards=counters.discards_completed if counters else None,
        written_bytes=counters.written_bytes if counters else None,
    )


def _lies_on(row: Filesystem | Mount, device: str, names: frozenset[str] | None) -> bool:
    """Whether it lies on the drive, a partition, or (when lsblk says so) a volume above them."""
    name = row.source.removeprefix("/dev/").removeprefix("mapper/")
    if names and name in names:
        return True
    return re.fullmatch(f"{re.escape(device)}({partition_of(device)})?", name) is not None


def _can_discard(reply: Output | None) -> bool | None:
    found = integer(reply.stdout) if reply and reply.exit_code == 0 else None
    return None if found is None else found > 0


def _counters(device: str, reply: Output | None) -> DiskCounters | None:
    found = diskstats(reply) if reply and reply.exit_code == 0 else None
    if not isinstance(found, DiskStats):
        return None
    return next((row for row in found.disks if row.device == device), None)
