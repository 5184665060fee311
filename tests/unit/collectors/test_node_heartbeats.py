"""How old the leases of some nodes are, read one by one."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tailhound.flow import Read
from tailhound.model import Missing, Reason
from tailhound.requests import GetObject, ListObjects
from tailhound_collectors.node_heartbeats import (
    HeartbeatCollector,
    HeartbeatParams,
    Heartbeats,
)
from tests.driving import TIMEOUT, drive, vector

NOW = 1_800_000_000.0


def renewed(ago: float) -> dict[str, Any]:
    text = datetime.fromtimestamp(NOW - ago, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {"spec": {"renewTime": text, "leaseDurationSeconds": 40}}


def node(status: str) -> dict[str, Any]:
    return {
        "status": {"conditions": [{"type": "DiskPressure"}, {"type": "Ready", "status": status}]}
    }


def collected(
    leases: dict[str, Any], nodes: dict[str, Any] | None = None, now: Any = NOW
) -> tuple[Heartbeats, list[Read[Any]]]:
    asked: list[Read[Any]] = []

    def answer(request: Read[Any]) -> Any:
        asked.append(request)
        if not isinstance(request, GetObject):
            return now if isinstance(now, Missing) else vector(({}, now))
        found = leases if request.resource == "leases" else (nodes or {})
        return found.get(request.name, Missing(Reason.EMPTY, "no such object"))

    params = HeartbeatParams(nodes=tuple(leases))
    return drive(HeartbeatCollector().collect(params), answer), asked


def test_the_freshest_and_the_oldest_lease_are_told() -> None:
    facts, _ = collected(
        {"n1": renewed(70), "n2": renewed(90)}, {"n1": node("True"), "n2": node("Unknown")}
    )
    assert facts == Heartbeats(
        nodes_count=2,
        freshest_seconds=70.0,
        oldest_seconds=90.0,
        oldest_node="n2",
        unknown_nodes_count=1,
    )


def test_one_node_alone_may_be_dead_and_has_no_freshest() -> None:
    facts, _ = collected({"n1": renewed(500)})
    assert facts.freshest_seconds is None
    assert facts.oldest_seconds == 500.0


def test_at_most_three_nodes_are_asked_and_nothing_is_listed() -> None:
    _, asked = collected({f"n{n}": renewed(5) for n in range(10)})
    assert len([one for one in asked if isinstance(one, GetObject)]) == 6
    assert not any(isinstance(one, ListObjects) for one in asked)


def test_an_api_server_that_does_not_answer_measures_nothing() -> None:
    facts, _ = collected({"n1": TIMEOUT, "n2": TIMEOUT}, {"n1": TIMEOUT, "n2": TIMEOUT})
    assert facts == Heartbeats()


def test_without_a_clock_no_age_is_told() -> None:
    facts, _ = collected({"n1": renewed(70), "n2": renewed(90)}, now=TIMEOUT)
    assert facts.nodes_count is None
    assert facts.freshest_seconds is None


def test_a_lease_from_the_future_is_fresh() -> None:
    facts, _ = collected({"n1": renewed(-3), "n2": renewed(90)})
    assert facts.freshest_seconds == 0.0


@pytest.mark.parametrize("text", [None, 7, "", "yesterday", {"x": 1}, "2026-13-41T99:00:00Z"])
def test_a_lease_that_makes_no_sense_is_left_out(text: Any) -> None:
    facts, _ = collected({"n1": {"spec": {"renewTime": text}}, "n2": renewed(9)})
    assert facts.nodes_count == 1


def test_a_name_that_no_node_can_have_is_not_asked() -> None:
    facts, asked = collected({"../secrets": renewed(1), "n2": renewed(9)})
    assert facts.oldest_node == "n2"
    assert all("secrets" not in one.shown for one in asked)
