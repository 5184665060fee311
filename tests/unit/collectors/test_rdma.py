"""RDMA ports as node_exporter tells them: rates against the port's own usual, and nothing else."""

from typing import Any

import pytest

from tailhound.model.facts import Sample
from tailhound.requests import Query, Ranged, RangeQuery
from tailhound_collectors.rdma import Rdma, RdmaCollector, RdmaParams
from tests.driving import EMPTY, TIMEOUT, drive, vector

PARAMS = RdmaParams(nodes=("gpu-1",))
UNAME = vector(({"instance": "10.0.0.11:9100", "nodename": "gpu-1"}, 1))
LOOKED = vector(({"instance": "10.0.0.11:9100"}, 1))
STATES = {"state_id": 4, "physical_state_id": 5, "rate_bytes_per_second": 50e9}
QUIET = {
    "packet_sequence_errors_total": 0,
    "local_ack_timeout_errors_total": 0,
    "out_of_sequence_packets_received_total": 0,
    "port_errors_received_total": 0,
    "rp_cnp_packets_handled_total": 2,
    "np_cnp_packets_sent_total": 1,
    "port_transmit_wait_total": 1e6,
    "port_data_transmitted_bytes_total": 4e8,
    "port_data_received_bytes_total": 4e8,
}
Ports = dict[str, dict[str, float]]


def rows(ports: Ports, names: Any, instance: str = "10.0.0.11:9100") -> Any:
    found = [
        ({"instance": instance, "device": device, "port": "1", "kind": kind}, value)
        for device, values in ports.items()
        for kind, value in values.items()
        if kind in names
    ]
    return vector(*found) if found else EMPTY


def collected(
    now: Ports,
    usual: Ports | None = None,
    history: Any = EMPTY,
    past: Any = EMPTY,
    ceiling: Any = EMPTY,
    **other: Any,
) -> Rdma:
    """`now` and `usual` are ports; `history` and `past` the samples of now and of the usual."""
    usual = now if usual is None else usual

    def answer(request: Any) -> Any:
        if isinstance(request, RangeQuery):
            return past if request.end_ago else history
        assert isinstance(request, Query)
        for part, reply in other.items():
            if part in request.promql:
                return reply
        if "node_uname_info" in request.promql:
            return UNAME
        if "node_scrape_collector_success" in request.promql:
            return LOOKED
        if "==" in request.promql:
            return ceiling
        names = STATES if "state_id" in request.promql else QUIET
        return rows(usual if request.ago else now, names)

    return drive(RdmaCollector().collect(PARAMS), answer)


def port(**changed: float) -> dict[str, float]:
    return {**STATES, **QUIET, **changed}


def samples(*values: float) -> tuple[Ranged, ...]:
    return (Ranged((), tuple(Sample(at=15.0 * at, value=v) for at, v in enumerate(values))),)


def test_a_quiet_port_stands_out_by_nothing() -> None:
    facts = collected({"mlx5_0": port()})
    assert (facts.has_ports, facts.ports_count, facts.down_ports_count) == (True, 1, 0)
    assert (facts.losses_times, facts.errors_times, facts.lost_speed) == (0, 0, 0)
    assert (facts.leading, facts.port) == (None, "gpu-1 mlx5_0/1")
    assert facts.traffic_bytes_per_second == 8e8
    assert facts.saturated_count == 0


def test_the_worst_port_is_named_though_another_has_lost_more_for_ever() -> None:
    facts = collected(
        {
            "mlx5_0": port(packet_sequence_errors_total=40),
            "mlx5_1": port(out_of_sequence_packets_received_total=90),
        },
        {"mlx5_0": port(), "mlx5_1": port(out_of_sequence_packets_received_total=90)},
    )
    assert (facts.loss_port, facts.port) == ("gpu-1 mlx5_0/1", "gpu-1 mlx5_0/1")
    assert (facts.losses_per_second, facts.losses_per_second_usual) == (40, 0)
    assert facts.losses_times == pytest.approx(400)
    assert facts.refused_per_second == 40


def test_a_few_losses_are_compared_with_a_quiet_port_not_with_zero() -> None:
    facts = collected({"mlx5_0": port(packet_sequence_errors_total=0.05)}, {"mlx5_0": port()})
    assert facts.losses_times == pytest.approx(0.5)


def test_without_a_usual_rate_nothing_is_said_of_losses() -> None:
    facts = collected({"mlx5_0": port(packet_sequence_errors_total=40)}, {})
    assert facts.losses_per_second == 40
    assert (facts.losses_times, facts.burst_count, facts.lost_speed) == (None, None, None)


def test_an_exporter_without_hardware_counters_says_nothing_of_losses() -> None:
    old = {k: v for k, v in port().items() if "port_" in k or k in STATES}
    facts = collected({"mlx5_0": old})
    assert (facts.losses_per_second, facts.losses_times, facts.lossy_ratio) == (None, None, None)
    assert (facts.cnp_times, facts.notices_say) == (None, None)


def test_a_link_that_is_usually_up_and_carries_traffic_is_down() -> None:
    dead = port(state_id=1, physical_state_id=2, rate_bytes_per_second=5e9)
    facts = collected({"mlx5_0": dead, "mlx5_1": port()}, {"mlx5_0": port(), "mlx5_1": port()})
    assert (facts.down_ports_count, facts.down_port) == (1, "gpu-1 mlx5_0/1")
    assert facts.down_port_state == "no signal from the other end"
    assert (facts.lost_speed, facts.leading) == (1, "the link is down")


def test_a_port_that_was_never_up_is_not_down() -> None:
    unused = port(state_id=1, physical_state_id=2)
    facts = collected({"mlx5_0": unused, "mlx5_1": port()})
    assert facts.down_ports_count == 0


def test_a_dead_port_that_nobody_knew_before_is_not_judged() -> None:
    unused = port(state_id=1)
    facts = collected({"mlx5_0": unused, "mlx5_1": port()}, {"mlx5_1": port()})
    assert facts.down_ports_count is None


def test_a_spare_link_loses_no_speed() -> None:
    idle = {"port_data_transmitted_bytes_total": 10.0, "port_data_received_bytes_total": 0.0}
    facts = collected(
        {"mlx5_0": port(**idle, state_id=1), "mlx5_1": port()},
        {"mlx5_0": port(**idle), "mlx5_1": port()},
    )
    assert (facts.down_ports_count, facts.lost_speed) == (1, 0)


def test_a_link_at_a_quarter_of_its_speed() -> None:
    facts = collected({"mlx5_0": port(rate_bytes_per_second=12.5e9)}, {"mlx5_0": port()})
    assert (facts.lost_speed, facts.lost_speed_port) == (0.75, "gpu-1 mlx5_0/1")
    assert facts.down_ports_count == 0


def test_a_port_that_vanished_is_counted_but_not_called_down() -> None:
    facts = collected({"mlx5_1": port()}, {"mlx5_0": port(), "mlx5_1": port()})
    assert (facts.vanished_ports_count, facts.ports_count, facts.down_ports_count) == (1, 1, None)


def test_a_spare_port_that_vanished_is_nobodys_loss() -> None:
    """As a virtual function does that moves into a container."""
    spare = {**STATES, "port_data_transmitted_bytes_total": 0.0}
    facts = collected({"mlx5_1": port()}, {"mlx5_0": spare, "mlx5_1": port()})
    assert (facts.vanished_ports_count, facts.ports_count, facts.down_ports_count) == (0, 1, 0)


def test_the_port_that_carries_least_of_its_usual_is_compared() -> None:
    less = {"port_data_transmitted_bytes_total": 1e8, "port_data_received_bytes_total": 1e8}
    facts = collected(
        {"mlx5_0": port(**less), "mlx5_1": port()}, {"mlx5_0": port(), "mlx5_1": port()}
    )
    assert facts.traffic_times == 0.25


def test_notices_say_which_side_is_short_of_room() -> None:
    receives = collected({"mlx5_0": port(np_cnp_packets_sent_total=9000)}, {"mlx5_0": port()})
    assert receives.notices_say == "this node receives more than it can take in"
    assert receives.cnp_times == pytest.approx(90.02)
    sends = collected({"mlx5_0": port(rp_cnp_packets_handled_total=9000)}, {"mlx5_0": port()})
    assert sends.notices_say == "this node is told to send more slowly"
    assert sends.leading == "congestion notices"


def test_a_port_that_waits_more_and_carries_less() -> None:
    facts = collected(
        {
            "mlx5_0": port(
                port_transmit_wait_total=5e7,
                port_data_transmitted_bytes_total=2e8,
                port_data_received_bytes_total=2e8,
            )
        },
        {"mlx5_0": port()},
    )
    assert (facts.wait_times, facts.waiting_traffic_times) == (50, 0.5)
    assert facts.leading == "waiting to send"


def test_a_counter_at_its_ceiling_hides_new_errors() -> None:
    stuck = vector(
        ({"instance": "i", "device": "mlx5_0", "port": "1", "kind": "symbol_error_total"}, 65535)
    )
    facts = collected({"mlx5_0": port()}, ceiling=stuck)
    assert (facts.saturated_count, facts.errors_per_second, facts.errors_times) == (1, None, None)
    shown = collected({"mlx5_0": port(port_errors_received_total=3)}, ceiling=stuck)
    assert shown.errors_per_second == 3


def test_nobody_knows_whether_counters_are_at_their_ceiling() -> None:
    facts = collected({"mlx5_0": port()}, ceiling=TIMEOUT)
    assert (facts.saturated_count, facts.errors_times) == (None, None)


def test_no_port_where_every_exporter_looked() -> None:
    facts = collected({})
    assert facts == Rdma(has_ports=False)


@pytest.mark.parametrize("looked", [EMPTY, TIMEOUT])
def test_no_port_is_unknown_where_nobody_looked(looked: Any) -> None:
    assert collected({}, node_scrape_collector_success=looked).has_ports is None


def test_no_port_is_unknown_when_prometheus_does_not_answer() -> None:
    assert collected({}, node_infiniband_state_id=TIMEOUT).has_ports is None


def test_nodes_that_nobody_scrapes_tell_nothing() -> None:
    assert collected({"mlx5_0": port()}, node_uname_info=EMPTY) == Rdma()


def test_lost_all_the_time_or_now_and_then() -> None:
    losing = {"mlx5_0": port(packet_sequence_errors_total=4)}
    always = collected(losing, {"mlx5_0": port()}, samples(*[0.0] * 40, *[4.0] * 25))
    assert always.lossy_ratio == 1
    seldom = collected(losing, {"mlx5_0": port()}, samples(*[0.0] * 60, *[4.0] * 5))
    assert seldom.lossy_ratio == pytest.approx(0.25)
    gaps = collected(losing, {"mlx5_0": port()}, samples(4.0, 4.0))
    assert gaps.lossy_ratio is None


def test_a_burst_is_what_was_lost_above_the_usual() -> None:
    noisy = {"mlx5_0": port(packet_sequence_errors_total=1)}
    facts = collected(noisy, noisy, samples(1, 1, 11, 11, 1, 1), past=samples(1, 1, 1))
    assert facts.burst_count == 300
    assert facts.leading_value == 1


def test_a_hostile_node_name_stays_a_value() -> None:
    asked: list[str] = []

    def answer(request: Any) -> Any:
        asked.append(request.promql)
        return EMPTY

    name = 'x"} or vector(1) #'
    drive(RdmaCollector().collect(RdmaParams(nodes=(name,))), answer)
    quoted = 'nodename=~"x\\"\\\\} or vector\\\\(1\\\\) #"'
    assert asked == [f"max by (instance, nodename) (node_uname_info{{{quoted}}})"]
