"""What the reading token may do: the shipped ClusterRole, or everything that the lab serves."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from tests.lab.cluster import BUILT_IN, Kind

SHIPPED = Path(__file__).parents[3] / "deploy" / "rbac" / "read.yaml"
READER = "tailhound-reader"
Rule: TypeAlias = Mapping[str, Any]


class RoleError(Exception):
    """The role can't be used as it is; the text says which rule, and why."""


def shipped(forbidden: frozenset[str] = frozenset(), path: Path = SHIPPED) -> tuple[Rule, ...]:
    """The rules of deploy/rbac/read.yaml without the `forbidden` resources."""
    documents = list(yaml.load_all(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))
    rules = [
        rule
        for document in documents
        if document and document.get("kind") in ("ClusterRole", "Role")
        for rule in document.get("rules") or ()
    ]
    if not rules:
        raise RoleError(f"{path} holds no rules")
    return tuple(left for rule in rules for left in _without(rule, forbidden))


def everything(forbidden: frozenset[str], custom: Iterable[Kind]) -> tuple[Rule, ...]:
    """All that the lab serves. RBAC can't deny, so all is named when something is forbidden."""
    if not forbidden:
        return (_reading("*", ["*"]),)
    groups: dict[str, set[str]] = {"": {"pods/log"}}
    for kind in (*BUILT_IN, *custom):
        groups.setdefault(kind.group, set()).add(kind.resource)
    rules = [_reading(group, sorted(names)) for group, names in sorted(groups.items())]
    return tuple(left for rule in rules for left in _without(rule, forbidden))


def _reading(group: str, resources: list[str]) -> Rule:
    return {"apiGroups": [group], "resources": resources, "verbs": ["get", "list"]}


def _without(rule: Rule, forbidden: frozenset[str]) -> list[Rule]:
    """The rule, group by group, without these resources."""
    if "resources" not in rule:
        return [rule]
    if forbidden and "*" in (*rule["resources"], *rule["apiGroups"]):
        raise RoleError(f"a rule with * can't lose {', '.join(sorted(forbidden))}: {dict(rule)}")
    left: list[Rule] = []
    for group in rule["apiGroups"]:
        names = [name for name in rule["resources"] if not _is_hit(name, group, forbidden)]
        if names:
            left.append({**rule, "apiGroups": [group], "resources": names})
    return left


def _is_hit(resource: str, group: str, forbidden: frozenset[str]) -> bool:
    plain = resource.partition("/")[0]
    return bool({plain, f"{plain}.{group}"} & forbidden)


def allows(rules: Sequence[Rule], verb: str, group: str, resource: str) -> bool:
    """Whether one of the rules grants this (`resource` with its subresource, as `pods/log`)."""
    wanted = {"verbs": verb, "apiGroups": group, "resources": resource}
    return any(
        all({value, "*"} & set(rule.get(key, ())) for key, value in wanted.items())
        for rule in rules
    )


def grants(rules: Iterable[Rule]) -> set[tuple[str, str, str]]:
    """Every verb, group and resource that the rules name."""
    return {
        (verb, group, resource)
        for rule in rules
        for verb in rule["verbs"]
        for group in rule.get("apiGroups", ())
        for resource in rule.get("resources", ())
    }


def role(rules: Sequence[Rule]) -> dict[str, Any]:
    """The reader's ClusterRole."""
    return _rbac("ClusterRole") | {"rules": [dict(rule) for rule in rules]}


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
