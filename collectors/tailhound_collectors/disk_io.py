"""Disk evidence from Prometheus: how the drive that slowed down most behaves against its usual."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tailhound.flow import Reading
from tailhound.model.facts import Series, fact
from tailhound_collectors.disk_around import around
from tailhound_collectors.disk_rates import COUNTERS, DiskRow, device_of, disk_rows, on_drive, worst
from tailhound_collectors.reading import ONSET_WINDOW, history, ratio, side_by_side
from tailhound_collectors.symptoms import SymptomRow

SLOWER = 1.5
"""A wait that grew by half counts as a symptom, and its drive as slow. Our own default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskParams:
    """Whose drives. `device` is the alert's; "" = the drive that slowed down most."""

    nodes: tuple[str, ...]
    device: str = ""
    usual: tuple[float, ...] = (3600.0, 86400.0, 604800.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskIo:
    """The drive that the alert names, else the one that slowed down most.

    Times are means of five minutes. `slow_seconds` is the mean time of reads or of writes,
    whichever grew more (`slow_kind`). `queue_count` is the mean number of requests in the drive or
    waiting for it. `discards_count` is over eight days, and known only where the counter was there
    a week ago. `slow_drives_count` counts the drives of its node that take half as long again,
    `others_slow_count` those beside `device`.
    `sensor_read_seconds` is how long node_exporter takes to read the temperature sensors.
    """

    node: str | None = None
    device: str | None = None
    named_by_alert: bool | None = None
    drives_count: int | None = None
    slow_drives_count: int | None = None
    others_slow_count: int | None = None
    read_seconds: float | None = None
    read_seconds_usual: float | None = None
    read_seconds_ratio: float | None = fact("times")
    write_seconds: float | None = None
    write_seconds_usual: float | None = None
    write_seconds_ratio: float | None = fact("times")
    slow_kind: str | None = None
    slow_seconds: float | None = None
    slow_seconds_usual: float | None = None
    slow_seconds_ratio: float | None = fact("times")
    requests_per_second: float | None = None
    requests_per_second_usual: float | None = None
    requests_ratio: float | None = fact("times")
    bytes_per_second: float | None = None
    bytes_per_second_usual: float | None = None
    bytes_ratio: float | None = fact("times")
    written_bytes_per_second: float | None = None
    written_bytes_per_second_usual: float | None = None
    written_bytes_ratio: float | None = fact("times")
    queue_count: float | None = None
    queue_count_usual: float | None = None
    queue_ratio: float | None = fact("times")
    busy_seconds_per_second: float | None = None
    trim_seconds_per_second: float | None = None
    trim_seconds_per_second_usual: float | None = None
    discards_count: float | None = None
    filesystem_used_ratio: float | None = None
    temperature_celsius: float | None = None
    temperature_limit_celsius: float | None = None
    sensor_read_seconds: float | None = None
    drives: tuple[DiskRow, ...] | None = None
    symptoms: tuple[SymptomRow, ...] | None = None
    slow_seconds_series: Series | None = None
    slow_seconds_usual_series: Series | None = None


class DiskIoCollector:
    """`prometheus.disk_io`: node_exporter's disk counters, joined by node name."""

    name = "prometheus.disk_io"
    params = DiskParams
    facts = DiskIo

    def collect(self, params: DiskParams) -> Reading[DiskIo]:
        """One question a moment for all drives, then what is around the worst, and its history."""
        device = device_of(params.device)
        rows = yield from disk_rows(params.nodes, device, params.usual)
        row = worst(rows, device)
        if row is None:
            return DiskIo()
        nearby, found = yield from side_by_side([_nearby(row), _waits(row, params.usual)])
        waits = found.symptoms or ()
        slow = _slow_kind(row)
        first = next((wait for wait in waits if wait.symptom == slow), None)
        return replace(
            nearby,
            named_by_alert=bool(device),
            drives_count=len(rows),
            slow_drives_count=_slow_on(row.node, rows),
            others_slow_count=_slow_on(row.node, [one for one in rows if one is not row]),
            slow_kind=slow.removeprefix("disk_") or None,
            drives=rows,
            symptoms=_grown(waits),
            slow_seconds=first.seconds if first else None,
            slow_seconds_usual=first.usual_seconds if first else None,
            slow_seconds_ratio=row.slowdown_ratio,
            slow_seconds_series=first.series if first else None,
            slow_seconds_usual_series=first.usual_series if first else None,
        )


def _slow_on(node: str, rows: Sequence[DiskRow]) -> int | None:
    """How many drives of a node are slow; unknown when the usual of none is known."""
    growths = [row.slowdown_ratio for row in rows if row.node == node]
    known = [growth for growth in growths if growth is not None]
    return sum(growth > SLOWER for growth in known) if known else None


def _slow_kind(row: DiskRow) -> str:
    """ "disk_read" or "disk_write", whichever grew more; "" when no growth is known."""
    if row.slowdown_ratio is None:
        return ""
    reads = ratio(row.read_seconds, row.read_seconds_usual)
    return "disk_read" if reads == row.slowdown_ratio else "disk_write"


def _grown(waits: Sequence[SymptomRow]) -> tuple[SymptomRow, ...] | None:
    """The waits that grew by half, the one that grew most first: jitter is no symptom."""
    growths = [(ratio(one.seconds, one.usual_seconds) or 0.0, one) for one in waits]
    grown = [item for item in growths if item[0] > SLOWER]
    return tuple(one for _, one in sorted(grown, key=lambda item: -item[0])) or None


def _waits(row: DiskRow, usual: Sequence[float]) -> Reading[DiskIo]:
    """How long reads and writes of the drive take, with their histories."""
    kinds = {
        "read": (row.read_seconds, row.read_seconds_usual),
        "write": (row.write_seconds, row.write_seconds_usual),
    }
    known = {kind: pair for kind, pair in kinds.items() if pair[0] is not None}
    found = yield from side_by_side(history(_mean_of(row, kind), usual) for kind in known)
    return DiskIo(
        symptoms=tuple(
            SymptomRow(
                symptom=f"disk_{kind}",
                title=f"{kind} wait",
                seconds=seconds,
                usual_seconds=before,
                series=series,
                usual_series=usual_series,
            )
            for (kind, (seconds, before)), (series, usual_series) in zip(
                known.items(), found, strict=True
            )
        )
    )


def _mean_of(row: DiskRow, kind: str) -> str:
    """The mean seconds of one request of the drive."""
    time, count = COUNTERS[f"{kind}_time"], COUNTERS[f"{kind}s"]
    return f"{on_drive(time, row, ONSET_WINDOW)} / ({on_drive(count, row, ONSET_WINDOW)} > 0)"


def _nearby(row: DiskRow) -> Reading[DiskIo]:
    """The numbers of the drive, its discards, file systems and temperature."""
    known = yield from around(row)
    return DiskIo(
        node=row.node,
        device=row.device,
        **_compared(row),
        busy_seconds_per_second=row.busy_seconds_per_second,
        trim_seconds_per_second=row.trim_seconds_per_second,
        trim_seconds_per_second_usual=row.trim_seconds_per_second_usual,
        discards_count=known.discards,
        filesystem_used_ratio=known.filesystem_used,
        temperature_celsius=known.celsius,
        temperature_limit_celsius=known.limit_celsius,
        sensor_read_seconds=known.sensor_read_seconds,
    )


_COMPARED = {
    "read_seconds": "read_seconds_ratio",
    "write_seconds": "write_seconds_ratio",
    "requests_per_second": "requests_ratio",
    "bytes_per_second": "bytes_ratio",
    "written_bytes_per_second": "written_bytes_ratio",
    "queue_count": "queue_ratio",
}
"""Each number of a drive that has a usual value, and its ratio to it."""


def _compared(row: DiskRow) -> dict[str, Any]:
    """The numbers of a drive as facts: now, usually, and how the one stands to the other."""
    found: dict[str, float | None] = {}
    for name, ratio_name in _COMPARED.items():
        now, usual = getattr(row, name), getattr(row, f"{name}_usual")
        found |= {name: now, f"{name}_usual": usual, ratio_name: ratio(now, usual)}
    return found
