"""Why there are no facts: each reason is its own, and says what would help."""

import pytest

from tailhound.model import Missing, Reason
from tailhound_collectors.parse import ALL, Tool, parse, tool_named
from tests.unit.parse.cases import captured, missing, read

NA = Reason.NOT_APPLICABLE
NO_DEVICES = {
    "nvme-list.json": "nvme-list",
    "nvme-list.txt": "nvme-list",
    "nvme-smart-log.json": "nvme-smart-log",
    "nvme-list-subsys.json": "nvme-list-subsys",
    "nvme-error-log": "nvme-error-log",
    "ibstat.txt": "ibstat",
    "ibstatus.txt": "ibstatus",
    "ibv_devinfo.txt": "ibv-devinfo",
    "rdma-statistic.txt": "rdma-statistic",
    "rdma-statistic.json": "rdma-statistic",
    "rdma-link.json": "rdma-link",
    "perfquery": "perfquery",
    "smartctl-scan.json": "smartctl",
    "smartctl.json": "smartctl",
    "ethtool-nodev": "ethtool",
    "nvidia-smi": "nvidia-smi",
}


@pytest.mark.parametrize(("capture", "tool"), NO_DEVICES.items())
def test_a_machine_without_the_device_says_not_applicable(capture: str, tool: str) -> None:
    found_tool = tool_named(tool)
    assert found_tool is not None
    found = parse(found_tool, captured("no-devices", capture))
    assert isinstance(found, Missing)
    assert found.reason is NA


def test_a_missing_tool_names_its_package() -> None:
    for stderr, code in (
        ("bash: line 1: nvme: command not found\n", 127),
        ("sudo: nvme: command not found\n", 1),
        ("timeout: failed to run command 'nvme': No such file or directory\n", 127),
        ("", 127),
    ):
        found = missing("nvme-smart-log", "", stderr, code)
        assert found.reason is NA
    assert missing("nvme-smart-log", "", "", 127).detail == (
        "tool_missing: there is no nvme on this host: install the package nvme-cli"
    )


SUDO = {
    "sudo: a password is required\n": "sudo_password_required",
    "sudo: a terminal is required to read the password\n": "sudo_password_required",
    "sudo: sorry, you must have a tty to run sudo\n": "sudo_password_required",
    "sudo: no tty present and no askpass program specified\n": "sudo_password_required",
    "Sorry, user bot is not allowed to execute '/usr/sbin/nvme list' as root on n1.\n": (
        "sudo_not_allowed"
    ),
    "bot is not in the sudoers file.\n": "sudo_not_allowed",
    "Sorry, user bot may not run sudo on n1.\n": "sudo_not_allowed",
    "sudo: PAM account management error: Authentication service cannot retrieve\n": "sudo_account",
}


@pytest.mark.parametrize(("stderr", "code"), SUDO.items())
@pytest.mark.parametrize("tool", ["nvme-smart-log", "dmesg", "lspci", "sudo", "perfquery"])
def test_sudo_that_refuses_is_forbidden_with_the_rule_to_write(
    tool: str, stderr: str, code: str
) -> None:
    found = missing(tool, "", stderr, 1)
    assert found.reason is Reason.FORBIDDEN
    assert found.detail.startswith(f"{code}: ")


@pytest.mark.parametrize(
    ("tool", "stderr", "reason"),
    [
        ("dmesg", "dmesg: read kernel buffer failed: Operation not permitted\n", "forbidden"),
        ("nvme-smart-log", "open: Permission denied\n", "forbidden"),
        ("turbostat", "turbostat: must be root\n", "forbidden"),
        ("pressure", "cat: /proc/pressure/io: No such file or directory\n", "not-applicable"),
        ("pressure", "cat: /proc/pressure/io: Operation not supported\n", "not-applicable"),
        ("numactl", "No NUMA available on this system\n", "not-applicable"),
        ("ethtool-s", "no stats available\n", "not-applicable"),
        ("nvme-smart-log", "ERROR: unknown command 'smart-log'\n", "not-applicable"),
        ("nvidia-smi-q", "Failed to initialize NVML: Driver/library version mismatch\n", "unrea"),
        ("ping", "ping: connect: Network is unreachable\n", "unreachable"),
        ("kubectl", "The connection to the server 10.0.0.1:6443 was refused\n", "unreachable"),
        ("kubectl", 'Error from server (NotFound): nodes "n9" not found\n', "empty"),
        (
            "kubectl",
            'Error from server (Forbidden): nodes is forbidden: User "bot" cannot list resource\n',
            "forbidden",
        ),
        ("iostat", "something odd\n", "unparsable"),
    ],
)
def test_each_kind_of_failure_has_its_own_reason(tool: str, stderr: str, reason: str) -> None:
    assert missing(tool, "", stderr, 1).reason.value.startswith(reason)


def test_a_forbidden_answer_of_kubectl_names_verb_and_resource() -> None:
    said = 'User "bot" cannot list resource "nodes" in API group ""'
    found = missing(
        "kubectl", "", f"Error from server (Forbidden): nodes is forbidden: {said}\n", 1
    )
    assert said in found.detail


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_a_command_that_was_stopped_is_a_time_out(tool: Tool) -> None:
    found = missing(tool.name, "", "", 124)
    assert found.reason is Reason.TIMEOUT


def test_a_silent_success_is_empty_or_an_answer() -> None:
    assert missing("nvme-smart-log", "").reason is Reason.EMPTY
    assert missing("ibstat", "").reason is NA
    assert read("dmesg", "").events == ()
    assert read("ss", "").sockets == ()


def test_a_command_that_was_stopped_keeps_what_it_printed() -> None:
    facts = read("dmesg", "[    1.5] nvme nvme0: Device not ready; aborting reset\n", "", 124)
    assert facts.truncated
    assert facts.events[0].kind == "nvme_not_ready"


def test_a_warning_beside_a_good_answer_changes_nothing() -> None:
    text = '{"temperature": 311, "critical_warning": 0}\n'
    for stderr in (
        "sudo: unable to resolve host n1: Name or service not known\n",
        "warning: smart-log has moved to `nvme log smart`\n",
        "Permission denied\n",
    ):
        assert read("nvme-smart-log", text, stderr).temperature_celsius == 38


def test_an_error_in_json_is_no_health_log() -> None:
    found = missing("nvme-smart-log", '{"error": "Permission denied"}\n', "", 1)
    assert found.reason is Reason.FORBIDDEN
    found = missing("nvme-smart-log", '{"error": "NVMe status: 0x2002"}\n', "", 1)
    assert found.reason is Reason.UNPARSABLE
    assert "0x2002" in found.detail


def test_lspci_without_root_says_who_must_run_it() -> None:
    text = "01:00.0 Ethernet controller: X\n\tCapabilities: <access denied>\n"
    assert missing("lspci", text).reason is Reason.FORBIDDEN


def test_what_a_host_says_is_cut_and_cleaned_in_a_reason() -> None:
    found = missing("iostat", "", "\x1b[31mbad\x1b[0m " + "x" * 5000, 1)
    assert "\x1b" not in found.detail
    assert len(found.detail) < 400
