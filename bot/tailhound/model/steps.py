"""The steps of a mitigation with what is known of this incident in place of their placeholders.

A runbook writes `kubectl -n NAMESPACE get pod POD`. Steps are pasted into a shell, so only a name
that is no more than a name is filled in, and only where the evidence says which one is meant;
anything else stays a word that a shell does not act on, and a step before all others says where to
find what belongs there.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from tailhound.model.alert import Subject
from tailhound.model.evidence import Evidence, EvidenceStatus, FactValue
from tailhound.model.facts import number_of
from tailhound.model.incident import Incident
from tailhound.model.names import PLAIN_NAME, small
from tailhound.model.verdict import Cause, Diagnosis, Offer

_FOUND_BY = {
    "NAMESPACE": "kubectl get pods -A",
    "POD": "kubectl {scope} get pods",
    "CONTAINER": "kubectl {scope} describe pods",
    "WORKLOAD": "kubectl {scope} get deployments,statefulsets,daemonsets",
    "DEPLOYMENT": "kubectl {scope} get deployments",
    "NODE": "kubectl {scope} get pods -o wide",
    "DEVICE": "lsblk on the node",
    "INTERFACE": "rdma link show on the node",
    "NEW_LIMIT": "half over the limit that the container has",
    "CLIENT_NAMESPACE": "of the client that asks most, as the next step shows",
    "CLIENT_DAEMONSET": "of the client that asks most, as the next step shows",
    "CLIENT_CRONJOB": "of the client that asks most, as the next step shows",
}
"""What differs from case to case, and where to find it while it is not known."""

NAMES = frozenset(_FOUND_BY)
"""What stands in a step for a name of its incident."""

_SYMPTOM = "SYMPTOM"
_HOLE = re.compile(rf"\b(?:{'|'.join((*_FOUND_BY, _SYMPTOM))})\b")
_WORDS = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._/-]{0,60}")
_KINDS = ("CLIENT_DAEMONSET", "CLIENT_CRONJOB")
_PORT = re.compile(r"(\S+) (?:\S+/\d+|([A-Za-z][\w.-]*))")
"""`gpu-1 mlx5_0/1`, an RDMA port of a node; `gpu-1 eth2`, a network interface of one."""

_CLIENT = re.compile(r"(DaemonSet|CronJob) ([^/\s]+)/([^/\s]+)")
_OWNER = re.compile(rf"(?:deployment|statefulset|daemonset)/{PLAIN_NAME.pattern}")
_MOST_CORES = 10_000
_Facts: TypeAlias = Mapping[str, FactValue]
_FACTS = {
    "NAMESPACE": "namespace",
    "POD": "pod",
    "CONTAINER": "container",
    "NODE": "node",
    "DEVICE": "device",
    "WORKLOAD": "workload",
}


def steps(incident: Incident, offer: Offer) -> tuple[str, ...]:
    """The steps of one offer of this incident, filled as far as their names are known."""
    known = _known(incident, offer)
    other = next((kind for kind in _KINDS if kind in known), "")
    meant = [step for step in offer.steps if not other or not _of_another(step, other)]
    told = [_HOLE.sub(lambda hole: known.get(hole[0], hole[0]), step) for step in meant]
    find = _find(meant, known)
    return (find, *told) if find else tuple(told)


def _of_another(step: str, kind: str) -> bool:
    """Whether a step is for another kind of client than the one that is suspected."""
    return any(one in step for one in _KINDS if one != kind) and kind not in step


def _find(steps: Iterable[str], known: Mapping[str, str]) -> str:
    """Where to find the names that are not known; "" where all are."""
    scope = f"-n {known['NAMESPACE']}" if "NAMESPACE" in known else "-A"
    lacking: dict[str, list[str]] = {}
    for hole in dict.fromkeys(hole for step in steps for hole in _HOLE.findall(step)):
        if hole not in known:
            lacking.setdefault(_FOUND_BY[hole].format(scope=scope), []).append(hole)
    where = "; ".join(f"{', '.join(holes)} ({found})" for found, holes in lacking.items())
    return f"Find what is not known here: {where}" if where else ""


def _known(incident: Incident, offer: Offer) -> Mapping[str, str]:
    diagnosis = incident.diagnosis
    causes = [
        cause
        for cause in (diagnosis.causes if diagnosis else ())
        if any(one.id == offer.id for one in cause.mitigations)
    ]
    facts = _collected(causes[0], diagnosis.evidence) if diagnosis and causes else ()
    named = [one for one in facts if _is_named(one, causes[0].says)]
    place = _place(named)
    subject = _of_subject(incident.subject)
    subject |= _owner(diagnosis.workload if diagnosis else "", subject)
    if place.get("NAMESPACE", incident.subject.namespace) != incident.subject.namespace:
        subject = {}  # something else than what the alert is about
    elif "POD" in place:
        subject.pop("NODE")  # where the subject is, that pod need not be
    if any(facts.get("namespace") for facts in named):
        subject.pop("WORKLOAD", None)  # evidence that tells its pod's own namespace tells its owner
    found = {**subject, **place, **_client(facts), **_limit(named, place)}
    known = {hole: name for hole, name in found.items() if _is_one(hole, name)}
    return {**known, _SYMPTOM: _ails(diagnosis)}


def _ails(diagnosis: Diagnosis | None) -> str:
    """What was slow or high, to look at again: `inter-token p99`."""
    name = diagnosis.symptom.name if diagnosis and diagnosis.symptom else ""
    return small(name) if _WORDS.fullmatch(name) else "what the alert tells of"


def _is_one(hole: str, name: str) -> bool:
    """Whether a name is no more than what stands in its place."""
    return (_OWNER if hole == "WORKLOAD" else PLAIN_NAME).fullmatch(name) is not None


def _collected(cause: Cause, evidence: Iterable[Evidence]) -> tuple[_Facts, ...]:
    """What was found of a cause."""
    return tuple(
        item.facts
        for item in evidence
        if item.name in cause.evidence and item.status is EvidenceStatus.COLLECTED
    )


def _limit(named: Iterable[_Facts], place: Mapping[str, str]) -> dict[str, str]:
    """Half over the CPU limit, in thousandths of a core, of the very container that the step is
    for. A limit that stands for several pods (the lowest one) is none of it.
    """
    told = {
        number_of(facts.get("limit_cores"))
        for facts in named
        if "POD" in place
        and "CONTAINER" in place
        and facts.get("pod") == place["POD"]
        and facts.get("container") == place["CONTAINER"]
    } - {None}
    cores = told.pop() if len(told) == 1 else None
    if cores is None or not 0 < cores < _MOST_CORES:
        return {}
    new = round(cores * 1500)
    return {"NEW_LIMIT": f"{new}m"} if new > cores * 1000 else {}


def _client(facts: Iterable[_Facts]) -> dict[str, str]:
    """The one client of the API servers that is suspected: `DaemonSet telemetry/agent`."""
    alone = (one for one in facts if one.get("suspects_count") == 1)
    told = {str(one["suspect"]) for one in alone if one.get("suspect")}
    found = _CLIENT.fullmatch(told.pop()) if len(told) == 1 else None
    if found is None:
        return {}
    return {"CLIENT_NAMESPACE": found[2], f"CLIENT_{found[1].upper()}": found[3]}


def _owner(workload: str, subject: Mapping[str, str]) -> dict[str, str]:
    """What owns the incident's pods: by its labels, else by what was found out."""
    known = subject["WORKLOAD"] or workload
    kind, _, name = known.partition("/")
    return {"WORKLOAD": known, "DEPLOYMENT": name if kind == "deployment" else ""}


def _of_subject(subject: Subject) -> dict[str, str]:
    label = subject.workload_label
    kind = label if label in ("deployment", "statefulset", "daemonset") else ""
    return {
        "NAMESPACE": subject.namespace,
        "POD": subject.pod,
        "CONTAINER": subject.container,
        "WORKLOAD": f"{kind}/{subject.workload}" if kind else "",
        "NODE": subject.node,
    }


def _place(named: Sequence[_Facts]) -> dict[str, str]:
    """What the evidence says whose pod or device the cause's sentence names; where two pieces of it
    differ, nothing.
    """
    told = {
        hole: {value for facts in named if isinstance(value := facts.get(key), str) and value}
        for hole, key in _FACTS.items()
    }
    ports = [
        found
        for facts in named
        if isinstance(port := facts.get("port"), str) and (found := _PORT.fullmatch(port))
    ]
    told["NODE"] |= {port[1] for port in ports}
    told["INTERFACE"] = {port[2] for port in ports if port[2]}
    return {hole: values.pop() for hole, values in told.items() if len(values) == 1}


def _is_named(facts: _Facts, sentence: str) -> bool:
    names = (facts.get(key) for key in ("pod", "device", "port"))
    return any(
        isinstance(name, str)
        and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", sentence) is not None
        for name in names
        if name
    )
