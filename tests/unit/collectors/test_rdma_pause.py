"""Pause frames: against the usual, and with the side that is the slow receiver."""

from typing import Any

import pytest

from tailhound.requests import RangeQuery
from tailhound_collectors.rdma_pause import PauseCollector, PauseParams, Pauses
from tests.driving import EMPTY, TIMEOUT, by_text, drive, vector

UNAME = vector(({"instance": "i", "nodename": "gpu-1"}, 1))


def names(*found: str) -> Any:
    return vector(*(({"__name__": f"node_ethtool_{name}"}, 1) for name in found))


def rate(now: float, past: float | None) -> Any:
    def told(value: float) -> Any:
        return vector(({"instance": "i", "device": "eth2"}, value))

    return {"now": told(now), "past": EMPTY if past is None else told(past)}


def collected(answers: dict[str, Any], over_time: list[str] | None = None) -> Pauses:
    """The facts; the queries about a course of time go to `over_time` and are not answered."""
    flow = PauseCollector().collect(PauseParams(nodes=("gpu-1",)))
    instant = by_text({"node_uname_info": UNAME, **answers}, EMPTY)

    def answer(request: Any) -> Any:
        if not isinstance(request, RangeQuery):
            return instant(request)
        if over_time is not None:
            over_time.append(request.promql)
        return EMPTY

    return drive(flow, answer)


def test_this_node_is_the_slow_receiver_when_it_sends_the_frames() -> None:
    facts = collected(
        {
            "__name__": names("transmitted_prio3_pause_duration", "received_prio3_pause_duration"),
            "transmitted_prio3": rate(300000, 900),
            "received_prio3": rate(900, 900),
        }
    )
    assert facts.held_ratio == pytest.approx(0.3)
    assert facts.held_times == pytest.approx(60)
    assert facts.port == "gpu-1 eth2"
    assert facts.receives_slowly is True
    assert facts.direction == "this node is the slow receiver, and stops the other end"


@pytest.mark.parametrize(
    "name", ["rx_prio3_pause", "received_prio0_pause", "rx_pfc_ena_frames_pri3"]
)
def test_drivers_that_count_frames_only(name: str) -> None:
    facts = collected({"__name__": names(name), f"ethtool_{name}": rate(5000, 10)})
    assert (facts.held_ratio, facts.frames_per_second, facts.held_times) == (None, 5000, 50)
    assert facts.receives_slowly is False
    assert facts.direction == "the other end is the slow receiver, and stops this node"


def test_priorities_of_one_port_add_up() -> None:
    facts = collected(
        {
            "__name__": names("rx_prio3_pause_duration", "rx_prio4_pause_duration"),
            "rx_prio3": rate(100000, 0),
            "rx_prio4": rate(50000, 0),
        }
    )
    assert facts.held_ratio == pytest.approx(0.15)
    assert facts.held_times == pytest.approx(30)


def test_the_course_is_that_of_the_same_counters_compared_with_the_same_usual() -> None:
    asked: list[str] = []
    collected(
        {
            "__name__": names(
                "rx_prio3_pause_duration", "rx_prio4_pause_duration", "tx_prio3_pause"
            ),
            "rx_prio3": rate(100000, 10000),
            "rx_prio4": rate(50000, 0),
            "tx_prio3": rate(1, 1),
        },
        asked,
    )
    (promql,) = set(asked)
    of = '{instance=~"i",device="eth2"}[2m]'
    assert promql == (
        f"(sum (rate(node_ethtool_rx_prio3_pause_duration{of}))"
        f" + sum (rate(node_ethtool_rx_prio4_pause_duration{of}))) / 10000"
    )
    nothing: list[str] = []
    collected({"__name__": names("rx_prio3_pause"), "ethtool_rx": rate(5000, None)}, nothing)
    assert nothing == []


def test_without_a_usual_value_nothing_is_compared() -> None:
    facts = collected({"__name__": names("rx_prio3_pause"), "ethtool_rx": rate(5000, None)})
    assert (facts.held_times, facts.frames_per_second) == (None, 5000)


def test_settings_and_storm_counters_are_no_pauses() -> None:
    facts = collected({"__name__": names("tx_pause_storm_warning_events", "rx_pfc_cfg")})
    assert facts == Pauses()


@pytest.mark.parametrize("reply", [EMPTY, TIMEOUT])
def test_nothing_counted_is_not_measured(reply: Any) -> None:
    assert collected({"__name__": reply}) == Pauses()
    assert collected({"node_uname_info": reply}) == Pauses()


def test_time_is_asked_for_before_frames_and_sixteen_counters_at_most() -> None:
    asked: list[str] = []
    many = [
        f"{side}_prio{n}_pause{what}"
        for side in ("rx", "tx")
        for n in range(8)
        for what in ("", "_duration")
    ]
    answers = by_text({"node_uname_info": UNAME, "__name__": names(*many)}, EMPTY)

    def answer(request: Any) -> Any:
        asked.append(request.shown)
        return answers(request)

    drive(PauseCollector().collect(PauseParams(nodes=("gpu-1",), usual=())), answer)
    rates = [text for text in asked if "rate(" in text]
    assert len(rates) == 16
    assert all("_duration" in text for text in rates)
