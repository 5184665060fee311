"""How the API servers do, for whom, and who keeps them busy."""

from typing import Any

import promql_parser
import pytest

from tailhound.flow import Read
from tailhound.model import Missing
from tailhound.model.facts import Sample, values_of
from tailhound.requests import Query, Ranged, RangeQuery
from tailhound_collectors.apiserver import ApiserverCollector
from tailhound_collectors.apiserver_facts import Apiserver, ApiserverParams
from tests.driving import EMPTY, TIMEOUT, by_text, drive, vector

LEASES = "count by (cluster, job)"
LISTS = "sum by (le, scope)"
HEARTBEATS = 'resource="leases"}'
WAITS = "sum by (le, priority_level)"
BOUNDS = 'sum by (le) (rate(apiserver_request_duration_seconds_bucket{job=~"apiserver",verb="LIST"'
FLOWS = "sum by (flow_schema, priority_level) (label_replace"


def servers(*clusters: str) -> Any:
    return vector(*(({"cluster": name, "job": "apiserver"}, 3.0) for name in clusters or ("",)))


def by_label(name: str, **values: float) -> Any:
    return vector(*(({name: label.replace("_", "-")}, value) for label, value in values.items()))


def flow(schema: str, level: str, value: float) -> tuple[dict[str, str], float]:
    return {"flow_schema": schema, "priority_level": level}, value


FLOODED: dict[str, Any] = {
    "# from": (Ranged((), (Sample(1.0, 0.2), Sample(2.0, 40.0))),),
    LEASES: servers(),
    LISTS: {
        "now": by_label("scope", cluster=60.0, namespace=40.0),
        "past": by_label("scope", cluster=0.4, namespace=0.05),
    },
    WAITS: {
        "now": by_label("priority_level", system=9.0, node_high=4.0, workload_low=14.0),
        "past": by_label("priority_level", system=0.004, node_high=0.004, workload_low=0.004),
    },
    BOUNDS: vector(({"le": "30"}, 70.0), ({"le": "60.0"}, 85.0), ({"le": "+Inf"}, 100.0)),
    HEARTBEATS: {"now": vector(({}, 28.0)), "past": vector(({}, 0.02))},
    FLOWS: {
        "now": vector(
            flow("service-accounts", "workload-low", 1500.0),
            flow("system-nodes", "system", 21.0),
        ),
        "past": vector(
            flow("service-accounts", "workload-low", 50.0),
            flow("system-nodes", "system", 25.0),
        ),
    },
    "sum by (priority_level) (rate(apiserver_flowcontrol_rejected": by_label(
        "priority_level", system=1.5, workload_low=240.0
    ),
    "apiserver_request_terminations_total": vector(({}, 246.5)),
    "apiserver_storage_list_fetched": vector(({"resource": "pods"}, 1.9e6)),
    "count_values": vector(({"up": "1"}, 2.0), ({"up": "0"}, 1.0)),
    "kube_daemonset": vector(({"namespace": "telemetry", "daemonset": "agent"}, 1.0)),
    "inflight": {"now": vector(({}, 400.0)), "past": vector(({}, 18.0))},
    "etcd_request_duration": {"now": vector(({}, 3.8)), "past": vector(({}, 0.03))},
}


def collected(answers: dict[str, Any], default: Any = EMPTY, cluster: str = "") -> Apiserver:
    params = ApiserverParams(cluster=cluster)
    return drive(ApiserverCollector().collect(params), by_text(answers, default))


def asked(cluster: str, servers_there: Any) -> list[str]:
    texts: list[str] = []

    def answer(request: Read[Any]) -> Any:
        assert isinstance(request, Query | RangeQuery)
        texts.append(request.promql)
        return servers_there if LEASES in request.promql else EMPTY

    drive(ApiserverCollector().collect(ApiserverParams(cluster=cluster)), answer)
    return texts


def test_lists_are_told_apart_by_scope_and_compared_with_usual() -> None:
    facts = collected(FLOODED)
    assert (facts.list_cluster_seconds, facts.list_cluster_seconds_usual) == (60.0, 0.4)
    assert (facts.list_namespace_seconds, facts.list_namespace_seconds_usual) == (40.0, 0.05)
    assert facts.lists_per_second == 100.0


def test_a_p99_at_the_last_finite_bound_is_clipped() -> None:
    facts = collected(FLOODED)
    assert facts.list_clipped is True
    assert facts.list_beyond_ratio == pytest.approx(0.15)


def test_a_p99_below_the_last_finite_bound_is_not_clipped() -> None:
    facts = collected({**FLOODED, LISTS: by_label("scope", cluster=59.0)})
    assert facts.list_clipped is False


@pytest.mark.parametrize("le", ["x", "nan", "", "1e999x"])
def test_a_bound_that_is_no_number_costs_no_other_fact(le: str) -> None:
    facts = collected({**FLOODED, BOUNDS: (*FLOODED[BOUNDS], *vector(({"le": le}, 3.0)))})
    assert facts.list_beyond_ratio == pytest.approx(0.15)
    assert facts.heartbeat_seconds == 28.0


def test_the_worst_critical_level_and_the_worst_other_are_told_apart() -> None:
    facts = collected(FLOODED)
    assert (facts.critical_level, facts.critical_wait_seconds) == ("system", 9.0)
    assert (facts.other_level, facts.other_wait_seconds) == ("workload-low", 14.0)
    assert facts.critical_rejected_per_second == 1.5
    assert facts.rejected_per_second == 241.5
    assert [row.level for row in facts.levels or ()] == ["node-high", "system", "workload-low"]


def test_only_a_noisy_level_waits_where_flow_control_isolates_it() -> None:
    waits = by_label("priority_level", system=0.0, workload_low=14.0)
    facts = collected({**FLOODED, WAITS: waits})
    assert facts.critical_wait_seconds == 0.0
    assert facts.other_wait_seconds == 14.0


def test_the_flow_that_grew_most_is_the_heavy_one() -> None:
    facts = collected(FLOODED)
    assert facts.heavy_flow == "service-accounts"
    assert facts.heavy_flow_ratio == 30.0
    assert facts.requests_per_second == 1521.0
    assert facts.requests_ratio == pytest.approx(1521 / 75)
    assert facts.heavy_resource == "pods"


def test_a_flow_that_is_new_has_no_ratio() -> None:
    new = vector(flow("inventory", "workload-low", 900.0), flow("system-nodes", "system", 21.0))
    old = vector(flow("system-nodes", "system", 25.0))
    facts = collected({**FLOODED, FLOWS: {"now": new, "past": old}})
    assert facts.heavy_flow == "inventory"
    assert facts.heavy_flow_per_second == 900.0
    assert facts.heavy_flow_ratio is None


def test_a_new_daemonset_is_suspected() -> None:
    facts = collected(FLOODED)
    assert facts.suspect == "DaemonSet telemetry/agent"
    assert facts.suspects_count == 1


def test_a_running_cronjob_is_suspected() -> None:
    jobs = vector(({"namespace": "ci", "owner_name": "inventory"}, 1.0))
    facts = collected({**FLOODED, "kube_daemonset": EMPTY, "kube_job_status_active": jobs})
    assert facts.suspect == "CronJob ci/inventory"


def test_many_new_daemonsets_at_once_are_a_gap_in_the_scrape() -> None:
    rows = vector(*(({"namespace": "x", "daemonset": f"d{n}"}, 1.0) for n in range(4)))
    facts = collected({**FLOODED, "kube_daemonset": rows})
    assert facts.suspect is None
    assert facts.suspects_count == 0


def test_without_an_answer_nobody_is_acquitted_of_being_a_suspect() -> None:
    facts = collected({**FLOODED, "kube_daemonset": TIMEOUT})
    assert facts.suspects_count is None


def test_servers_that_are_down_are_counted() -> None:
    facts = collected(FLOODED)
    assert (facts.servers_up_count, facts.servers_down_count) == (2.0, 1.0)


def test_the_mechanism_is_what_grew_most_and_has_the_history() -> None:
    facts = collected(FLOODED)
    assert facts.mechanism == "LIST of pods, namespace scope"
    assert facts.mechanism_seconds == 40.0
    assert facts.mechanism_seconds_series == (Sample(1.0, 0.2), Sample(2.0, 40.0))
    assert facts.mechanism_seconds_usual_series is not None


def test_where_nothing_has_a_usual_value_the_heartbeats_are_the_mechanism() -> None:
    facts = collected(
        {"# from": EMPTY, LEASES: servers(), HEARTBEATS: {"now": vector(({}, 8.0)), "past": EMPTY}}
    )
    assert facts.mechanism == "writes of heartbeats"
    assert facts.mechanism_seconds_usual is None


def test_hidden_metrics_leave_everything_unknown() -> None:
    facts = collected({})
    assert {name for name, value in values_of(facts).items() if value is not None} == {
        "suspects_count"
    }


def test_a_prometheus_that_does_not_answer_measures_nothing() -> None:
    assert collected({}, default=TIMEOUT) == Apiserver()


def test_the_series_of_several_clusters_tell_nothing_of_one() -> None:
    assert collected({**FLOODED, LEASES: servers("a", "b")}) == Apiserver(clusters_count=2)


def test_the_alerts_cluster_chooses_its_series() -> None:
    facts = collected({**FLOODED, LEASES: servers("a")}, cluster="a")
    assert facts.clusters_count == 1
    assert facts.list_cluster_seconds == 60.0
    assert all('cluster=~"|a"' in text for text in asked("a", servers("a")))


def test_only_the_jobs_that_serve_leases_are_api_servers() -> None:
    texts = [text for text in asked("", servers()) if "apiserver_" in text and LEASES not in text]
    assert texts
    assert all('job=~"apiserver"' in text for text in texts)


def test_lists_of_aggregated_servers_do_not_count() -> None:
    lists = [text for text in asked("", servers()) if 'verb="LIST"' in text]
    assert lists
    assert all('group=""' in text for text in lists)


@pytest.mark.parametrize("cluster", ["", "prod-1", 'a"}) or vector(1) #', "x|.*", "a\\", "a\nb"])
def test_every_query_parses_whatever_the_cluster_is_called(cluster: str) -> None:
    there = vector(({"cluster": cluster, "job": 'api"} or up{job=~".*'}, 1.0))
    texts = asked(cluster, there)
    assert len(texts) > 20
    for text in texts:
        promql_parser.parse(text)


def test_a_refused_eviction_is_not_asked_for() -> None:
    assert not any("eviction" in text or "request_total" in text for text in asked("", servers()))


def test_one_empty_series_does_not_hide_the_others() -> None:
    for part in (LISTS, WAITS, HEARTBEATS, FLOWS, BOUNDS):
        missing = Missing(EMPTY.reason, "gone")
        facts = collected({**FLOODED, part: missing})
        assert facts.inflight_count == 400.0, part
        assert facts.etcd_seconds == 3.8, part


def test_series_without_a_job_are_not_narrowed_down() -> None:
    texts = asked("", vector(({}, 3.0)))
    assert not any("job=~" in text for text in texts)
    assert any('verb="LIST"' in text for text in texts)
