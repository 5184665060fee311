"""What most of the incidents of a storm share: a node, a workload or a namespace, by their labels.

That is where to look first; the incident that began first there is named.
"""

from collections.abc import Mapping
from dataclasses import replace

import sqlalchemy as sa

from tailhound.model import Queued, Shared, State, Subject
from tailhound.store import codec
from tailhound.store.records import Record
from tailhound.store.tables import incident

AT_LEAST = 3
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
    subjects = {row.id: codec.incident_from_json(row.snapshot).subject for row in rows}
    subjects |= {id: record.incident.subject for id, record in begun.items()}
    shared = common_ground(subjects)
    if shared is None:
        return {}
    crowd = len(subjects)
    return {
        id: record.edited(queued=_with(record.incident.queued, shared, crowd))
        for id, record in waiting.items()
    }


def common_ground(subjects: Mapping[str, Subject]) -> Shared | None:
    """What more than half of these share, and at least AT_LEAST: a node, else a workload, else a
    namespace. The incidents come in the order in which they began.
    """
    for kind in ("node", "workload", "namespace"):
        members: dict[tuple[str, ...], list[str]] = {}
        for id, subject in subjects.items():
            if getattr(subject, kind):
                members.setdefault(_home(kind, subject), []).append(id)
        if not members:
            continue
        home, ids = max(members.items(), key=lambda found: len(found[1]))
        if len(ids) >= AT_LEAST and 2 * len(ids) > len(subjects):
            name = "/".join(part for part in home[1:] if part)
            return Shared(kind=kind, name=name, incidents=len(ids), first=ids[0])
    return None


def _home(kind: str, subject: Subject) -> tuple[str, ...]:
    """What tells two of a kind apart, the cluster first."""
    names = {
        "node": (subject.node,),
        "workload": (subject.namespace, subject.workload),
        "namespace": (subject.namespace,),
    }
    return (subject.cluster, *names[kind])


def _with(queued: Queued | None, shared: Shared, crowd: int) -> Queued | None:
    return None if queued is None else replace(queued, shared=shared, incidents=crowd)
