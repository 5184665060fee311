"""Webhook bodies as Alertmanager sends them, one alert each, numbered."""

import json
from dataclasses import dataclass

REPEATED = 8
"""How many different bodies the repeats go round."""


@dataclass(frozen=True, slots=True)
class Load:
    """What the serial number of a body changes. `alerts_per_incident` 0 = only repeats."""

    name: str
    alerts_per_incident: int

    def body(self, serial: int) -> bytes:
        """The body with this number."""
        if not self.alerts_per_incident:
            workload, alert = 0, serial % REPEATED
        else:
            workload, alert = serial // self.alerts_per_incident, serial
        return _TEMPLATE.replace(b"@WORKLOAD@", b"%d" % workload).replace(
            b"@ALERT@", b"%016x" % alert
        )


LOADS = {
    load.name: load
    for load in (
        Load("repeats", 0),
        Load("16 alerts an incident", 16),
        Load("each its own incident", 1),
    )
}


def _template() -> bytes:
    labels = {
        "alertname": "LLMDHighTTFT",
        "cluster": "bench",
        "namespace": "bench",
        "deployment": "llm-@WORKLOAD@",
        "shard": "@ALERT@",
        "model_name": "llm-70b",
        "severity": "critical",
    }
    annotations = {
        "summary": "TTFT p99 above 2.5 s for 2 minutes",
        "description": "The 99th percentile of time to first token is 4.81 s.",
        "runbook_url": "https://runbooks.example/ttft",
    }
    alert = {
        "status": "firing",
        "labels": labels,
        "annotations": annotations,
        "startsAt": "2026-01-05T02:51:00Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus.example/graph?g0.expr=ttft&g0.tab=1",
        "fingerprint": "@ALERT@",
    }
    body = {
        "receiver": "tailhound",
        "status": "firing",
        "alerts": [alert],
        "groupLabels": {"alertname": "LLMDHighTTFT"},
        "commonLabels": labels,
        "commonAnnotations": annotations,
        "externalURL": "http://alertmanager.example",
        "version": "4",
        "groupKey": '{}:{alertname="LLMDHighTTFT",deployment="llm-@WORKLOAD@"}',
        "truncatedAlerts": 0,
    }
    return json.dumps(body).encode()


_TEMPLATE = _template()
