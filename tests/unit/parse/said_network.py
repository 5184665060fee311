"""The index's items of RDMA and network, said from facts."""

from typing import Any

from tests.unit.parse.said import (
    OfCase,
    Say,
    Says,
    count_spellings,
    counter,
    ibstat_port,
    lifespan,
    nic,
    one,
    silent_hop,
    yes,
)


def _status(facts: Any, port: int) -> str:
    at = facts.ports[port]
    return f"{at.device}/{at.port}.state={4 if at.active else '?'} {at.state}"


def _plain(name: str, fact: str, factor: float = 1, form: str = "g") -> Say:
    """A fact of the only socket."""

    def said(facts: Any) -> str:
        return f"{name}={getattr(facts.sockets[0], fact) * factor:{form}}"

    return said


def _row(row: int, name: str, fact: str) -> Say:
    return lambda f: f"row[{row}].{name}={getattr(f.rows[row], fact)}"


def _port(index: int, name: str, fact: str) -> Say:
    """port[1].xmit_bytes=... of the port with that number."""
    return lambda f: f"port[{index}].{name}={getattr(one(f.ports, port=index), fact)}"


def _port_counter(index: int, name: str, counter_name: str) -> Say:
    return lambda f: f"port[{index}].{name}={one(f.ports, port=index).value(counter_name)}"


def _statistic(name: str, *, first: bool = False) -> Say:
    def said(facts: Any) -> str:
        port = facts.ports[0]
        shown = f"{port.device}/{port.port}." if first else ""
        return f"{shown}{name}={port.value(name)}"

    return said


NETWORK: dict[str, Says] = {
    "ethtool-S-03.txt": [
        nic("rx_prio3_pause"),
        nic("tx_prio3_pause"),
        nic("rx_prio3_buf_discard"),
        nic("rx_prio3_cong_discard"),
        nic("rx_prio3_marked"),
    ],
    "ib-counters-01.txt": [
        counter("port_rcv_errors"),
        counter("excessive_buffer_overrun_errors", saturated=True),
        counter("port_xmit_wait"),
        counter("symbol_error"),
        counter("link_downed"),
        counter("port_rcv_data", "port_rcv_data_words"),
    ],
    "ib-counters-02.txt": [
        counter("link_downed", saturated=True, note=" (saturated 8-bit)"),
        counter("port_rcv_errors"),
        counter("port_rcv_switch_relay_errors"),
    ],
    "ib-hw-counters-01.txt": [
        counter("local_ack_timeout_err"),
        counter("np_cnp_sent"),
        counter("np_ecn_marked_roce_packets"),
        lifespan,
        counter("duplicate_request"),
    ],
    "ib-hw-counters-02.txt": [
        counter("np_ecn_marked_roce_packets"),
        counter("np_cnp_sent"),
        counter("out_of_buffer"),
        counter("out_of_sequence"),
        counter("packet_seq_err"),
        counter("rp_cnp_handled"),
        counter("req_cqe_error"),
        counter("req_cqe_flush_error"),
    ],
    "ib-hw-counters-03.txt": [
        counter("roce_adp_retrans"),
        counter("rx_dct_connect"),
        counter("rx_write_requests"),
        counter("out_of_sequence"),
        counter("packet_seq_err"),
        counter("local_ack_timeout_err"),
        lifespan,
    ],
    "ibqueryerrors-01.txt": [
        lambda f: f"guid={f.ports[0].guid}",
        lambda f: f"port={'ALL' if f.ports[0].all_ports else f.ports[0].port}",
        counter("link_downed"),
        counter("port_rcv_errors", "rcv_errors"),
        counter("port_xmit_discards", "xmit_discards"),
        counter("port_xmit_wait", "xmit_wait"),
    ],
    "ibstat-01.txt": [
        ibstat_port("mlx5_0"),
        ibstat_port("mlx5_1"),
        ibstat_port("mlx5_11"),
        ibstat_port("mlx5_5"),
    ],
    "ibstat-02.txt": [
        ibstat_port("mlx5_0", link=False),
        ibstat_port("mlx5_7", link=False),
        lambda f: f"failed_device={f.failed_device}",
        lambda f: f"partial={yes(f.truncated)}",
        OfCase(lambda case: f"exit={case.exit_code}"),
    ],
    "ibstat-03.txt": [
        lambda f: f"{f.ports[0].device}.state={f.ports[0].state}",
        lambda f: f"phys={f.ports[0].physical_state}",
        lambda f: f"rate={f.ports[0].shown_rate_gbps:g}",
        lambda f: f"base_lid={f.ports[0].base_lid}",
        lambda f: f"sm_lid={f.ports[0].sm_lid}",
        lambda f: f"link={f.ports[0].link_layer}",
    ],
    "ibstatus-01.txt": [
        lambda f: _status(f, 0),
        lambda f: f"phys={5 if f.ports[0].link_up else '?'} {f.ports[0].physical_state}",
        lambda f: f"rate_gbps={f.ports[0].rate_gbps:g}",
        lambda f: f"width={f.ports[0].width}",
        lambda f: f"speed={f.ports[0].speed}",
        lambda f: f"lid={f.ports[0].base_lid:#x}",
        lambda f: _status(f, 1),
    ],
    "mtr-01.txt": [
        lambda f: f"hops={f.hop_count}",
        lambda f: f"hop[2].host={one(f.hops, number=2).host or 'unknown'}",
        silent_hop,
        lambda f: f"hop[3].loss={f.end_loss_ratio * 100:g}",
        lambda f: f"hop[3].avg_ms={one(f.hops, number=3).avg_seconds * 1000:g}",
        count_spellings,
    ],
    "perfquery-01.txt": [
        lambda f: f"lid={f.ports[0].lid}",
        lambda f: f"port={f.ports[0].port}",
        counter("symbol_error", "symbol_err"),
        counter("link_downed"),
        counter("port_rcv_errors", "rcv_err"),
        counter("port_xmit_discards", "xmit_discards"),
        counter("port_xmit_data", "xmit_data_words"),
        counter("port_rcv_packets", "rcv_pkts"),
        counter("port_xmit_wait", "xmit_wait"),
    ],
    "perfquery-02.txt": [
        _port_counter(1, "xmit_data_words", "port_xmit_data"),
        _port(1, "xmit_bytes", "xmit_bytes"),
        _port_counter(1, "xmit_wait", "port_xmit_wait"),
        _port(2, "lid", "lid"),
        _port_counter(2, "xmit_data_words", "port_xmit_data"),
        lambda f: f"errors={one(f.ports, port=1).error_count}",
    ],
    "ping-02.txt": [
        lambda f: f"sent={f.sent}",
        lambda f: f"received={f.received}",
        lambda f: f"errors={f.errors}",
        lambda f: f"loss_pct={f.loss_ratio * 100:g}",
        lambda f: f"rtt={'absent' if f.rtt_avg_seconds is None else f.rtt_avg_seconds}",
    ],
    "rdma-statistic-01.txt": [
        _statistic("out_of_buffer", first=True),
        _statistic("resp_cqe_error"),
        _statistic("resp_cqe_flush_error"),
        _statistic("req_cqe_error"),
        _statistic("req_cqe_flush_error"),
        _statistic("packet_seq_err"),
        _statistic("local_ack_timeout_err"),
        _statistic("np_cnp_sent"),
    ],
    "softnet-01.txt": [
        _row(0, "processed", "processed"),
        _row(0, "dropped", "dropped"),
        _row(0, "time_squeeze", "time_squeeze"),
        _row(1, "time_squeeze", "time_squeeze"),
        _row(2, "columns", "column_count"),
        _row(2, "time_squeeze", "time_squeeze"),
    ],
    "ss-01.txt": [
        lambda f: f"state={f.sockets[0].state}",
        lambda f: f"cc={f.sockets[0].congestion_control}",
        _plain("rto_ms", "rto_seconds", 1000),
        _plain("rtt_ms", "rtt_seconds", 1000),
        _plain("rttvar_ms", "rtt_deviation_seconds", 1000, ".3f"),
        _plain("mss", "mss_bytes"),
        _plain("advmss", "advertised_mss_bytes"),
        _plain("pmtu", "path_mtu_bytes"),
        _plain("cwnd", "congestion_window"),
        _plain("ssthresh", "slow_start_threshold"),
        _plain("bytes_sent", "sent_bytes"),
        _plain("bytes_retrans", "retransmitted_bytes"),
        _plain("retrans_inflight", "retransmits_in_flight"),
        _plain("retrans_total", "retransmits"),
        lambda f: f"delivery_rate={f.sockets[0].delivery_bits_per_second / 1e6:g}Mbps",
    ],
}
