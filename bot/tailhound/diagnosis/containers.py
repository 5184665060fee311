"""Which container of a pod serves requests."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

SIDECARS = re.compile(
    r"istio-proxy|linkerd-proxy|envoy|queue-proxy|cloud-sql-proxy|vault-agent.*|fluent-?bit.*|"
    r"fluentd|filebeat|promtail|vector|log-?shipper|.*log(ger|ging)?-agent|otel.*|opentelemetry.*|"
    r"jaeger-agent|datadog-agent|oauth2-proxy|kube-rbac-proxy|config-reloader|reloader"
)
"""Names of containers that accompany, and never are, the server. Our own list."""

_ANNOTATION = "kubectl.kubernetes.io/default-container"


def serving_container(
    containers: Sequence[Mapping[str, Any]], annotations: Mapping[str, str]
) -> str:
    """The name of the serving container, "" without any: the one with a GPU, else the one that the
    default-container annotation names, else the first that is no known sidecar."""
    names = [str(container.get("name") or "") for container in containers]
    for container, name in zip(containers, names, strict=True):
        limits = (container.get("resources") or {}).get("limits") or {}
        if any("gpu" in str(resource).lower() for resource in limits):
            return name
    if annotations.get(_ANNOTATION) in names:
        return annotations[_ANNOTATION]
    return next((name for name in names if name and not SIDECARS.fullmatch(name)), "")
