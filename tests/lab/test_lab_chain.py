"""The alert's own way: a body as Alertmanager writes it, and a real Alertmanager writing it."""

import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.lab import notification, scenario
from tests.lab.alertmanager import Receiver
from tests.lab.conftest import Needs
from tests.lab.lab import Lab
from tests.lab.scenario import AlertSpec

RECORDED = {"alertname": "IBPortDown", "cluster": "demo", "port": "1", "severity": "page"}
CHAIN = """
name: chain
full_chain: true
alert:
  labels: {alertname: QueueGrows, namespace: llm, severity: page}
  annotations: {summary: "a line with \\"quotes\\""}
  since: -4m
  rule: {expr: 'sum by (pod) (vllm:num_requests_waiting{namespace="llm"}) > 10'}
prometheus:
  series:
    - gauge: 'vllm:num_requests_waiting{namespace="llm",pod="llm-0"}'
      phases: [{until: 0m, value: 40}]
expect: {}
"""


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        ("gpu00", "63f11fa9b7354ae8"),
        ("gpu01", "3303b5f315a138ef"),
        ("gpu02", "6ef5829b03515912"),
    ],
)
def test_a_fingerprint_is_the_one_that_prometheus_computes(instance: str, expected: str) -> None:
    assert notification.fingerprint({**RECORDED, "instance": instance}) == expected


def test_a_written_body_has_the_keys_of_a_real_one() -> None:
    labels = {**RECORDED, "pod": 'a"b'}
    alert = AlertSpec(labels=labels, annotations={"summary": "x"}, since=-540)
    body = json.loads(notification.body(alert, 1_796_000_000, "http://p", "http://a"))
    assert body["version"] == "4"
    assert body["groupKey"] == '{}:{alertname="IBPortDown", cluster="demo"}'
    assert body["groupLabels"] == {"alertname": "IBPortDown", "cluster": "demo"}
    (one,) = body["alerts"]
    assert (one["startsAt"], one["endsAt"]) == (
        "2026-11-30T00:44:20.000000Z",
        "0001-01-01T00:00:00Z",
    )


@pytest.mark.lab
def test_a_rule_fires_through_a_real_alertmanager(tmp_path: Path, needs: Needs) -> None:
    needs("prometheus", "prometheus-alertmanager")
    (tmp_path / "scenario.yaml").write_text(CHAIN, encoding="utf-8")
    with Lab(scenario.load(tmp_path)) as lab:
        body = json.loads(lab.body)
        written = json.loads(
            notification.body(lab.scenario.alert, lab.now, lab.endpoints.prometheus, "x")
        )
    (one,) = body["alerts"]
    assert one["labels"] == {**lab.scenario.alert.labels, "pod": "llm-0"}
    assert one["annotations"] == {"summary": 'a line with "quotes"'}
    assert body["groupKey"] == written["groupKey"]
    assert body["groupLabels"] == written["groupLabels"]
    assert set(body) == set(written)
    assert set(one) == set(written["alerts"][0])


def test_the_receiver_takes_nothing_without_the_token() -> None:
    receiver = Receiver("secret")
    try:
        for token, code in (("wrong", 401), ("secret", 200)):
            request = urllib.request.Request(  # noqa: S310 - loopback, ours
                receiver.url, data=b"{}", headers={"Authorization": f"Bearer {token}"}
            )
            try:
                with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310
                    seen = answer.status
            except urllib.error.HTTPError as error:
                with error:
                    seen = error.code
            assert seen == code
        assert receiver.body(1) == b"{}"
    finally:
        receiver.stop()
