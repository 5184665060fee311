"""Alerts -> incidents: what an alert is about and the key that it joins by. Labels alone, no I/O.

No key holds `startsAt` or a fingerprint: a pair of Prometheus servers differs in both.
"""

import hashlib
import json
import re
from dataclasses import replace

from tailhound.model import Alert, AlertGroup, Incident, Subject, SubjectKind, badness
from tailhound.settings import Incidents

EXPORTER_JOBS = re.compile(r"(^|[-/])(node-exporter|dcgm-exporter|kubelet|apiserver|etcd|coredns)$")
"""Jobs whose `namespace`, `pod`, `service` and `container` describe the exporter itself, unless the
scrape honours labels; for those the `exported_` spelling or the node counts. cAdvisor's job is
`kubelet`, but its alerts keep the container's own namespace and pod (kubernetes-mixin)."""

PLACES = ("namespace", "pod", "container", "node")
"""Labels that say where an alert belongs, beside those of its workload and cluster."""

_OWN_LABELS = frozenset({"kubelet"})
_RANDOM = "[bcdfghjklmnpqrstvwxz2456789]"  # the letters that Kubernetes makes suffixes from
_HASHED = re.compile(
    rf"^(?P<name>.+?)-(?:{_RANDOM}{{6,10}}-{_RANDOM}{{5}}|{_RANDOM}{{5}}|\d{{1,5}})$"
)
_READABLE = re.compile(r"[A-Za-z0-9._:/-]{1,200}")


def why_ignored(alert: Alert, settings: Incidents) -> str | None:
    """The reason why this alert starts nothing, or None."""
    if alert.name in settings.ignore:
        return f"{alert.name} is in incidents.ignore"
    if at_site(alert, settings).severity == "none":
        return "severity is none"
    return None


def at_site(alert: Alert, settings: Incidents) -> Alert:
    """The alert with what its labels mean at this site: how bad it is, and whose it is."""
    if alert.is_by_hand:
        return replace(alert, severity="")
    told = alert.labels.get(settings.severity_label, "")
    named = (alert.labels[name] for name in settings.owner_labels if alert.labels.get(name))
    owner = next(named, "")
    return replace(
        alert,
        severity=settings.severities.get(told, told)[:40],
        owner=settings.owners.get(owner, owner)[:80],
    )


def subject_of(alert: Alert, settings: Incidents) -> Subject:
    """What the alert is about, by the label order deployment, ..., model_name, pod, node."""
    labels = _about(alert)
    named = (labels[name] for name in settings.cluster_labels if labels.get(name))
    cluster = next(named, settings.cluster)
    common = {
        "cluster": cluster,
        "namespace": labels.get("namespace", ""),
        "pod": labels.get("pod", ""),
        "container": labels.get("container", ""),
        "node": labels.get("node", "") or labels.get("Hostname", "") or labels.get("hostname", ""),
    }
    for name in settings.workload_labels:
        if labels.get(name):
            return Subject(
                kind=SubjectKind.WORKLOAD, workload=labels[name], workload_label=name, **common
            )
    if common["pod"]:
        return Subject(kind=SubjectKind.POD, workload=without_hash(common["pod"]), **common)
    if not common["node"]:
        common["node"] = labels.get("instance", "").rsplit(":", 1)[0]
    kind = SubjectKind.NODE if common["node"] else SubjectKind.GROUP
    return Subject(kind=kind, **common)


def telling_labels(settings: Incidents) -> tuple[str, ...]:
    """The labels that say what an alert is about here; no severity is among them."""
    named = dict.fromkeys((*PLACES, *settings.workload_labels, *settings.cluster_labels))
    return tuple(name for name in named if name not in ("severity", settings.severity_label))


def key_of(subject: Subject, group: AlertGroup) -> str:
    """The incident's key: cluster, namespace and workload, else Alertmanager's group key."""
    if subject.workload:
        return workload_key(subject.cluster, subject.namespace, subject.workload)
    return _key("group", subject.cluster, group.group_key)


def without_hash(pod: str) -> str:
    """A pod's name without the suffix of its ReplicaSet, DaemonSet or StatefulSet ordinal."""
    match = _HASHED.match(pod)
    return match["name"] if match else pod


def _about(alert: Alert) -> dict[str, str]:
    """The alert's labels, with those that describe an exporter put aside."""
    labels = dict(alert.labels)
    exported = {
        name.removeprefix("exported_"): value
        for name, value in labels.items()
        if name.startswith("exported_") and value
    }
    job = labels.get("job", "")
    match = EXPORTER_JOBS.search(job)
    if exported.get("pod") or (match and match[2] not in _OWN_LABELS):
        for name in ("namespace", "pod", "service", "container"):
            labels.pop(name, None)
    if labels.get("service") and labels.get("service") in (job, "kube-state-metrics", "kubelet"):
        labels.pop("service")
    return labels | exported


def _key(*parts: str) -> str:
    readable = f"{parts[0]}:{'/'.join(parts[1:])}"
    if _READABLE.fullmatch(readable) and not any("/" in part for part in parts):
        return readable
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    return f"{parts[0]}:sha256:{digest}"


def nodes_of(incident: Incident, settings: Incidents) -> tuple[str, ...]:
    """The nodes that the alerts of a node incident name: the most severe alerts' first."""
    if incident.subject.kind is not SubjectKind.NODE:
        return ()
    alerts = incident.firing or incident.alerts
    worst = sorted(alerts, key=lambda alert: badness(alert.rated))
    return tuple(dict.fromkeys(filter(None, (subject_of(a, settings).node for a in worst))))


def workload_key(cluster: str, namespace: str, workload: str) -> str:
    """The key of an incident about this workload; "" when it has no name."""
    return _key("workload", cluster, namespace, workload) if workload else ""
