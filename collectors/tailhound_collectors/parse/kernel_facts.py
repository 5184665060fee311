"""What a kernel log tells: the facts of `dmesg`, `journalctl -k` and /dev/kmsg."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelEvent:
    """One line (or group of lines) of the kernel log that means something.

    `kind` says what (see kernel_patterns). `boot_seconds` is since boot, `time` is wall-clock time
    in ISO form; which of them is known depends on the log's format. `actionable` is False for what
    looks like a fault and is none. A pid that the kernel did not know is None.
    """

    kind: str
    text: str
    actionable: bool = True
    boot_seconds: float | None = None
    time: str | None = None
    facility: str | None = None
    level: str | None = None
    device: str | None = None
    driver: str | None = None
    bus_id: str | None = None
    source_bus_id: str | None = None
    queue: int | None = None
    tag: int | None = None
    lba: int | None = None
    status: str | None = None
    error: int | None = None
    name: str | None = None
    multiple: bool | None = None
    seconds: float | None = None
    queue_count: int | None = None
    cpu: int | None = None
    pid: int | None = None
    process: str | None = None
    xid: int | None = None
    gpu_index: int | None = None
    available_gbps: float | None = None
    capable_gbps: float | None = None
    gigatransfers: float | None = None
    width: int | None = None
    capable_gigatransfers: float | None = None
    capable_width: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelLog:
    """What the kernel log holds that means something. No event in a log is an answer, too."""

    events: tuple[KernelEvent, ...]
    line_count: int
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KmsgRecord:
    """One record of /dev/kmsg. `priority` is the level (0 to 7); `boot_seconds` is since boot."""

    priority: int
    facility: int
    sequence: int
    boot_seconds: float
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kmsg:
    """Records of /dev/kmsg, and what they mean."""

    records: tuple[KmsgRecord, ...]
    record_count: int
    events: tuple[KernelEvent, ...]
    truncated: bool = False
