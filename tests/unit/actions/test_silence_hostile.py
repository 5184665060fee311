"""Nobody mutes more than the words of a choice say, whatever labels an incident's alerts have."""

from datetime import UTC, datetime

import pytest

from tailhound.actions.silence import Scope, muted, scopes
from tailhound.diagnosis.group import subject_of
from tailhound.model import Alert, AlertStatus, Incident, State
from tailhound.settings import Incidents

NOW = datetime(2026, 11, 30, 2, 53, tzinfo=UTC)


def alert(name: str, **labels: str) -> Alert:
    return Alert(
        fingerprint=name,
        name=name,
        labels={"alertname": name, **labels},
        annotations={},
        status=AlertStatus.FIRING,
        starts_at=NOW,
    )


def choices(*alerts: Alert) -> dict[str, Scope]:
    """The choices of an incident that begins with the first of these alerts, by their words."""
    incident = Incident(
        id="8R5W",
        key="k",
        subject=subject_of(alerts[0], Incidents()),
        state=State.DIAGNOSED,
        alerts=alerts,
        received_at=NOW,
    )
    return {scope.title: scope for scope in scopes(incident)}


NEIGHBOUR = alert("Down", namespace="prod", pod="db-0", deployment="db", cluster="eu", node="n9")


@pytest.mark.parametrize(
    "labels",
    [
        {"namespace": "prod", "pod": "web-0"},
        {"namespace": "prod", "deployment": "web"},
        {"cluster": "eu", "node": "n1"},
        {"cluster": "eu", "instance": "n1:9100"},
        {"cluster": "eu", "namespace": "prod", "deployment": "web", "pod": "web-0"},
    ],
)
def test_everything_of_a_thing_leaves_its_neighbours_alone(labels: dict[str, str]) -> None:
    for scope in choices(alert("Down", **labels)).values():
        assert muted(scope.matchers, [NEIGHBOUR]).alerts == 0, scope


def test_an_alert_that_joins_with_fewer_labels_widens_no_choice_under_the_same_words() -> None:
    found = choices(alert("A", namespace="prod", deployment="web"), alert("B", namespace="prod"))
    assert list(found) == ["These alert names in all of prod"]
    found = choices(alert("A", namespace="prod", deployment="web"), alert("B", deployment="web"))
    assert list(found) == ["These alert names, wherever"]


def test_everything_of_pods_of_one_workload_is_not_offered_where_no_label_names_it() -> None:
    found = choices(
        alert("A", namespace="prod", pod="web-5b8c7d9f6c-x2k4q"),
        alert("A", namespace="prod", pod="web-5b8c7d9f6c-abcde"),
    )
    assert list(found) == ["These alert names in all of prod"]


def test_everything_of_a_pod_names_the_pod() -> None:
    found = choices(alert("A", namespace="prod", pod="web-5b8c7d9f6c-x2k4q"))
    assert list(found) == ["Only these alerts", "Everything of prod/web-5b8c7d9f6c-x2k4q"]


def test_a_namespace_is_everything_only_where_the_alert_is_about_no_more() -> None:
    assert "Everything of prod" in choices(alert("A", namespace="prod", slo="itl"))
