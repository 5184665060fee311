"""The hosts of a scenario: their own tools, their own files, nothing of this machine."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import scenario
from tests.lab.cluster import uid
from tests.lab.conftest import Needs
from tests.lab.hosts import Hosts
from tests.lab.process import wait_until

pytestmark = pytest.mark.lab

NOW = 1_796_000_000.0
GAP = 0.4
TEXT = """
name: hosts
alert: {labels: {alertname: Slow}}
hosts:
  node-1:
    tools:
      nvme:
        - {words: [smart-log, nvme0, json], stdout: "{}"}
        - {words: [smart-log, nvme0], stdout_file: smart.txt, stderr: "old firmware", exit: 3}
      dmesg: [{words: [], stdout: "[@uptime(-12m)@] nvme @iso(0)@ @epoch(-1s)@ @uid(prod/llm-0)@"}]
      slow: [{words: [], delay: 30s, stdout: late}]
      nvidia-smi:
        - words: [query-gpu]
          csv: [{index: 0, clocks.sm: 345, name: "H100, 80GB"}, {index: 1, clocks.sm: 1980}]
      iostat: [{words: [JSON], stdout: first, then: {stdout: second}}]
    files:
      /sys/class/infiniband/mlx5_0/hw_counters/out_of_sequence: {text: "44\\n", then: "1044\\n"}
      /proc/pressure/memory: absent
      /proc/pressure/io: {text: "some avg10=12.30\\n", then: "some avg10=99.00\\n"}
      /proc/net/softnet_stat: {text: "00000001\\n"}
      /proc/sys/vm/swappiness: {text: "60\\n"}
      /etc/lab-only.conf: {text: "here\\n"}
      "/sys/fs/cgroup/@uid(prod/llm-0)@/cpu.stat": {text: "nr_throttled 5\\n"}
  node-2: {}
  node-3: {}
unreachable: [node-3]
expect: {}
"""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory, needs: Needs) -> Iterator[Hosts]:
    needs("sshd", "ssh-keygen", "unshare")
    folder = tmp_path_factory.mktemp("scenario")
    (folder / "scenario.yaml").write_text(TEXT, encoding="utf-8")
    (folder / "smart.txt").write_text("Smart Log\n", encoding="utf-8")
    started = Hosts(scenario.load(folder), NOW, GAP)
    yield started
    started.stop()


def run(hosts: Hosts, command: str, on: str = "node-1") -> tuple[int, str, str]:
    place = hosts.inventory[on]
    argv = ["ssh", "-F", "none", "-i", str(hosts.key), "-p", str(place.port)]
    argv += ["-o", f"UserKnownHostsFile={hosts.known_hosts}", "-o", "BatchMode=yes"]
    done = subprocess.run(
        [*argv, f"{hosts.user}@{place.address}", command],
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )
    return done.returncode, done.stdout, done.stderr


def test_an_answer_fits_when_all_its_words_occur_and_the_first_wins(hosts: Hosts) -> None:
    code, out, err = run(hosts, "nvme smart-log /dev/nvme0")
    assert (code, out, err) == (3, "Smart Log\n", "old firmware")
    assert run(hosts, "sudo -n /usr/sbin/nvme -o json smart-log /dev/nvme0")[:2] == (0, "{}")


def test_a_tool_without_a_fitting_answer_says_how_it_is_used(hosts: Hosts) -> None:
    assert run(hosts, "nvme format /dev/nvme0") == (1, "", "Usage: nvme [OPTIONS]\n")


@pytest.mark.parametrize("command", ["smartctl -a /dev/sda", "/usr/sbin/smartctl", "python3 -V"])
def test_a_tool_that_the_scenario_does_not_give_does_not_exist(hosts: Hosts, command: str) -> None:
    assert run(hosts, command)[0] == 127
    assert run(hosts, f"nvme smart-log /dev/nvme0; {command}", on="node-2")[0] == 127


@pytest.mark.parametrize(
    "command",
    ["env true", "timeout -k 1 5 true", "uname", "ls /sys", "find /sys -name x", "sudo -n true"],
)
def test_every_host_has_the_plain_programs(hosts: Hosts, command: str) -> None:
    assert run(hosts, command, on="node-2")[0] == 0


def test_times_and_uids_in_outputs_are_filled_in(hosts: Hosts) -> None:
    _, out, _ = run(hosts, "dmesg")
    assert out == (
        "[3455280.000000] nvme 2026-11-30T00:53:20,000000+00:00 1795999999 "
        + uid("Pod", "prod", "llm-0")
    )
    assert run(hosts, "cat /proc/uptime")[1] == "3456000.00 3456000.00\n"


def test_a_second_visit_after_the_gap_reads_something_else(hosts: Hosts) -> None:
    counter = "/sys/class/infiniband/mlx5_0/hw_counters/out_of_sequence"
    for command, first, second in (
        (f"cat {counter}", "44\n", "1044\n"),
        ("grep some /proc/pressure/io", "some avg10=12.30\n", "some avg10=99.00\n"),
        ("iostat -o JSON", "first", "second"),
    ):
        seen = [run(hosts, command)[1]]

        def changed(command: str = command, seen: list[str] = seen) -> bool:
            seen.append(run(hosts, command)[1])
            return seen[-1] != seen[0]

        wait_until(changed, "the second reading", 5)
        assert (seen[0], seen[-1]) == (first, second)


def test_files_are_seen_by_whatever_reads_them(hosts: Hosts) -> None:
    pod = uid("Pod", "prod", "llm-0")
    assert run(hosts, f"grep throttled /sys/fs/cgroup/{pod}/cpu.stat")[1] == "nr_throttled 5\n"
    assert run(hosts, "cat /proc/net/softnet_stat /etc/lab-only.conf")[1] == "00000001\nhere\n"
    assert run(hosts, "sysctl -n vm.swappiness")[1] == "60\n"
    assert run(hosts, "sysctl vm.swappiness vm.other")[:2] == (1, "vm.swappiness = 60\n")


@pytest.mark.parametrize(
    "path", ["/proc/pressure/memory", "/proc/diskstats", "/proc/meminfo", "/sys/class/nvme"]
)
def test_what_this_machine_says_is_no_fact_about_the_host(hosts: Hosts, path: str) -> None:
    code, out, err = run(hosts, f"cat {path}")
    assert (code, out) == (1, "")
    assert "No such file or directory" in err


def test_nvidia_smi_answers_any_order_of_fields(hosts: Hosts) -> None:
    asked = "nvidia-smi --query-gpu=clocks.current.sm,index,power.draw,name --format=csv,noheader"
    assert run(hosts, f"{asked},nounits")[1] == (
        "345, 0, [N/A], H100, 80GB\n1980, 1, [N/A], [N/A]\n"
    )
    _, out, _ = run(hosts, "nvidia-smi --query-gpu=index,clocks.sm --format=csv")
    assert out == "index, clocks.sm [MHz]\n0, 345 MHz\n1, 1980 MHz\n"


def test_a_hanging_tool_hangs_until_it_is_ended(hosts: Hosts) -> None:
    assert run(hosts, "timeout -k 1 0.5 slow") == (124, "", "")


def test_an_unreachable_host_takes_connections_and_says_nothing(hosts: Hosts) -> None:
    place = hosts.inventory["node-3"]
    argv = ["ssh-keyscan", "-T", "1", "-p", str(place.port), place.address]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=10)
    assert done.stdout == ""


def test_no_output_reaches_this_machine(hosts: Hosts) -> None:
    assert run(hosts, "mount --bind /tmp /usr")[0] == 127
    assert Path("/usr/bin/mount").exists()
