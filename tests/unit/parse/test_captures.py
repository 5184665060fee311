"""Verbatim outputs of QEMU guests with an NVMe and a soft-RoCE device, healthy and with faults."""

from typing import Any

import pytest

from tailhound.model import Missing
from tailhound_collectors.parse import parse, tool_named
from tests.unit.parse.cases import captured, read


def guest(tool: str, name: str) -> Any:
    """What a capture of the guest says."""
    found = tool_named(tool)
    assert found is not None
    return parse(found, captured("qemu-guest", name))


def test_text_and_json_of_one_health_log_say_the_same() -> None:
    text = guest("nvme-smart-log", "healthy-nvme-smart-log.txt")
    assert text == guest("nvme-smart-log", "healthy-nvme-smart-log.json")
    assert (text.temperature_celsius, text.data_read_bytes, text.truncated) == (50, 512000, False)


def test_a_critical_warning_is_told_by_nvme_and_by_smartctl() -> None:
    log = guest("nvme-smart-log", "nvme-degraded-nvme-smart-log.json")
    assert (log.critical_warning, log.reliability_degraded, log.spare_low) == (4, True, False)
    for name in ("nvme-degraded-smartctl-a.json", "nvme-degraded-smartctl-H.txt"):
        found = guest("smartctl", name)
        assert (found.passed, found.exit_status) == (False, 8)
    assert guest("smartctl", "healthy-smartctl-a.json").passed is True


def test_a_medium_error_is_seen_in_the_kernel_log() -> None:
    events = guest("dmesg", "nvme-degraded-dmesg-nvme.txt").events
    assert [event.kind for event in events] == ["nvme_io_error", "medium_error"] * 2
    assert {(event.device, event.lba) for event in events} == {("nvme0n1", 2048)}


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("nvme-list", "nvme-gone-nvme-list.json"),
        ("nvme-smart-log", "nvme-gone-nvme-smart-log.json"),
        ("smartctl", "nvme-gone-smartctl-a.json"),
    ],
)
def test_a_removed_drive_is_no_healthy_drive(tool: str, name: str) -> None:
    found = guest(tool, name)
    assert isinstance(found, Missing)
    assert found.reason.value == "not-applicable"


def test_the_list_is_read_flat_nested_and_as_a_table() -> None:
    flat = guest("nvme-list", "healthy-nvme-list.json").devices[0]
    nested = guest("nvme-list", "healthy-nvme-list-v.json").devices[0]
    table = guest("nvme-list", "healthy-nvme-list.txt").devices[0]
    for name in ("path", "nsid", "model", "serial", "firmware", "lba_bytes"):
        assert getattr(flat, name) == getattr(nested, name) == getattr(table, name)
    assert (flat.size_bytes, table.size_bytes) == (268435456, 268440000)
    assert (flat.rounded, table.rounded) == (False, True)
    assert (nested.controller, nested.bus_address) == ("nvme0", "0000:00:05.0")


def test_a_controller_tells_its_limits() -> None:
    found = guest("nvme-id-ctrl", "healthy-nvme-id-ctrl.json")
    assert (found.warning_temperature_celsius, found.critical_temperature_celsius) == (70, 100)
    assert found.light_throttle_celsius is None
    assert found.total_capacity_bytes is None


def test_empty_slots_of_the_error_log_are_no_errors() -> None:
    found = guest("nvme-error-log", "healthy-nvme-error-log.json")
    assert (found.slot_count, found.valid_count, found.entries) == (1, 0, ())


PORTS = {
    "ibstat": ("ibstat.txt", "ibstat"),
    "ibstatus": ("ibstatus.txt", "ibstatus"),
    "ibv_devinfo": ("ibv_devinfo.txt", "ibv-devinfo"),
    "rdma link": ("rdma-link.txt", "rdma-link"),
    "rdma link -j": ("rdma-link.json", "rdma-link"),
}


@pytest.mark.parametrize(("name", "tool"), PORTS.values(), ids=PORTS)
def test_every_tool_tells_an_active_port_from_one_that_is_down(name: str, tool: str) -> None:
    up = guest(tool, f"healthy-{name}").ports[0]
    down = guest(tool, f"rdma-link-down-{name}").ports[0]
    assert (up.device, up.port, up.active) == ("rxe0", 1, True)
    assert (down.device, down.port, down.active) == ("rxe0", 1, False)
    assert (up.link_up, down.link_up) in ((True, False), (None, None))
    assert down.rate_gbps is None


def test_a_rate_is_known_only_of_a_link_that_is_up() -> None:
    up = guest("ibstat", "healthy-ibstat.txt").ports[0]
    down = guest("ibstat", "rdma-link-down-ibstat.txt").ports[0]
    assert (up.shown_rate_gbps, up.rate_gbps) == (2.5, 2.5)
    assert (down.shown_rate_gbps, down.rate_gbps) == (2.5, None)
    single = guest("ibstat", "rdma-link-down-ibstat-single.txt").ports
    assert single == (down,)


def test_losses_show_in_the_counters_of_rdma() -> None:
    before = guest("rdma-statistic", "healthy-rdma-statistic.json").ports[0]
    after = guest("rdma-statistic", "rdma-after-2pct-loss-rdma-statistic.json").ports[0]
    assert (before.value("completer_retry_err"), after.value("completer_retry_err")) == (0, 171)
    assert after.value("never_heard_of") is None
    for name in ("healthy-rdma-statistic", "rdma-after-2pct-loss-rdma-statistic"):
        as_json = guest("rdma-statistic", f"{name}.json")
        assert guest("rdma-statistic", f"{name}.txt") == as_json


def test_counters_without_their_path_are_read_and_their_setting_is_none() -> None:
    port = guest("ib-hw-counters", "healthy-hw_counters.txt").ports[0]
    assert (port.device, port.value("link_downed"), port.sampling_seconds) == (None, 0, 0.012)
    assert port.value("lifespan") is None


def test_the_state_of_a_network_interface_is_read_and_its_unknown_speed_is_none() -> None:
    up = guest("ethtool", "healthy-ethtool.txt")
    down = guest("ethtool", "rdma-link-down-ethtool.txt")
    assert (up.interface, up.link_detected, down.link_detected) == ("eth1", True, False)
    assert up.speed_bits_per_second is None
    assert guest("ethtool-s", "healthy-ethtool-S.txt").value("tx_queue_0_bytes") == 766


def test_a_log_without_events_is_an_answer() -> None:
    found = guest("dmesg", "healthy-dmesg-tail.txt")
    assert (found.events, found.line_count) == ((), 25)


def test_one_sample_of_iostat_is_a_mean_since_boot() -> None:
    found = read("iostat", captured("no-devices", "iostat.json").stdout)
    assert (found.sample_count, found.since_boot) == (1, True)
    assert guest("iostat", "healthy-iostat.json").since_boot is False


def test_diskstats_and_mpstat_of_a_real_machine() -> None:
    disk = guest("diskstats", "healthy-diskstats.txt").disks[0]
    assert (disk.device, disk.read_bytes, disk.flushes_completed) == ("nvme0n1", 24 * 512, 0)
    cpu = read("mpstat", captured("no-devices", "mpstat.json").stdout).cpus[0]
    assert (cpu.cpu, cpu.user_ratio, cpu.steal_ratio) == ("all", 0.4798, 0.0)
