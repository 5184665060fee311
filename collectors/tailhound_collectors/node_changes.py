"""What a Node object tells of its past: it joined, fell silent, came back, or was cordoned. Pure.

The conditions and taints of the object, not its events: those are rate-limited and end after an
hour, and one list of them looks through all that every node of the cluster said.
"""

from collections.abc import Mapping
from typing import Any

from tailhound.requests import KubeObject
from tailhound_collectors.object_times import created, items, mapping, name, seconds, touches
from tailhound_collectors.workload_changes import TEXT_AT_MOST, ChangeRow

SETTLED_SECONDS = 600.0
"""A node's first conditions settle within ten minutes after it joined: our own default."""

CORDONED = "node.kubernetes.io/unschedulable"
_BY_KUBERNETES = "node.kubernetes.io/"


def node_changes(node: KubeObject) -> list[ChangeRow]:
    """Each change that the object still tells of."""
    born, called = created(node), name(node)
    status, spec = mapping(node.get("status")), mapping(node.get("spec"))
    joined = [] if born is None else [_row(born, f"node {called} joined")]
    conditions = [
        row
        for condition in items(status.get("conditions"))
        if (row := _condition(called, condition, born)) is not None
    ]
    return [*joined, *conditions, *_cordoned(called, node, spec), *_tainted(called, spec)]


def _row(at: float | None, what: str, by: str | None = None) -> ChangeRow:
    return ChangeRow(at=at, kind="node", what=what[:TEXT_AT_MOST], by=by)


def _condition(called: str, one: Mapping[str, Any], born: float | None) -> ChangeRow | None:
    """A trouble that began, or a Ready that came back; nothing that lasts since it joined."""
    at = seconds(one.get("lastTransitionTime"))
    kind, status = str(one.get("type") or ""), one.get("status")
    if at is None or not kind or (born is not None and at - born <= SETTLED_SECONDS):
        return None
    if kind == "Ready":
        reason = f" ({one['reason']})" if one.get("reason") else ""
        said = "Ready again" if status == "True" else f"not Ready{reason}"
        return _row(at, f"node {called} is {said}")
    return _row(at, f"node {called} reports {kind}") if status == "True" else None


def _cordoned(called: str, node: KubeObject, spec: Mapping[str, Any]) -> list[ChangeRow]:
    """Closed to new pods, as a drain does first: by the taint's time, else by its writer's.

    It is closed whether or not either tells since when.
    """
    if spec.get("unschedulable") is not True:
        return []
    wrote = [
        one
        for one in touches(node)
        if "f:unschedulable" in mapping(one.fields.get("f:spec")) and one.by
    ]
    by = wrote[0].by if wrote else None
    taints = (one for one in items(spec.get("taints")) if one.get("key") == CORDONED)
    times = [seconds(one.get("timeAdded")) for one in taints] + [one.at for one in wrote]
    at = next((moment for moment in times if moment is not None), None)
    if at is None:
        return [_row(None, f"node {called} is cordoned", by)]
    return [_row(at, f"node {called} was cordoned", by)]


def _tainted(called: str, spec: Mapping[str, Any]) -> list[ChangeRow]:
    """Taints that somebody else put there: a spot termination, an autoscaler that removes it."""
    return [
        _row(at, f"node {called} was tainted {one['key']}")
        for one in items(spec.get("taints"))
        if isinstance(one.get("key"), str)
        and not one["key"].startswith(_BY_KUBERNETES)
        and (at := seconds(one.get("timeAdded"))) is not None
    ]
