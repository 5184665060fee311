"""The stand-in and a real API server: the same reads, the same answers."""

import asyncio
import http.client
import json
import ssl
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from tailhound.flow import Turn
from tailhound.model import Missing
from tailhound.requests import GetObject, ListObjects
from tailhound.settings import Kubernetes
from tailhound.transports.kubernetes import KubernetesTransport
from tailhound.transports.kubernetes_answers import Expired, refusal
from tests.lab import scenario, times
from tests.lab.apiserver import ApiServer, StandIn
from tests.lab.cluster import Cluster, uid
from tests.lab.conftest import Needs
from tests.lab.kube.overload import overloaded
from tests.lab.kube.real import RealApiServer
from tests.lab.process import LabError, wait_until

pytestmark = pytest.mark.lab

RECORDED = Path(__file__).parents[1] / "recorded" / "k8s-status"
SCENARIOS = Path(__file__).parents[1] / "scenarios"
NOW = float(int(time.time()))
CONTAINERS = [{"name": "main", "image": "registry.example/vllm:1"}]
TEMPLATE = {"metadata": {"labels": {"app": "chat"}}, "spec": {"containers": CONTAINERS}}
SET = {"replicas": 1, "selector": {"matchLabels": {"app": "chat"}}, "template": TEMPLATE}
READY = {"type": "Ready", "status": "True", "lastTransitionTime": "-2d"}


def _named(api: str, kind: str, name: str, namespace: str = "llm", **more: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    metadata |= more.pop("metadata", {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **more}


def _pod(name: str, namespace: str = "llm", **labels: str) -> dict[str, Any]:
    owner = {"kind": "ReplicaSet", "name": "chat-1"}
    return _named(
        "v1",
        "Pod",
        name,
        namespace,
        metadata={"labels": labels, "ownerReferences": [owner]},
        spec={"nodeName": f"node-{name[-1]}", "containers": CONTAINERS},
        status={"phase": "Running", "startTime": "-12d", "conditions": [READY]},
    )


def _node(name: str, **spec: Any) -> dict[str, Any]:
    status = {
        "allocatable": {"cpu": "64"},
        "conditions": [READY],
        "addresses": [{"type": "InternalIP", "address": "10.1.2.3"}],
    }
    return _named("v1", "Node", name, "", spec=spec, status=status)


OBJECTS = [
    _named("v1", "Namespace", "llm", "", metadata={"labels": {"team": "a"}}),
    _node("node-a", unschedulable=True),
    _node("node-b"),
    _named(
        "apps/v1",
        "Deployment",
        "chat",
        metadata={"creationTimestamp": "-60d", "generation": 4},
        spec=SET,
        status={"observedGeneration": 4, "replicas": 1},
    ),
    _named("apps/v1", "ReplicaSet", "chat-1", metadata={"creationTimestamp": "-5m"}, spec=SET),
    _pod("chat-a", app="chat", tier="web"),
    _pod("chat-b", app="chat", tier="gpu"),
    _pod("other-c", app="other"),
    _pod("chat-a", namespace="elsewhere", app="chat"),
    _named("v1", "ConfigMap", "settings", data={"a": "1"}),
    _named("v1", "Service", "chat", spec={"selector": {"app": "chat"}, "ports": [{"port": 80}]}),
    _named(
        "v1",
        "Event",
        "chat-a.1",
        involvedObject={"kind": "Pod", "name": "chat-a", "namespace": "llm"},
        reason="Unhealthy",
        type="Warning",
        lastTimestamp="-3m",
        count=7,
    ),
    _named(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "chat",
        spec={
            "maxReplicas": 3,
            "scaleTargetRef": {"kind": "Deployment", "name": "chat", "apiVersion": "apps/v1"},
        },
        status={"currentReplicas": 3, "desiredReplicas": 3},
    ),
    _named(
        "policy/v1",
        "PodDisruptionBudget",
        "chat",
        spec={"minAvailable": 1, "selector": {"matchLabels": {"app": "chat"}}},
        status={"disruptionsAllowed": 0, "currentHealthy": 1},
    ),
    _named("keda.sh/v1alpha1", "ScaledObject", "chat", spec={"free": {"form": [1]}}),
]
FORBIDDEN = frozenset({"secrets", "replicasets", "leases"})
LOGS = {"llm/chat-a/main": "1\n2\n3\n"}


@pytest.fixture(scope="module")
def real(apiserver: ApiServer, needs: Needs) -> RealApiServer:
    needs("etcd", "kube-apiserver")
    assert isinstance(apiserver, RealApiServer)
    apiserver.load(Cluster(OBJECTS, NOW), FORBIDDEN, LOGS, whole=True)
    assert apiserver.remarks == ()
    return apiserver


@pytest.fixture(scope="module")
def standin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    started = StandIn(tmp_path_factory.mktemp("standin"))
    started.load(Cluster(OBJECTS, NOW), FORBIDDEN, LOGS, whole=True)
    yield started
    started.stop()


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


PODS: dict[str, Any] = {"api": "v1", "resource": "pods", "namespace": "llm"}


@pytest.mark.parametrize(
    "request_",
    [
        GetObject(**PODS, name="chat-a"),
        GetObject(**PODS, name="chat-a", exact=True),
        GetObject(api="v1", resource="nodes", name="node-a"),
        GetObject(api="v1", resource="namespaces", name="llm"),
        GetObject(api="apps/v1", resource="deployments", namespace="llm", name="chat"),
        GetObject(api="v1", resource="configmaps", namespace="llm", name="settings", exact=True),
        GetObject(api="keda.sh/v1alpha1", resource="scaledobjects", namespace="llm", name="chat"),
        ListObjects(**PODS),
        ListObjects(**PODS, label_selector="app=chat"),
        ListObjects(**PODS, label_selector="app=chat,tier in (gpu,tpu)"),
        ListObjects(**PODS, label_selector="tier notin (gpu)"),
        ListObjects(**PODS, label_selector="!tier"),
        ListObjects(**PODS, label_selector="app!=chat"),
        ListObjects(**PODS, field_selector="spec.nodeName=node-b"),
        ListObjects(**PODS, field_selector="metadata.name=other-c,status.phase=Running"),
        ListObjects(api="v1", resource="pods", field_selector="spec.nodeName=node-a"),
        ListObjects(api="v1", resource="pods"),
        ListObjects(api="v1", resource="pods", label_selector="app=chat"),
        ListObjects(api="v1", resource="nodes"),
        ListObjects(api="v1", resource="nodes", field_selector="spec.unschedulable=true"),
        ListObjects(api="v1", resource="services", namespace="llm"),
        ListObjects(api="v1", resource="events", namespace="llm"),
        ListObjects(
            api="v1",
            resource="events",
            namespace="llm",
            field_selector="involvedObject.kind=Pod,involvedObject.name=chat-a,type!=Normal",
        ),
        ListObjects(api="v1", resource="pods", namespace="nowhere"),
        ListObjects(api="autoscaling/v2", resource="horizontalpodautoscalers", namespace="llm"),
        ListObjects(api="policy/v1", resource="poddisruptionbudgets", namespace="llm"),
        ListObjects(api="keda.sh/v1alpha1", resource="scaledobjects", namespace="llm"),
    ],
    ids=lambda request: request.shown,
)
def test_a_read_brings_what_the_stand_in_brings(
    request_: Any, real: RealApiServer, standin: StandIn, tmp_path: Path
) -> None:
    seen, expected = (through_transport(api, request_, tmp_path) for api in (real, standin))
    assert not isinstance(seen, Missing), seen
    assert lacking(seen, expected) == []


@pytest.mark.parametrize(
    "request_",
    [
        GetObject(**PODS, name="gone"),
        GetObject(api="apps/v1", resource="deployments", namespace="llm", name="gone", exact=True),
        GetObject(api="apps/v1", resource="replicasets", namespace="llm", name="chat-1"),
        GetObject(api="v1", resource="secrets", namespace="llm", name="any"),
        ListObjects(api="v1", resource="secrets", namespace="llm"),
        ListObjects(api="apps/v1", resource="replicasets"),
        ListObjects(api="coordination.k8s.io/v1", resource="leases", namespace="llm"),
        ListObjects(**PODS, field_selector="spec.color=red"),
    ],
    ids=lambda request: request.shown,
)
def test_a_read_without_an_answer_has_the_reason_that_the_stand_in_gives(
    request_: Any, real: RealApiServer, standin: StandIn, tmp_path: Path
) -> None:
    seen, expected = (through_transport(api, request_, tmp_path) for api in (real, standin))
    assert isinstance(seen, Missing)
    assert isinstance(expected, Missing)
    assert seen == expected


def test_an_unknown_token_is_told_as_the_stand_in_tells_it(
    real: RealApiServer, standin: StandIn, tmp_path: Path
) -> None:
    request = ListObjects(**PODS)
    seen, expected = (
        through_transport(api, request, tmp_path, token="wrong") for api in (real, standin)
    )
    assert isinstance(seen, Missing)
    assert seen == expected


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/namespaces/llm/pods/gone"),
        ("GET", "/api/v1/namespaces/llm/secrets"),
        ("GET", "/apis/apps/v1/replicasets"),
        ("GET", "/apis/apps/v1/namespaces/llm/replicasets/chat-1"),
        ("GET", "/apis/apps/v1/namespaces/llm/frogs"),
        ("GET", "/api/v1/pods?fieldSelector=spec.color%3Dred"),
        ("GET", "/api/v1/pods?resourceVersion=new"),
        ("GET", "/nothing"),
        ("POST", "/nothing"),
        ("DELETE", "/api/v1/namespaces/llm/pods/chat-a"),
        ("PATCH", "/api/v1/namespaces/llm/pods/chat-a"),
        ("PUT", "/api/v1/namespaces/llm/pods/chat-a"),
        ("POST", "/api/v1/namespaces/llm/pods"),
        ("GET", "/readyz"),
    ],
)
def test_a_refusal_has_the_body_that_the_stand_in_gives(
    method: str, path: str, real: RealApiServer, standin: StandIn
) -> None:
    seen, expected = (raw(api, path, method=method) for api in (real, standin))
    assert seen == expected


@pytest.mark.parametrize("query", ["labelSelector=a%20b", "continue=xx"])
def test_a_query_that_nobody_can_read_is_refused_by_both(
    query: str, real: RealApiServer, standin: StandIn
) -> None:
    for api in (real, standin):
        code, body = raw(api, f"/api/v1/pods?{query}")
        assert (code, json.loads(body)["reason"]) == (400, "BadRequest")


@pytest.mark.parametrize("token", ["", "wrong"])
def test_nobody_unknown_learns_anything(token: str, real: RealApiServer, standin: StandIn) -> None:
    for path in ("/api/v1/pods", "/readyz", "/nothing"):
        seen, expected = (raw(api, path, token=token) for api in (real, standin))
        assert seen == expected


def test_a_limited_list_goes_on_where_it_stopped(real: RealApiServer, standin: StandIn) -> None:
    for api in (real, standin):
        first = json.loads(raw(api, "/api/v1/pods?limit=3")[1])
        names = [item["metadata"]["name"] for item in first["items"]]
        assert names == ["chat-a", "chat-a", "chat-b"]
        assert first["metadata"]["remainingItemCount"] == 1
        token = quote(first["metadata"]["continue"], safe="")
        rest = json.loads(raw(api, f"/api/v1/pods?limit=3&continue={token}")[1])
        assert [item["metadata"]["name"] for item in rest["items"]] == ["other-c"]
        assert "continue" not in rest["metadata"]


def test_a_list_from_the_cache_ignores_the_limit(real: RealApiServer, standin: StandIn) -> None:
    for api in (real, standin):
        whole = json.loads(raw(api, "/api/v1/pods?resourceVersion=0&limit=1")[1])
        assert len(whole["items"]) == 4


def test_a_list_whose_past_was_compacted_away_has_expired(real: RealApiServer) -> None:
    path = "/api/v1/namespaces/llm/events?limit=1"  # events have no cache that would remember
    event = _named("v1", "Event", "chat-a.2", involvedObject={"kind": "Pod", "namespace": "llm"})
    real.plane.asked("POST", "/api/v1/namespaces/llm/events", event)
    first = json.loads(raw(real, path)[1])
    real.plane.asked("DELETE", "/api/v1/namespaces/llm/events/chat-a.2")
    real.compact()
    token = quote(first["metadata"]["continue"], safe="")
    code, body = raw(real, f"{path}&continue={token}")
    recorded = json.loads((RECORDED / "410-expired-list.json").read_text(encoding="utf-8"))
    found = json.loads(body)
    assert (code, found["reason"], set(found)) == (410, recorded["reason"], set(recorded))
    request = ListObjects(api="v1", resource="events")
    assert isinstance(refusal(code, {}, body.encode(), request), Expired)


@pytest.mark.parametrize(
    "query", ["", "?tailLines=2", "?container=main", "?container=x", "?tailLines=0"]
)
def test_a_log_comes_through_the_kubelet(query: str, real: RealApiServer, standin: StandIn) -> None:
    path = "/api/v1/namespaces/llm/pods/chat-a/log" + query
    seen, expected = (raw(api, path) for api in (real, standin))
    assert seen[0] == expected[0]
    assert seen[0] != 200 or seen[1] == expected[1]


def test_an_object_has_the_scenario_s_identity_and_the_server_s_defaults(
    real: RealApiServer,
) -> None:
    pod = real.plane.asked("GET", "/api/v1/namespaces/llm/pods/chat-a").body
    metadata = pod["metadata"]
    assert metadata["uid"] == uid("Pod", "llm", "chat-a")
    assert metadata["creationTimestamp"] == times.rfc3339(NOW - 12 * 86400)
    assert metadata["ownerReferences"][0]["uid"] == uid("ReplicaSet", "llm", "chat-1")
    assert {entry["time"] for entry in metadata["managedFields"]} == {metadata["creationTimestamp"]}
    assert pod["status"]["qosClass"] == "BestEffort"
    assert pod["spec"]["terminationGracePeriodSeconds"] == 30
    path = "/apis/apps/v1/namespaces/llm/deployments/chat"
    deployment = real.plane.asked("GET", path).body
    assert deployment["metadata"]["generation"] == 4
    assert deployment["metadata"]["creationTimestamp"] == times.rfc3339(NOW - 60 * 86400)
    implied = real.plane.asked("GET", "/api/v1/namespaces/elsewhere").body
    assert implied["status"] == {"phase": "Active"}


@pytest.mark.parametrize(
    ("group", "resource"),
    [
        ("/api/v1", "pods/resize"),
        ("/api/v1", "pods/eviction"),
        ("/apis/policy/v1", "poddisruptionbudgets"),
        ("/apis/flowcontrol.apiserver.k8s.io/v1", "flowschemas"),
        ("/apis/flowcontrol.apiserver.k8s.io/v1", "prioritylevelconfigurations"),
    ],
)
def test_the_server_has_what_is_needed_since_1_34(
    group: str, resource: str, real: RealApiServer
) -> None:
    found = real.plane.asked("GET", group).body["resources"]
    assert resource in {one["name"] for one in found}
    version = real.plane.asked("GET", "/version").body
    assert (int(version["major"]), int(version["minor"])) >= (1, 34)


def test_a_server_begins_each_scenario_anew(real: RealApiServer) -> None:
    left = _named("v1", "ConfigMap", "left", "default", data={"a": "1"})
    default = "/api/v1/namespaces/default"
    was = real.plane.asked("GET", default).body["metadata"]
    try:
        named = _named("v1", "Namespace", "default", "", metadata={"labels": {"mine": "yes"}})
        real.load(Cluster([named, left], NOW), frozenset({"pods"}), {}, whole=True)
        real.plane.asked("POST", f"{default}/configmaps", _named("v1", "ConfigMap", "x", "default"))
        assert real.plane.asked("GET", default).body["metadata"]["labels"]["mine"] == "yes"
        assert real.plane.ask("GET", "/api/v1/namespaces/llm").code == 404
        custom = real.plane.ask("GET", "/apis/keda.sh/v1alpha1/scaledobjects")
        assert custom.code == 404
        assert raw(real, "/api/v1/pods")[0] == 403
        real.load(Cluster([], NOW), frozenset(), {})
        back = real.plane.asked("GET", default).body["metadata"]
        assert (back["uid"], back["labels"]) == (was["uid"], was["labels"])
        assert real.plane.asked("GET", f"{default}/configmaps").body["items"] == []
        assert raw(real, "/api/v1/pods")[0] == 200
    finally:
        real.load(Cluster(OBJECTS, NOW), FORBIDDEN, LOGS, whole=True)


def test_an_overloaded_server_rejects_our_reads_and_asks_to_wait(
    real: RealApiServer, tmp_path: Path
) -> None:
    told: list[str] = []

    def is_rejected() -> bool:
        seen = through_transport(real, ListObjects(**PODS), tmp_path)
        if isinstance(seen, Missing):
            told.append(f"{seen.reason.value}: {seen.detail}")
        return bool(told)

    with overloaded(real.plane):
        wait_until(is_rejected, "a read to be rejected")  # the one seat is free now and then
    assert told[0].startswith("skipped: the API server asked to wait 1 s (too many requests")
    assert not isinstance(through_transport(real, ListObjects(**PODS), tmp_path), Missing)


def test_the_shipped_role_is_what_a_scenario_is_read_with(
    real: RealApiServer, standin: StandIn, tmp_path: Path
) -> None:
    apps: dict[str, Any] = {"api": "apps/v1", "namespace": "llm"}
    pool = "inference.networking.k8s.io/v1"
    questions: list[Any] = [
        ListObjects(**PODS),
        GetObject(**apps, resource="replicasets", name="chat-1"),
        GetObject(**apps, resource="deployments", name="chat"),
        GetObject(api=pool, resource="inferencepools", namespace="llm", name="chat"),
        ListObjects(api="frogs.io/v1", resource="frogs", namespace="llm"),
        GetObject(api="v1", resource="secrets", namespace="llm", name="any"),
    ]
    try:
        for api in (real, standin):
            api.load(Cluster(OBJECTS, NOW), frozenset({"deployments"}), {})
        pods, owner, *refused = [
            (through_transport(real, one, tmp_path), through_transport(standin, one, tmp_path))
            for one in questions
        ]
    finally:
        for api in (real, standin):
            api.load(Cluster(OBJECTS, NOW), FORBIDDEN, LOGS, whole=True)
    assert [lacking(*pair) for pair in (pods, owner)] == [[], []]
    assert len(pods[0]) == 3
    assert [seen for seen, _ in refused] == [expected for _, expected in refused]
    reasons = [seen.reason.value for seen, _ in refused]
    assert reasons == ["forbidden", "not-applicable", "forbidden", "forbidden"]


def test_every_object_of_the_scenarios_is_one_that_the_server_takes(real: RealApiServer) -> None:
    refused: dict[str, tuple[str, ...]] = {}
    try:
        for path in sorted(SCENARIOS.glob("*/scenario.yaml")):
            spec = scenario.load(path).kubernetes
            if spec:
                real.load(Cluster(spec.objects, NOW), frozenset(spec.forbidden), {})
                refused[path.parent.name] = tuple(real.remarks)
    finally:
        real.load(Cluster(OBJECTS, NOW), FORBIDDEN, LOGS, whole=True)
    assert len(refused) >= 20
    assert {name: said for name, said in refused.items() if said} == {}


def test_what_the_server_would_refuse_is_served_and_said(real: RealApiServer) -> None:
    bare = _named("v1", "Pod", "bare", spec={"containers": [{"name": "main"}]})
    typo = _named("v1", "ConfigMap", "typo", datum={"a": "1"})
    try:
        real.load(Cluster([bare, typo], NOW), frozenset(), {})
        assert raw(real, "/api/v1/namespaces/llm/pods/bare")[0] == 200
        assert len(real.remarks) == 2
        assert any("spec.containers[0].image: Required value" in text for text in real.remarks)
        assert any('ConfigMap typo: 299 - "unknown field' in text for text in real.remarks)
        wrong = _named("v1", "Pod", "wrong", spec={"containers": "main"})
        with pytest.raises(LabError, match="Pod wrong is no such object"):
            real.load(Cluster([wrong], NOW), frozenset(), {})
    finally:
        real.load(Cluster(OBJECTS, NOW), FORBIDDEN, LOGS, whole=True)
