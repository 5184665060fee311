"""What stands around a drive's counters: discards, file systems, temperature, its exporter."""

import re
from dataclasses import dataclass

from tailhound.flow import Reading, together
from tailhound.model import Missing
from tailhound.requests import Query
from tailhound.requests.prometheus import literal_regex, quoted
from tailhound_collectors.disk_rates import COUNTERS, DiskRow, on_nodes, one_drive, partition_of
from tailhound_collectors.reading import number

TRIM_WINDOW, WEEK_SECONDS = "8d", 604800.0
"""fstrim.timer runs once a week, somewhat late at times (util-linux: OnCalendar=weekly): a drive
without a discard in eight days gets none."""

HOTTEST_CELSIUS = 200.0
"""A sensor without a limit reports 65261.85: no drive works at this temperature."""

_CONTROLLER = re.compile(r"(nvme\d+)n\d+")


@dataclass(frozen=True, slots=True)
class Around:
    """`discards` in eight days is known only where the counter was there a week ago."""

    discards: float | None = None
    filesystem_used: float | None = None
    celsius: float | None = None
    limit_celsius: float | None = None
    sensor_read_seconds: float | None = None


def around(row: DiskRow) -> Reading[Around]:
    """One round of questions about one drive."""
    discarded = f"increase({COUNTERS['discards']}{one_drive(row.device)}[{TRIM_WINDOW}])"
    there = f"{COUNTERS['discards']}{one_drive(row.device)}"
    replies = yield from together(
        [
            Query(promql=f"max ({on_nodes(discarded, row.node)})"),
            Query(promql=f"max ({on_nodes(there, row.node)})", ago=WEEK_SECONDS),
            Query(promql=f"max ({on_nodes(_used(row.device), row.node)})"),
            Query(promql=f"max ({on_nodes(_sensor('celsius', row.device), row.node)})"),
            Query(promql=f"max ({on_nodes(_sensor('max_celsius', row.device), row.node)})"),
            Query(promql=f"max ({on_nodes(_SENSOR_READ, row.node)})"),
        ]
    )
    discards, a_week_ago, used, celsius, limit, sensors = replies
    return Around(
        discards=None if isinstance(a_week_ago, Missing) else number(discards),
        filesystem_used=number(used),
        celsius=_possible(number(celsius)),
        limit_celsius=_possible(number(limit)),
        sensor_read_seconds=number(sensors),
    )


_SENSOR_READ = 'node_scrape_collector_duration_seconds{collector="hwmon"}'


def _used(device: str) -> str:
    """The part of its file systems that is used, of the fullest one."""
    own = f"/dev/{literal_regex(device)}({partition_of(device)})?"
    here = f'{{device=~{quoted(own)},fstype!~"squashfs|iso9660"}}'
    return f"(1 - node_filesystem_avail_bytes{here} / node_filesystem_size_bytes{here})"


def _sensor(which: str, device: str) -> str:
    """The drive's composite sensor: the first one; others may be hotter and have no limit."""
    found = _CONTROLLER.fullmatch(device)
    chip = f"(.*_)?{found[1]}" if found else "^$none"
    return f'node_hwmon_temp_{which}{{chip=~{quoted(chip)},sensor="temp1"}}'


def _possible(celsius: float | None) -> float | None:
    return celsius if celsius is not None and 0 < celsius < HOTTEST_CELSIUS else None
