"""What most of the incidents of a storm share, by their labels: a node, a rack, a workload, a
namespace or a zone.

That is where to look first; the incident that began first there is named.
"""

from collections.abc import Mapping
from dataclasses import replace

import sqlalchemy as sa

from tailhound.model import Incident, Queued, Shared, State
from tailhound.store import codec
from tailhound.store.records import Record
from tailhound.store.tables import incident

AT_LEAST = 3
_KINDS = ("node", "rack", "workload", "namespace", "zone")
_LABELS = {
    "rack": ("rack", "topology_kubernetes_io_rack", "label_topology_kubernetes_io_rack"),
    "zone": ("zone", "topology_kubernetes_io_zone", "label_topology_kubernetes_io_zone"),
}
"""Labels under which alerts, and kube-state-metrics, name them."""

CROWD_AT_MOST = 300
"""Incidents that are looked through; in a larger crowd nothing is said of what they share."""

_ACTIVE = (
    sa.select(incident.c.id, incident.c.snapshot)
    .where(incident.c.done < incident.c.n)
    .order_by(incident.c.received_at, incident.c.id)
    .limit(CROWD_AT_MOST + 1)
)


def placed(connection: sa.Connection, begun: Mapping[str, Record]) -> dict[str, Record]:
    """Those of these records that wait their turn, with what more than half of all incidents share
    that wait or run; none where they share nothing.
    """
    waiting = {id: record for id, record in begun.items() if record.incident.queued is not None}
    if not any(record.incident.state is State.DEFERRED for record in waiting.values()):
        return {}
    rows = connection.execute(_ACTIVE).all() if len(begun) <= CROWD_AT_MOST else []
    if len(begun.keys() | {row.id for row in rows}) > CROWD_AT_MOST:
        return {}
    incidents = {row.id: codec.incident_from_json(row.snapshot) for row in rows}
    incidents |= {id: record.incident for id, record in begun.items()}
    shared = common_ground(incidents)
    if shared is None:
        return {}
    crowd = len(incidents)
    return {
        id: record.edited(queued=_with(record.incident.queued, shared, crowd))
        for id, record in waiting.items()
    }


def common_ground(incidents: Mapping[str, Incident]) -> Shared | None:
    """What more than half of these share, and at least AT_LEAST: a node, else its rack, else a
    workload, else a namespace, else a zone. They come in the order in which they began.
    """
    for kind in _KINDS:
        members: dict[tuple[str, ...], list[str]] = {}
        for id, incident_ in incidents.items():
            if home := _home(kind, incident_):
                members.setdefault(home, []).append(id)
        if not members:
            continue
        home, ids = max(members.items(), key=lambda found: len(found[1]))
        if len(ids) >= AT_LEAST and 2 * len(ids) > len(incidents):
            name = "/".join(part for part in home[1:] if part)
            return Shared(kind=kind, name=name, incidents=len(ids), first=ids[0])
    return None


def _home(kind: str, it: Incident) -> tuple[str, ...]:
    """What tells two of a kind apart, the cluster first; () where it is not known."""
    subject = it.subject
    names = {
        "node": (subject.node,),
        "workload": (subject.namespace, subject.workload),
        "namespace": (subject.namespace,),
    }.get(kind) or (_labelled(kind, it),)
    return (subject.cluster, *names) if names[-1] else ()


def _labelled(kind: str, it: Incident) -> str:
    """The rack or the zone that the labels of the worst alert name."""
    labels = it.worst.labels if it.worst else {}
    return next((labels[name] for name in _LABELS[kind] if labels.get(name)), "")


def _with(queued: Queued | None, shared: Shared, crowd: int) -> Queued | None:
    return None if queued is None else replace(queued, shared=shared, incidents=crowd)
