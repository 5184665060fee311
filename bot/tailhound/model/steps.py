"""The steps of a mitigation with what is known of this incident in place of their placeholders.

A runbook writes `kubectl -n NAMESPACE get pod POD`. Steps are pasted into a shell, so only a name
that is no more than a name is filled in, and only where the evidence says which one is meant;
anything else stays a placeholder, which a person has to fill and a shell does not act on.
"""

import re
from collections.abc import Iterable, Mapping

from tailhound.model.alert import Subject
from tailhound.model.evidence import Evidence, EvidenceStatus, FactValue
from tailhound.model.incident import Incident
from tailhound.model.verdict import Cause, Offer

_HOLE = re.compile(r"\b(?:NAMESPACE|POD|CONTAINER|DEPLOYMENT|NODE|DEVICE"
                   r"|CLIENT_NAMESPACE|CLIENT_DAEMONSET|CLIENT_CRONJOB)\b")  # fmt: skip
_CLIENT = re.compile(r"(DaemonSet|CronJob) ([^/\s]+)/([^/\s]+)")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?")
_FACTS = {
    "NAMESPACE": "namespace",
    "POD": "pod",
    "CONTAINER": "container",
    "NODE": "node",
    "DEVICE": "device",
}


def steps(incident: Incident, offer: Offer) -> tuple[str, ...]:
    """The steps of one offer of this incident, filled as far as their names are known."""
    known = _known(incident, offer)
    return tuple(_HOLE.sub(lambda hole: known.get(hole[0], hole[0]), step) for step in offer.steps)


def _known(incident: Incident, offer: Offer) -> Mapping[str, str]:
    diagnosis = incident.diagnosis
    causes = [
        cause
        for cause in (diagnosis.causes if diagnosis else ())
        if any(one.id == offer.id for one in cause.mitigations)
    ]
    place = _place(causes[0], diagnosis.evidence) if diagnosis and causes else {}
    subject = _of_subject(incident.subject)
    if place.get("NAMESPACE", incident.subject.namespace) != incident.subject.namespace:
        subject = {}  # something else than what the alert is about
    elif "POD" in place:
        subject.pop("NODE")  # where the subject is, that pod need not be
    found = {**subject, **place, **_client(diagnosis.evidence if diagnosis else ())}
    return {hole: name for hole, name in found.items() if _NAME.fullmatch(name)}


def _client(evidence: Iterable[Evidence]) -> dict[str, str]:
    """The one client of the API servers that is suspected: `DaemonSet telemetry/agent`."""
    alone = (item.facts for item in evidence if item.facts.get("suspects_count") == 1)
    told = {str(facts["suspect"]) for facts in alone if facts.get("suspect")}
    found = _CLIENT.fullmatch(told.pop()) if len(told) == 1 else None
    if found is None:
        return {}
    return {"CLIENT_NAMESPACE": found[2], f"CLIENT_{found[1].upper()}": found[3]}


def _of_subject(subject: Subject) -> dict[str, str]:
    deployment = subject.workload if subject.workload_label == "deployment" else ""
    return {
        "NAMESPACE": subject.namespace,
        "POD": subject.pod,
        "CONTAINER": subject.container,
        "DEPLOYMENT": deployment,
        "NODE": subject.node,
    }


def _place(cause: Cause, evidence: Iterable[Evidence]) -> dict[str, str]:
    """What the evidence says whose pod or device the cause's sentence names; where two pieces of it
    differ, nothing.
    """
    meant = [
        item.facts
        for item in evidence
        if item.name in cause.evidence
        and item.status is EvidenceStatus.COLLECTED
        and _is_named(item.facts, cause.says)
    ]
    told = {
        hole: {value for facts in meant if isinstance(value := facts.get(key), str) and value}
        for hole, key in _FACTS.items()
    }
    return {hole: values.pop() for hole, values in told.items() if len(values) == 1}


def _is_named(facts: Mapping[str, FactValue], sentence: str) -> bool:
    names = (facts.get(key) for key in ("pod", "device"))
    return any(
        isinstance(name, str)
        and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", sentence) is not None
        for name in names
        if name
    )
