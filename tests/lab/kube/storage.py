"""What of an object is written into etcd, and where: as the API server itself stores it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from tests.lab.cluster import Kind, uid

Object: TypeAlias = tuple[Kind, Mapping[str, Any]]

_FOLDERS = {
    "nodes": "minions",
    "services": "services/specs",
    "endpoints": "services/endpoints",
    "replicationcontrollers": "controllers",
    "ingresses.networking.k8s.io": "ingress",
}
_OWN = ("/registry/masterleases/", "/registry/leases/kube-system/")
"""What the server renews by itself."""
_AT_START = {"default", "kube-system", "kube-public", "kube-node-lease"}
_ORDER = {"Node": 0, "LimitRange": 2, "ResourceQuota": 2}  # these two would hold up what follows


def key_of(kind: Kind, namespace: str, name: str, *, custom: bool) -> str:
    """The key of an object; `custom` when a CustomResourceDefinition makes its kind."""
    plain = f"{kind.group}/{kind.resource}" if custom else kind.resource
    folder = _FOLDERS.get(kind.qualified, plain)
    return "/".join(part for part in ("/registry", folder, namespace, name) if part)


def is_the_servers(key: str) -> bool:
    """Whether the server writes this key on its own, whatever the lab does."""
    return key.startswith(_OWN)


def asked(whole: Mapping[str, Any]) -> dict[str, Any]:
    """The object as a client creates it."""
    metadata = {key: value for key, value in whole["metadata"].items() if key != "resourceVersion"}
    return {**whole, "metadata": metadata}


def merged(whole: Mapping[str, Any], created: Mapping[str, Any]) -> bytes:
    """The object as the server completed it, with the scenario's times, UID, generation, status.

    The server's own notes on who wrote a field (managedFields) are as old as the object.
    """
    metadata = {**created["metadata"], **asked(whole)["metadata"]}
    metadata.pop("resourceVersion", None)
    if "managedFields" not in whole["metadata"]:
        metadata["managedFields"] = [
            {**entry, "time": metadata["creationTimestamp"]}
            for entry in created["metadata"].get("managedFields", ())
        ]
    both = {**created, "metadata": metadata}
    if whole.get("status"):
        both["status"] = {**(created.get("status") or {}), **whole["status"]}
    return encoded(both)


def encoded(whole: Mapping[str, Any]) -> bytes:
    """The bytes that etcd holds."""
    return json.dumps(whole, separators=(",", ":")).encode() + b"\n"


def definition(kind: Kind) -> dict[str, Any]:
    """The CustomResourceDefinition of a kind that the server does not bring: any field goes."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{kind.resource}.{kind.group}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for the lab"},
        },
        "spec": {
            "group": kind.group,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "names": {
                "plural": kind.resource,
                "singular": kind.kind.lower(),
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
            },
            "versions": [
                {
                    "name": kind.version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def discovered(body: Mapping[str, Any]) -> Iterator[Kind]:
    """The kinds of an aggregated discovery document."""
    for group in body["items"]:
        name = group.get("metadata", {}).get("name", "")
        for version in group["versions"]:
            for one in version.get("resources", ()):
                kind = one.get("responseKind", {}).get("kind", "")
                namespaced = one["scope"] == "Namespaced"
                yield Kind(name, version["version"], kind, one["resource"], namespaced)


def split(objects: Iterable[Object]) -> tuple[list[Object], list[Object]]:
    """The namespaces, given and implied, and then everything else."""
    spaces: dict[str, Object] = {}
    others: list[Object] = []
    for kind, whole in objects:
        if kind.api_version == "v1" and kind.kind == "Namespace":
            spaces[whole["metadata"]["name"]] = (kind, whole)
        else:
            others.append((kind, whole))
    for _, whole in others:
        name = whole["metadata"].get("namespace", "")
        if name and name not in spaces and name not in _AT_START:
            spaces[name] = _namespace(name, whole["metadata"]["creationTimestamp"])
    return list(spaces.values()), sorted(others, key=lambda one: _ORDER.get(one[0].kind, 1))


def _namespace(name: str, created: str) -> Object:
    metadata = {"name": name, "uid": uid("Namespace", "", name), "creationTimestamp": created}
    whole = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    return Kind("", "v1", "Namespace", "namespaces", False), whole
