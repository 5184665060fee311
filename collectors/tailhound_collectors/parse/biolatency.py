"""Histograms of block I/O latency: bcc's `biolatency`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tailhound.requests import Output
from tailhound_collectors.parse.lines import complete, word
from tailhound_collectors.parse.numbers import scaled
from tailhound_collectors.parse.tool import Parsed, nothing

_UNITS = {"usecs": "0.000001", "msecs": "0.001", "nsecs": "0.000000001"}
_HEADER = re.compile(r"^\s{0,40}(usecs|msecs|nsecs)\s{1,40}: count\s{1,40}distribution$")
_TITLE = re.compile(r"^(flags|disk) = (.{1,200})$")
_ROW = re.compile(r"^\s{0,40}(\d{1,20}) -> (\d{1,20})\s{0,40}: (\d{1,20})\s{0,40}\|")


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyBucket:
    """How many requests took from `low_seconds` up to and with `high_seconds`."""

    low_seconds: float
    high_seconds: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyHistogram:
    """One histogram. The percentiles are upper bounds: the end of the bucket that holds them.

    `flags` are the kernel's names of the request kind, wrong for some kernels.
    """

    flags: str | None
    disk: str | None
    buckets: tuple[LatencyBucket, ...]
    total_count: int
    p50_at_most_seconds: float | None
    p50_above_seconds: float | None
    p99_at_most_seconds: float | None
    max_at_most_seconds: float | None
    max_above_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLatency:
    """The histograms of one or more intervals, in order."""

    histograms: tuple[LatencyHistogram, ...]
    truncated: bool = False


def biolatency(output: Output) -> Parsed:
    """BlockLatency."""
    lines, rest = complete(output.stdout)
    titles: dict[str, str] = {}
    found: list[tuple[dict[str, str], str, list[LatencyBucket]]] = []
    for line in lines:
        if title := _TITLE.match(line):
            titles[title[1]] = title[2]
        elif header := _HEADER.match(line):
            found.append((titles, _UNITS[header[1]], []))
            titles = {}
        elif found and (row := _ROW.match(line)):
            found[-1][2].append(_bucket(row, found[-1][1]))
    histograms = tuple(_histogram(about, buckets) for about, _, buckets in found if buckets)
    if not histograms:
        return nothing(output, "it has no histogram")
    return BlockLatency(histograms=histograms, truncated=rest)


def _bucket(row: re.Match[str], unit: str) -> LatencyBucket:
    return LatencyBucket(
        low_seconds=scaled(int(row[1]), unit) or 0.0,
        high_seconds=scaled(int(row[2]), unit) or 0.0,
        count=int(row[3]),
    )


def _histogram(about: dict[str, str], buckets: Iterable[LatencyBucket]) -> LatencyHistogram:
    rows = tuple(buckets)
    half, most = _holding(rows, 0.5), _holding(rows, 0.99)
    highest = next((bucket for bucket in reversed(rows) if bucket.count), None)
    return LatencyHistogram(
        flags=word(about.get("flags")),
        disk=word(about.get("disk")),
        buckets=rows,
        total_count=sum(bucket.count for bucket in rows),
        p50_at_most_seconds=half.high_seconds if half else None,
        p50_above_seconds=half.low_seconds if half else None,
        p99_at_most_seconds=most.high_seconds if most else None,
        max_at_most_seconds=highest.high_seconds if highest else None,
        max_above_seconds=highest.low_seconds if highest else None,
    )


def _holding(buckets: tuple[LatencyBucket, ...], share: float) -> LatencyBucket | None:
    """The bucket in which the share of all requests is reached; None without a request."""
    total = sum(bucket.count for bucket in buckets)
    seen = 0
    for bucket in buckets:
        seen += bucket.count
        if total and seen >= share * total:
            return bucket
    return None
