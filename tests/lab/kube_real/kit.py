"""Objects of a real API server and of the stand-in, and how the two are asked and compared."""

import asyncio
import http.client
import ssl
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tailhound.flow import Turn
from tailhound.settings import Kubernetes
from tailhound.transports.kubernetes import KubernetesTransport
from tests.lab.apiserver import ApiServer

PODS: dict[str, Any] = {"api": "v1", "resource": "pods", "namespace": "llm"}
NOW = float(int(time.time()))


CONTAINERS = [{"name": "main", "image": "registry.example/vllm:1"}]


TEMPLATE = {"metadata": {"labels": {"app": "chat"}}, "spec": {"containers": CONTAINERS}}


SET = {"replicas": 1, "selector": {"matchLabels": {"app": "chat"}}, "template": TEMPLATE}


READY = {"type": "Ready", "status": "True", "lastTransitionTime": "-2d"}


def object_of(
    api: str, kind: str, name: str, namespace: str = "llm", **more: Any
) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    metadata |= more.pop("metadata", {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **more}


def pod(name: str, namespace: str = "llm", **labels: str) -> dict[str, Any]:
    owner = {"kind": "ReplicaSet", "name": "chat-1"}
    return object_of(
        "v1",
        "Pod",
        name,
        namespace,
        metadata={"labels": labels, "ownerReferences": [owner]},
        spec={"nodeName": f"node-{name[-1]}", "containers": CONTAINERS},
        status={"phase": "Running", "startTime": "-12d", "conditions": [READY]},
    )


def node(name: str, **spec: Any) -> dict[str, Any]:
    status = {
        "allocatable": {"cpu": "64"},
        "conditions": [READY],
        "addresses": [{"type": "InternalIP", "address": "10.1.2.3"}],
    }
    return object_of("v1", "Node", name, "", spec=spec, status=status)


OBJECTS = [
    object_of("v1", "Namespace", "llm", "", metadata={"labels": {"team": "a"}}),
    node("node-a", unschedulable=True),
    node("node-b"),
    object_of(
        "apps/v1",
        "Deployment",
        "chat",
        metadata={"creationTimestamp": "-60d", "generation": 4},
        spec=SET,
        status={"observedGeneration": 4, "replicas": 1},
    ),
    object_of("apps/v1", "ReplicaSet", "chat-1", metadata={"creationTimestamp": "-5m"}, spec=SET),
    pod("chat-a", app="chat", tier="web"),
    pod("chat-b", app="chat", tier="gpu"),
    pod("other-c", app="other"),
    pod("chat-a", namespace="elsewhere", app="chat"),
    object_of("v1", "ConfigMap", "settings", data={"a": "1"}),
    object_of("v1", "Service", "chat", spec={"selector": {"app": "chat"}, "ports": [{"port": 80}]}),
    object_of(
        "v1",
        "Event",
        "chat-a.1",
        involvedObject={"kind": "Pod", "name": "chat-a", "namespace": "llm"},
        reason="Unhealthy",
        type="Warning",
        lastTimestamp="-3m",
        count=7,
    ),
    object_of(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "chat",
        spec={
            "maxReplicas": 3,
            "scaleTargetRef": {"kind": "Deployment", "name": "chat", "apiVersion": "apps/v1"},
        },
        status={"currentReplicas": 3, "desiredReplicas": 3},
    ),
    object_of(
        "policy/v1",
        "PodDisruptionBudget",
        "chat",
        spec={"minAvailable": 1, "selector": {"matchLabels": {"app": "chat"}}},
        status={"disruptionsAllowed": 0, "currentHealthy": 1},
    ),
    object_of("keda.sh/v1alpha1", "ScaledObject", "chat", spec={"free": {"form": [1]}}),
]


FORBIDDEN = frozenset({"secrets", "replicasets", "leases"})


LOGS = {"llm/chat-a/main": "1\n2\n3\n"}


def through_transport(api: ApiServer, request: Any, folder: Path, token: str = "") -> Any:
    path = folder / "token"
    path.write_text(token or api.token, encoding="utf-8")
    settings = Kubernetes.model_validate(
        {"server": api.server, "ca_file": str(api.ca_file), "token": {"file": str(path)}}
    )
    transport = KubernetesTransport(settings)
    turn = Turn(deadline=time.monotonic() + 10, as_of=datetime.now(UTC))
    try:
        return asyncio.run(transport.ask(request, turn))
    finally:
        transport.close()


def raw(
    api: ApiServer, path: str, token: str | None = None, method: str = "GET", body: str = ""
) -> tuple[int, str]:
    context = ssl.create_default_context(cafile=str(api.ca_file))
    address = urlsplit(api.server).netloc
    connection = http.client.HTTPSConnection(address, timeout=10, context=context)
    try:
        bearer = f"Bearer {api.token if token is None else token}"
        headers = {"Authorization": bearer, "Content-Type": "application/json"}
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def lacking(real: Any, standin: Any, where: str = "") -> list[str]:
    """What the stand-in says and the real one does not; the real one may say more."""
    if isinstance(standin, Mapping):
        assert isinstance(real, Mapping), where
        return [
            text
            for key, value in standin.items()
            if key != "resourceVersion"
            for text in (
                lacking(real[key], value, f"{where}.{key}") if key in real else [f"{where}.{key}"]
            )
        ]
    if isinstance(standin, list | tuple) and len(real) == len(standin):
        pairs = enumerate(zip(real, standin, strict=True))
        return [text for n, pair in pairs for text in lacking(*pair, f"{where}[{n}]")]
    return [] if real == standin else [f"{where}: {real!r} is not {standin!r}"]
