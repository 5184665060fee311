"""`tailhound diagnose --runbook ID --input name=value`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tailhound import app
from tailhound.cli import main
from tailhound.cli.by_hand import ByHand, by_hand
from tailhound.errors import SettingsError
from tailhound.settings import Incidents, Settings
from tailhound.shipped import shipped

RUNBOOKS = app.compiled(Settings()).by_id
RECORDING = str(shipped("demo") / "cpu-throttling.json")


def told(runbook: str, *inputs: str) -> ByHand:
    return by_hand(RUNBOOKS[runbook], inputs, Incidents())


def test_the_inputs_of_a_runbook_are_what_is_looked_at_and_its_labels_lead_there() -> None:
    found = told("cpu-throttling", "namespace=shop", "pods=web-0,web-1", "pods=web-0", "nodes=n1")
    assert found.given == {
        "namespace": "shop",
        "pods": ["web-0", "web-1"],
        "nodes": ["n1"],
        "pods_count": 2,
        "found_by": "--input",
    }
    assert found.labels == {
        "alertname": "by hand: cpu-throttling",
        "namespace": "shop",
        "pod": "web-0",
        "node": "n1",
    }


def test_labels_of_an_alert_are_taken_too_and_leave_the_rest_to_be_found() -> None:
    found = told("kv-preemption", "namespace=shop", "deployment=web")
    assert found.given == {"namespace": "shop"}
    assert found.labels["deployment"] == "web"


def test_an_input_that_a_label_binds_is_given_by_its_own_name_or_by_the_label() -> None:
    for name in ("knative_service", "ksvc"):
        found = told("cold-start", "namespace=shop", f"{name}=web")
        assert found.labels["ksvc"] == "web"
        assert set(found.given) == {"namespace"}


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ((), "--runbook cpu-throttling needs --input NAME=VALUE: cpu-throttling takes namespace,"),
        (("namespac=x",), "no input named 'namespac'; did you mean 'namespace'?"),
        (("severity=page",), "cpu-throttling takes namespace, pods, container, nodes; the labels"),
        (("namespace=",), "--input namespace=: write NAME=VALUE"),
        (("pods=,",), "--input pods=,: write at least one name"),
        (("pods",), "--input pods: write NAME=VALUE"),
    ],
)
def test_what_it_does_not_take_is_refused_with_what_it_takes(
    inputs: tuple[str, ...], says: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        told("cpu-throttling", *inputs)
    assert says in str(caught.value)


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, Any]:
    code = main(["diagnose", "--runbook", "cpu-throttling", "--format", "json", *argv])
    out = capsys.readouterr().out
    return code, json.loads(out) if out else None


def test_the_subject_is_found_from_the_inputs_as_from_an_alert(
    capsys: pytest.CaptureFixture[str],
) -> None:
    inputs = ("--input", "namespace=llm", "--input", "service=chat-json", "--replay", RECORDING)
    code, said = run(capsys, *inputs)
    assert code == 0
    assert said["primary"] == "cpu-throttling"
    assert [cause["runbook"] for cause in said["causes"]] == ["cpu-throttling"]


def test_pods_that_are_named_are_asked_about_and_no_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    inputs = ("--input", "namespace=shop", "--input", "pods=web-0,web-1", "--replay", RECORDING)
    code, said = run(capsys, *inputs)
    cpu = next(item for item in said["evidence"] if item["name"] == "cpu")
    assert cpu["questions"]
    assert all('namespace="shop",pod=~"web-0|web-1"' in asked for asked in cpu["questions"])
    assert said["primary"] is None
    assert code == 3, "the recording holds nothing about them"


def test_a_profile_of_the_site_counts_for_a_single_runbook_as_well(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = tmp_path / "bot.yaml"
    config.write_text(
        "profiles:\n"
        "  - match: {namespace: llm}\n"
        "    thresholds: {cpu-throttling: {moved: 1000}, kv-preemption: {full: 0.9}}\n"
    )
    inputs = ("--input", "namespace=llm", "--input", "service=chat-json", "--replay", RECORDING)
    _, said = run(capsys, *inputs, "--config", str(config))
    assert said["primary"] is None
