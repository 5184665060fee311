"""The stand-in API server answers, and refuses, as the real one does."""

import http.client
import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.lab.apiserver import StandIn
from tests.lab.cluster import Cluster, uid

RECORDED = Path(__file__).parents[1] / "recorded" / "k8s-status"
NOW = 1_796_000_000.0


def _pod(name: str, namespace: str = "llm", **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": labels,
            "ownerReferences": [{"kind": "ReplicaSet", "name": "chat-1"}],
        },
        "spec": {"nodeName": f"node-{name[-1]}", "containers": [{"name": "main"}]},
        "status": {"phase": "Running", "startTime": "-12d"},
    }


OBJECTS = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "llm"}},
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-a"}},
    {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "chat-1", "namespace": "llm", "creationTimestamp": "-5m"},
    },
    _pod("chat-a", app="chat", tier="web"),
    _pod("chat-b", app="chat", tier="gpu"),
    _pod("other-c", app="other"),
    _pod("chat-a", namespace="elsewhere", app="chat"),
    {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": "chat", "namespace": "llm"},
    },
]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    standin = StandIn(tmp_path_factory.mktemp("apiserver"))
    standin.load(
        Cluster(OBJECTS, NOW),
        frozenset({"secrets", "deployments"}),
        {"llm/chat-a/main": "1\n2\n3\n"},
        whole=True,
    )
    yield standin
    standin.stop()


def ask(
    api: StandIn, path: str, token: str | None = None, method: str = "GET"
) -> tuple[int, bytes]:
    context = ssl.create_default_context(cafile=str(api.ca_file))
    address = urlsplit(api.server).netloc
    connection = http.client.HTTPSConnection(address, timeout=5, context=context)
    try:
        bearer = f"Bearer {api.token if token is None else token}"
        connection.request(method, path, headers={"Authorization": bearer})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def names(api: StandIn, path: str) -> list[str]:
    code, body = ask(api, path)
    assert code == 200, body
    return [item["metadata"]["name"] for item in json.loads(body)["items"]]


def test_an_object_comes_with_what_the_server_adds(api: StandIn) -> None:
    code, body = ask(api, "/api/v1/namespaces/llm/pods/chat-a")
    pod = json.loads(body)
    assert code == 200
    assert pod["metadata"]["uid"] == uid("Pod", "llm", "chat-a")
    assert pod["status"]["startTime"] == pod["metadata"]["creationTimestamp"]
    assert pod["status"]["startTime"].endswith("Z")
    (owner,) = pod["metadata"]["ownerReferences"]
    assert owner["apiVersion"] == "apps/v1"
    assert owner["uid"] == uid("ReplicaSet", "llm", "chat-1")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["chat-a", "chat-b", "other-c"]),
        ("?labelSelector=app%3Dchat", ["chat-a", "chat-b"]),
        ("?labelSelector=app%3Dchat,tier%20in%20(gpu,tpu)", ["chat-b"]),
        ("?labelSelector=tier%20notin%20(gpu)", ["chat-a", "other-c"]),
        ("?labelSelector=!tier", ["other-c"]),
        ("?labelSelector=app!%3Dchat", ["other-c"]),
        ("?fieldSelector=spec.nodeName%3Dnode-b", ["chat-b"]),
        ("?fieldSelector=metadata.name%3Dother-c,status.phase%3DRunning", ["other-c"]),
        ("?resourceVersion=0&limit=1", ["chat-a", "chat-b", "other-c"]),
        ("?neverHeardOf=1", ["chat-a", "chat-b", "other-c"]),
    ],
)
def test_a_list_holds_what_the_selectors_select(
    api: StandIn, query: str, expected: list[str]
) -> None:
    assert names(api, "/api/v1/namespaces/llm/pods" + query) == expected


def test_a_limited_list_goes_on_where_it_stopped(api: StandIn) -> None:
    _, body = ask(api, "/api/v1/pods?limit=3")
    first = json.loads(body)
    assert len(first["items"]) == 3
    assert first["metadata"]["remainingItemCount"] == 1
    rest = names(api, "/api/v1/pods?limit=3&continue=" + first["metadata"]["continue"])
    assert rest == ["other-c"]


def test_a_namespace_that_does_not_exist_is_an_empty_list(api: StandIn) -> None:
    assert names(api, "/api/v1/namespaces/nowhere/pods") == []


@pytest.mark.parametrize(
    ("path", "code", "says"),
    [
        ("/api/v1/pods?fieldSelector=spec.color%3Dred", 400, "field label not supported"),
        ("/api/v1/pods?labelSelector=a%20b", 400, "unable to parse requirement"),
        ("/api/v1/pods?resourceVersion=new", 400, "invalid resource version"),
        ("/api/v1/pods?continue=xx", 400, "continue key is not valid"),
        ("/api/v1/namespaces/llm/frogs", 403, 'cannot list resource \\"frogs\\" in API group'),
        ("/api/v1/namespaces/llm/nodes/node-a", 404, "could not find the requested resource"),
        ("/apis/frogs.io/v1/frogs", 403, "frogs.frogs.io is forbidden"),
        ("/nothing", 403, 'cannot get path \\"/nothing\\"'),
        (
            "/apis/apps/v1/namespaces/llm/replicasets/gone",
            404,
            'replicasets.apps \\"gone\\" not found',
        ),
        ("/apis/apps/v1/deployments", 403, "at the cluster scope"),
        ("/api/v1/namespaces/llm/pods/chat-b/log", 500, "no preferred addresses found"),
        ("/api/v1/namespaces/llm/pods/chat-b/log?container=x", 400, "container name"),
    ],
)
def test_what_the_real_server_refuses_is_refused(
    api: StandIn, path: str, code: int, says: str
) -> None:
    seen, body = ask(api, path)
    assert (seen, says in body.decode()) == (code, True), body


def test_a_status_has_the_shape_of_a_recorded_one(api: StandIn) -> None:
    got = {
        "401-unauthorized": ask(api, "/api/v1/pods", token="wrong")[1],
        "403-forbidden": ask(api, "/api/v1/namespaces/default/pods/p1", method="DELETE")[1],
        "404-notfound": ask(api, "/api/v1/namespaces/llm/pods/nope")[1],
    }
    for name, body in got.items():
        recorded = (RECORDED / f"{name}.json").read_text(encoding="utf-8")
        assert body.decode().replace("tailhound-reader", "runbot").strip() == recorded.strip()


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_the_reading_token_changes_nothing(api: StandIn, method: str) -> None:
    code, body = ask(api, "/api/v1/namespaces/llm/pods/chat-a", method=method)
    assert (code, json.loads(body)["reason"]) == (403, "Forbidden")
    assert ask(api, "/api/v1/namespaces/llm/pods/chat-a")[0] == 200


def test_a_custom_resource_and_a_log_are_served(api: StandIn) -> None:
    assert names(api, "/apis/keda.sh/v1alpha1/namespaces/llm/scaledobjects") == ["chat"]
    code, body = ask(api, "/api/v1/namespaces/llm/pods/chat-a/log?tailLines=2")
    assert (code, body) == (200, b"2\n3\n")


def test_it_is_ready_only_for_who_has_a_token(api: StandIn) -> None:
    assert ask(api, "/readyz") == (200, b"ok")
    assert ask(api, "/readyz", token="")[0] == 401
