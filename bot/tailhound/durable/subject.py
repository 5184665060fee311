"""The resolution of a subject as a collector: asked and shown like any other evidence."""

import dataclasses
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from tailhound.diagnosis.resolve import Resolved, resolve
from tailhound.durable.investigating import Plain
from tailhound.flow import Reading
from tailhound.model import Incident

SUBJECT = "subject"
"""The name of the evidence that tells how the subject was found."""

RESOLVED = TypeAdapter(Resolved)
"""A resolution as the plain JSON that a durable step returns."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the evidence of a resolution shows: how many pods, and how they were found."""

    pods_count: int | None = None
    found_by: str | None = None


class Resolving:
    """Which pods, nodes and workload an incident is about."""

    name = "tailhound.subject"
    params = Resolved
    facts = Found

    def __init__(self, incident: Incident, start: Resolved) -> None:
        self.resolved = start
        self._incident = incident

    def collect(self, params: Resolved) -> Reading[Found]:
        """Find the subject; the result also stays in `resolved`."""
        first = self._incident.firing or self._incident.alerts
        labels = first[0].labels if first else {}
        self.resolved = dataclasses.replace(
            self.resolved,
            labels=dict(labels),
            cluster=self._incident.subject.cluster,
            namespace=self._incident.subject.namespace,
            workload=self._incident.subject.workload,
            pod=self._incident.subject.pod,
        )
        self.resolved = yield from resolve(self._incident.subject, labels, params)
        return Found(self.resolved.pods_count or None, self.resolved.found_by or None)


_HOW = ("notes", "found_by", "pod_nodes")
"""What may differ between two resolutions that are about the same."""


def about(resolved: Plain) -> dict[str, Any]:
    """What a resolution is about, however it was found."""
    found = resolved["resolved"]
    return {key: found[key] for key in found if key not in _HOW}


def inputs_of(resolved: Plain) -> Resolved:
    """The resolution that a step returned."""
    return RESOLVED.validate_python(resolved["resolved"])


def usual_of(incident: Incident, as_of: datetime) -> tuple[float, ...]:
    """The usual moments that no earlier episode of this incident overlaps."""
    ended = incident.previous_resolved_at
    began = incident.since
    return tuple(
        ago
        for ago in Resolved().usual
        if ended is None or not began.timestamp() <= as_of.timestamp() - ago <= ended.timestamp()
    )
