"""`nvme intel lat-stats` and `nvme intel smart-log-add` (Intel and Solidigm drives)."""

import re
from dataclasses import dataclass
from typing import Any

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.parse.json_text import Keys, document
from tailhound_collectors.parse.lines import bare, complete, word
from tailhound_collectors.parse.numbers import decimal, integer, json_integer, multiplied, scaled
from tailhound_collectors.parse.tool import Parsed, nothing

UNIT_BYTES = 32 * 1024 * 1024
"""NAND and host writes are counted in units of 32 MiB."""

NOT_READY = 65535
"""The timed workload window has not run."""

_SECONDS = {"us": "0.000001", "ms": "0.001", "s": "1"}
_DIRECTION = re.compile(r"\b(Read|Write) Command Latency")
_REVISION = re.compile(r"^(Major|Minor) Revision\s{0,4}:\s{0,4}(\d{1,9})\s*$")
_GROUP = re.compile(
    r"^Group\s{1,4}(\d{1,3}): Range is (\d{1,9})-(\d{1,9})(us|ms|s), step is (\d{1,9})(us|ms|s)\s*$"
)
_BUCKET = re.compile(r"^Bucket\s{1,4}(\d{1,5}):\s{0,8}(\S{1,40})\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class CountBucket:
    """How many commands fell into one step of a group."""

    number: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketGroup:
    """A range of latencies in equal steps. `complete`: every step of the range is there."""

    number: int
    from_seconds: float
    to_seconds: float
    step_seconds: float
    buckets: tuple[CountBucket, ...]
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyStats:
    """The drive's own latency buckets. For their shape only: nvme-cli misreads some revisions.

    Reading them clears them on Optane drives.
    """

    direction: str | None
    major: int | None
    minor: int | None
    groups: tuple[BucketGroup, ...]
    truncated: bool


def latency_stats(output: Output) -> Parsed:
    """LatencyStats."""
    lines, rest = complete(output.stdout)
    direction = next(
        (found[1].lower() for line in lines if (found := _DIRECTION.search(line))), None
    )
    revision = {found[1]: int(found[2]) for line in lines if (found := _REVISION.match(line))}
    groups = _groups(lines)
    if not groups and not revision:
        return nothing(output, "it has no group of buckets")
    return LatencyStats(
        direction=direction,
        major=revision.get("Major"),
        minor=revision.get("Minor"),
        groups=groups,
        truncated=rest or not groups or not all(group.complete for group in groups),
    )


def _groups(lines: list[str]) -> tuple[BucketGroup, ...]:
    found: list[tuple[re.Match[str], list[CountBucket]]] = []
    for line in lines:
        if group := _GROUP.match(line):
            found.append((group, []))
        elif found and (bucket := _BUCKET.match(line)):
            count = integer(bucket[2])
            if count is not None:
                found[-1][1].append(CountBucket(number=int(bucket[1]), count=count))
    return tuple(_group(head, tuple(buckets)) for head, buckets in found)


def _group(head: re.Match[str], buckets: tuple[CountBucket, ...]) -> BucketGroup:
    start, end = (scaled(int(head[at]), _SECONDS[head[4]]) or 0.0 for at in (2, 3))
    step = scaled(int(head[5]), _SECONDS[head[6]]) or 0.0
    steps = (end - start) / step if step else 0.0
    return BucketGroup(
        number=int(head[1]),
        from_seconds=start,
        to_seconds=end,
        step_seconds=step,
        buckets=buckets,
        complete=bool(step) and len(buckets) >= int(steps),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorAttribute:
    """One line of the log: its own name, the normalised value (100 = new), the raw value."""

    name: str
    normalized: int | None
    raw: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IntelSmart:
    """The vendor's health log. The timed workload facts are None until their window has run.

    `write_amplification_times` is NAND writes to host writes over the drive's life.
    """

    attributes: tuple[VendorAttribute, ...]
    program_fail_normalized: int | None = None
    erase_fail_normalized: int | None = None
    wear_min_count: int | None = None
    wear_max_count: int | None = None
    wear_avg_count: int | None = None
    media_wear_ratio: float | None = None
    host_reads_ratio: float | None = None
    timed_workload_minutes: int | None = None
    throttle_ratio: float | None = None
    throttle_count: int | None = None
    nand_written_bytes: int | None = None
    host_written_bytes: int | None = None
    write_amplification_times: float | None = None
    truncated: bool = False


_TABLE = re.compile(r"^0x[0-9a-fA-F]{1,2}\s{1,8}(\w{1,60})\s{1,80}(\d{1,3})%?\s{1,20}(.{1,200})$")
_COLON = re.compile(r"^(\w{1,60})\s{0,40}:\s{0,8}(\d{1,3})%\s{1,20}(.{1,200})$")
_NAMED = re.compile(r"(min|max|avg|cnt|sectors): {0,4}(\d{1,20})")


def smart_log_add(output: Output) -> Parsed:
    """IntelSmart, from the table with ids, the older list, or JSON."""
    found = document(output.stdout)
    if isinstance(found, Missing):
        lines, rest = complete(output.stdout)
        rows = [row for line in lines if (row := _TABLE.match(line) or _COLON.match(line))]
        values = {bare(row[1]): _Value(row[1], int(row[2]), row[3].strip()) for row in rows}
        if not values:
            return nothing(output, "it has no attribute") if output.stdout.strip() else found
        return _intel(values, rest)
    stats = Keys(found.value).within("Device stats")
    values = {
        key: _Value(key, json_integer(Keys(item).get("normalized")), item)
        for key, item in stats.items()
    }
    return _intel(values, False) if values else nothing(output, "it has no Device stats")


@dataclass(frozen=True, slots=True)
class _Value:
    """A raw value as it was printed: a number, `min: 1, max: 2, avg: 1`, or a JSON object."""

    name: str
    normalized: int | None
    shown: Any

    @property
    def raw(self) -> int | None:
        if isinstance(self.shown, str):
            return integer(self.shown)
        return json_integer(Keys(self.shown).get("raw"))

    def part(self, *names: str) -> int | None:
        """A named part of the raw value."""
        if isinstance(self.shown, str):
            parts = dict(_NAMED.findall(self.shown))
            return next((int(parts[name]) for name in names if name in parts), None)
        return json_integer(Keys(self.shown).get(*names))

    def share(self) -> float | None:
        """A percentage printed with its sign, as a ratio."""
        if isinstance(self.shown, str) and "%" in self.shown:
            return scaled(decimal(self.shown.partition("%")[0]), "0.01")
        return None


_NONE = _Value("", None, None)


def _intel(values: dict[str, _Value], rest: bool) -> IntelSmart:
    def value(*names: str) -> _Value:
        return next((values[bare(name)] for name in names if bare(name) in values), _NONE)

    nand, host = (_written(value(name)) for name in ("nand_bytes_written", "host_bytes_written"))
    timer = value("timed_work_load", "timed_workload_timer")
    minutes = timer.raw if timer.raw is not None else _first_number(timer.shown)
    throttle = value("thermal_throttle_status")
    return IntelSmart(
        attributes=tuple(
            VendorAttribute(name=word(item.name) or "", normalized=item.normalized, raw=item.raw)
            for item in values.values()
        ),
        program_fail_normalized=value("program_fail_count").normalized,
        erase_fail_normalized=value("erase_fail_count").normalized,
        **_wear(value("wear_leveling_count", "wear_leveling")),
        media_wear_ratio=_timed(value("media_wear_percentage", "timed_workload_media_wear"), 1024),
        host_reads_ratio=_timed(value("host_reads", "timed_workload_host_reads"), 1),
        timed_workload_minutes=None if minutes == NOT_READY else minutes,
        throttle_ratio=_throttled(throttle),
        throttle_count=_throttle_count(throttle),
        nand_written_bytes=nand,
        host_written_bytes=host,
        write_amplification_times=nand / host if nand is not None and host else None,
        truncated=rest,
    )


def _written(value: _Value) -> int | None:
    units = value.raw if value.raw is not None else value.part("sectors")
    return multiplied(units, UNIT_BYTES)


def _wear(value: _Value) -> dict[str, int | None]:
    """Three 16-bit words in one number: min, max, avg erases of a block."""
    raw = value.raw
    if raw is None:
        parts = [value.part(name) for name in ("min", "max", "avg")]
    else:
        parts = [raw >> shift & 0xFFFF for shift in (0, 16, 32)]
    return dict(zip(("wear_min_count", "wear_max_count", "wear_avg_count"), parts, strict=True))


def _timed(value: _Value, steps: int) -> float | None:
    """A share of the timed workload: raw is in percent, of `steps` parts; 65535 is not ready."""
    if value.raw is not None:
        ready = value.raw != NOT_READY
        return value.raw / steps / 100 if ready else None
    share = value.share()
    not_ready = share is None or abs(share * 100 * steps - NOT_READY) < 1
    return None if not_ready else share


def _throttled(value: _Value) -> float | None:
    if value.raw is not None:
        return (value.raw & 0xFF) / 100
    pct = value.part("pct")
    return scaled(pct, "0.01") if pct is not None else value.share()


def _throttle_count(value: _Value) -> int | None:
    if value.raw is not None:
        return value.raw >> 8 & 0xFFFFFFFF
    return value.part("cnt", "count")


def _first_number(shown: Any) -> int | None:
    """65535 of `65535 min`."""
    return integer(shown.removesuffix("min")) if isinstance(shown, str) else None
