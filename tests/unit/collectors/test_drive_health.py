"""What a host says about one of its drives."""

import json
from typing import Any

import pytest

from tailhound.flow import Read
from tailhound.model import Missing, Reason
from tailhound.requests import Output, RunOnHost
from tailhound.requests.argv import SHIPPED
from tailhound_collectors.drive_health import DriveHealth, DriveHealthCollector, DriveParams
from tests.driving import EMPTY, drive, vector

SMART = {
    "critical_warning": 0,
    "temperature": 317,
    "media_errors": 2,
    "percent_used": 18,
    "thm_temp1_trans_count": 5,
    "thm_temp2_trans_count": 0,
    "thm_temp1_total_time": 60,
    "thm_temp2_total_time": 0,
}
UNREACHABLE = Missing(Reason.UNREACHABLE, "the host does not answer")
GONE = Output("", "sh: nvme: not found", 127)


def said(text: Any, second: Any = None) -> Output:
    """What a command printed; what is no text is printed as JSON."""
    shown = text if isinstance(text, str) else json.dumps(text)
    return Output(shown, "", 0, said(second) if second is not None else None)


def subsystems(transport: str = "pcie", name: str = "nvme-subsys0", path: str = "nvme0") -> Any:
    paths = [{"Name": path, "Transport": transport, "Address": "0000:c1:00.0", "State": "live"}]
    return [{"HostNQN": "nqn:h", "Subsystems": [{"Name": name, "NQN": "nqn:s", "Paths": paths}]}]


def diskstats(discards: int) -> str:
    return f" 259 0 nvme0n1 1 2 3 4 5 6 7 8 0 10 11 {discards} 0 0 0 4 5\n"


HOST: dict[str, Output | Missing] = {
    "smart-log": said(SMART, SMART),
    "id-ctrl": said({"mn": "EXAMPLE MZQL21T9", "wctemp": 348, "tnvmcap": 5120}),
    "id-ns": said({"nsze": 1000, "ncap": 1000, "nuse": 950, "lbafs": []}),
    "list-subsys": said(subsystems()),
    "/proc/diskstats": said(diskstats(0)),
    "/proc/mounts": said("/dev/nvme0n1p1 /mnt/a\\040b xfs rw,noatime,discard 0 0\n"),
    "discard_max_bytes": said("2199023255040\n"),
    "df": said(
        "Filesystem 1024-blocks Used Available Capacity Mounted on\n"
        "/dev/nvme0n1p1 1000 700 300 70% /mnt/a b\n/dev/sda1 1000 990 10 99% /\n"
    ),
    "lsblk": said({"blockdevices": [{"name": "nvme0n1", "children": [{"name": "nvme0n1p1"}]}]}),
    "journalctl": said("-- No entries --\n"),
    "dmesg": said(""),
}


class Host:
    """Answers as a host would; every command must be on the shipped list."""

    def __init__(self, **changes: Output | Missing) -> None:
        self.answers = {**HOST, **changes}
        self.asked: list[RunOnHost] = []

    def __call__(self, request: Read[Any]) -> Any:
        if not isinstance(request, RunOnHost):
            slow = {"writes": 100.0, "write_time": 1.0}
            return vector(
                *(
                    ({"nodename": "db-2", "device": "nvme0n1", "what": what}, value)
                    for what, value in slow.items()
                )
            )
        assert SHIPPED.why_not(request.argv) is None, request.shown
        self.asked.append(request)
        return next(
            reply for part, reply in self.answers.items() if any(part in a for a in request.argv)
        )


def collected(
    changes: dict[str, Output | Missing] | None = None,
    device: str = "nvme0n1",
    nodes: tuple[str, ...] = ("db-1",),
) -> DriveHealth:
    host = Host(**(changes or {}))
    return drive(DriveHealthCollector().collect(DriveParams(nodes=nodes, device=device)), host)


def test_a_sound_local_drive_is_described() -> None:
    facts = collected()
    assert facts == DriveHealth(
        node="db-1",
        device="nvme0n1",
        model="EXAMPLE MZQL21T9",
        transport="pcie",
        local=True,
        temperature_celsius=44.0,
        warning_temperature_celsius=75.0,
        temperature_bad=False,
        throttle_growth_count=0,
        media_errors_count=2,
        media_errors_growth_count=0,
        failing=False,
        kernel_faults_count=0,
        used_ratio=0.18,
        allocated_ratio=0.95,
        filesystem_used_ratio=0.7,
        mounted_with_discard=True,
        can_discard=True,
        discards_count=0,
        rewritten_times=0.7,
    )


def test_growth_is_between_two_readings_never_the_counter_itself() -> None:
    later = {**SMART, "media_errors": 3, "thm_temp1_trans_count": 7, "thm_temp1_total_time": 63}
    facts = collected({"smart-log": said(SMART, later)})
    assert (facts.media_errors_growth_count, facts.throttle_growth_count) == (1, 5)
    once = collected({"smart-log": said(SMART)})
    assert (once.media_errors_growth_count, once.throttle_growth_count) == (None, None)
    reset = collected({"smart-log": said(SMART, {**SMART, "media_errors": 0})})
    assert reset.media_errors_growth_count is None


@pytest.mark.parametrize(
    ("byte", "hot", "failing"), [(2, True, False), (4, False, True), (9, False, True)]
)
def test_the_drives_own_warnings_are_told_apart(byte: int, hot: bool, failing: bool) -> None:
    facts = collected({"smart-log": said({**SMART, "critical_warning": byte})})
    assert (facts.temperature_bad, facts.failing) == (hot, failing)


@pytest.mark.parametrize("transport", ["tcp", "rdma", "fc"])
def test_a_namespace_of_a_fabric_is_not_local(transport: str) -> None:
    assert collected({"list-subsys": said(subsystems(transport))}).local is False


def test_a_cloud_volume_on_the_bus_is_not_local() -> None:
    facts = collected({"id-ctrl": said({"mn": "Amazon Elastic Block Store", "wctemp": 0})})
    assert (facts.transport, facts.local) == ("pcie", False)
    assert facts.warning_temperature_celsius is None


def test_the_transport_of_another_subsystem_says_nothing() -> None:
    other = subsystems("tcp", "nvme-subsys3", "nvme3")
    facts = collected({"list-subsys": said(other)})
    assert (facts.transport, facts.local) == (None, None)


def test_two_transports_that_fit_leave_it_open() -> None:
    both = [
        *subsystems("pcie", "nvme-subsys0", "nvme4"),
        *subsystems("tcp", "nvme-subsys4", "nvme0"),
    ]
    assert collected({"list-subsys": said(both)}).local is None


def test_a_drive_that_always_reports_all_of_itself_as_used_tells_nothing() -> None:
    facts = collected({"id-ns": said({"nsze": 1000, "ncap": 1000, "nuse": 1000, "lbafs": []})})
    assert facts.allocated_ratio is None


def test_a_volume_on_the_drive_counts_when_lsblk_says_that_it_lies_there() -> None:
    tree = {
        "blockdevices": [
            {"name": "sda", "children": [{"name": "vg-root"}]},
            {"name": "nvme0n1", "children": [{"name": "vg-kv"}]},
        ]
    }
    rows = (
        "Filesystem 1024-blocks Used Available Capacity Mounted on\n"
        "/dev/mapper/vg-kv 100 96 4 96% /kv\n/dev/mapper/vg-root 100 99 1 99% /\n"
    )
    facts = collected({"lsblk": said(tree), "df": said(rows), "/proc/mounts": said("")})
    assert facts.filesystem_used_ratio == 0.96
    assert facts.mounted_with_discard is None


def test_a_drive_whose_name_begins_alike_is_another_one() -> None:
    rows = (
        "Filesystem 1024-blocks Used Available Capacity Mounted on\n"
        "/dev/nvme0n12 100 96 4 96% /kv\n/dev/nvme0n1p3 100 50 50 50% /x\n"
    )
    assert collected({"lsblk": GONE, "df": said(rows)}).filesystem_used_ratio == 0.5
    tree = {"blockdevices": [{"name": "nvme0n1", "children": [{"name": "nvme0n1p3"}]}]}
    assert collected({"lsblk": said(tree), "df": said(rows)}).filesystem_used_ratio == 0.5


def test_trouble_in_the_journal_is_counted_for_this_drive_alone() -> None:
    stamp = "2026-11-30T09:00:00.123456+0000 db-1 kernel: "
    lines = (
        f"{stamp}nvme nvme0: I/O 22 QID 3 timeout, aborting\n"
        f"{stamp}nvme nvme1: I/O 22 QID 3 timeout, aborting\n"
        f"{stamp}critical medium error, dev nvme0n1, sector 8 op 0x0:(READ) flags 0x800\n"
    )
    assert collected({"journalctl": said(lines)}).kernel_faults_count == 2


def test_the_kernels_ring_acquits_but_never_tells_when() -> None:
    line = "2026-11-01T09:00:00,123456+00:00 nvme nvme0: I/O 22 QID 3 timeout, aborting\n"
    assert collected({"journalctl": GONE}).kernel_faults_count == 0
    assert collected({"journalctl": GONE, "dmesg": said(line)}).kernel_faults_count is None
    assert collected({"journalctl": GONE, "dmesg": UNREACHABLE}).kernel_faults_count is None


def test_a_host_that_does_not_answer_measures_nothing_and_is_never_healthy() -> None:
    facts = collected(dict.fromkeys(HOST, UNREACHABLE))
    assert facts == DriveHealth(node="db-1", device="nvme0n1")


def test_a_missing_tool_and_garbage_are_unknown() -> None:
    assert collected(dict.fromkeys(HOST, GONE)) == DriveHealth(node="db-1", device="nvme0n1")
    garbage = collected(dict.fromkeys(HOST, said("\x00{[ not json\n")))
    assert (garbage.local, garbage.failing, garbage.discards_count) == (None, None, None)
    assert (garbage.temperature_celsius, garbage.kernel_faults_count) == (None, None)


def test_a_drive_that_is_no_nvme_is_asked_for_no_nvme_log() -> None:
    host = Host()
    params = DriveParams(nodes=("db-1",), device="sda")
    facts = drive(DriveHealthCollector().collect(params), host)
    assert all("nvme" not in word for request in host.asked for word in request.argv)
    assert (facts.device, facts.local) == ("sda", None)


def test_without_a_device_the_slowest_drive_in_prometheus_is_asked_on_its_node() -> None:
    host = Host()
    params = DriveParams(nodes=("db-1", "db-2"))
    facts = drive(DriveHealthCollector().collect(params), host)
    assert (facts.node, facts.device) == ("db-2", "nvme0n1")
    assert {request.host for request in host.asked} == {"db-2"}


def test_without_a_device_and_without_prometheus_no_host_is_asked() -> None:
    facts = drive(
        DriveHealthCollector().collect(DriveParams(nodes=("db-1",))), lambda request: EMPTY
    )
    assert facts == DriveHealth()


@pytest.mark.parametrize("label", ["$(reboot)", "nvme0n1; reboot", "../../dev/sda", "-rf"])
def test_a_hostile_device_label_is_never_part_of_a_command(label: str) -> None:
    host = Host()
    drive(DriveHealthCollector().collect(DriveParams(nodes=("db-1",), device=label)), host)
    assert all(label not in word for request in host.asked for word in request.argv)


def test_only_the_health_log_is_read_twice() -> None:
    host = Host()
    drive(DriveHealthCollector().collect(DriveParams(nodes=("db-1",), device="nvme0n1")), host)
    assert [request.argv[1] for request in host.asked if request.twice] == ["smart-log"]
    assert len(host.asked) == len(set(host.asked)) == 11
