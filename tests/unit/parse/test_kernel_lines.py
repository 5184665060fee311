"""Every pattern of the kernel log against a line that the kernel prints."""

from typing import Any

import pytest

from tailhound_collectors.parse.kernel_patterns import PATTERNS
from tests.unit.parse.cases import read

_FELL = "NVRM: {} fallen off the bus"
LINES: dict[str, tuple[str, dict[str, Any]]] = {
    "nvme_timeout_polled": (
        "nvme nvme0: I/O 897 QID 2 timeout, completion polled",
        {"device": "nvme0", "tag": 897, "queue": 2},
    ),
    "nvme_timeout_abort": (
        "nvme nvme4: I/O tag 22 (1016) opcode 0x2 (Read) QID 3 timeout, aborting req_op:READ(0)",
        {"device": "nvme4", "tag": 22, "queue": 3},
    ),
    "nvme_timeout_reset": (
        "nvme nvme1: I/O 8 (Flush) QID 0 timeout, reset controller",
        {"device": "nvme1", "tag": 8, "queue": 0},
    ),
    "nvme_abort_status": ("nvme nvme1: Abort status: 0x371", {"status": "0x371"}),
    "nvme_controller_down": (
        "nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10",
        {"device": "nvme0", "status": "0xffffffff"},
    ),
    "nvme_not_ready": (
        "nvme nvme0: Device not ready; aborting reset, CSTS=0x1",
        {"device": "nvme0", "status": "0x1"},
    ),
    "nvme_removed": (
        "nvme nvme2: Disabling device after reset failure: -19",
        {"device": "nvme2"},
    ),
    "nvme_io_error": (
        "nvme0n1: Read(0x2) @ LBA 1024, 8 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) DNR ",
        {"device": "nvme0n1", "lba": 1024, "status": "0x2 / sc 0x81"},
    ),
    "medium_error": (
        "critical medium error, dev nvme0n1, sector 2048 op 0x0:(READ) flags 0x800 phys_seg 1",
        {"device": "nvme0n1", "lba": 2048},
    ),
    "block_io_error": (
        "blk_update_request: I/O error, dev sda, sector 1234 op 0x0:(READ) flags 0x0",
        {"device": "sda", "lba": 1234},
    ),
    "nvmf_timeout": (
        "nvme nvme0: queue 3: timeout request 0x1 type 4",
        {"device": "nvme0", "queue": 3, "status": "0x1"},
    ),
    "nvmf_error_recovery": ("nvme nvme0: starting error recovery", {"device": "nvme0"}),
    "nvmf_keepalive_failed": (
        "nvme nvme0: failed nvme_keep_alive_end_io error=10",
        {"device": "nvme0", "error": 10},
    ),
    "nvmf_no_path": (
        "block nvme0n1: no available path - failing I/O",
        {"device": "nvme0n1"},
    ),
    "nvmf_reconnecting": ("nvme nvme0: Reconnecting in 10 seconds...", {"seconds": 10.0}),
    "nvmf_connect_failed": (
        "nvme nvme0: failed to connect socket: -110",
        {"device": "nvme0", "error": -110},
    ),
    "nvmf_queues": (
        "nvme nvme0: creating 63 I/O queues.",
        {"queue_count": 63, "actionable": False},
    ),
    "aer_nonfatal": (
        "nvme 0000:03:00.0: AER: PCIe Bus Error: severity=Uncorrected (Non-Fatal), "
        "type=Transaction Layer, (Requester ID)",
        {"driver": "nvme", "bus_id": "0000:03:00.0"},
    ),
    "pcie_bandwidth": (
        "pci 0000:01:00.0: 31.504 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x4 link "
        "at 0000:00:00.0 (capable of 63.012 Gb/s with 16.0 GT/s PCIe x4 link)",
        {"available_gbps": 31.504, "capable_width": 4, "source_bus_id": "0000:00:00.0"},
    ),
    "mlx5_access_reg_failed": (
        "mlx5_core 0000:05:00.0: mlx5_cmd_out_err:835:(pid 18360): ACCESS_REG(0x805) op_mod(0x1) "
        "failed, status bad operation(0x2), syndrome (0x9a6171), err(-22)",
        {"bus_id": "0000:05:00.0", "pid": 18360, "actionable": False},
    ),
    "mlx5_command_failed": (
        "mlx5_core 0000:05:00.0: mlx5_cmd_check:810:(pid 1): CREATE_CQ(0x400) op_mod(0x0) failed, "
        "status limits exceeded(0x8), syndrome (0x12fc55)",
        {"name": "CREATE_CQ", "status": "limits exceeded"},
    ),
    "link_down": (
        "mlx5_core 0000:65:00.0 ens5f0np0: Link down",
        {"device": "ens5f0np0", "bus_id": "0000:65:00.0"},
    ),
    "link_up": (
        "mlx5_core 0000:65:00.0 ens5f0np0: Link up",
        {"device": "ens5f0np0", "actionable": False},
    ),
    "mlx5_module_error": (
        "mlx5_core 0000:65:00.0: Port module event[error]: module 0, Cable error, Bus stuck",
        {"name": "Bus stuck"},
    ),
    "mlx5_health": (
        "mlx5_core 0000:65:00.0: poll_health:800:(pid 0): device's health compromised - reached "
        "miss count",
        {"bus_id": "0000:65:00.0"},
    ),
    "transmit_timeout": (
        "NETDEV WATCHDOG: ens5 (mlx5_core): transmit queue 3 timed out",
        {"device": "ens5", "queue": 3},
    ),
    "conntrack_full": ("nf_conntrack: nf_conntrack: table full, dropping packet", {}),
    "xid": (
        "NVRM: Xid (PCI:0000:38:00): 43, pid=2815167, name=pt_main_thread, Ch 00000008",
        {"xid": 43, "pid": 2815167, "process": "pt_main_thread", "bus_id": "0000:38:00"},
    ),
    "gpu_fell_off_bus": (
        "NVRM: GPU 0000:09:00.0: GPU has fallen off the bus.",
        {"xid": 79, "bus_id": "0000:09:00.0"},
    ),
    "cpu_thermal_throttle": (
        "mce: CPU3: Core temperature above threshold, cpu clock throttled (total events = 1)",
        {"cpu": 3},
    ),
    "hung_task": (
        "INFO: task vllm:12345 blocked for more than 120 seconds.",
        {"process": "vllm", "pid": 12345, "seconds": 120.0},
    ),
    "soft_lockup": (
        "watchdog: BUG: soft lockup - CPU#7 stuck for 22s! [python3:4242]",
        {"cpu": 7, "seconds": 22.0},
    ),
    "oom_kill": (
        "Memory cgroup out of memory: Killed process 4242 (python3) total-vm:1kB",
        {"process": "python3", "pid": 4242},
    ),
}
VARIANTS: list[tuple[str, str, dict[str, Any]]] = [
    (
        "cpu_thermal_throttle",
        "CPU7: Package temperature is above threshold, cpu clock is throttled (total events = 2)",
        {"cpu": 7},
    ),
    (
        "transmit_timeout",
        "mlx5_core 0000:65:00.0 ens5: NETDEV WATCHDOG: CPU: 12: transmit queue 3 timed out 5004 ms",
        {"device": "ens5", "queue": 3},
    ),
    (
        "xid",
        "NVRM: Xid (PCI:0000:38:00 GPU-I:05 GPU-CI:00): 94, pid=77, name=python3, Contained: SM",
        {"xid": 94, "pid": 77, "bus_id": "0000:38:00"},
    ),
    ("xid", "NVRM: Xid (PCI:0000:05:00): 79, GPU has fallen off the bus.", {"xid": 79}),
    (
        "gpu_fell_off_bus",
        "NVRM: GPU 18:00.0: GPU has fallen off the bus.",
        {"bus_id": "18:00.0"},
    ),
    ("nvmf_connect_failed", "nvme nvme3: failed to connect queue: 0 ret=-110", {"error": -110}),
    ("nvme_timeout_abort", "nvme nvme1: I/O 775 QID 2 timeout, aborting", {"tag": 775}),
]
STAMPS: dict[str, dict[str, Any]] = {
    "[  101.417700] ": {"boot_seconds": 101.4177},
    "[Sun Feb 23 16:24:18 2025] ": {"time": "2025-02-23T16:24:18"},
    "[Mon Mar  3 06:04:08 2025] ": {"time": "2025-03-03T06:04:08"},
    "2025-01-21T02:21:33,498559+00:00 ": {"time": "2025-01-21T02:21:33.498559+00:00"},
    "kern  :err   : [    1.5] ": {"boot_seconds": 1.5, "facility": "kern", "level": "err"},
    "2025-01-21T02:21:33.498559+0000 gpu-1 kernel: ": {"time": "2025-01-21T02:21:33.498559+0000"},
    "[ 2855.144566] [ T131119] ": {"boot_seconds": 2855.144566},
    "": {"boot_seconds": None, "time": None},
}


def test_every_pattern_has_a_line() -> None:
    of_aer = {"aer", "aer_status", "aer_bit", "aer_received"}
    kinds = {pattern.kind for pattern in PATTERNS} - of_aer
    assert kinds == set(LINES) - {"aer_nonfatal"}


@pytest.mark.parametrize("kind", LINES)
def test_the_line_is_found_and_its_parts_are_read(kind: str) -> None:
    line, parts = LINES[kind]
    event = read("dmesg", f"[    5.5] {line}\n").events[0]
    assert event.kind == kind
    assert {name: getattr(event, name) for name in parts} == parts
    assert event.boot_seconds == 5.5


@pytest.mark.parametrize(("kind", "line", "parts"), VARIANTS)
def test_what_other_kernels_and_drivers_print_is_found(
    kind: str, line: str, parts: dict[str, Any]
) -> None:
    event = read("dmesg", f"[    5.5] {line}\n").events[0]
    assert event.kind == kind
    assert {name: getattr(event, name) for name in parts} == parts


def test_newer_kernels_say_correctable() -> None:
    text = (
        "[1.5] pcieport 0000:00:1c.4: AER: Multiple Correctable error message received from "
        "0000:07:00.0\n"
        "[1.5] pcieport 0000:07:00.0: PCIe Bus Error: severity=Correctable, "
        "type=Data Link Layer, (Receiver ID)\n"
        "[1.5] pcieport 0000:07:00.0:   device [8086:15ea] error status/mask=00000080/00002000\n"
        "[1.5] pcieport 0000:07:00.0:    [ 7] BadDLLP\n"
    )
    (event,) = read("dmesg", text).events
    assert (event.kind, event.name, event.multiple) == ("aer_corrected", "BadDLLP", True)
    assert event.status == "0x00000080"


@pytest.mark.parametrize("stamp", STAMPS)
def test_the_time_is_read_in_every_format(stamp: str) -> None:
    line, _ = LINES["oom_kill"]
    event = read("dmesg", f"{stamp}{line}\n").events[0]
    assert {name: getattr(event, name) for name in STAMPS[stamp]} == STAMPS[stamp]


def test_a_gpu_that_fell_off_in_three_lines_is_one_event() -> None:
    text = (
        "[9.1] NVRM: The NVIDIA GPU 0000:c9:00.0\n"
        "[9.1] NVRM: (PCI ID: 10de:2330) installed in this system has\n"
        "[9.1] NVRM: fallen off the bus and is not responding to commands.\n"
    )
    (event,) = read("dmesg", text).events
    assert (event.kind, event.xid, event.bus_id) == ("gpu_fell_off_bus", 79, "0000:c9:00.0")


def test_records_of_kmsg_give_the_same_events() -> None:
    line, _ = LINES["oom_kill"]
    found = read("kmsg", f"4,12,206764307,-;{line}\n SUBSYSTEM=memory\n30,13,206764308,-;x\n")
    assert [event.kind for event in found.events] == ["oom_kill"]
    assert found.events[0].boot_seconds == 206.764307
    assert [(one.priority, one.facility) for one in found.records] == [(4, 0), (6, 3)]


@pytest.mark.parametrize(
    "line",
    [
        "nvme nvme0: pci function 0000:00:05.0",
        "nvme nvme0: 1/0/0 default/read/poll queues",
        "systemd[1]: Started I/O timeout, aborting test",
        "my nvme nvme: Abort status",
    ],
)
def test_harmless_lines_are_no_events(line: str) -> None:
    assert read("dmesg", f"[    1.5] {line}\n").events == ()
