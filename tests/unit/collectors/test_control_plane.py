"""What of the control plane's trouble arrives at nodes and pods."""

from typing import Any

import promql_parser
import pytest

from tailhound.flow import Read
from tailhound.requests import Query
from tailhound_collectors.control_plane import Effects, EffectsCollector, EffectsParams
from tests.driving import EMPTY, TIMEOUT, by_text, drive, vector

OWN = EffectsParams(namespace="prod", pods=("chat-0", "chat-1"), nodes=("n1", "n2"))
NOBODY = EffectsParams()

NODES = "count by (cluster)"
ALIVE = "count (group by (node)"
NAMES = "topk(3"
OWN_LATE = 'node=~"n1|n2"'
LATE = "and on (node)"
UNHEARD = "count ((max by (node)"
SYNC = "kubelet_pod_status_sync_duration_seconds_bucket"


def one(value: float) -> Any:
    return vector(({}, value))


LOST: dict[str, Any] = {
    NODES: one(40.0),
    ALIVE: one(39.0),
    NAMES: vector(({"node": "n2"}, 1.0), ({"node": "n7"}, 1.0)),
    OWN_LATE: one(1.0),
    LATE: one(2.0),
    UNHEARD: one(3.0),
    SYNC: {"now": one(59.0), "past": one(0.1)},
    "kubeproxy_network": {"now": one(20.0), "past": one(2.0)},
    "== 0": one(1.0),
    "count (((max by (pod)": one(2.0),
    "count ((max by (pod)": one(2.0),
    "sum by (result)": vector(({"result": "failed"}, 4.0), ({"result": "successful"}, 50.0)),
    "sum by (namespace)": one(3.0),
    "count (prober_probe_total": one(120.0),
}


def collected(
    answers: dict[str, Any], params: EffectsParams = OWN, default: Any = EMPTY
) -> Effects:
    return drive(EffectsCollector().collect(params), by_text(answers, default))


def asked(params: EffectsParams) -> list[str]:
    texts: list[str] = []

    def answer(request: Read[Any]) -> Any:
        assert isinstance(request, Query)
        texts.append(request.promql)
        return EMPTY

    drive(EffectsCollector().collect(params), answer)
    return texts


def test_late_nodes_are_told_from_dead_ones() -> None:
    facts = collected(LOST)
    assert facts.nodes_count == 40.0
    assert facts.late_nodes_count == 2.0
    assert facts.dead_nodes_count == 1.0
    assert facts.own_late_nodes_count == 1.0
    assert facts.late_nodes == "n2, n7"


def test_no_late_node_is_a_measured_zero_where_the_conditions_are_known() -> None:
    facts = collected({NODES: one(40.0), ALIVE: one(40.0)})
    assert (facts.late_nodes_count, facts.dead_nodes_count) == (0.0, 0.0)
    assert facts.own_late_nodes_count == 0.0
    assert facts.late_nodes is None


def test_nobody_is_late_or_in_time_where_the_conditions_are_not_scraped() -> None:
    facts = collected({ALIVE: one(40.0), SYNC: one(0.1)})
    assert facts.late_nodes_count is None
    assert facts.own_late_nodes_count is None
    assert facts.status_seconds == 0.1


def test_without_any_sign_of_life_late_and_dead_cannot_be_told_apart() -> None:
    facts = collected({NODES: one(40.0), UNHEARD: one(2.0)})
    assert facts.nodes_count == 40.0
    assert facts.late_nodes_count is None
    assert facts.dead_nodes_count is None


def test_a_question_about_late_nodes_without_an_answer_is_not_zero() -> None:
    facts = collected({NODES: one(40.0), ALIVE: one(40.0), LATE: TIMEOUT})
    assert facts.late_nodes_count is None
    assert facts.dead_nodes_count is None


def test_delays_hold_only_what_is_measured() -> None:
    facts = collected(LOST)
    assert [(row.what, row.seconds, row.ratio) for row in facts.delays or ()] == [
        ("status writes", 59.0, 590.0),
        ("endpoints", 20.0, 10.0),
    ]


def test_a_delay_without_a_usual_value_has_no_ratio() -> None:
    facts = collected({SYNC: {"now": one(59.0), "past": EMPTY}})
    assert facts.delays is not None
    assert facts.delays[0].ratio is None


def test_pods_that_are_not_ready_are_told_from_those_that_leave() -> None:
    facts = collected(LOST)
    assert (facts.pods_count, facts.unready_pods_count) == (2.0, 1.0)
    assert facts.leaving_pods_count == 0.0
    leaving = collected({**LOST, "kube_pod_deletion_timestamp": one(1.0)})
    assert leaving.leaving_pods_count == 1.0


def test_failed_probes_are_counted_for_the_workload_and_by_namespace() -> None:
    facts = collected(LOST)
    assert facts.probe_failures_count == 4.0
    assert facts.probe_failing_namespaces_count == 3.0


def test_probes_that_never_failed_have_no_such_series_and_count_as_zero() -> None:
    facts = collected({"sum by (result)": vector(({"result": "successful"}, 50.0))})
    assert facts.probe_failures_count == 0.0


def test_probes_that_nobody_scrapes_are_unknown() -> None:
    facts = collected({NODES: one(4.0), ALIVE: one(4.0)})
    assert facts.probe_failures_count is None
    assert facts.probe_failing_namespaces_count is None


def test_an_incident_without_pods_is_asked_about_the_cluster_alone() -> None:
    facts = collected(LOST, NOBODY)
    assert facts.late_nodes_count == 2.0
    assert facts.own_late_nodes_count is None
    assert facts.pods_count is None
    assert facts.probe_failures_count is None
    assert not any("kube_pod_" in text for text in asked(NOBODY))


def test_several_clusters_tell_nothing_of_one() -> None:
    both = vector(({"cluster": "a"}, 3.0), ({"cluster": "b"}, 5.0))
    assert collected({**LOST, NODES: both}) == Effects()


def test_a_node_that_says_itself_that_it_is_not_ready_is_not_late() -> None:
    states = [text for text in asked(OWN) if "max_over_time(kube_node_status_condition" in text]
    assert states
    assert all('status="unknown"' in text and 'status="false"' not in text for text in states)


def test_a_prometheus_that_does_not_answer_measures_nothing() -> None:
    assert collected({}, default=TIMEOUT) == Effects()


@pytest.mark.parametrize("name", ["chat-0", 'x"} or up{a="', "a.*|b", "a\\", "line\nbreak", "$pod"])
def test_every_query_parses_whatever_the_names_are(name: str) -> None:
    texts = asked(EffectsParams(cluster=name, namespace=name, pods=(name,), nodes=(name,)))
    assert len(texts) > 15
    for text in texts:
        promql_parser.parse(text)
