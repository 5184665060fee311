"""What a host says about one of its drives: health, heat, transport, file systems, discards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tailhound.flow import Reading, together
from tailhound.model import Missing
from tailhound.requests import Output, RunOnHost
from tailhound_collectors.disk_rates import device_of, disk_rows, worst
from tailhound_collectors.drive_kind import DriveKind, controller_of, kind_of, provided
from tailhound_collectors.drive_log import JOURNAL, RING, faults
from tailhound_collectors.drive_space import Space, space_of
from tailhound_collectors.parse import TOOLS, parse
from tailhound_collectors.parse.nvme_identify import Controller, NamespaceIdentity
from tailhound_collectors.parse.nvme_logs import Subsystems
from tailhound_collectors.parse.nvme_smart import SmartLog
from tailhound_collectors.reading import ratio

T = TypeVar("T")
_NVME = "/usr/sbin/nvme"
Replies = Mapping[str, Output | Missing]


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveParams:
    """Whose drive. `device` is the alert's; "" = the drive that slowed down most."""

    nodes: tuple[str, ...]
    device: str = ""
    usual: tuple[float, ...] = (3600.0, 86400.0, 604800.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveHealth:
    """One drive, as its host and its own logs describe it.

    `local`: on the host's own PCIe bus, not reached over a fabric, and no volume of a cloud
    provider that only looks like a drive. `allocated_ratio` is what the drive believes to hold data
    (NUSE of NSZE); None where it always reports all of it. `discards_count` is since boot, and so
    is `rewritten_times`: the bytes written, in capacities of the drive. Growths are between two
    readings, seconds apart. `kernel_faults_count` are timeouts, resets and errors of it that the
    kernel reported in the last half hour.
    """

    node: str | None = None
    device: str | None = None
    model: str | None = None
    transport: str | None = None
    local: bool | None = None
    temperature_celsius: float | None = None
    warning_temperature_celsius: float | None = None
    temperature_bad: bool | None = None
    throttle_growth_count: int | None = None
    media_errors_count: int | None = None
    media_errors_growth_count: int | None = None
    failing: bool | None = None
    kernel_faults_count: int | None = None
    used_ratio: float | None = None
    allocated_ratio: float | None = None
    filesystem_used_ratio: float | None = None
    mounted_with_discard: bool | None = None
    can_discard: bool | None = None
    discards_count: int | None = None
    rewritten_times: float | None = None


class DriveHealthCollector:
    """`ssh.drive_health`: nvme-cli, /proc, /sys, df and lsblk on the drive's node."""

    name = "ssh.drive_health"
    params = DriveParams
    facts = DriveHealth

    def collect(self, params: DriveParams) -> Reading[DriveHealth]:
        """Find the drive, as `prometheus.disk_io` does, then ask its node once for everything."""
        device, node = device_of(params.device), params.nodes[0]
        if not device or len(params.nodes) > 1:
            rows = yield from disk_rows(params.nodes, device, params.usual)
            row = worst(rows, device)
            if row is None:
                return DriveHealth()
            device, node = row.device, row.node
        questions = _questions(device)
        replies = yield from together(
            RunOnHost(host=node, argv=argv, twice=name == "smart")
            for name, argv in questions.items()
        )
        return _facts(node, device, dict(zip(questions, replies, strict=True)))


def _questions(device: str) -> dict[str, tuple[str, ...]]:
    """What is asked of the host, by name; of an NVMe drive, also what it says itself.

    Each log is asked of this drive alone: a dead neighbour holds up `nvme list`.
    """
    asked: dict[str, tuple[str, ...]] = {
        "counters": ("cat", "/proc/diskstats"),
        "mounts": ("cat", "/proc/mounts"),
        "discard": ("cat", f"/sys/block/{device}/queue/discard_max_bytes"),
        "free": ("df", "-P", "-k"),
        "tree": ("lsblk", "-J", "-b"),
        "journal": JOURNAL,
        "ring": RING,
    }
    if controller_of(device):
        asked |= {
            "smart": (_NVME, "smart-log", "-o", "json", f"/dev/{device}"),
            "controller": (_NVME, "id-ctrl", "-o", "json", f"/dev/{device}"),
            "namespace": (_NVME, "id-ns", "-o", "json", f"/dev/{device}"),
            "subsystems": (_NVME, "list-subsys", "-o", "json"),
        }
    return asked


def _facts(node: str, device: str, replies: Replies) -> DriveHealth:
    smart, later = _readings(replies.get("smart"))
    controller = _read("nvme-id-ctrl", replies.get("controller"), Controller) or Controller()
    subsystems = _read("nvme-list-subsys", replies.get("subsystems"), Subsystems)
    kind = kind_of(device, controller.model, subsystems)
    space = space_of(device, replies)
    return DriveHealth(
        node=node,
        device=device,
        model=controller.model,
        transport=kind.transport,
        local=_local(kind),
        temperature_celsius=smart.temperature_celsius,
        warning_temperature_celsius=controller.warning_temperature_celsius,
        temperature_bad=smart.temperature_bad,
        throttle_growth_count=_throttled(smart, later),
        media_errors_count=smart.media_errors,
        media_errors_growth_count=_growth(smart.media_errors, later.media_errors),
        failing=_failing(smart),
        kernel_faults_count=faults(device, replies.get("journal"), replies.get("ring")),
        used_ratio=smart.used_ratio,
        allocated_ratio=_allocated(
            _read("nvme-id-ns", replies.get("namespace"), NamespaceIdentity)
        ),
        **_space(space, controller.total_capacity_bytes),
    )


def _space(space: Space, capacity: int | None) -> dict[str, Any]:
    return {
        "filesystem_used_ratio": space.used_ratio,
        "mounted_with_discard": space.mounted_with_discard,
        "can_discard": space.can_discard,
        "discards_count": space.discards,
        "rewritten_times": ratio(space.written_bytes, capacity),
    }


def _local(kind: DriveKind) -> bool | None:
    if provided(kind.model):
        return False
    return None if kind.transport is None else kind.transport == "pcie"


def _read(tool: str, reply: Output | Missing | None, facts: type[T]) -> T | None:
    """A tool's facts; None without an answer, or when the answer holds none."""
    if reply is None or isinstance(reply, Missing):
        return None
    found = parse(TOOLS[tool], reply)
    return found if isinstance(found, facts) else None


def _readings(reply: Output | Missing | None) -> tuple[SmartLog, SmartLog]:
    """The health log, and the same some seconds later."""
    first = _read("nvme-smart-log", reply, SmartLog) or SmartLog()
    second = reply.second if isinstance(reply, Output) else None
    return first, _read("nvme-smart-log", second, SmartLog) or SmartLog()


def _growth(before: int | None, after: int | None) -> int | None:
    """Unknown when a reading is missing or the counter went back."""
    return after - before if before is not None and after is not None and after >= before else None


def _throttled(before: SmartLog, after: SmartLog) -> int | None:
    """How much the counters of thermal throttling grew, in starts and in seconds."""
    growths = [
        _growth(before.light_throttle_count, after.light_throttle_count),
        _growth(before.heavy_throttle_count, after.heavy_throttle_count),
        _growth(before.light_throttle_seconds, after.light_throttle_seconds),
        _growth(before.heavy_throttle_seconds, after.heavy_throttle_seconds),
    ]
    known = [growth for growth in growths if growth is not None]
    return sum(known) if known else None


def _failing(smart: SmartLog) -> bool | None:
    """Whether the drive itself warns: spare used up, unreliable, read-only."""
    return _any((smart.spare_low, smart.reliability_degraded, smart.read_only))


def _any(truths: Sequence[bool | None]) -> bool | None:
    if any(truths):
        return True
    return None if None in truths else False


def _allocated(namespace: NamespaceIdentity | None) -> float | None:
    if namespace is None or namespace.used_blocks == namespace.capacity_blocks:
        return None
    return ratio(namespace.used_blocks, namespace.size_blocks)
