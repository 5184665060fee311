"""The stand-in and a real API server: the same reads, the same answers."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tailhound.model import Missing
from tailhound.requests import GetObject, ListObjects
from tailhound.transports.kubernetes_answers import Expired, refusal
from tests.lab.apiserver import StandIn
from tests.lab.kube.real import RealApiServer
from tests.lab.kube_real.kit import PODS, lacking, object_of, raw, through_transport

pytestmark = pytest.mark.lab

RECORDED = Path(__file__).parents[2] / "recorded" / "k8s-status"


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
    assert lacking(without_its_own(seen), expected) == []


def without_its_own(seen: Any) -> Any:
    """Without the events that the real server writes of itself, some minutes after its start."""
    if not isinstance(seen, tuple):
        return seen
    by = "ipallocator-repair-controller"
    return tuple(one for one in seen if one.get("reportingComponent") != by)


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
    event = object_of("v1", "Event", "chat-a.2", involvedObject={"kind": "Pod", "namespace": "llm"})
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
