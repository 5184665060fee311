"""Waiting one's turn: more incidents than investigations that run at once."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

import pytest

from tailhound.durable.common_ground import common_ground
from tailhound.durable.queueing import STORM_SECONDS
from tailhound.model import Alert, Shared, State, Subject, SubjectKind
from tailhound.settings import Incidents
from tests.samples.incidents import FIRST
from tests.unit.durable import kit
from tests.unit.durable.fakes import Detective
from tests.unit.durable.kit import alert, body

TWO = Incidents(concurrency=2)


def test_beyond_those_that_run_at_once_incidents_wait_their_turn(tmp_path: Path) -> None:
    async def run() -> None:
        async with kit.intake_alone(tmp_path, incidents=TWO) as desk:
            names = [f"w{i}" for i in range(5)]
            found = await desk.accept(
                *(alert(n, fingerprint=n, labels={"namespace": n}) for n in names)
            )
            seen = [desk.reader.get(id) for id in found.incidents]
            states = [it.state for it in seen if it]
            assert states == [State.INVESTIGATING] * 2 + [State.DEFERRED] * 3
            queued = [it.queued for it in seen if it and it.queued]
            assert [q.place for q in queued] == [1, 2, 3]
            assert [q.incidents for q in queued] == [3, 4, 5]
            assert [q.alerts for q in queued] == [3, 4, 5]
            assert {q.seconds for q in queued} == {STORM_SECONDS}
            rounds = [(q.starts_by - desk.clock.now) / timedelta(seconds=10) for q in queued]
            assert rounds == [1, 1, 2]

    kit.run(run())


def test_an_incident_whose_turn_has_come_gets_its_whole_time_and_a_verdict(tmp_path: Path) -> None:
    @dataclass
    class Slow(Detective):
        gate: asyncio.Event | None = field(default_factory=asyncio.Event)

    async def run() -> None:
        slow = Slow()
        assert slow.gate is not None
        async with kit.lab(tmp_path, detective=slow, incidents=Incidents(concurrency=1)) as lab:
            accepted = await lab.durable.accept(
                body(alert("a", fingerprint="a"), alert("b", fingerprint="b"))
            )
            first, second = accepted.incidents
            assert lab.incident(second).state is State.DEFERRED
            slow.gate.set()
            await lab.diagnosed(first)
            ended = await lab.diagnosed(second)
            assert ended.state is State.DIAGNOSED
            assert ended.queued is None
            assert "Its turn has come: it is being checked" in [h.what for h in ended.timeline]

    kit.run(run())


def test_one_that_somebody_wants_now_does_not_wait(tmp_path: Path) -> None:
    async def run() -> None:
        slow = Detective(gate=asyncio.Event())
        assert slow.gate is not None
        async with kit.lab(tmp_path, detective=slow, incidents=Incidents(concurrency=1)) as lab:
            accepted = await lab.durable.accept(
                body(alert("a", fingerprint="a"), alert("b", fingerprint="b"))
            )
            first, second = accepted.incidents
            await kit.until(lambda: "collect" in slow.calls)
            assert await lab.durable.check_now(second)
            await kit.until(lambda: slow.calls.count("collect") == 2)
            assert lab.incident(second).state is State.INVESTIGATING
            assert not await lab.durable.check_now(first)
            slow.gate.set()
            await lab.diagnosed(first)
            await lab.diagnosed(second)

    kit.run(run())


def of(node: str = "", namespace: str = "prod", workload: str = "", cluster: str = "") -> Subject:
    return Subject(
        kind=SubjectKind.GROUP, node=node, namespace=namespace, workload=workload, cluster=cluster
    )


def ground(*subjects: Subject, labels: Mapping[str, str] = MappingProxyType({})) -> Shared | None:
    """What incidents about these share whose alerts have these labels too."""
    made = (replace(FIRST, subject=one, alerts=(_labelled(labels),)) for one in subjects)
    return common_ground({f"I{n}": incident for n, incident in enumerate(made)})


def _labelled(labels: Mapping[str, str]) -> Alert:
    return replace(FIRST.alerts[0], labels=labels)


def test_more_than_half_and_at_least_three_on_one_node_share_it() -> None:
    on, other = of("gpu-3", workload="a"), of("gpu-1", namespace="dev", workload="b")
    shared = Shared(kind="node", name="gpu-3", incidents=3, first="I1")
    assert ground(other, on, on, other, on) == shared
    assert ground(on, on, of(namespace="")) is None
    assert ground(on, on, on, other, other, other) is None


def test_a_node_tells_more_than_a_workload_and_that_more_than_a_namespace() -> None:
    same = of("gpu-3", workload="llm")
    assert getattr(ground(same, same, same), "kind", "") == "node"
    free = of(workload="llm")
    assert ground(free, free, free) == Shared(
        kind="workload", name="prod/llm", incidents=3, first="I0"
    )
    bare = of()
    assert ground(bare, bare, bare) == Shared(
        kind="namespace", name="prod", incidents=3, first="I0"
    )


@pytest.mark.parametrize(
    ("label", "kind"),
    [("rack", "rack"), ("topology_kubernetes_io_rack", "rack"),
     ("label_topology_kubernetes_io_zone", "zone")],
)  # fmt: skip
def test_where_no_node_is_shared_the_rack_or_the_zone_is_told(label: str, kind: str) -> None:
    apart = [of(f"gpu-{n}", namespace=f"ns-{n}", workload="llm") for n in range(3)]
    shared = Shared(kind=kind, name="r7", incidents=3, first="I0")
    assert ground(*apart, labels={label: "r7"}) == shared
    assert ground(*apart) is None
    assert ground(*apart[:2], labels={label: "r7"}) is None


def test_a_rack_tells_more_than_a_namespace_and_a_zone_less() -> None:
    same = [of(f"gpu-{n}") for n in range(3)]
    assert getattr(ground(*same, labels={"rack": "r7"}), "kind", "") == "rack"
    assert getattr(ground(*same, labels={"zone": "z1"}), "kind", "") == "namespace"


def test_nodes_of_one_name_in_two_clusters_are_two() -> None:
    here, there = of("n", namespace="", cluster="a"), of("n", namespace="", cluster="b")
    assert ground(here, here, there, there) is None


def test_those_that_wait_say_what_most_of_all_share_and_where_it_began(tmp_path: Path) -> None:
    async def run() -> None:
        async with kit.intake_alone(tmp_path, incidents=TWO) as desk:
            on = {"node": "gpu-3"}
            (first,) = (await desk.accept(alert("w0", fingerprint="w0", labels=on))).incidents
            alerts = (alert(f"w{i}", fingerprint=f"w{i}", labels=on) for i in range(1, 4))
            found = await desk.accept(*alerts, alert("x", fingerprint="x"))
            queued = [it.queued for id in found.incidents if (it := desk.reader.get(id))]
            shared = Shared(kind="node", name="gpu-3", incidents=4, first=first)
            assert [q.shared for q in queued if q] == [shared] * 3
            assert {q.incidents for q in queued if q} == {5}

    kit.run(run())


def test_in_a_crowd_too_large_to_look_through_nothing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailhound.durable.common_ground.CROWD_AT_MOST", 4)

    async def run() -> None:
        async with kit.intake_alone(tmp_path, incidents=TWO) as desk:
            on = {"node": "gpu-3"}
            found = await desk.accept(
                *(alert(f"w{i}", fingerprint=f"w{i}", labels=on) for i in range(5))
            )
            queued = [it.queued for id in found.incidents if (it := desk.reader.get(id))]
            assert [q.shared for q in queued if q] == [None] * 3

    kit.run(run())
