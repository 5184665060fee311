"""What the hosts say of their RDMA ports; counters count by how they grow."""

import json
from typing import Any

import pytest

from tailhound.model import Missing, Reason
from tailhound.requests import Output, RunOnHost
from tailhound.requests.argv import SHIPPED
from tailhound_collectors.rdma_host import HostParams, HostRdma, HostRdmaCollector
from tests.driving import drive

SILENT = Missing(Reason.TIMEOUT, "did not answer within 8 s")
NO_TOOL = Missing(Reason.EMPTY, "ibstat: command not found")
IBSTAT = """CA 'mlx5_0'
\tCA type: MT4129
\tNumber of ports: 1
\tPort 1:
\t\tState: {state}
\t\tPhysical state: {physical}
\t\tRate: 400
\t\tLink layer: Ethernet
"""
QUIET = {"packet_seq_err": 2705, "local_ack_timeout_err": 1810, "out_of_sequence": 44}
FOLDER = "/sys/class/infiniband/mlx5_0/ports/1/hw_counters"


def output(stdout: str, second: str | None = None, exit_code: int = 0) -> Output:
    later = None if second is None else Output(stdout=second, stderr="", exit_code=0)
    return Output(stdout=stdout, stderr="", exit_code=exit_code, second=later)


def ibstat(state: str = "Active", physical: str = "LinkUp") -> Output:
    return output(IBSTAT.format(state=state, physical=physical))


def statistic(first: dict[str, Any], second: dict[str, Any]) -> Output:
    def shown(values: dict[str, Any]) -> str:
        return json.dumps([{"ifname": "mlx5_0", "port": 1, **values}])

    return output(shown(first), shown(second))


def asked_of(answers: dict[str, Any]) -> list[RunOnHost]:
    asked: list[RunOnHost] = []

    def answer(request: Any) -> Any:
        asked.append(request)
        line = f"{request.host} {' '.join(request.argv)}"
        return next((reply for part, reply in answers.items() if part in line), SILENT)

    drive(HostRdmaCollector().collect(HostParams(nodes=("gpu-1",))), answer)
    return asked


def test_all_that_is_asked_is_allowed_and_counters_are_read_twice() -> None:
    asked = asked_of({"ibstat": ibstat()})
    assert [request.argv[0] for request in asked] == ["ibstat", "rdma", "rdma", "grep"]
    assert [SHIPPED.why_not(request.argv) for request in asked] == [None] * 4
    assert [request.twice for request in asked] == [False, False, True, True]


@pytest.mark.parametrize("device", ["../../etc", "a/b", "-r", "x;reboot", "mlx5_0\n"])
def test_a_device_whose_name_is_a_trick_is_refused_before_it_reaches_a_host(device: str) -> None:
    links = json.dumps([{"ifname": device, "port": 1, "state": "ACTIVE"}])
    asked = asked_of({"link show": output(links)})
    tricks = [request for request in asked if request.argv[0] == "grep"]
    assert all(
        SHIPPED.why_not(request.argv) or "/mlx5_0/ports/1/" in request.argv[-1]
        for request in tricks
    )


def collected(answers: dict[str, Any], nodes: tuple[str, ...] = ("gpu-1",)) -> HostRdma:
    """By the first key that occurs in `HOST command line`; everything else is silent."""
    asked: list[RunOnHost] = []

    def answer(request: Any) -> Any:
        assert isinstance(request, RunOnHost)
        asked.append(request)
        line = f"{request.host} {' '.join(request.argv)}"
        return next((reply for part, reply in answers.items() if part in line), SILENT)

    facts = drive(HostRdmaCollector().collect(HostParams(nodes=nodes)), answer)
    assert all("counters" not in word or "hw_counters" in word for r in asked for word in r.argv)
    return facts


def test_high_counters_that_do_not_grow_are_no_loss() -> None:
    facts = collected({"ibstat": ibstat(), "statistic": statistic(QUIET, QUIET)})
    assert (facts.has_ports, facts.ports_count, facts.losses_count) == (True, 1, 0)
    assert (facts.inactive_ports_count, facts.dark_ports_count) == (0, 0)


def test_the_increase_between_the_readings_is_told_of_the_worst_port() -> None:
    grown = {**QUIET, "packet_seq_err": 2925, "local_ack_timeout_err": 1850}
    facts = collected(
        {
            "gpu-1 ibstat": ibstat(),
            "gpu-2 ibstat": ibstat(),
            "gpu-1 rdma -j statistic": statistic(QUIET, QUIET),
            "gpu-2 rdma -j statistic": statistic(QUIET, grown),
        },
        ("gpu-1", "gpu-2"),
    )
    assert (facts.port, facts.losses_count, facts.refused_count) == ("gpu-2 mlx5_0/1", 260, 260)
    assert facts.hosts_count == 2


@pytest.mark.parametrize("after", [12, 2**32 - 1, 2**64 - 1, None, "many", -4])
def test_a_counter_that_was_reset_or_is_stuck_or_unreadable_says_nothing(after: Any) -> None:
    changed = {**QUIET, "packet_seq_err": after}
    facts = collected({"ibstat": ibstat(), "statistic": statistic(QUIET, changed)})
    assert facts.losses_count is None
    assert facts.has_ports is True


def test_a_stuck_counter_is_counted() -> None:
    stuck = {**QUIET, "packet_seq_err": 2**32 - 1}
    facts = collected({"ibstat": ibstat(), "statistic": statistic(stuck, stuck)})
    assert (facts.saturated_count, facts.losses_count) == (1, None)


def test_without_the_rdma_tool_sysfs_is_read() -> None:
    def files(value: int) -> str:
        return f"{FOLDER}/packet_seq_err:{value}\n{FOLDER}/lifespan:12\n"

    facts = collected({"ibstat": ibstat(), f"grep -rsH  {FOLDER}": output(files(3), files(20))})
    assert facts.losses_count == 17


def test_without_ibstat_the_links_of_rdma_are_taken() -> None:
    links = '[{"ifname": "mlx5_0", "port": 1, "state": "DOWN", "physical_state": "POLLING"}]'
    facts = collected({"ibstat": NO_TOOL, "link show": output(links)})
    assert (facts.ports_count, facts.inactive_ports_count, facts.dark_ports_count) == (1, 1, 1)
    assert facts.losses_count is None
    assert facts.ports is not None
    assert (facts.ports[0].state, facts.ports[0].active) == ("DOWN", False)


def test_a_second_reading_that_is_missing_says_nothing() -> None:
    once = output('[{"ifname": "mlx5_0", "port": 1, "packet_seq_err": 5}]')
    assert collected({"ibstat": ibstat(), "statistic": once}).losses_count is None


def test_a_host_that_is_silent_leaves_everything_unknown() -> None:
    assert collected({}) == HostRdma()


def test_no_device_only_where_every_host_says_so() -> None:
    none = {"ibstat": output(""), "link show": output("[]")}
    assert collected(none).has_ports is False
    half = {"gpu-1 ibstat": output(""), "gpu-1 rdma": output("[]")}
    assert collected(half, ("gpu-1", "gpu-2")).has_ports is None
    many = tuple(f"gpu-{n}" for n in range(6))
    assert collected(none, many).has_ports is None


def test_a_quiet_host_does_not_speak_for_a_silent_one() -> None:
    facts = collected(
        {"gpu-1 ibstat": ibstat(), "gpu-1 rdma -j statistic": statistic(QUIET, QUIET)},
        ("gpu-1", "gpu-2"),
    )
    assert (facts.has_ports, facts.losses_count) == (True, None)


def test_what_soft_roce_counts_is_known() -> None:
    before = {"rcvd_seq_err": 0, "out_of_seq_request": 0, "retry_exceeded_err": 0}
    facts = collected(
        {"ibstat": ibstat(), "statistic": statistic(before, {**before, "rcvd_seq_err": 167})}
    )
    assert facts.losses_count == 167


@pytest.mark.parametrize("text", ["\x00\xff", "[{]", "CA ''", "[" * 5000, '{"error": "no"}'])
def test_unreadable_output_is_no_port_and_no_health(text: str) -> None:
    facts = collected({"ibstat": output(text), "link show": output(text, exit_code=1)})
    assert (facts.has_ports, facts.ports_count, facts.losses_count) == (None, None, None)
