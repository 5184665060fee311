"""The Alertmanager v4 body of a scenario's alert, as Alertmanager 0.25 writes it."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tests.lab.scenario import AlertSpec

RECEIVER = "tailhound"
GROUP_BY = ("alertname", "cluster", "namespace", "service")
_FNV_OFFSET, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


def body(alert: AlertSpec, now: float, generator: str, external: str) -> bytes:
    """One firing alert in its group. `generator` and `external` are the servers' addresses."""
    labels = dict(alert.labels)
    group = {name: labels[name] for name in GROUP_BY if name in labels}
    one = {
        "status": "firing",
        "labels": labels,
        "annotations": alert.all_annotations,
        "startsAt": _time(now + alert.since),
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": f"{generator}/graph",
        "fingerprint": fingerprint(labels),
    }
    whole: dict[str, Any] = {
        "receiver": RECEIVER,
        "status": "firing",
        "alerts": [one],
        "groupLabels": group,
        "commonLabels": labels,
        "commonAnnotations": alert.all_annotations,
        "externalURL": external,
        "version": "4",
        "groupKey": group_key(group),
        "truncatedAlerts": 0,
    }
    text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="surrogatepass") + b"\n"


def group_key(group: Mapping[str, str]) -> str:
    """`{}:{alertname="X", cluster="demo"}`: the route's matchers, then the group's labels."""
    pairs = ", ".join(f"{name}={_go_quoted(group[name])}" for name in sorted(group))
    return "{}:{" + pairs + "}"


def fingerprint(labels: Mapping[str, str]) -> str:
    """Prometheus' fingerprint: FNV-1a over sorted names and values, each closed by 0xff."""
    value = _FNV_OFFSET
    for name in sorted(labels):
        for byte in name.encode() + b"\xff" + labels[name].encode() + b"\xff":
            value = ((value ^ byte) * _FNV_PRIME) & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def _go_quoted(text: str) -> str:
    """Go's %q for the characters that labels hold in practice."""
    return json.dumps(text, ensure_ascii=False)


def _time(unix: float) -> str:
    return datetime.fromtimestamp(unix, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
