"""Shapes that other versions print, and values that mean "not available"."""

import json
from typing import Any

import pytest

from tailhound_collectors.parse.nvidia_csv import STATE_FIELDS
from tests.unit.parse.cases import case, missing, read


def test_the_keys_of_nvme_cli_2_7_are_found() -> None:
    facts = read("nvme-smart-log", '{"Critical Warning": {"Value": 1}, "Temperature": 311}\n')
    assert (facts.critical_warning, facts.spare_low, facts.temperature_celsius) == (1, True, 38)


def test_sensors_and_kelvin_are_read_and_zero_kelvin_is_none() -> None:
    facts = read("nvme-smart-log", '{"temperature": 0, "temperature_sensor_2": 318}\n')
    assert facts.temperature_celsius is None
    assert [(one.number, one.temperature_celsius) for one in facts.sensors] == [(2, 45.0)]
    facts = read("nvme-smart-log", "critical_warning : 0\ntemperature : 34 °C (307 K, 93 °F)\n")
    assert (facts.temperature_celsius, facts.temperature_kelvin) == (34.0, 307)
    broken = b"critical_warning : 0\ntemperature : 34 \xb0C (307 K)\n".decode(errors="replace")
    assert read("nvme-smart-log", broken).temperature_celsius == 34.0


def test_a_label_that_says_two_things_says_nothing() -> None:
    text = (
        "critical_warning : 0\nCritical Composite Temperature Time : 3\n"
        "Critical Composite Temperature Time : 5\n"
    )
    assert read("nvme-smart-log", text).critical_temperature_minutes is None


def test_overflowing_sizes_of_nvme_list_are_unknown() -> None:
    device = {"NameSpace": 1, "DevicePath": "/dev/nvme0n1", "PhysicalSize": -2147483648}
    found = read("nvme-list", json.dumps({"Devices": [device]}) + "\n").devices[0]
    assert (found.path, found.size_bytes, found.model) == ("/dev/nvme0n1", None, None)


def test_namespaces_of_a_multipath_subsystem_are_found() -> None:
    subsystem = {
        "Subsystem": "nvme-subsys1",
        "Controllers": [{"Controller": "nvme1"}, {"Controller": "nvme2"}],
        "Namespaces": [{"NameSpace": "nvme1n1", "NSID": 4, "Paths": [{"Path": "nvme1c1n1"}]}],
    }
    text = json.dumps({"Devices": [{"HostID": "x", "Subsystems": [subsystem]}]})
    (found,) = read("nvme-list", text + "\n").devices
    assert (found.path, found.nsid, found.controller) == ("/dev/nvme1n1", 4, None)


def test_list_subsys_of_1_x_is_an_object_and_may_divide_name_and_paths() -> None:
    paths = [
        {"Name": "nvme0", "Transport": "tcp", "Address": "traddr=10.0.0.1", "State": "live"},
        {"Name": "nvme1", "Transport": "tcp", "State": "connecting", "ANAState": "inaccessible"},
    ]
    parts: list[dict[str, Any]] = [{"Name": "nvme-subsys0", "NQN": "nqn.x"}, {"Paths": paths}]
    (found,) = read("nvme-list-subsys", json.dumps({"Subsystems": parts}) + "\n").subsystems
    assert (found.name, found.live_path_count, len(found.paths)) == ("nvme-subsys0", 1, 2)
    text = (
        "nvme-subsys0 - NQN=nqn.x\n\\\n"
        " +- nvme0 tcp traddr=10.0.0.1,trsvcid=4420 live optimized\n"
        " +- nvme1 tcp traddr=10.0.0.2,trsvcid=4420 connecting\n"
    )
    (found,) = read("nvme-list-subsys", text).subsystems
    assert [path.ana_state for path in found.paths] == ["optimized", None]


def test_probing_is_told_from_real_errors_in_the_error_log() -> None:
    errors = [
        {"error_count": 9, "sqid": 0, "status_field": 0x2002, "lba": 2**64 - 1},
        {"error_count": 10, "sqid": 3, "status_field": 0x281, "lba": 77, "nsid": 1},
        {"error_count": 0},
    ]
    found = read("nvme-error-log", json.dumps({"errors": errors}) + "\n")
    assert [one.probing for one in found.entries] == [True, False]
    assert [one.lba for one in found.entries] == [None, 77]
    text = (
        ".................\n Entry[ 0]\n.................\nerror_count     : 12\n"
        "sqid            : 0\nstatus_field    : 0x2002(INVALID_FIELD: A reserved value)\n"
    )
    (entry,) = read("nvme-error-log", text).entries
    assert (entry.status, entry.probing) == (0x2002, True)
    assert entry.status_text == "INVALID_FIELD: A reserved value"


def test_the_older_list_of_intel_and_its_json_say_the_same() -> None:
    text = (
        "key                               normalized raw\n"
        "program_fail_count              : 100%       0\n"
        "wear_leveling                   :  99%       min: 1, max: 3, avg: 2\n"
        "timed_workload_media_wear       : 100%       63.999%\n"
        "timed_workload_timer            : 100%       65535 min\n"
        "thermal_throttle_status         : 100%       5%, cnt: 7\n"
        "nand_bytes_written              : 100%       sectors: 40\n"
        "host_bytes_written              : 100%       sectors: 20\n"
    )
    found = read("nvme-intel-smart-log-add", text)
    assert (found.wear_min_count, found.wear_max_count, found.wear_avg_count) == (1, 3, 2)
    assert (found.media_wear_ratio, found.timed_workload_minutes) == (None, None)
    assert (found.throttle_ratio, found.throttle_count) == (0.05, 7)
    assert found.write_amplification_times == 2
    stats = {
        "program_fail_count": {"normalized": 100, "raw": 0},
        "wear_leveling": {"normalized": 99, "min": 1, "max": 3, "avg": 2},
        "thermal_throttle_status": {"normalized": 100, "pct": 5, "count": 7},
        "nand_bytes_written": {"normalized": 100, "raw": 40},
        "host_bytes_written": {"normalized": 100, "raw": 20},
    }
    as_json = read("nvme-intel-smart-log-add", json.dumps({"Device stats": stats}) + "\n")
    for name in ("wear_avg_count", "throttle_ratio", "throttle_count", "nand_written_bytes"):
        assert getattr(as_json, name) == getattr(found, name)


def test_counters_that_are_not_available_are_unknown() -> None:
    path = "/sys/class/infiniband/mlx5_2/ports/1"
    text = (
        f"{path}/counters/link_downed:N/A (no PMA)\n"
        f"{path}/counters/port_rcv_data:{2**64 - 1}\n"
        f"{path}/counters/port_rcv_errors:65535\n"
        f"grep: {path}/counters/symbol_error: Invalid argument\n"
        f"{path}/hw_counters/RxTIDFLGMs,32:5\n"
        f"{path}/hw_counters/link_downed:255\n"
        f"{path}/state:4: ACTIVE\n"
    )
    (port,) = read("ib-counters", text).ports
    assert port.value("link_downed", "counters") is None
    assert port.value("port_rcv_data") is None
    assert port.value("symbol_error") is None
    assert port.value("RxTIDFLGMs,32") == 5
    assert port.error_count is None
    saturated = {(one.group, one.name): one.saturated for one in port.counters}
    assert saturated["counters", "port_rcv_errors"] is True
    assert saturated["hw_counters", "link_downed"] is False


def test_the_pretty_form_of_rdma_statistic_is_read() -> None:
    text = "link mlx5_0/1\n    out_of_buffer 3\n    packet_seq_err 4\n"
    text += "link mlx5_1/1\n    np_cnp_sent 5\n"
    first, second = read("rdma-statistic", text).ports
    assert (first.value("packet_seq_err"), second.device) == (4, "mlx5_1")
    assert second.value("np_cnp_sent") == 5


def test_perfquery_in_extended_form_does_not_saturate_at_the_old_ceilings() -> None:
    head = "# Port {}counters: Lid 1 port 1 (CapMask: 0x0)\nPortSelect:......1\n"
    row = "LinkDownedCounter:.......255\n"
    narrow = read("perfquery", head.format("") + row).ports[0].counters[0]
    wide = read("perfquery", head.format("extended ") + row).ports[0].counters[0]
    assert (narrow.saturated, wide.saturated) == (True, False)


def test_the_last_colon_divides_a_nic_statistic() -> None:
    found = read("ethtool-s", "NIC statistics:\n     rxq0: rx_bytes: 1\n     x: not a number\n")
    assert [(one.name, one.value) for one in found.counters] == [("rxq0: rx_bytes", 1)]


def test_iostat_uses_the_last_text_sample_and_old_column_names() -> None:
    head = "Device:  r/s  w/s  rMB/s  avgqu-sz  await  svctm  %util\n"
    table = head + "sda {} 0.00 1.00 0.50 7.00 1.00 9.00\n\n"
    found = read("iostat", "Linux\n\n" + table.format("1.00") + table.format("2.00"))
    (disk,) = found.disks
    assert (found.sample_count, disk.reads_per_second, disk.wait_seconds) == (2, 2.0, 0.007)
    assert (disk.read_bytes_per_second, disk.queue_length) == (1048576.0, 0.5)
    assert disk.read_wait_seconds is None


def test_a_row_that_does_not_fit_its_header_has_no_numbers() -> None:
    table = "Device  r/s  %util\nsda  1.00  9.00  7.00\nsdb 1.00 9.00\n"
    first, second = read("iostat", table).disks
    assert (first.device, first.busy_ratio) == ("sda", None)
    assert second.busy_ratio == 0.09


def test_vmstat_without_steal_and_with_a_time_stamp() -> None:
    head = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa"
    old = read(
        "vmstat",
        f"{head}\n 1  0      0   100      0      0    3    4     0     0  1  1  1  1 97 1\n",
    )
    assert (old.steal_ratio, old.swap_in_bytes_per_second, old.since_boot) == (None, 3072, True)
    row = " 1  0  0  100  0  0  0  0  0  0  1  1  1  1 90 1 {} 2026-06-18 10:00:0{}\n"
    new = read("vmstat", f"{head} st                 UTC\n{row.format(7, 1)}{row.format(8, 2)}")
    assert (new.steal_ratio, new.row_count, new.since_boot) == (0.08, 2, False)


def test_mpstat_takes_the_average_and_no_table_of_interrupts() -> None:
    text = (
        "Linux 6.1 (h) \t01/01/26 \t_x86_64_\t(2 CPU)\n\n"
        "10:00:00     CPU    %usr   %steal   %idle\n"
        "10:00:01     all   10.00    1.00   89.00\n"
        "10:00:01       0   20.00    1.00   79.00\n\n"
        "10:00:00     CPU    HI/s   TIMER/s\n"
        "10:00:01       0    1.00    2.00\n\n"
        "Average:     CPU    %usr   %steal   %idle\n"
        "Average:     all   12.00    2.00   86.00\n"
    )
    found = read("mpstat", text)
    assert found.averaged
    assert [(cpu.cpu, cpu.user_ratio) for cpu in found.cpus] == [("all", 0.12)]
    without = read("mpstat", text.partition("Average:")[0])
    assert [(cpu.cpu, cpu.idle_ratio) for cpu in without.cpus] == [("all", 0.89), ("0", 0.79)]


def test_pressure_is_read_from_one_file_and_from_several() -> None:
    text = (
        "some avg10=12.30 avg60=4.10 avg300=1.00 total=998\n"
        "full avg10=9.00 avg60=3.00 avg300=0.80 total=700\n"
    )
    (one,) = read("pressure", text).resources
    assert (one.resource, one.some_10s_ratio, one.full_total_seconds) == (None, 0.123, 0.0007)
    prefixed = "".join(f"/proc/pressure/io:{line}\n" for line in text.splitlines())
    cpu = "/proc/pressure/cpu:some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"
    io, only_some = read("psi", prefixed + cpu).resources
    assert (io.resource, io.full_60s_ratio) == ("io", 0.03)
    assert (only_some.some_10s_ratio, only_some.full_10s_ratio) == (0.0, None)


def test_numa_nodes_may_have_gaps_and_no_cpu() -> None:
    text = (
        "available: 2 nodes (0,8)\nnode 0 cpus: 0 1 2\nnode 0 size: 1000 MB\nnode 0 free: 250 MB\n"
        "node 8 cpus:\nnode 8 size: 500 MB\nnode 8 free: 0 MB\n"
        "node distances:\nnode   0   8\n  0:  10  40\n"
    )
    found = read("numactl", text)
    assert [(one.node, one.cpu_count) for one in found.nodes] == [(0, 3), (8, 0)]
    assert [one.free_ratio for one in found.nodes] == [0.25, 0.0]
    assert not found.truncated


def test_a_reply_of_ping_and_its_decimal_comma() -> None:
    text = (
        "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n64 bytes from 10.0.0.1: time=30.4 ms\n\n"
        "--- 10.0.0.1 ping statistics ---\n"
        "2 packets transmitted, 1 received, 50% packet loss, time 1ms\n"
        "rtt min/avg/max/mdev = 30.406/30.406/30.406/0.000 ms\n"
    )
    for shown in (text, text.replace("30.406", "30,406")):
        found = read("ping", shown)
        assert (found.loss_ratio, found.rtt_avg_seconds) == (0.5, 0.030406)
    assert missing("ping", text[:80] + "\n").reason.value == "truncated"


def test_a_slow_link_is_judged_by_both_of_its_ends() -> None:
    text = case("lspci-01.txt").text
    slow = text.replace("Speed 16GT/s (ok), Width x4 (ok)", "Speed 8GT/s (downgraded), Width x4")
    slow = slow.replace("Speed 16GT/s (downgraded)", "Speed 8GT/s (downgraded)")
    assert read("lspci", text).degraded is False
    assert read("lspci", slow).degraded is True
    alone = read("lspci", case("lspci-02.txt").text)
    assert (alone.links[0].below_capability, alone.degraded) == (True, None)


def row(**values: object) -> str:
    """One row of the bot's own query; a field not given is [N/A]."""
    shown = {key.replace("__", "."): value for key, value in values.items()}
    return ", ".join(str(shown.get(field, "[N/A]")) for field in STATE_FIELDS) + "\n"


def test_the_bots_own_gpu_query_is_read() -> None:
    uuid = "GPU-00000000-0000-0000-0000-442356209826"
    text = row(
        index=0, uuid=uuid, clocks__sm=345, clocks_throttle_reasons__active="0x0000000000000088"
    )
    (gpu,) = read("nvidia-smi-csv", text).gpus
    assert (gpu.sm_mhz, gpu.hw_slowdown, gpu.hw_power_brake, gpu.hw_thermal) == (
        345,
        True,
        True,
        False,
    )
    assert (gpu.busy_ratio, gpu.temperature_celsius) == (None, None)


@pytest.mark.parametrize("shown", ["[N/A]", "[Not Supported]", "[Unknown Error]", "N/A", ""])
def test_what_nvidia_smi_does_not_say_is_unknown(shown: str) -> None:
    uuid = "GPU-00000000-0000-0000-0000-442356209826"
    text = row(index=0, uuid=uuid, utilization__gpu=shown, clocks_throttle_reasons__active=shown)
    (gpu,) = read("nvidia-smi-csv", text).gpus
    assert (gpu.busy_ratio, gpu.hw_slowdown, gpu.idle) == (None, None, None)


def test_a_query_with_its_header_may_have_any_fields() -> None:
    text = (
        "index, pstate, utilization.gpu [%], memory.used [MiB], power.draw [W]\n"
        "0, P0, 86 %, 802 MiB, 301.25 W\n1, P8, [GPU requires reset], 0 MiB, N/A\n"
    )
    first, second = read("nvidia-smi-csv", text).gpus
    assert (first.busy_ratio, first.memory_used_bytes, first.power_watts) == (
        0.86,
        802 << 20,
        301.25,
    )
    assert (second.busy_ratio, second.reset_required) == (None, True)


def test_a_nvlink_that_is_down_is_counted_and_errors_are_read() -> None:
    head = "GPU 0: NVIDIA H100 (UUID: GPU-00000000-0000-0000-0000-783112847252)\n"
    speeds = read(
        "nvidia-smi-nvlink", f"{head}\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n"
    ).gpus[0]
    assert (speeds.up_count, speeds.down_count) == (1, 1)
    errors = read(
        "nvidia-smi-nvlink", f"{head}\t Link 0: Replay Errors: 3\n\t Link 0: CRC Errors: 0\n"
    )
    (link,) = errors.gpus[0].links
    assert (link.replay_errors, link.crc_errors, link.recovery_errors, link.up) == (
        3,
        0,
        None,
        None,
    )
    assert errors.gpus[0].up_count is None


def test_fio_results_are_read() -> None:
    side = {
        "total_ios": 10,
        "iops": 100.5,
        "bw_bytes": 4096,
        "clat_ns": {"mean": 2000000.0, "max": 9000000, "percentile": {"99.000000": 5000000}},
    }
    job = {"jobname": "a", "error": 5, "read": side, "write": {"total_ios": 0}}
    found = read("fio", json.dumps({"fio version": "fio-3.36", "jobs": [job]}) + "\n")
    (result,) = found.results
    assert (result.operation, result.per_second, result.p99_seconds) == ("read", 100.5, 0.005)
    assert (found.io_error, result.p50_seconds, found.noise_line_count) == (True, None, 0)


def test_nodes_and_pods_of_kubectl_get() -> None:
    node = {
        "kind": "Node",
        "metadata": {"name": "n1"},
        "spec": {"taints": [{"key": "a/b", "effect": "NoExecute"}]},
        "status": {
            "conditions": [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]
        },
    }
    container = {"restartCount": 3, "lastState": {"terminated": {"reason": "OOMKilled"}}}
    pod = {
        "kind": "Pod",
        "metadata": {"namespace": "prod", "name": "p"},
        "spec": {"nodeName": "n1"},
        "status": {"phase": "Running", "containerStatuses": [container, {"restartCount": 1}]},
    }
    found = read("kubectl", json.dumps({"kind": "List", "items": [node, pod]}) + "\n")
    assert (found.nodes[0].ready, found.nodes[0].unschedulable) == (None, False)
    assert found.nodes[0].taints[0].effect == "NoExecute"
    assert (found.pods[0].restart_count, found.pods[0].oom_killed) == (4, True)
    assert found.pods[0].ready is None
