"""How much of the subject the symptom is at: one pod, the pods of one node, all of them. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailhound.diagnosis.onset import FLOOR_RATIO, TOOTH_RATIO
from tailhound.diagnosis.resolved import Resolved
from tailhound.diagnosis.symptom import Rows
from tailhound.model import Evidence
from tailhound.model.facts import number_of

FAIR_PART = 0.5
"""A pod takes part when it grew by half as much as the whole did. Our own default."""


def scope_of(rows: Rows, evidence: Iterable[Evidence], resolved: Resolved) -> str:
    """`1 of 3 pods, on gpu-1`, `all 3 pods`, `1 of 2 drives`, `one node, ci-3`; "" when unknown.

    Where the incident has more pods or nodes than are looked at, that is said in any case.
    """
    found = _found(rows[0], evidence, resolved) if rows else ""
    return ", ".join(part for part in (found, _looked_at(resolved)) if part)


@dataclass(frozen=True, slots=True)
class Places:
    """The pods that the symptom is at, and the nodes that they run on; empty = nobody can tell."""

    pods: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()


def places_of(rows: Rows, resolved: Resolved) -> Places:
    """Where the symptom is, by name. The edge measures no pod, and a drive is at no pod."""
    if not rows:
        return Places()
    kind = str(rows[0].get("symptom", ""))
    if kind.startswith(("disk", "node")):
        return Places(nodes=resolved.nodes if len(resolved.nodes) == 1 else ())
    only = resolved.pods if "pods" in rows[0] and kind != "edge" else ()
    pods = only if len(resolved.pods) == 1 else _hit(rows[0]).hit
    known = dict(resolved.pod_nodes)
    nodes = dict.fromkeys(known[pod] for pod in pods if known.get(pod))
    return Places(pods, tuple(nodes))


def where_of(places: Places, resolved: Resolved) -> dict[str, str]:
    """Where a person looks: where it is slow, else at what the alert names, else at the first."""
    pods = (*places.pods, resolved.pod, *resolved.pods)
    pod = next(filter(None, pods), "")
    on = dict(resolved.pod_nodes).get(pod, "")
    nodes = (*places.nodes, on, resolved.node, *resolved.nodes)
    return {
        "NAMESPACE": resolved.namespace,
        "POD": pod,
        "NODE": next(filter(None, nodes), ""),
    }


def _found(row: Mapping[str, Any], evidence: Iterable[Evidence], resolved: Resolved) -> str:
    kind = str(row.get("symptom", ""))
    if kind.startswith("disk"):
        return _of_drives(evidence)
    if kind.startswith("node"):
        return f"one node, {resolved.nodes[0]}" if len(resolved.nodes) == 1 else ""
    return _of_pods(row, resolved)


def _looked_at(resolved: Resolved) -> str:
    if resolved.nodes_count > len(resolved.nodes):
        return f"{len(resolved.nodes)} of {resolved.nodes_count:,} nodes looked at"
    if resolved.pods_count > len(resolved.pods):
        return f"{len(resolved.pods)} of {resolved.pods_count:,} pods looked at"
    return ""


@dataclass(frozen=True, slots=True)
class _Pods:
    """Which pods the symptom is at, of those that are measured."""

    hit: tuple[str, ...]
    measured: int


def _of_pods(row: Mapping[str, Any], resolved: Resolved) -> str:
    total = len(resolved.pods)
    if total == 1:
        told = "pods" in row and row.get("symptom") != "edge"
        return ("its only pod" if _about_a_node(resolved) else "the only pod") if told else ""
    found = _hit(row)
    if not found.hit or total == 0:
        return ""
    if len(found.hit) == total:
        return "both pods" if total == 2 else f"all {total} pods"
    silent = total - found.measured
    more = f", no data of {silent}" if silent > 0 else ""
    return f"{len(found.hit)} of {total} pods{_where(found.hit, resolved)}{more}"


def _about_a_node(resolved: Resolved) -> bool:
    """Whether the incident is about a node: what it names is no workload and no pod."""
    return bool(resolved.node) and not (resolved.workload or resolved.pod)


def _hit(row: Mapping[str, Any]) -> _Pods:
    """The pods that left their own usual value, and grew about as much as the whole."""
    whole, usual = number_of(row.get("seconds")), number_of(row.get("usual_seconds"))
    paces = [pace for pace in row.get("pods") or () if number_of(pace.get("seconds")) is not None]
    if whole is None or usual is None:
        return _Pods((), 0)
    return _Pods(
        tuple(str(pace["pod"]) for pace in paces if _grew(pace, usual, whole - usual)), len(paces)
    )


def _grew(pace: Mapping[str, Any], usual_of_all: float, growth_of_all: float) -> bool:
    own = number_of(pace.get("usual_seconds"))
    usual = usual_of_all if own is None else own
    growth = float(pace["seconds"]) - usual
    return growth > FLOOR_RATIO * usual and growth >= FAIR_PART * growth_of_all


def _where(pods: Sequence[str], resolved: Resolved) -> str:
    """The node that all of them run on, where the workload has others too; "" otherwise."""
    places = dict(resolved.pod_nodes)
    names = {places.get(pod, "") for pod in pods}
    node = next(iter(names)) if len(names) == 1 else ""
    if not node or len(set(places.values())) < 2:
        return ""
    several = "all on" if len(pods) > 1 else "on"
    return f", {several} {node}"


def _of_drives(evidence: Iterable[Evidence]) -> str:
    """How many of the drives that are looked at are slow."""
    drives = next((item.facts["drives"] for item in evidence if item.facts.get("drives")), ())
    growths = [number_of(one.get("slowdown_ratio")) for one in _records(drives)]
    known = [growth for growth in growths if growth is not None]
    slow = sum(growth > TOOTH_RATIO for growth in known)
    if not slow or len(known) < 2:
        return ""
    every = "both drives" if slow == 2 else f"all {slow} drives"
    return every if slow == len(known) else f"{slow} of {len(known)} drives"


def _records(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if value else []
