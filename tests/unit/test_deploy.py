"""What `deploy/` grants is what the code asks for, and no more."""

import dataclasses
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tailhound import app
from tailhound.diagnosis.resolve import Resolved, resolve
from tailhound.flow import Read, Reading
from tailhound.model import Subject, SubjectKind
from tailhound.requests import GetObject, ListObjects
from tailhound.settings import Incidents
from tailhound.slack.local.methods import METHODS
from tests.driving import EMPTY, drive

ROOT = Path(__file__).parents[2]

ABOVE = {"pods": "ReplicaSet", "replicasets": "Deployment"}
"""What owns an object in the small cluster of this test."""

KINDS = {
    "pods": "Pod",
    "replicasets": "ReplicaSet",
    "deployments": "Deployment",
    "statefulsets": "StatefulSet",
    "daemonsets": "DaemonSet",
    "services": "Service",
    "inferencepools": "InferencePool",
}


def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_reading_role_grants_what_is_asked_and_nothing_else() -> None:
    documents = list(yaml.safe_load_all(text_of("deploy/rbac/read.yaml")))
    roles = [one for one in documents if one["kind"] in ("ClusterRole", "Role")]
    granted = {
        (group, resource, verb)
        for role in roles
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert granted == _asked_of_kubernetes()


def _asked_of_kubernetes() -> set[tuple[str, str, str]]:
    """(group, resource, verb) of all that subjects of every kind, and every collector, ask."""
    asked: set[tuple[str, str, str]] = set()
    for owner in ("ReplicaSet", "StatefulSet", "DaemonSet"):
        above = ABOVE | {"pods": owner}
        for flow in (*_resolutions(), *_collections()):
            drive(flow, partial(_answer, above=above, asked=asked))
    return asked


def _answer(request: Read[Any], above: Mapping[str, str], asked: set[tuple[str, str, str]]) -> Any:
    """Note the question; answer for a cluster that has one of everything."""
    if not isinstance(request, GetObject | ListObjects):
        return EMPTY
    verb = "list" if isinstance(request, ListObjects) else "get"
    asked.add((request.api.rpartition("/")[0], request.resource, verb))
    found = _thing(request.resource, above.get(request.resource, ""))
    return (found,) if verb == "list" else found


def _thing(resource: str, above: str) -> dict[str, Any]:
    owners = [{"kind": above, "name": "owner"}] if above else []
    return {
        "kind": KINDS.get(resource, resource),
        "involvedObject": {"name": "x"},
        "metadata": {
            "name": "x",
            "namespace": "prod",
            "ownerReferences": owners,
            "managedFields": [_SCALED],
        },
        "spec": _POD if resource == "pods" else {"selector": {"app": "a"}},
    }


_SCALED = {
    "manager": "kube-controller-manager",
    "subresource": "scale",
    "time": "2026-01-01T00:00:00Z",
}
_POD = {
    "containers": [{"name": "x", "volumeMounts": [{"name": "v", "mountPath": "/models"}]}],
    "volumes": [{"name": "v", "configMap": {"name": "settings"}}],
}


def _resolutions() -> Iterator[Reading[Any]]:
    yield resolve(_subject(SubjectKind.POD), {}, Resolved())
    yield resolve(_subject(SubjectKind.NODE), {}, Resolved())
    for label in Incidents().workload_labels:
        subject = dataclasses.replace(
            _subject(SubjectKind.WORKLOAD), workload="x", workload_label=label
        )
        yield resolve(subject, {}, Resolved())


def _subject(kind: SubjectKind) -> Subject:
    return Subject(kind=kind, namespace="prod", pod="x", node="n")


def _collections() -> Iterator[Reading[Any]]:
    for collector in app.collectors().values():
        names = {field.name for field in dataclasses.fields(collector.params)}
        for selector, kind in (("", ""), ("app=a", "deployment"), ("app=a", "statefulset")):
            workload = {"workload": "x", "workload_kind": kind, "selector": selector}
            known = {"namespace": "prod", "pods": ("x",), "nodes": ("n",), **workload}
            given = {name: value for name, value in known.items() if name in names}
            yield collector.collect(collector.params(**given))


def test_the_slack_app_may_do_what_the_client_calls() -> None:
    wanted = {name.replace(".", "_"): set(method.scopes) for name, method in METHODS.items()}
    wanted["files_upload_v2"] = {"files:write"}
    wanted["apps_connections_open"] = set()  # with the token of the app, not of the bot
    source = "".join(path.read_text() for path in (ROOT / "bot/tailhound/slack").rglob("*.py"))
    calls = set(re.findall(r"web\.([a-z]+_[a-zA-Z0-9_]+)\(", source))
    manifest = yaml.safe_load(text_of("deploy/slack-manifest.yaml"))
    granted = set(manifest["oauth_config"]["scopes"]["bot"])
    assert {"chat_postMessage", "chat_update"} <= calls
    assert calls <= set(wanted)
    assert {scope for name in calls for scope in wanted[name]} <= granted
    assert manifest["settings"]["socket_mode_enabled"] is True
    assert manifest["settings"]["interactivity"]["is_enabled"] is True
