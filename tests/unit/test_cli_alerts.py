"""What `diagnose --alert` reads: labels alone, a list as Alertmanager's API gives it, a webhook."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tailhound.cli.alerts import group_of, to_diagnose
from tailhound.errors import SettingsError
from tailhound.model import AlertStatus
from tailhound.settings import Settings

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 11, 30, 3, tzinfo=UTC)
AMTOOL = [
    {
        "annotations": {"summary": "slow"},
        "endsAt": "2026-11-30T03:04:00.000Z",
        "fingerprint": "0b0f0d8a7a4b5a3c",
        "receivers": [{"name": "tailhound"}],
        "startsAt": "2026-11-30T02:51:00.000Z",
        "status": {"inhibitedBy": [], "silencedBy": [], "state": "active"},
        "updatedAt": "2026-11-30T03:00:00.000Z",
        "generatorURL": "http://prometheus:9090/graph",
        "labels": {"alertname": "TTFTHigh", "namespace": "prod", "deployment": name},
    }
    for name in ("llm-70b", "llm-8b")
]
"""What `amtool alert query -o json` prints."""


def read(value: Any) -> Any:
    return group_of(json.dumps(value).encode(), "alert.json")


def test_the_list_of_amtool_is_read_and_all_of_it_fires() -> None:
    group = read(AMTOOL)
    assert [alert.status for alert in group.alerts] == [AlertStatus.FIRING] * 2
    assert all(alert.ends_at is None for alert in group.alerts)
    found = to_diagnose(group, Settings(), NOW)
    assert [incident.subject.workload for incident in found] == ["llm-70b", "llm-8b"]
    assert found[0].since == datetime(2026, 11, 30, 2, 51, tzinfo=UTC)


def test_the_sample_of_the_documentation_is_read() -> None:
    (alert,) = group_of((ROOT / "docs/authors/alert.json").read_bytes(), "alert.json").alerts
    assert (alert.name, alert.labels["deployment"]) == ("InferenceTimeToFirstTokenHigh", "llm-70b")


def test_labels_alone_are_enough() -> None:
    (alert,) = read({"labels": {"alertname": "A", "namespace": "prod"}}).alerts
    assert alert.status is AlertStatus.FIRING
    assert read([{"labels": {"alertname": "A"}}]).alerts[0].name == "A"


@pytest.mark.parametrize("value", [[], [1], [{"labels": {}}, 7], {}, "x", 3, None, [[]]])
def test_what_is_no_alert_is_refused_with_the_name_of_the_file(value: Any) -> None:
    with pytest.raises(SettingsError, match=r"^alert\.json: "):
        read(value)
