"""jc as a second opinion: where its parsers are right, ours say the same."""

from typing import Any

import jc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.parse.cases import case, read


def second(parser: str, text: str) -> Any:
    """What jc reads."""
    return jc.parse(parser, text, quiet=True)


a_count = st.integers(0, 2**64 - 2)
a_row = st.one_of(*(st.lists(a_count, min_size=size, max_size=size) for size in (11, 15, 17)))


@given(rows=st.lists(a_row, min_size=1, max_size=5))
@settings(max_examples=50, deadline=None)
def test_diskstats_agree(rows: list[list[int]]) -> None:
    lines = [f" 259 {at} nvme{at}n1 {' '.join(map(str, row))}\n" for at, row in enumerate(rows)]
    text = "".join(lines)
    for ours, theirs in zip(
        read("diskstats", text).disks, second("proc_diskstats", text), strict=True
    ):
        assert ours.device == theirs["device"]
        assert ours.reads_completed == theirs["reads_completed"]
        assert ours.written_bytes == theirs["sectors_written"] * 512
        assert ours.queue_seconds == theirs["weighted_io_time_ms"] / 1000
        assert ours.discards_completed == theirs.get("discards_completed_successfully")
        assert ours.flushes_completed == theirs.get("flush_requests_completed_successfully")


def test_diskstats_of_a_real_host_agree() -> None:
    text = case("diskstats-01.txt").text
    theirs = {one["device"]: one for one in second("proc_diskstats", text)}
    ours = read("diskstats", text).disks
    assert [one.io_seconds for one in ours] == [
        theirs[one.device]["io_time_ms"] / 1000 for one in ours
    ]


def test_iostat_and_mpstat_agree_in_the_c_locale() -> None:
    text = case("iostat-03.txt").text
    ours, theirs = read("iostat", text), second("iostat", text)
    cpu, *disks = theirs
    assert ours.iowait_ratio == pytest.approx(cpu["percent_iowait"] / 100)
    for mine, other in zip(ours.disks, disks, strict=True):
        assert mine.write_wait_seconds == pytest.approx(other["w_await"] / 1000)
        assert mine.write_bytes_per_second == pytest.approx(other["wkb_s"] * 1024)
        assert mine.busy_ratio == pytest.approx(other["percent_util"] / 100)
    text = case("mpstat-01.txt").text
    (load,), (other,) = read("mpstat", text).cpus, second("mpstat", text)
    assert (load.cpu, load.idle_ratio) == (other["cpu"], pytest.approx(other["percent_idle"] / 100))


@given(sent=st.integers(1, 50), lost=st.integers(0, 49), rtt=st.integers(1, 10**7))
@settings(max_examples=50, deadline=None)
def test_ping_agrees(sent: int, lost: int, rtt: int) -> None:
    received = max(1, sent - lost)
    time = f"{rtt // 1000}.{rtt % 1000:03}"
    text = (
        "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n\n--- 10.0.0.1 ping statistics ---\n"
        f"{sent} packets transmitted, {received} received, "
        f"{100 * (sent - received) / sent:g}% packet loss, time 9ms\n"
        f"rtt min/avg/max/mdev = {time}/{time}/{time}/0.000 ms\n"
    )
    ours, theirs = read("ping", text), second("ping", text)
    assert (ours.sent, ours.received) == (theirs["packets_transmitted"], theirs["packets_received"])
    assert ours.loss_ratio == pytest.approx(theirs["packet_loss_percent"] / 100)
    assert ours.rtt_avg_seconds == pytest.approx(theirs["round_trip_ms_avg"] / 1000)
