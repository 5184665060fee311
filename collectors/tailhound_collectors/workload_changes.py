"""What a workload's own objects tell of its past: rollouts, scaling, settings. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tailhound.requests import KubeObject
from tailhound_collectors.object_times import (
    CONTROLLERS,
    Touched,
    created,
    items,
    mapping,
    metadata,
    name,
    owners,
    people,
    seconds,
    touches,
)
from tailhound_collectors.template_diff import differences

SAME_CHANGE_SECONDS = 60.0
"""A new template and the ReplicaSet that follows it are one change: our own default."""

REVISION = "deployment.kubernetes.io/revision"
HASHES = ("pod-template-hash", "controller-revision-hash")
TEXT_AT_MOST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """One change: when (Unix seconds), of what kind, in one sentence, and by whom.

    `at` is None where the object tells the change and not its time.
    """

    at: float | None
    kind: str
    what: str
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revisions:
    """A workload with its own ReplicaSets and pods; empty for what nobody could tell."""

    workload: KubeObject
    replica_sets: tuple[KubeObject, ...] = ()
    pods: tuple[KubeObject, ...] = ()

    @property
    def called(self) -> str:
        """`Deployment chat`; "the workload" when nobody could tell."""
        kind, known = self.workload.get("kind"), name(self.workload)
        return f"{kind or 'workload'} {known}" if known else "the workload"


def above(pod: KubeObject) -> tuple[str, ...]:
    """The workloads that a pod may belong to: its owner, or the Deployment of its ReplicaSet."""
    found = owners(pod)
    return (*found, *(one.rpartition("-")[0] for one in found))


def of_revisions(found: Revisions) -> list[ChangeRow]:
    """Every rollout that left a trace: of a Deployment by its ReplicaSets, else by the pods."""
    sets, pods = found.replica_sets, found.pods
    return [
        ChangeRow(
            at=at,
            kind="rollout",
            what=f"{word} of {found.called}{f': {diff}' if diff else ''}"[:TEXT_AT_MOST],
            by=_by(found.workload, at),
        )
        for at, word, diff in (_of_replica_sets(sets, pods) if sets else _of_pods(pods))
    ]


Rolled = tuple[float, str, str]
"""When, the word for it, and what differs."""


def _of_replica_sets(sets: Sequence[KubeObject], pods: Sequence[KubeObject]) -> list[Rolled]:
    """Revisions in their order. A ReplicaSet that is older than the revision before it was taken
    up again: then its pods tell when.
    """
    ordered = sorted(sets, key=lambda one: (_revision(one), created(one) or 0.0))
    rows: list[Rolled] = []
    for before, after in pairwise(ordered):
        at, was = created(after), created(before)
        back = at is not None and was is not None and at < was
        word = "rollback" if back else "rollout"
        when = _first_pod(after, pods) if back else at
        if when is not None:
            rows.append((when, word, differences(_template(before), _template(after))))
    return rows


def _revision(one: KubeObject) -> int:
    text = str(mapping(metadata(one).get("annotations")).get(REVISION) or "")
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _first_pod(replica_set: KubeObject, pods: Iterable[KubeObject]) -> float | None:
    """When the first of the pods of a ReplicaSet that are there now was created."""
    times = (created(pod) for pod in pods if name(replica_set) in owners(pod))
    return min((at for at in times if at is not None), default=None)


def _of_pods(pods: Sequence[KubeObject]) -> list[Rolled]:
    """Pods of two revisions side by side are a rollout on its way: a StatefulSet, a DaemonSet."""
    first: dict[str, KubeObject] = {}
    for pod in sorted(pods, key=lambda one: created(one) or 0.0):
        labels = mapping(metadata(pod).get("labels"))
        mark = next((str(labels[key]) for key in HASHES if labels.get(key)), "")
        if mark and created(pod) is not None:
            first.setdefault(mark, pod)
    ordered = list(first.values())
    return [
        (at, "rollout", differences(mapping(old.get("spec")), mapping(new.get("spec"))))
        for old, new in pairwise(ordered)
        if (at := created(new)) is not None
    ]


def _template(replica_set: KubeObject) -> KubeObject:
    template = mapping(mapping(replica_set.get("spec")).get("template"))
    return mapping(template.get("spec"))


def _by(workload: KubeObject, at: float) -> str | None:
    """Who changed the template: the manager whose last change is within a minute of it."""
    near = [one for one in people(workload) if abs(at - one.at) <= SAME_CHANGE_SECONDS]
    return near[0].by if near else None


def of_workload(workload: KubeObject, known: Iterable[ChangeRow] = ()) -> list[ChangeRow]:
    """Who edited or scaled it last. An edit that a rollout of `known` followed is told by that, and
    a scaling by what the HPA said of it.
    """
    told = Revisions(workload=workload).called
    count = mapping(workload.get("spec")).get("replicas")
    replicas = f", {count} replicas now" if isinstance(count, int) else ""
    rows = [
        *(
            ChangeRow(at=one.at, kind="workload", what=f"{told} changed", by=one.by)
            for one in people(workload)
            if not _is_first(workload, one.at)
        ),
        *(
            ChangeRow(
                at=one.at,
                kind="scaling",
                what=f"{told} scaled{replicas}",
                by=None if one.by in CONTROLLERS else one.by,
            )
            for one in _scalings(workload)
        ),
    ]
    meanings = {"workload": "rollout", "scaling": "scaling"}
    echoes = [(row.kind, row.at) for row in known if row.at is not None]
    return [
        row
        for row in rows
        if row.at is None
        or not any(
            kind == meanings[row.kind] and abs(at - row.at) <= SAME_CHANGE_SECONDS
            for kind, at in echoes
        )
    ]


def _scalings(workload: KubeObject) -> list[Touched]:
    return [one for one in touches(workload) if one.subresource == "scale"]


def scaled_by_controller(workload: KubeObject) -> bool:
    """Whether one of Kubernetes' own controllers scaled it, as it does for an HPA."""
    return any(one.by in CONTROLLERS for one in _scalings(workload))


def _is_first(workload: KubeObject, at: float) -> bool:
    """Whether it was only created then."""
    born = created(workload)
    return born is not None and at - born <= SAME_CHANGE_SECONDS


def configmaps_of(workload: KubeObject, pods: Sequence[KubeObject]) -> list[str]:
    """The ConfigMaps that the pods use, by name; every namespace's own root certificate is none."""
    template = mapping(mapping(workload.get("spec")).get("template"))
    spec = mapping(template.get("spec")) or mapping(next(iter(pods), {}).get("spec"))
    names = [mapping(one.get("configMap")).get("name") for one in items(spec.get("volumes"))]
    for volume in items(spec.get("volumes")):
        sources = items(mapping(volume.get("projected")).get("sources"))
        names += [mapping(one.get("configMap")).get("name") for one in sources]
    for container in (*items(spec.get("initContainers")), *items(spec.get("containers"))):
        names += _of_env(container)
    wanted = [one for one in names if isinstance(one, str) and one != "kube-root-ca.crt"]
    return list(dict.fromkeys(wanted))


def _of_env(container: KubeObject) -> list[Any]:
    whole = [
        mapping(one.get("configMapRef")).get("name") for one in items(container.get("envFrom"))
    ]
    keys = (mapping(one.get("valueFrom")) for one in items(container.get("env")))
    return [*whole, *(mapping(one.get("configMapKeyRef")).get("name") for one in keys)]


def of_configmap(found: KubeObject) -> list[ChangeRow]:
    """The last change of each manager, with the keys that it holds, and its creation."""
    born, called = created(found), name(found)
    rows = [
        ChangeRow(
            at=one.at,
            kind="configmap",
            what=f"ConfigMap {called} changed{_keys(one.fields)}"[:TEXT_AT_MOST],
            by=one.by or None,
        )
        for one in people(found)
        if not _is_first(found, one.at)
    ]
    if born is not None:
        rows.append(ChangeRow(at=born, kind="configmap", what=f"ConfigMap {called} created"))
    return rows


def _keys(fields: Any) -> str:
    """`: model.yaml, limits`: which keys its last writer holds; "" when that is not told."""
    held = sorted(key.removeprefix("f:") for key in mapping(mapping(fields).get("f:data")))
    named = [key for key in held if key != "."][:3]
    return f": {', '.join(named)}" if named else ""


def of_hpa(
    events: Iterable[KubeObject], scalers: Sequence[KubeObject], workload: str
) -> list[ChangeRow]:
    """What the HPA of this workload did, in its own words. One that can't be read is taken for the
    workload's when it has its name.
    """
    targets = {
        name(one): mapping(mapping(one.get("spec")).get("scaleTargetRef")).get("name")
        for one in scalers
    }
    rows = []
    for event in events:
        scaler = str(mapping(event.get("involvedObject")).get("name") or "")
        at = _last(event)
        if at is None or targets.get(scaler, scaler.removeprefix("keda-hpa-")) != workload:
            continue
        said = str(event.get("message") or "rescaled")
        what = f"HPA {scaler}: {said}"[:TEXT_AT_MOST]
        rows.append(ChangeRow(at=at, kind="scaling", what=what, by=None))
    return rows


def _last(event: KubeObject) -> float | None:
    """When it was last said; only one of three places holds the time."""
    series = mapping(event.get("series")).get("lastObservedTime")
    for place in (series, event.get("lastTimestamp"), event.get("eventTime")):
        at = seconds(place)
        if at is not None:
            return at
    return None
