"""`df -P -k`, `cat /proc/mounts` and `lsblk -J -b`: which file systems lie on a drive."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.parse.json_text import Keys, document
from tailhound_collectors.parse.lines import columns, complete
from tailhound_collectors.parse.numbers import integer

_OCTAL = re.compile(r"\\([0-7]{3})")
_DEEPEST = 8
_FREE = frozenset({"squashfs", "iso9660"})
"""File systems that are always full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filesystem:
    """One mounted file system: its device, its mount point, the part that is used."""

    source: str
    mount: str
    used_ratio: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One mount and its options."""

    source: str
    mount: str
    kind: str
    options: frozenset[str]


def disk_free(output: Output) -> tuple[Filesystem, ...]:
    """The rows of `df -P -k`; the mount point may hold spaces, the source may not."""
    lines, _ = complete(output.stdout)
    found = []
    for line in lines:
        words = columns(line)
        if len(words) < 6 or not words[0].startswith("/dev/"):
            continue
        used, free = integer(words[2]), integer(words[3])
        whole = None if used is None or free is None else used + free
        share = used / whole if used is not None and whole else None
        mount = line.split(None, 5)[5].strip()
        found.append(Filesystem(source=words[0], mount=mount, used_ratio=share))
    return tuple(found)


def mounts(output: Output) -> tuple[Mount, ...]:
    """The rows of /proc/mounts that lie on a device."""
    lines, _ = complete(output.stdout)
    return tuple(
        Mount(
            source=words[0],
            mount=_OCTAL.sub(lambda found: chr(int(found[1], 8)), words[1]),
            kind=words[2],
            options=frozenset(words[3].split(",")),
        )
        for line in lines
        if len(words := columns(line)) >= 4
        and words[0].startswith("/dev/")
        and words[2] not in _FREE
    )


def devices_on(output: Output, drive: str) -> frozenset[str] | None:
    """The names of all that `lsblk` shows on this drive: partitions, volumes, itself.

    None when the drive is not listed.
    """
    found = document(output.stdout)
    if isinstance(found, Missing):
        return None
    for item in Keys(found.value).each("blockdevices"):
        if item.text("name") == drive:
            return frozenset(_names(item, _DEEPEST))
    return None


def _names(item: Keys, deepest: int) -> Iterator[str]:
    if name := item.text("name"):
        yield name
    if deepest:
        for child in item.each("children"):
            yield from _names(child, deepest - 1)
