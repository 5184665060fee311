"""What the reading token may do: the shipped ClusterRole, or everything that the lab serves."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.lab.cluster import BUILT_IN, Kind
from tests.lab.process import LabError

SHIPPED = Path(__file__).parents[3] / "deploy" / "rbac" / "read.yaml"
READER = "tailhound-reader"
_VERBS = ("get", "list")


def reading_rules(
    forbidden: frozenset[str], custom: Iterable[Kind], shipped: Path = SHIPPED
) -> list[dict[str, Any]]:
    """The rules of the reader. RBAC can't deny, so `forbidden` resources are left out."""
    rules = _shipped(shipped) if shipped.exists() else _derived(BUILT_IN)
    rules += _derived(custom)
    return [*_without(rules, forbidden), _HEALTH]


_HEALTH: dict[str, Any] = {
    "nonResourceURLs": ["/healthz", "/livez", "/readyz", "/version"],
    "verbs": ["get"],
}


def _shipped(path: Path) -> list[dict[str, Any]]:
    loader = yaml.CSafeLoader
    documents = list(yaml.load_all(path.read_text(encoding="utf-8"), Loader=loader))
    return [
        dict(rule)
        for document in documents
        if document and document.get("kind") in ("ClusterRole", "Role")
        for rule in document.get("rules") or ()
    ]


def _derived(kinds: Iterable[Kind]) -> list[dict[str, Any]]:
    groups: dict[str, set[str]] = {}
    for kind in kinds:
        groups.setdefault(kind.group, set()).add(kind.resource)
    groups.get("", set()).update({"pods/log"} if "pods" in groups.get("", set()) else ())
    return [
        {"apiGroups": [group], "resources": sorted(resources), "verbs": list(_VERBS)}
        for group, resources in sorted(groups.items())
    ]


def _without(rules: Iterable[Mapping[str, Any]], forbidden: frozenset[str]) -> list[dict[str, Any]]:
    left = []
    for rule in rules:
        if "resources" not in rule:
            left.append(dict(rule))
            continue
        if forbidden and "*" in (*rule["resources"], *rule["apiGroups"]):
            raise LabError(f"a rule with * can't lose {sorted(forbidden)}: {rule}")
        for group in rule["apiGroups"]:
            resources = [name for name in rule["resources"] if not _hit(name, group, forbidden)]
            if resources:
                left.append({**rule, "apiGroups": [group], "resources": resources})
    return left


def _hit(resource: str, group: str, forbidden: frozenset[str]) -> bool:
    plain = resource.partition("/")[0]
    return bool({plain, f"{plain}.{group}"} & forbidden)


def role(rules: list[dict[str, Any]]) -> dict[str, Any]:
    """The reader's ClusterRole."""
    return _rbac("ClusterRole") | {"rules": rules}


def binding(user: str) -> dict[str, Any]:
    """What gives it to a user."""
    api = "rbac.authorization.k8s.io"
    return _rbac("ClusterRoleBinding") | {
        "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": READER},
        "subjects": [{"apiGroup": api, "kind": "User", "name": user}],
    }


def _rbac(kind: str) -> dict[str, Any]:
    api = "rbac.authorization.k8s.io/v1"
    return {"apiVersion": api, "kind": kind, "metadata": {"name": READER}}
