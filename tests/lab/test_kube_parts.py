"""Finding and building the real API server, and what it is given to store."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.lab import certificate
from tests.lab.cluster import Cluster, Kind, uid
from tests.lab.kube import binaries, build, roles, storage
from tests.lab.kube.kubelet import Kubelet
from tests.lab.requirements import PARTS

POD = Kind("", "v1", "Pod", "pods", True)


def _program(folder: Path, name: str, says: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders for KUBEBUILDER_ASSETS, PATH and the cache, all empty."""
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path / "assets"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    binaries.version.cache_clear()
    return tmp_path


def test_the_assets_come_before_the_path_and_the_path_before_the_cache(places: Path) -> None:
    cached = _program(binaries.cache_folder(), "kube-apiserver", "Kubernetes v1.34.4")
    assert binaries.kube_apiserver() == cached
    assert binaries.at_hand() is None  # there is no etcd
    on_path = _program(places / "path", "kube-apiserver", "Kubernetes v1.35.0")
    etcd = _program(places / "path", "etcd", "")
    assert binaries.at_hand() == binaries.Binaries(on_path, etcd)
    asset = _program(places / "assets", "kube-apiserver", "Kubernetes v1.40.1-alpha")
    assert binaries.kube_apiserver() == asset


def test_one_that_is_too_old_or_broken_is_passed_over_and_said(places: Path) -> None:
    _program(places / "assets", "kube-apiserver", "Kubernetes v1.20.2")
    _program(places / "path", "kube-apiserver", "Segmentation fault")
    assert binaries.kube_apiserver() is None
    part = PARTS["kube-apiserver"]
    assert not part.present
    assert f"{places}/assets/kube-apiserver is 1.20; " in part.advice
    assert f"{places}/path/kube-apiserver is not to be started, 1.34 is needed" in part.advice
    cached = _program(binaries.cache_folder(), "kube-apiserver", "Kubernetes v1.34.0")
    assert binaries.kube_apiserver() == cached


def test_what_is_missing_is_told_with_the_way_to_get_it(places: Path) -> None:
    advice = PARTS["kube-apiserver"].advice
    assert advice.startswith("kube-apiserver 1.34 or newer is missing, needed to read a scenario's")
    assert "python -m tests.lab.kube.build" in advice
    assert not places.joinpath("cache").exists()


def test_nothing_is_built_where_a_server_is_at_hand(places: Path) -> None:
    there = _program(places / "path", "kube-apiserver", "Kubernetes v1.34.1")
    assert build.built() == there


def test_what_is_built_is_what_the_module_names() -> None:
    module = (build.MODULE / "go.mod").read_text(encoding="utf-8")
    sums = (build.MODULE / "go.sum").read_text(encoding="utf-8")
    assert f"require k8s.io/kubernetes {binaries.BUILT}\n" in module
    assert f"k8s.io/kubernetes {binaries.BUILT} h1:" in sums
    staging = [line.split()[-1] for line in module.splitlines() if line.startswith("\t")]
    assert set(staging) == {binaries.BUILT.replace("v1.", "v0.")}


def test_the_machine_s_go_is_taken_when_it_is_new_enough(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_PLACES", ())
    assert build.machine_go() is None
    go = _program(places / "path", "go", "go version go1.19.8 linux/amd64")
    assert build.machine_go() is None
    _program(places / "path", "go", "go version go1.24.11 linux/amd64")
    assert build.machine_go() == go


def test_a_build_uses_that_go_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOFLAGS", "-mod=vendor")
    monkeypatch.setenv("GOROOT", "/elsewhere")
    found = build.environment(Path("/some/go/bin/go"))
    assert not {"GOFLAGS", "GOROOT"} & set(found)
    assert (found["CGO_ENABLED"], found["GOTOOLCHAIN"]) == ("0", "local")
    assert found["PATH"].split(os.pathsep)[0] == "/some/go/bin"


def test_a_build_that_fails_says_what_the_compiler_said(places: Path) -> None:
    _program(places / "path", "nice", "")
    broken = places / "path" / "nice"
    broken.write_text("#!/bin/sh\necho 'no such module' >&2\nexit 3\n", encoding="utf-8")
    _program(places / "path", "go", "go version go1.30.1 linux/amd64")
    with pytest.raises(build.BuildError, match=r"ended with 3:\nno such module"):
        build.built()
    assert binaries.kube_apiserver() is None


ROLE = """
kind: ServiceAccount
---
kind: ClusterRole
rules:
  - {apiGroups: ["", apps], resources: [pods, pods/log, deployments], verbs: [get, list]}
  - {nonResourceURLs: [/metrics], verbs: [get]}
"""


def test_a_role_loses_what_is_forbidden_with_its_subresources(tmp_path: Path) -> None:
    path = tmp_path / "role.yaml"
    path.write_text(ROLE, encoding="utf-8")
    rules = roles.shipped(frozenset({"pods", "deployments.apps"}), path)
    assert not roles.allows(rules, "get", "", "pods")
    assert not roles.allows(rules, "get", "", "pods/log")
    assert not roles.allows(rules, "get", "apps", "deployments")
    assert roles.allows(rules, "list", "", "deployments")
    assert rules[-1] == {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}
    assert roles.allows(roles.shipped(path=path), "get", "", "pods/log")
    assert not roles.allows(roles.shipped(path=path), "delete", "", "pods")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind: ServiceAccount\n", "holds no rules"),
        (
            'kind: ClusterRole\nrules: [{apiGroups: [""], resources: ["*"], verbs: [get]}]\n',
            "can't lose pods",
        ),
    ],
)
def test_a_role_that_can_t_be_cut_says_why(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "role.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(roles.RoleError, match=says):
        roles.shipped(frozenset({"pods"}), path)


def test_the_shipped_role_reads_and_does_nothing_else() -> None:
    granted = roles.grants(roles.shipped())
    assert {verb for verb, _, _ in granted} <= {"get", "list"}
    assert not {"secrets", "pods/exec", "*"} & {resource for _, _, resource in granted}


@pytest.mark.parametrize(
    ("kind", "namespace", "custom", "key"),
    [
        (POD, "llm", False, "/registry/pods/llm/x"),
        (Kind("", "v1", "Node", "nodes", False), "", False, "/registry/minions/x"),
        (Kind("", "v1", "Service", "services", True), "a", False, "/registry/services/specs/a/x"),
        (
            Kind("networking.k8s.io", "v1", "Ingress", "ingresses", True),
            "a",
            False,
            "/registry/ingress/a/x",
        ),
        (
            Kind("keda.sh", "v1", "ScaledObject", "scaledobjects", True),
            "a",
            True,
            "/registry/keda.sh/scaledobjects/a/x",
        ),
    ],
)
def test_an_object_is_stored_where_the_server_looks_for_it(
    kind: Kind, namespace: str, custom: bool, key: str
) -> None:
    assert storage.key_of(kind, namespace, "x", custom=custom) == key


def test_the_server_s_completion_is_kept_and_the_scenario_s_facts_win() -> None:
    given: dict[str, Any] = {
        "kind": "Pod",
        "metadata": {
            "name": "x",
            "uid": "mine",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "resourceVersion": "7",
        },
        "status": {"phase": "Running"},
    }
    created = {
        "kind": "Pod",
        "metadata": {
            "name": "x",
            "uid": "its",
            "generation": 1,
            "creationTimestamp": "2026-11-30T00:00:00Z",
            "managedFields": [{"manager": "lab", "time": "2026-11-30T00:00:00Z"}],
        },
        "spec": {"terminationGracePeriodSeconds": 30},
        "status": {"phase": "Pending", "qosClass": "BestEffort"},
    }
    assert json.loads(storage.merged(given, created)) == {
        "kind": "Pod",
        "metadata": {
            "name": "x",
            "uid": "mine",
            "generation": 1,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "managedFields": [{"manager": "lab", "time": "2026-01-01T00:00:00Z"}],
        },
        "spec": {"terminationGracePeriodSeconds": 30},
        "status": {"phase": "Running", "qosClass": "BestEffort"},
    }


def test_a_namespace_that_is_only_used_is_made_and_quotas_come_last() -> None:
    manifests = [
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "b"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "namespace": "a"}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "b"}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}},
    ]
    spaces, others = storage.split(Cluster(manifests, 1_796_000_000).everything())
    assert [whole["metadata"]["name"] for _, whole in spaces] == ["b", "a"]
    assert spaces[1][1]["metadata"]["uid"] == uid("Namespace", "", "a")
    assert [kind.kind for kind, _ in others] == ["Pod", "ConfigMap", "ResourceQuota"]


def test_a_kubelet_answers_for_the_container_that_is_asked(tmp_path: Path) -> None:
    certificate_file, key = certificate.self_signed(tmp_path)
    kubelet = Kubelet(tmp_path / "s", certificate_file, key)
    kubelet.logs = {"llm/x/main": "1\n2\n3\n"}
    try:
        assert kubelet.answer("/containerLogs/llm/x/main") == (200, b"1\n2\n3\n")
        assert kubelet.answer("/containerLogs/llm/x/main?tailLines=2") == (200, b"2\n3\n")
        assert kubelet.answer("/containerLogs/llm/x/main?limitBytes=3") == (200, b"1\n2")
        assert kubelet.answer("/containerLogs/llm/x/other")[0] == 404
        assert kubelet.answer("/exec/llm/x/main")[0] == 404
    finally:
        kubelet.stop()
