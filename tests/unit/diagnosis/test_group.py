"""An incident's key comes from labels alone."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.diagnosis.group import (
    at_site,
    key_of,
    nodes_of,
    subject_of,
    why_ignored,
    without_hash,
)
from tailhound.model import Alert, AlertGroup, AlertStatus, Incident, State, SubjectKind
from tailhound.settings import Incidents

SETTINGS = Incidents()
GROUP = AlertGroup(group_key='{}:{alertname="X"}', receiver="tailhound", alerts=())


def alert(**labels: str) -> Alert:
    return Alert(
        fingerprint="f",
        name=labels.get("alertname", "X"),
        labels=labels,
        annotations={},
        status=AlertStatus.FIRING,
        starts_at=datetime(2026, 11, 29, 3, 0, tzinfo=UTC),
    )


def key(**labels: str) -> str:
    return key_of(subject_of(alert(**labels), SETTINGS), GROUP)


def test_a_deployment_label_makes_the_key() -> None:
    assert (
        key(namespace="prod", deployment="llm", pod="llm-6f9c8d7b5-k2xmv") == "workload:/prod/llm"
    )


def test_a_pod_joins_its_deployment_without_the_hash() -> None:
    assert key(namespace="prod", pod="llm-6f9c8d7b5-k2xmv") == key(
        namespace="prod", deployment="llm"
    )


def test_two_clusters_are_two_incidents() -> None:
    assert key(cluster="a", namespace="p", service="s") != key(
        cluster="b", namespace="p", service="s"
    )


def test_the_site_names_the_cluster_of_alerts_that_do_not() -> None:
    site = Incidents(cluster="prod-eu")
    assert subject_of(alert(service="s"), site).cluster == "prod-eu"
    assert subject_of(alert(service="s", cluster="lab"), site).cluster == "lab"


def test_a_node_alert_keeps_alertmanagers_group() -> None:
    subject = subject_of(alert(node="gpu-7"), SETTINGS)
    assert subject.kind is SubjectKind.NODE
    assert key_of(subject, GROUP) == key(node="gpu-8")


def test_an_exporters_own_pod_is_not_the_subject() -> None:
    labels = {
        "job": "node-exporter",
        "namespace": "monitoring",
        "pod": "node-exporter-x7k2p",
        "service": "node-exporter",
        "instance": "10.0.0.5:9100",
    }
    subject = subject_of(alert(**labels), SETTINGS)
    assert (subject.kind, subject.node, subject.pod) == (SubjectKind.NODE, "10.0.0.5", "")


def test_exported_labels_win_over_those_of_the_exporter() -> None:
    labels = {
        "job": "nvidia-dcgm-exporter",
        "namespace": "gpu-operator",
        "pod": "dcgm-exporter-x7k2p",
        "exported_namespace": "prod",
        "exported_pod": "llm-0",
    }
    subject = subject_of(alert(**labels), SETTINGS)
    assert (subject.namespace, subject.pod) == ("prod", "llm-0")


def test_a_cadvisor_alert_keeps_the_containers_pod() -> None:
    subject = subject_of(
        alert(job="kubelet", service="kubelet", namespace="monitoring", pod="exporter-0"),
        SETTINGS,
    )
    assert (subject.kind, subject.workload) == (SubjectKind.POD, "exporter")


@pytest.mark.parametrize(
    ("pod", "name"),
    [
        (
            "chat-json-predictor-00003-deployment-6f9c8d7b5-k2xmv",
            "chat-json-predictor-00003-deployment",
        ),
        ("exporter-0", "exporter"),
        ("dcgm-exporter-x7k2p", "dcgm-exporter"),
        ("chat-plain", "chat-plain"),
        ("llm-70b", "llm-70b"),
    ],
)
def test_only_a_generated_suffix_is_taken_off(pod: str, name: str) -> None:
    assert without_hash(pod) == name


def test_watchdogs_start_nothing_and_the_reason_is_told() -> None:
    assert why_ignored(alert(alertname="Watchdog"), SETTINGS) == "Watchdog is in incidents.ignore"
    assert why_ignored(alert(severity="none"), SETTINGS) == "severity is none"
    assert why_ignored(alert(severity="page"), SETTINGS) is None


@given(
    st.dictionaries(
        st.sampled_from(["namespace", "pod", "service", "node", "job", "cluster"]), st.text()
    )
)
def test_any_labels_make_a_short_clean_key(labels: dict[str, str]) -> None:
    made = key(**labels)
    assert len(made) <= 300
    assert made.isprintable()
    assert made == key(**labels)


def test_two_parts_cannot_be_shifted_into_each_other() -> None:
    assert key(namespace="a/b", service="c") != key(namespace="a", service="b/c")


def test_the_nodes_of_the_most_severe_alerts_come_first() -> None:
    alerts = (
        alert(node="gpu-1", severity="warning"),
        alert(node="gpu-2", severity="page"),
        alert(node="gpu-2", severity="page", device="nvme1"),
    )
    incident = Incident(
        id="7F3K",
        key="k",
        subject=subject_of(alerts[0], SETTINGS),
        state=State.INVESTIGATING,
        alerts=alerts,
        received_at=datetime(2026, 11, 29, 3, 0, tzinfo=UTC),
    )
    assert nodes_of(incident, SETTINGS) == ("gpu-2", "gpu-1")


def test_the_first_owner_label_that_is_there_tells_whose_it_is_by_the_map() -> None:
    rules = Incidents(owner_labels=("owner", "team"), owners={"llm": "team-serving"})
    assert at_site(alert(team="llm"), rules).owner == "team-serving"
    assert at_site(alert(team="llm", owner="storage"), rules).owner == "storage"
    assert at_site(alert(owner="", team="llm"), rules).owner == "team-serving"
    assert at_site(alert(), rules).owner == ""


def test_an_owner_is_kept_short_whatever_a_label_says() -> None:
    assert at_site(alert(owner="x" * 500), SETTINGS).owner == "x" * 80
