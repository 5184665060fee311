"""How much of the workload the symptom is at."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.diagnosis.resolved import Resolved
from tailhound.diagnosis.scope import Places, places_of, where_of
from tailhound.diagnosis.scope import scope_of as scope_of_rows
from tailhound.diagnosis.symptom import moved
from tailhound.model import Evidence, EvidenceStatus
from tailhound.model.symptomless import LATENCY

NODES = (("a", "gpu-1"), ("b", "gpu-1"), ("c", "gpu-2"), ("d", "gpu-3"))


def scope_of(found: Sequence[Evidence], resolved: Resolved) -> str:
    return scope_of_rows(moved(found), found, resolved)


def series(*values: float) -> tuple[dict[str, float], ...]:
    return tuple({"at": 1000.0 + 15 * at, "value": value} for at, value in enumerate(values))


def pace(pod: str, seconds: float | None, usual: float | None = 1.0) -> dict[str, Any]:
    return {"pod": pod, "seconds": seconds, "usual_seconds": usual}


def row(seconds: float, *pods: dict[str, Any], symptom: str = "ttft") -> dict[str, Any]:
    return {
        "symptom": symptom,
        "title": "first token",
        "seconds": seconds,
        "usual_seconds": 1.0,
        "series": series(1, seconds, seconds, seconds),
        "usual_series": series(1, 1, 1),
        "pods": pods or None,
    }


def evidence(found: dict[str, Any], collector: str = LATENCY, **facts: Any) -> list[Evidence]:
    return [
        Evidence(
            name="latency",
            collector=collector,
            status=EvidenceStatus.COLLECTED,
            facts={"symptoms": (found,), **facts},
        )
    ]


def subject(*pods: str, nodes: tuple[tuple[str, str], ...] = NODES, **more: Any) -> Resolved:
    given_ = {"pods_count": len(pods), **more}
    return Resolved(pods=pods, pod_nodes=tuple(one for one in nodes if one[0] in pods), **given_)


THREE = subject("a", "c", "d")


def test_one_slow_pod_is_told_with_its_node() -> None:
    found = row(4.0, pace("a", 10.0), pace("c", 1.0), pace("d", 1.05))
    assert scope_of(evidence(found), THREE) == "1 of 3 pods, on gpu-1"


def test_all_pods_are_told_as_all() -> None:
    found = row(4.0, pace("a", 4.4), pace("c", 3.0), pace("d", 5.0))
    assert scope_of(evidence(found), THREE) == "all 3 pods"


def test_the_pods_of_one_node_are_told_with_that_node() -> None:
    found = row(4.0, pace("a", 7.0), pace("b", 7.0), pace("c", 1.0), pace("d", 1.0))
    where = subject("a", "b", "c", "d")
    assert scope_of(evidence(found), where) == "2 of 4 pods, all on gpu-1"


def test_pods_of_several_nodes_are_told_without_a_node() -> None:
    found = row(4.0, pace("a", 6.0), pace("c", 6.0), pace("d", 1.0))
    assert scope_of(evidence(found), THREE) == "2 of 3 pods"


def test_a_workload_on_one_node_names_none() -> None:
    found = row(3.0, pace("a", 5.0), pace("b", 1.0))
    assert scope_of(evidence(found), subject("a", "b")) == "1 of 2 pods"


def test_a_pod_that_is_always_slower_is_compared_with_itself() -> None:
    found = row(4.0, pace("a", 10.0, 1.0), pace("c", 5.0, 5.0), pace("d", 1.0, 1.0))
    assert scope_of(evidence(found), THREE).startswith("1 of 3 pods")


def test_a_new_pod_is_compared_with_what_is_usual_for_all() -> None:
    found = row(4.0, pace("a", 4.0, None), pace("c", 4.0, None), pace("d", 4.0, None))
    assert scope_of(evidence(found), THREE) == "all 3 pods"


def test_a_pod_that_grew_much_less_than_the_whole_takes_no_part() -> None:
    just_under = row(5.0, pace("a", 12.0), pace("c", 2.9), pace("d", 1.0))
    assert scope_of(evidence(just_under), THREE).startswith("1 of 3 pods")
    just_over = row(5.0, pace("a", 12.0), pace("c", 3.1), pace("d", 1.0))
    assert scope_of(evidence(just_over), THREE).startswith("2 of 3 pods")


def test_a_pod_that_nobody_measured_is_said_and_never_counted_as_well() -> None:
    found = row(4.0, pace("a", 10.0), pace("c", 1.0), pace("d", None))
    assert scope_of(evidence(found), THREE) == "1 of 3 pods, on gpu-1, no data of 1"


def test_without_pods_of_the_symptom_nobody_can_tell() -> None:
    assert scope_of(evidence(row(4.0)), THREE) == ""
    assert scope_of(evidence(row(4.0, pace("a", None))), THREE) == ""
    assert scope_of(evidence(row(1.0, pace("a", 9.0))), THREE) == ""  # no symptom at all
    assert scope_of([], THREE) == ""


def test_the_only_pod_is_named_so_where_its_own_server_measured_it() -> None:
    assert scope_of(evidence(row(4.0)), subject("a")) == "the only pod"
    assert scope_of(evidence(row(4.0, symptom="edge")), subject("a")) == ""


def test_the_only_pod_of_a_node_is_not_said_of_the_node() -> None:
    node = Resolved(node="db-1", nodes=("db-1",), pods=("a",), pods_count=1)
    assert scope_of(evidence(row(4.0)), node) == "its only pod"


def test_failures_say_nothing_about_pods() -> None:
    failures: dict[str, Any] = {
        "source": "the ingress",
        "ratio": 0.5,
        "usual_ratio": 0.0,
        "series": series(0, 0.5, 0.5, 0.5),
        "usual_series": series(0, 0, 0),
    }
    found = [
        Evidence(
            name="latency",
            collector=LATENCY,
            status=EvidenceStatus.COLLECTED,
            facts={"errors": (failures,)},
        )
    ]
    assert scope_of(found, THREE) == ""
    assert scope_of(found, subject("a")) == ""


def test_a_subject_that_is_cut_says_so_with_and_without_a_scope() -> None:
    many = subject("a", "c", "d", pods_count=1234)
    assert scope_of([], many) == "3 of 1,234 pods looked at"
    found = row(4.0, pace("a", 10.0), pace("c", 1.0), pace("d", 1.05))
    assert scope_of(evidence(found), many) == "1 of 3 pods, on gpu-1, 3 of 1,234 pods looked at"
    nodes = Resolved(nodes=("n1", "n2"), nodes_count=132)
    assert scope_of([], nodes) == "2 of 132 nodes looked at"


@pytest.mark.parametrize(
    ("growths", "told"),
    [
        ((9.0, 1.0), "1 of 2 drives"),
        ((9.0, 2.0), "both drives"),
        ((9.0, 1.4, 1.6), "2 of 3 drives"),
        ((9.0, None), ""),
        ((9.0,), ""),
        ((), ""),
    ],
)
def test_a_slow_drive_is_counted_among_those_that_are_measured(
    growths: tuple[float | None, ...], told: str
) -> None:
    drives = tuple({"node": "n", "device": "d", "slowdown_ratio": growth} for growth in growths)
    wait = row(4.0, symptom="disk_write")
    found = evidence(wait, collector="prometheus.disk_io", drives=drives)
    assert scope_of(found, THREE) == told


def test_what_one_node_counts_is_told_with_that_node() -> None:
    found = evidence(row(4.0, symptom="node_starts"), collector="prometheus.node_agents")
    assert scope_of(found, Resolved(nodes=("ci-3",))) == "one node, ci-3"
    assert scope_of(found, Resolved(nodes=("ci-3", "ci-4"))) == ""
    assert scope_of(found, Resolved()) == ""


ANY = st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5)


@given(st.lists(st.fixed_dictionaries({"pod": st.text(max_size=9), "seconds": ANY}), max_size=6))
def test_whatever_the_pods_hold_the_scope_is_a_short_sentence(pods: list[dict[str, Any]]) -> None:
    assert len(scope_of(evidence(row(4.0, *pods)), THREE)) < 80


def places(found: dict[str, Any], resolved: Resolved) -> Places:
    return places_of(moved(evidence(found)), resolved)


def test_the_slow_pods_and_their_nodes_are_told_by_name() -> None:
    found = row(4.0, pace("a", 9.0), pace("c", 1.0), pace("d", 1.0))
    assert places(found, THREE) == Places(("a",), ("gpu-1",))
    both = row(4.0, pace("a", 4.0), pace("b", 4.0))
    assert places(both, subject("a", "b")) == Places(("a", "b"), ("gpu-1",))
    assert places(row(4.0), subject("a")) == Places(("a",), ("gpu-1",))


def test_where_nobody_can_tell_no_pod_and_no_node_is_called_slow() -> None:
    assert places(row(4.0), THREE) == Places()
    assert places(row(4.0, symptom="edge"), subject("a")) == Places()
    assert places_of([], THREE) == Places()
    two = Resolved(nodes=("n1", "n2"))
    assert places(row(4.0, symptom="node_starts"), two) == Places()
    assert places(row(4.0, symptom="node_starts"), Resolved(nodes=("n1",))) == Places((), ("n1",))


def test_a_person_looks_where_it_is_slow_else_at_what_the_alert_names_else_at_the_first() -> None:
    def where(slow: Places, resolved: Resolved) -> tuple[str, str, str]:
        names = where_of(slow, resolved)
        return names["NAMESPACE"], names["POD"], names["NODE"]

    known = replace(subject("a", "b"), namespace="web", pod_nodes=(("a", "n1"), ("b", "n2")))
    assert where(Places(("b",), ("n2",)), known) == ("web", "b", "n2")
    assert where(Places(), replace(known, pod="b")) == ("web", "b", "n2")
    assert where(Places(), known) == ("web", "a", "n1")
    assert where(Places(), Resolved(node="ci-3", nodes=("ci-3",))) == ("", "", "ci-3")
    assert where(Places(), Resolved()) == ("", "", "")
