"""What changed around a workload, by the objects' own times."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.flow import Read
from tailhound.requests import GetObject, ListObjects, Query
from tailhound_collectors.node_changes import node_changes
from tailhound_collectors.recent_changes import (
    ChangesParams,
    RecentChanges,
    RecentChangesCollector,
)
from tailhound_collectors.workload_changes import ChangeRow, configmaps_of, of_configmap
from tests.driving import EMPTY, TIMEOUT, drive, vector

PARAMS = ChangesParams(
    namespace="prod",
    workload="chat",
    workload_kind="deployment",
    selector="app=chat",
    pods=("chat-b-1",),
    nodes=("gpu-1",),
)


def at(minute: int, second: int = 0) -> str:
    return f"2026-09-01T10:{minute:02d}:{second:02d}Z"


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def owned(by: str) -> list[dict[str, str]]:
    return [{"kind": "ReplicaSet", "name": by}]


def touched(when: str, by: str, fields: Mapping[str, Any], part: str = "") -> dict[str, Any]:
    return {"manager": by, "time": when, "fieldsV1": fields, "subresource": part}


SPEC: dict[str, Any] = {"f:spec": {}}


def deployment(*managed: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "kind": "Deployment",
        "metadata": {
            "name": "chat",
            "creationTimestamp": at(0),
            "managedFields": list(managed),
        },
        "spec": spec,
    }


def replica_set(
    name: str, revision: int, created: str, image: str = "vllm:v1", owner: str = "chat"
) -> dict[str, Any]:
    return {
        "metadata": {
            "name": name,
            "creationTimestamp": created,
            "annotations": {"deployment.kubernetes.io/revision": str(revision)},
            "ownerReferences": [{"kind": "Deployment", "name": owner}],
        },
        "spec": {"template": {"spec": {"containers": [{"name": "vllm", "image": image}]}}},
    }


def pod(name: str, owner: str, created: str, **more: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "name": name,
            "creationTimestamp": created,
            "ownerReferences": owned(owner),
            "labels": more.pop("labels", {}),
        },
        "spec": more,
    }


def node(name: str, *, joined: str = at(0), **more: Any) -> dict[str, Any]:
    metadata = {"name": name, "creationTimestamp": joined, **more.pop("metadata", {})}
    return {"metadata": metadata, **more}


def collected(
    objects: Mapping[str, Any], params: ChangesParams = PARAMS, past: Any = EMPTY
) -> RecentChanges:
    """Lists by the name of the resource, single objects by resource/name, or by the resource."""

    def answer(request: Read[Any]) -> Any:
        if isinstance(request, Query):
            return past
        assert isinstance(request, GetObject | ListObjects)
        if isinstance(request, GetObject):
            one = objects.get(f"{request.resource}/{request.name}")
            return objects.get(request.resource, EMPTY) if one is None else one
        assert request.bounded
        return objects.get(request.resource, ())

    return drive(RecentChangesCollector().collect(params), answer)


def told(found: RecentChanges) -> list[tuple[str, str, str | None]]:
    return [(row.kind, row.what, row.by) for row in found.changes or ()]


# rollouts


def test_a_rollout_is_told_with_what_differs_and_who_did_it() -> None:
    found = collected(
        {
            "deployments": deployment(
                touched(at(30), "argocd-controller", SPEC),
                touched(at(31), "kube-controller-manager", SPEC),
            ),
            "replicasets": (
                replica_set("chat-b", 8, at(30, 1), "vllm:v2"),
                replica_set("chat-a", 7, at(2)),
            ),
        }
    )
    assert found.changes == (
        ChangeRow(
            at=seconds(at(30, 1)),
            kind="rollout",
            what="rollout of Deployment chat: image of vllm: v1 -> v2",
            by="argocd-controller",
        ),
    )


def test_a_rollback_is_told_at_the_time_of_its_pods() -> None:
    found = collected(
        {
            "deployments": deployment(),
            "replicasets": (
                replica_set("chat-b", 8, at(20), "vllm:v2"),
                replica_set("chat-a", 9, at(2)),
            ),
            "pods": (pod("chat-a-2", "chat-a", at(41)), pod("chat-a-1", "chat-a", at(40))),
        }
    )
    assert found.changes == (
        ChangeRow(
            at=seconds(at(40)),
            kind="rollout",
            what="rollback of Deployment chat: image of vllm: v2 -> v1",
        ),
    )


def test_replica_sets_and_pods_of_another_workload_behind_the_service_are_not_looked_at() -> None:
    found = collected(
        {
            "deployments": deployment(),
            "replicasets": (
                replica_set("chat-a", 7, at(2)),
                replica_set("canary-a", 8, at(30), owner="chat-canary"),
            ),
        }
    )
    assert found.changes == ()


def test_pods_of_two_revisions_of_a_statefulset_are_a_rollout() -> None:
    old = {"controller-revision-hash": "llm-1"}
    new = {"controller-revision-hash": "llm-2"}
    containers = {"containers": [{"name": "vllm", "args": ["--max-num-seqs=128"]}]}
    fewer = {"containers": [{"name": "vllm", "args": ["--max-num-seqs=64"]}]}
    stateful = {**deployment(), "kind": "StatefulSet"}
    found = collected(
        {
            "statefulsets": stateful,
            "pods": (
                pod("llm-1", "chat", at(30), labels=new, **fewer),
                pod("llm-0", "chat", at(2), labels=old, **containers),
            ),
        },
        ChangesParams(
            namespace="prod", workload="chat", workload_kind="statefulset", selector="app=chat"
        ),
    )
    assert told(found) == [
        (
            "rollout",
            "rollout of StatefulSet chat: args of vllm: now --max-num-seqs=64 "
            "(was --max-num-seqs=128)",
            None,
        )
    ]


def test_pods_of_one_revision_are_no_rollout_however_young() -> None:
    mark = {"controller-revision-hash": "llm-1"}
    pods = (pod("llm-0", "chat", at(2), labels=mark), pod("llm-1", "chat", at(40), labels=mark))
    assert collected({"deployments": deployment(), "pods": pods}).changes == ()


# edits and scaling


def test_an_edit_is_told_and_what_controllers_write_is_not() -> None:
    found = collected(
        {
            "deployments": deployment(
                touched(at(30), "kubectl-edit", SPEC),
                touched(at(31), "kube-controller-manager", SPEC),
                touched(at(32), "kubectl-edit", SPEC, "status"),
                touched(at(33), "annotator", {"f:metadata": {}}),
                touched(at(0, 30), "kubectl-create", SPEC),
            )
        }
    )
    assert told(found) == [("workload", "Deployment chat changed", "kubectl-edit")]


def test_scaling_by_hand_and_by_the_hpa_are_told_apart() -> None:
    by_hand = deployment(touched(at(30), "kubectl", SPEC, "scale"), replicas=2)
    scaling = "Deployment chat scaled, 2 replicas now"
    assert told(collected({"deployments": by_hand})) == [("scaling", scaling, "kubectl")]
    by_hpa = deployment(touched(at(30), "kube-controller-manager", SPEC, "scale"), replicas=2)
    assert told(collected({"deployments": by_hpa})) == [("scaling", scaling, None)]


def rescaled(name: str, **more: Any) -> dict[str, Any]:
    return {
        "involvedObject": {"kind": "HorizontalPodAutoscaler", "name": name},
        "message": "New size: 4; reason: cpu above target",
        **more,
    }


def hpa(name: str, target: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"scaleTargetRef": {"name": target}}}


BY_HPA = deployment(touched(at(30), "kube-controller-manager", SPEC, "scale"), replicas=4)


def test_what_the_hpa_of_this_workload_did_is_told_and_no_other() -> None:
    found = collected(
        {
            "deployments": BY_HPA,
            "events": (
                rescaled("chat-hpa", lastTimestamp=None, eventTime=at(30)),
                rescaled("other", lastTimestamp=at(31)),
            ),
            "horizontalpodautoscalers/chat-hpa": hpa("chat-hpa", "chat"),
            "horizontalpodautoscalers/other": hpa("other", "elsewhere"),
        }
    )
    assert told(found) == [("scaling", "HPA chat-hpa: New size: 4; reason: cpu above target", None)]


def test_an_hpa_that_may_not_be_read_is_known_by_its_name() -> None:
    found = collected(
        {
            "deployments": BY_HPA,
            "events": (
                rescaled("keda-hpa-chat", series={"lastObservedTime": at(30)}),
                rescaled("other", lastTimestamp=at(31)),
                rescaled("chat"),
            ),
        }
    )
    assert told(found) == [
        ("scaling", "HPA keda-hpa-chat: New size: 4; reason: cpu above target", None)
    ]


def test_events_are_asked_for_only_where_a_controller_scaled() -> None:
    asked: list[str] = []

    def answering(workload: dict[str, Any]) -> Any:
        def answer(request: Read[Any]) -> Any:
            asked.append(request.shown)
            is_it = isinstance(request, GetObject) and request.resource == "deployments"
            return workload if is_it else EMPTY

        return answer

    drive(RecentChangesCollector().collect(PARAMS), answering(deployment()))
    by_hand = deployment(touched(at(30), "kubectl", SPEC, "scale"))
    drive(RecentChangesCollector().collect(PARAMS), answering(by_hand))
    assert not [one for one in asked if "/events" in one]
    drive(RecentChangesCollector().collect(PARAMS), answering(BY_HPA))
    assert len([one for one in asked if "/events" in one]) == 1


# ConfigMaps


def test_a_configmap_that_the_pods_use_is_told_with_its_keys() -> None:
    volume = {"name": "v", "configMap": {"name": "settings"}}
    found = collected(
        {
            "deployments": deployment(template={"spec": {"volumes": [volume]}}),
            "configmaps/settings": {
                "metadata": {
                    "name": "settings",
                    "creationTimestamp": at(0),
                    "managedFields": [
                        touched(at(30), "kubectl-edit", {"f:data": {".": {}, "f:model.yaml": {}}})
                    ],
                }
            },
        }
    )
    assert told(found) == [
        ("configmap", "ConfigMap settings created", None),
        ("configmap", "ConfigMap settings changed: model.yaml", "kubectl-edit"),
    ]


def test_configmaps_are_found_in_volumes_projections_and_the_environment() -> None:
    spec = {
        "volumes": [
            {"configMap": {"name": "a"}},
            {"projected": {"sources": [{"configMap": {"name": "kube-root-ca.crt"}}]}},
            {"projected": {"sources": [{"configMap": {"name": "b"}}]}},
        ],
        "containers": [
            {
                "envFrom": [{"configMapRef": {"name": "c"}}],
                "env": [{"valueFrom": {"configMapKeyRef": {"name": "d"}}}, {"value": "x"}],
            }
        ],
    }
    assert configmaps_of({"spec": {"template": {"spec": spec}}}, ()) == ["a", "b", "c", "d"]
    assert configmaps_of({}, ({"spec": spec},)) == ["a", "b", "c", "d"]


def test_at_most_three_configmaps_and_four_nodes_are_asked() -> None:
    volumes = [{"configMap": {"name": f"map-{number}"}} for number in range(9)]
    asked: list[str] = []

    def answer(request: Read[Any]) -> Any:
        asked.append(request.shown)
        if isinstance(request, Query):
            return vector(*(({"node": f"gone-{number}"}, 1.0) for number in range(9)))
        if isinstance(request, GetObject) and request.resource == "deployments":
            return deployment(template={"spec": {"volumes": volumes}})
        return EMPTY

    params = ChangesParams(
        namespace="prod",
        workload="chat",
        workload_kind="deployment",
        nodes=tuple(f"gpu-{number}" for number in range(9)),
    )
    drive(RecentChangesCollector().collect(params), answer)
    assert sum("/configmaps/" in one for one in asked) == 3
    nodes = [one.rpartition("/")[2].partition("?")[0] for one in asked if "/nodes/" in one]
    assert nodes == ["gone-0", "gone-1", "gpu-0", "gpu-1"]


# nodes


def condition(kind: str, status: str, when: str, reason: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "lastTransitionTime": when, "reason": reason}


def of_node(found: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    return [(row.what, row.by) for row in node_changes(found)]


@pytest.mark.parametrize(
    ("found", "what"),
    [
        (
            condition("Ready", "Unknown", at(30), "NodeStatusUnknown"),
            "node gpu-1 is not Ready (NodeStatusUnknown)",
        ),
        (condition("Ready", "False", at(30)), "node gpu-1 is not Ready"),
        (condition("Ready", "True", at(30), "KubeletReady"), "node gpu-1 is Ready again"),
        (condition("DiskPressure", "True", at(30)), "node gpu-1 reports DiskPressure"),
    ],
)
def test_a_condition_that_changed_is_told(found: dict[str, str], what: str) -> None:
    status = {"conditions": [found]}
    assert of_node(node("gpu-1", status=status)) == [("node gpu-1 joined", None), (what, None)]


@pytest.mark.parametrize(
    "found",
    [
        condition("Ready", "True", at(1)),
        condition("DiskPressure", "False", at(30)),
        condition("DiskPressure", "True", "yesterday"),
    ],
)
def test_a_condition_that_settled_at_the_start_or_says_no_trouble_is_no_change(
    found: dict[str, str],
) -> None:
    assert of_node(node("gpu-1", status={"conditions": [found]})) == [("node gpu-1 joined", None)]


def test_a_cordon_is_told_with_who_did_it() -> None:
    spec = {
        "unschedulable": True,
        "taints": [{"key": "node.kubernetes.io/unschedulable", "timeAdded": at(30)}],
    }
    managed = [touched(at(29), "kubectl-drain", {"f:spec": {"f:unschedulable": {}}})]
    found = node("gpu-1", spec=spec, metadata={"managedFields": managed})
    assert of_node(found)[1:] == [("node gpu-1 was cordoned", "kubectl-drain")]
    assert node_changes(found)[1].at == seconds(at(30))
    without_taint = node("gpu-1", spec={"unschedulable": True}, metadata={"managedFields": managed})
    assert node_changes(without_taint)[1].at == seconds(at(29))


def test_a_cordon_whose_time_nobody_tells_is_told_without_one() -> None:
    found = node("gpu-1", spec={"unschedulable": True})
    assert of_node(found)[1:] == [("node gpu-1 is cordoned", None)]
    assert node_changes(found)[1].at is None


def test_a_taint_of_the_cloud_is_told_and_kubernetes_own_are_not() -> None:
    taints = [
        {"key": "node.kubernetes.io/not-ready", "timeAdded": at(30)},
        {"key": "spot.example/termination", "timeAdded": at(31)},
        {"key": "dedicated"},
    ]
    found = of_node(node("gpu-1", spec={"taints": taints}))
    assert found[1:] == [("node gpu-1 was tainted spot.example/termination", None)]


def test_a_node_that_the_pods_have_left_is_looked_at_too() -> None:
    drained = node("gpu-9", spec={"unschedulable": True, "taints": [
        {"key": "node.kubernetes.io/unschedulable", "timeAdded": at(30)}]})  # fmt: skip
    found = collected(
        {"deployments": deployment(), "nodes/gpu-9": drained},
        past=vector(({"node": "gpu-9"}, 1.0), ({"node": "gpu-1"}, 1.0)),
    )
    assert ("node", "node gpu-9 was cordoned", None) in told(found)


# what is not known


def test_a_server_that_does_not_answer_leaves_it_unknown_and_no_answer_is_no_change() -> None:
    silent = dict.fromkeys(
        ["deployments", "replicasets", "pods", "events", "nodes", "configmaps"], TIMEOUT
    )
    assert collected(silent).changes is None
    assert collected({}).changes == ()
    assert collected({**silent, "nodes": node("gpu-1")}).changes is not None


def test_nothing_is_asked_about_what_nobody_knows() -> None:
    asked: list[str] = []

    def answer(request: Read[Any]) -> Any:
        asked.append(request.shown)
        return EMPTY

    found = drive(RecentChangesCollector().collect(ChangesParams()), answer)
    assert (found.changes, asked) == (None, [])
    odd = ChangesParams(namespace="Bad Name", workload="../x", workload_kind="deployment")
    drive(RecentChangesCollector().collect(odd), answer)
    assert all("kube_pod_info" in one for one in asked)


def test_a_node_incident_without_a_namespace_asks_for_the_node() -> None:
    found = collected({"nodes": node("gpu-1")}, ChangesParams(nodes=("gpu-1",)))
    assert told(found) == [("node", "node gpu-1 joined", None)]


def test_the_newest_changes_are_kept_in_the_order_of_time() -> None:
    many = tuple(replica_set(f"chat-{n}", n + 1, at(n), f"vllm:v{n}") for n in range(50))
    found = collected({"deployments": deployment(), "replicasets": many}).changes or ()
    assert len(found) == 30
    assert found[-1].at == seconds(at(49))
    times = [row.at for row in found if row.at is not None]
    assert len(times) == len(found)
    assert times == sorted(times)


VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just(at(30)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "metadata",
                    "spec",
                    "status",
                    "managedFields",
                    "time",
                    "manager",
                    "fieldsV1",
                    "f:data",
                    "f:spec",
                    "kind",
                    "name",
                    "conditions",
                    "type",
                    "lastTransitionTime",
                    "taints",
                    "timeAdded",
                    "key",
                    "unschedulable",
                    "template",
                    "volumes",
                    "configMap",
                    "labels",
                    "pod-template-hash",
                    "ownerReferences",
                    "creationTimestamp",
                    "annotations",
                    "deployment.kubernetes.io/revision",
                    "involvedObject",
                    "series",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["metadata", "spec", "status", "kind"]), VALUE))
def test_whatever_the_objects_hold_is_no_error(found: dict[str, Any]) -> None:
    named = {**found, "metadata": {"name": "chat", "ownerReferences": owned("chat")}}
    for one in (found, named):
        collected(
            {
                "deployments": one,
                "nodes": one,
                "configmaps": one,
                "horizontalpodautoscalers": one,
                "replicasets": (one, named),
                "pods": (one, named),
                "events": (one, named),
            }
        )
    assert isinstance(of_configmap(found), list)
