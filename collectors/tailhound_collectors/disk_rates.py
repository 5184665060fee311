"""What each block device of some nodes did: one question to Prometheus for each moment.

Means hide tails: a drive that stalls for a second in each minute shows a mean that grew a little.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailhound.flow import Reading, together
from tailhound.model import Missing
from tailhound.model.facts import fact
from tailhound.requests import Query, Vector
from tailhound.requests.prometheus import literal_regex, matchers, quoted
from tailhound_collectors.reading import WINDOW, middle, ratio

WHOLE_DRIVES = "nvme[0-9]+n[0-9]+|sd[a-z]+|vd[a-z]+|xvd[a-z]+"
"""Drives, not their partitions, and nothing that is made of several."""

FEWEST_PER_SECOND = 1.0
"""Below one request a second a mean says little: 300 in the window. Our own default."""

COUNTERS = {
    "reads": "node_disk_reads_completed_total",
    "read_time": "node_disk_read_time_seconds_total",
    "read_bytes": "node_disk_read_bytes_total",
    "writes": "node_disk_writes_completed_total",
    "write_time": "node_disk_write_time_seconds_total",
    "written_bytes": "node_disk_written_bytes_total",
    "queue": "node_disk_io_time_weighted_seconds_total",
    "busy": "node_disk_io_time_seconds_total",
    "discards": "node_disk_discards_completed_total",
    "discard_time": "node_disk_discard_time_seconds_total",
}
_NAMED = re.compile(r"(?:/dev/)?([a-z][a-z0-9-]{1,31})")
_PARTITION = re.compile(r"(nvme\d+n\d+)p\d+|((?:sd|vd|xvd)[a-z]+)\d+")

Where = tuple[str, str]
"""(node, device)."""
Rates = Mapping[str, float]
"""The rates of one device by the keys of COUNTERS, each a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskRow:
    """One device: how long a request takes and how many there are, now and usually.

    `slowdown_ratio` is the growth of the mean time of reads or of writes, whichever grew more.
    """

    node: str
    device: str
    read_seconds: float | None = None
    read_seconds_usual: float | None = None
    write_seconds: float | None = None
    write_seconds_usual: float | None = None
    requests_per_second: float | None = None
    requests_per_second_usual: float | None = None
    bytes_per_second: float | None = None
    bytes_per_second_usual: float | None = None
    written_bytes_per_second: float | None = None
    written_bytes_per_second_usual: float | None = None
    queue_count: float | None = None
    queue_count_usual: float | None = None
    busy_seconds_per_second: float | None = None
    trim_seconds_per_second: float | None = None
    trim_seconds_per_second_usual: float | None = None
    slowdown_ratio: float | None = fact("times")


def device_of(label: str) -> str:
    """The drive that a label means: nvme0n1 of "/dev/nvme0n1p2"; "" for what is no device name."""
    found = _NAMED.fullmatch(label.strip())
    if found is None:
        return ""
    part = _PARTITION.fullmatch(found[1])
    return (part[1] or part[2]) if part else found[1]


def partition_of(device: str) -> str:
    """What stands behind the drive's name in that of a partition, as a regular expression: p1 where
    the name itself ends in a digit.
    """
    return "p[0-9]{1,3}" if device[-1:].isdigit() else "[0-9]{1,3}"


def on_nodes(expression: str, nodes: Sequence[str] | str) -> str:
    """A node_exporter expression, kept where its instance is one of these nodes.

    The instance of a node is found by its name; it is never taken for the name.
    """
    names = f"max by (instance, nodename) (node_uname_info{matchers(nodename=nodes)})"
    return f"{expression} * on (instance) group_left (nodename) {names}"


def on_drive(counter: str, row: DiskRow, window: str) -> str:
    """The rate of one counter of one drive."""
    return f"max ({on_nodes(f'rate({counter}{one_drive(row.device)}[{window}])', row.node)})"


def one_drive(device: str) -> str:
    """The matchers of one device."""
    return matchers(device=device)


def _rates_of(nodes: Sequence[str], device: str) -> str:
    """All counters in one question: `what` tells them apart."""
    also = f"|{literal_regex(device)}" if device else ""
    here = f"{{device=~{quoted(WHOLE_DRIVES + also)}}}"
    return " or ".join(
        "label_replace(max by (nodename, device) "
        f"({on_nodes(f'rate({name}{here}[{WINDOW}])', nodes)}),"
        f' "what", "{what}", "", "")'
        for what, name in COUNTERS.items()
    )


def disk_rows(
    nodes: Sequence[str], device: str, usual: Sequence[float]
) -> Reading[tuple[DiskRow, ...]]:
    """Every drive of the nodes, and the named device, in the order of names."""
    query = _rates_of(nodes, device)
    replies = yield from together(
        [Query(promql=query), *(Query(promql=query, ago=ago) for ago in usual)]
    )
    now, *before = (_by_device(reply) for reply in replies)
    return tuple(
        _row(where, rates, [moment[where] for moment in before if where in moment])
        for where, rates in sorted(now.items())
    )


def worst(rows: Sequence[DiskRow], device: str = "") -> DiskRow | None:
    """The drive that slowed down most; without any usual value, the one with most requests.

    With a device: the one of this name, on the node where it slowed down most.
    """
    return max(
        (row for row in rows if device in ("", row.device)),
        key=lambda row: (row.slowdown_ratio or 0.0, row.requests_per_second or 0.0),
        default=None,
    )


def _by_device(reply: Vector | Missing) -> dict[Where, dict[str, float]]:
    found: dict[Where, dict[str, float]] = {}
    if isinstance(reply, Missing):
        return found
    for item in reply:
        where = item.label("nodename"), item.label("device")
        found.setdefault(where, {})[item.label("what")] = item.value
    return found


def _row(where: Where, now: Rates, before: Sequence[Rates]) -> DiskRow:
    read, read_usual = _pair(now, before, "read_time", "reads")
    write, write_usual = _pair(now, before, "write_time", "writes")
    growths = [g for g in (ratio(read, read_usual), ratio(write, write_usual)) if g is not None]
    return DiskRow(
        node=where[0],
        device=where[1],
        read_seconds=read,
        read_seconds_usual=read_usual,
        write_seconds=write,
        write_seconds_usual=write_usual,
        requests_per_second=_both(now, "reads", "writes"),
        requests_per_second_usual=middle(_both(one, "reads", "writes") for one in before),
        bytes_per_second=_both(now, "read_bytes", "written_bytes"),
        bytes_per_second_usual=middle(_both(one, "read_bytes", "written_bytes") for one in before),
        written_bytes_per_second=now.get("written_bytes"),
        written_bytes_per_second_usual=middle(one.get("written_bytes") for one in before),
        queue_count=now.get("queue"),
        queue_count_usual=middle(one.get("queue") for one in before),
        busy_seconds_per_second=now.get("busy"),
        trim_seconds_per_second=_trimming(now),
        trim_seconds_per_second_usual=middle(_trimming(one) for one in before),
        slowdown_ratio=max(growths, default=None),
    )


def _pair(
    now: Rates, before: Sequence[Rates], time: str, count: str
) -> tuple[float | None, float | None]:
    """The mean seconds of one request now, and the median of what it was."""
    return _mean(now, time, count), middle(_mean(one, time, count) for one in before)


def _mean(rates: Rates, time: str, count: str) -> float | None:
    requests = rates.get(count)
    if requests is None or requests < FEWEST_PER_SECOND or time not in rates:
        return None
    return rates[time] / requests


def _both(rates: Rates, one: str, other: str) -> float | None:
    return rates[one] + rates[other] if one in rates and other in rates else None


def _trimming(rates: Rates) -> float | None:
    """Seconds a second spent on discards; none are spent when there are none."""
    return 0.0 if rates.get("discards") == 0 else rates.get("discard_time")
