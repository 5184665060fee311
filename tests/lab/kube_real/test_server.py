"""A real API server as the lab runs scenarios on it."""

from pathlib import Path
from typing import Any

import pytest

from tailhound.model import Missing
from tailhound.requests import GetObject, ListObjects
from tests.lab import scenario, times
from tests.lab.apiserver import StandIn
from tests.lab.cluster import Cluster, uid
from tests.lab.kube.overload import overloaded
from tests.lab.kube.real import RealApiServer
from tests.lab.kube_real.kit import (
    FORBIDDEN,
    LOGS,
    NOW,
    OBJECTS,
    PODS,
    lacking,
    object_of,
    raw,
    through_transport,
)
from tests.lab.process import LabError, wait_until

pytestmark = pytest.mark.lab

SCENARIOS = Path(__file__).parents[2] / "scenarios"


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
    left = object_of("v1", "ConfigMap", "left", "default", data={"a": "1"})
    default = "/api/v1/namespaces/default"
    was = real.plane.asked("GET", default).body["metadata"]
    try:
        named = object_of("v1", "Namespace", "default", "", metadata={"labels": {"mine": "yes"}})
        real.load(Cluster([named, left], NOW), frozenset({"pods"}), {}, whole=True)
        real.plane.asked(
            "POST", f"{default}/configmaps", object_of("v1", "ConfigMap", "x", "default")
        )
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
    bare = object_of("v1", "Pod", "bare", spec={"containers": [{"name": "main"}]})
    typo = object_of("v1", "ConfigMap", "typo", datum={"a": "1"})
    try:
        real.load(Cluster([bare, typo], NOW), frozenset(), {})
        assert raw(real, "/api/v1/namespaces/llm/pods/bare")[0] == 200
        assert len(real.remarks) == 2
        assert any("spec.containers[0].image: Required value" in text for text in real.remarks)
        assert any('ConfigMap typo: 299 - "unknown field' in text for text in real.remarks)
        wrong = object_of("v1", "Pod", "wrong", spec={"containers": "main"})
        with pytest.raises(LabError, match="Pod wrong is no such object"):
            real.load(Cluster([wrong], NOW), frozenset(), {})
    finally:
        real.load(Cluster(OBJECTS, NOW), FORBIDDEN, LOGS, whole=True)
