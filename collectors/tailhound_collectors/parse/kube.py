"""`kubectl get -o json` of nodes and pods, and kept texts of `kubectl describe node`."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.parse.json_text import Keys, document, objects
from tailhound_collectors.parse.lines import complete, word, yes_no
from tailhound_collectors.parse.numbers import json_integer, total
from tailhound_collectors.parse.tool import Parsed, nothing, unparsable

_FIELD = re.compile(r"^([A-Z][\w ]{0,40}):\s{0,40}(.{0,1000})$")
_TAINT = re.compile(
    r"^([\w./-]{1,200})(?:=([\w.-]{0,63}))?:(NoSchedule|PreferNoSchedule|NoExecute)$"
)
_CONDITION = re.compile(r"^\s{1,8}([A-Z]\w{1,40})\s{1,40}(True|False|Unknown)\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """Why pods stay away from a node."""

    key: str
    effect: str
    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCondition:
    """One condition of a node. Unknown: the node has not reported for a while."""

    kind: str
    status: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeNode:
    """A node. `ready` is None when its condition is Unknown, or was not in the output."""

    name: str | None
    ready: bool | None = None
    unschedulable: bool | None = None
    taints: tuple[Taint, ...] = ()
    conditions: tuple[NodeCondition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KubePod:
    """A pod. `oom_killed`: a container's last end was an OOM kill."""

    namespace: str | None
    name: str | None
    node: str | None
    phase: str | None
    ready: bool | None
    restart_count: int | None
    oom_killed: bool | None
    waiting_reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeObjects:
    """Nodes and pods. `conditions_truncated`: the text ends inside a table of conditions."""

    nodes: tuple[KubeNode, ...] = ()
    pods: tuple[KubePod, ...] = ()
    conditions_truncated: bool = False
    truncated: bool = False


def kubectl(output: Output) -> Parsed:
    """KubeObjects, from JSON or from the text of `describe node`."""
    found = document(output.stdout)
    if isinstance(found, Missing):
        return _described(output) if "Name:" in output.stdout else found
    top = Keys(found.value)
    items = list(objects(top.get("items"))) if "items" in top else [top]
    nodes = tuple(_node(item) for item in items if item.text("kind") == "Node")
    pods = tuple(_pod(item) for item in items if item.text("kind") == "Pod")
    known = "items" in top or nodes or pods
    return KubeObjects(nodes=nodes, pods=pods) if known else unparsable("it has no node, no pod")


def _node(item: Keys) -> KubeNode:
    spec, status = item.within("spec"), item.within("status")
    conditions = tuple(
        NodeCondition(
            kind=kind, status=word(one.text("status")) or "Unknown", reason=word(one.text("reason"))
        )
        for one in status.each("conditions")
        if (kind := word(one.text("type")))
    )
    unschedulable = spec.get("unschedulable")
    return KubeNode(
        name=word(item.within("metadata").text("name")),
        ready=_ready(conditions),
        unschedulable=unschedulable if isinstance(unschedulable, bool) else False if spec else None,
        taints=tuple(
            Taint(key=key, effect=word(one.text("effect")) or "", value=word(one.text("value")))
            for one in spec.each("taints")
            if (key := word(one.text("key")))
        ),
        conditions=conditions,
    )


def _ready(conditions: Iterable[NodeCondition]) -> bool | None:
    status = next((one.status for one in conditions if one.kind == "Ready"), None)
    return {"True": True, "False": False}.get(status or "")


def _pod(item: Keys) -> KubePod:
    metadata, status = item.within("metadata"), item.within("status")
    containers = status.each("containerStatuses")
    states = [container.within("state").within("waiting") for container in containers]
    ready = next(
        (c.text("status") for c in status.each("conditions") if c.text("type") == "Ready"), None
    )
    return KubePod(
        namespace=word(metadata.text("namespace")),
        name=word(metadata.text("name")),
        node=word(item.within("spec").text("nodeName")),
        phase=word(status.text("phase")),
        ready={"True": True, "False": False}.get(ready or ""),
        restart_count=total(json_integer(one.get("restartCount")) for one in containers),
        oom_killed=any(_oom(one) for one in containers) if containers else None,
        waiting_reason=next((word(one.text("reason")) for one in states if one), None),
    )


def _oom(container: Keys) -> bool:
    ended: list[Any] = [
        container.within(state).within("terminated").get("reason")
        for state in ("state", "lastState")
    ]
    return "OOMKilled" in ended


def _described(output: Output) -> Parsed:
    lines, rest = complete(output.stdout)
    fields: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        if found := _FIELD.match(line):
            name = found[1]
            fields.setdefault(name, [found[2].strip()] if found[2].strip() else [])
        elif name:
            fields[name].append(line)
    if "Name" not in fields or "Taints" not in fields:
        return nothing(output, "it has no Name and Taints of a node")
    conditions = _conditions(fields.get("Conditions", []))
    after = list(fields)[-1] != "Conditions"
    cut = "Conditions" not in fields or not after
    node = KubeNode(
        name=word(fields["Name"][0]) if fields["Name"] else None,
        ready=_ready(conditions),
        unschedulable=yes_no((fields.get("Unschedulable") or [""])[0], "true", "false"),
        taints=tuple(_taints(fields["Taints"])),
        conditions=conditions,
    )
    return KubeObjects(nodes=(node,), conditions_truncated=cut, truncated=rest or cut)


def _conditions(rows: Sequence[str]) -> tuple[NodeCondition, ...]:
    """Type and status; the other columns of the table hold spaces and are not divided."""
    return tuple(
        NodeCondition(kind=found[1], status=found[2])
        for row in rows
        if (found := _CONDITION.match(row))
    )


def _taints(rows: Sequence[str]) -> Iterable[Taint]:
    for row in rows:
        if found := _TAINT.match(row.strip()):
            yield Taint(key=found[1], value=found[2], effect=found[3])
