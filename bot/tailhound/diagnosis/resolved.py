"""What an incident turned out to be about: what the collectors' parameters are filled from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tailhound.model import Missing, Subject
from tailhound.model.symptomless import NOTHING_KNOWN

USUAL = (3600.0, 86400.0, 604800.0)
"""Seconds before now at which the same query tells what is usual: an hour, a day, a week."""

PODS_AT_MOST = 100
"""Pods of one workload that the queries name: our own bound, so that a regular expression stays
within what Prometheus accepts. The incident says when there are more."""

OWNERS = frozenset({"deployment", "statefulset", "daemonset"})
"""The kinds whose pod template can be changed so that new pods come of it."""

SYSTEM = frozenset({"kube-system", "monitoring", "gpu-operator", "node-feature-discovery"})
"""Namespaces whose pods run on every node and serve nobody. Our own list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What the collectors' parameters are filled from. Empty = nobody could tell.

    `pods` are at most PODS_AT_MOST of `pods_count`; `nodes_count` is how many nodes the alerts of a
    node incident name, of which `nodes` are the first. `pod_nodes` are (pod, node), of those that
    are known to run somewhere. `selector` is the label selector of the
    workload's pods. `found_by` says how, `owned_by` who owns the pods by what the metrics say.
    `usual` are the usable "usual" offsets in seconds.
    """

    cluster: str = ""
    namespace: str = ""
    workload: str = ""
    workload_kind: str = ""
    model_name: str = ""
    pod: str = ""
    pods: tuple[str, ...] = ()
    pods_count: int = 0
    container: str = ""
    node: str = ""
    nodes: tuple[str, ...] = ()
    nodes_count: int = 0
    pod_nodes: tuple[tuple[str, str], ...] = ()
    selector: str = ""
    usual: tuple[float, ...] = USUAL
    metric_prefix: str = ""
    found_by: str = ""
    owned_by: str = ""
    notes: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def owner(self) -> str:
        """`statefulset/gpu`: what owns the pods, as kubectl names it; "" where that is unknown."""
        known = self.workload_kind in OWNERS and bool(self.workload)
        return f"{self.workload_kind}/{self.workload}" if known else self.owned_by


def unfound(subject: Subject, found: Resolved) -> str:
    """Why nobody could tell the pods although everybody who was asked may have answered."""
    where = f" in {found.namespace}" if found.namespace else ""
    if subject.pod:
        why = f"there is no pod {subject.pod}{where}"
        return f"{NOTHING_KNOWN}{why}. Fix: check the labels of the alert"
    if subject.workload:
        what = f"{subject.workload_label or 'workload'} {subject.workload}{where}"
        return f"{NOTHING_KNOWN}nothing knows pods of {what}. Fix: check the labels of the alert"
    return (
        f"{NOTHING_KNOWN}no label of the alert names a workload, a pod or a node. "
        "Fix: if one of its labels does, add it to incidents.workload_labels"
    )


def blamed(notes: Sequence[str]) -> str:
    """Of the notes those that explain best why something is not known; "" without any.

    First whoever gave no answer, then what the labels lack; a backend that nobody configured only
    where that is all.
    """
    failed = [
        one for one in notes if not one.startswith(NOTHING_KNOWN) and "not configured" not in one
    ]
    lacking = [one for one in notes if one.startswith(NOTHING_KNOWN)]
    told = failed[:2] or lacking[:1] or notes[:2]
    return "; ".join(one.removeprefix("not asked: ") for one in told)


def noted(found: Resolved, missing: Missing) -> Resolved:
    """The inputs with the reason why a question had no answer."""
    if missing.detail in found.notes:
        return found
    return replace(found, notes=(*found.notes, missing.detail))


def ordered(names: Iterable[str], first: str) -> tuple[str, ...]:
    """Names in order, the first one first."""
    return tuple(sorted(names, key=lambda name: (name != first, name)))
