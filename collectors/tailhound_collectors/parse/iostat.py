"""`iostat -x`: JSON (-o JSON) and text. The last sample is used: the first is since boot."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.parse.json_text import Keys, document
from tailhound_collectors.parse.lines import columns, complete, word
from tailhound_collectors.parse.numbers import decimal, json_decimal, json_integer, scaled
from tailhound_collectors.parse.tool import Parsed, nothing, unparsable

_SECTOR = "512"
_RATES = {
    "reads_per_second": (("r/s", "1"),),
    "writes_per_second": (("w/s", "1"),),
    "discards_per_second": (("d/s", "1"),),
    "flushes_per_second": (("f/s", "1"),),
    "read_bytes_per_second": (("rkB/s", "1024"), ("rMB/s", "1048576"), ("rsec/s", _SECTOR)),
    "write_bytes_per_second": (("wkB/s", "1024"), ("wMB/s", "1048576"), ("wsec/s", _SECTOR)),
    "read_wait_seconds": (("r_await", "0.001"),),
    "write_wait_seconds": (("w_await", "0.001"),),
    "discard_wait_seconds": (("d_await", "0.001"),),
    "flush_wait_seconds": (("f_await", "0.001"),),
    "wait_seconds": (("await", "0.001"),),
    "read_size_bytes": (("rareq-sz", "1024"),),
    "write_size_bytes": (("wareq-sz", "1024"),),
    "queue_length": (("aqu-sz", "1"), ("avgqu-sz", "1")),
    "busy_ratio": (("util", "0.01"), ("%util", "0.01")),
}
_SHARES = ("user", "nice", "system", "iowait", "steal", "idle")
_CPUS = re.compile(r"\((\d{1,6}) CPU\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """One block device over one sample.

    `queue_length` is requests waiting or served; `busy_ratio` says little of a drive that serves
    many at once. A wait is 0 when there was no such request.
    """

    device: str
    reads_per_second: float | None = None
    writes_per_second: float | None = None
    discards_per_second: float | None = None
    flushes_per_second: float | None = None
    read_bytes_per_second: float | None = None
    write_bytes_per_second: float | None = None
    read_wait_seconds: float | None = None
    write_wait_seconds: float | None = None
    discard_wait_seconds: float | None = None
    flush_wait_seconds: float | None = None
    wait_seconds: float | None = None
    read_size_bytes: float | None = None
    write_size_bytes: float | None = None
    queue_length: float | None = None
    busy_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IoStat:
    """The disks and the CPU of one sample. `since_boot`: there is one sample only."""

    disks: tuple[Disk, ...]
    sample_count: int
    used_sample: int
    since_boot: bool
    cpu_count: int | None = None
    user_ratio: float | None = None
    nice_ratio: float | None = None
    system_ratio: float | None = None
    iowait_ratio: float | None = None
    steal_ratio: float | None = None
    idle_ratio: float | None = None
    truncated: bool = False


def iostat(output: Output) -> Parsed:
    """IoStat."""
    found = document(output.stdout)
    if isinstance(found, Missing):
        return _text(output) if "Device" in output.stdout or "avg-cpu" in output.stdout else found
    hosts = Keys(found.value).within("sysstat").each("hosts")
    samples = hosts[0].each("statistics") if hosts else []
    if not samples:
        return unparsable("it has no statistics of a host")
    last = samples[-1]
    cpu = last.get("avg-cpu")
    shares = cpu if isinstance(cpu, Mapping) else {}
    return IoStat(
        disks=tuple(
            _disk(name, {str(key): json_decimal(value) for key, value in item.items()})
            for item in _mappings(last.get("disk"))
            if (name := word(_name(item)))
        ),
        cpu_count=json_integer(hosts[0].get("number-of-cpus")),
        **_counts(len(samples)),
        **_shares({key: json_decimal(shares.get(key)) for key in _SHARES}),
    )


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _name(item: Mapping[str, Any]) -> str | None:
    name = item.get("disk_device", item.get("disk_unit"))
    return name if isinstance(name, str) else None


def _disk(device: str, values: Mapping[str, float | None]) -> Disk:
    rates = {
        fact: next(
            (scaled(values[key], factor) for key, factor in spellings if key in values), None
        )
        for fact, spellings in _RATES.items()
    }
    return Disk(device=device, **rates)


def _counts(samples: int) -> dict[str, Any]:
    return {"sample_count": samples, "used_sample": samples, "since_boot": samples == 1}


def _shares(values: Mapping[str, float | None]) -> dict[str, Any]:
    return {f"{key}_ratio": scaled(values.get(key), "0.01") for key in _SHARES}


def _text(output: Output) -> Parsed:
    lines, rest = complete(output.stdout)
    samples = _samples(lines)
    if not samples:
        return nothing(output, "it has no table of devices")
    cpu, disks = samples[-1]
    count = next((int(found[1]) for line in lines[:5] if (found := _CPUS.search(line))), None)
    return IoStat(
        disks=tuple(_disk(word(row[0]) or "", _columns(header, row)) for header, row in disks),
        cpu_count=count,
        **_counts(len(samples)),
        **_shares(cpu),
        truncated=rest,
    )


_Row = tuple[Sequence[str], Sequence[str]]
_Sample = tuple[dict[str, float | None], list[_Row]]


def _samples(lines: Iterable[str]) -> list[_Sample]:
    """Each sample: the CPU's shares, and the rows of devices with their header.

    A sample begins at its CPU table, or at its device table when none came before (-d).
    """
    samples: list[_Sample] = []
    header: list[str] = []
    for line in lines:
        words = columns(line)
        if not words:
            continue
        if words[0] == "avg-cpu:":
            samples.append(({}, []))
            header = words
        elif words[0].rstrip(":") == "Device":
            if not samples or samples[-1][1] or not header:
                samples.append(({}, []))
            header = words
        elif samples and header:
            _row(samples[-1], header, words)
    return samples


def _row(sample: _Sample, header: Sequence[str], words: Sequence[str]) -> None:
    cpu, disks = sample
    if header[0] != "avg-cpu:":
        disks.append((header, words))
    elif len(words) == len(header) - 1:
        cpu.update(
            (name.lstrip("%"), decimal(value, places=2))
            for name, value in zip(header[1:], words, strict=True)
        )


def _columns(header: Sequence[str], row: Sequence[str]) -> dict[str, float | None]:
    """The row by column; nothing of a row with more or fewer columns than its header."""
    if len(row) != len(header):
        return {}
    return {name: decimal(value, places=2) for name, value in zip(header[1:], row[1:], strict=True)}
