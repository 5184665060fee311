"""The resolution of a subject as a collector: asked and shown like any other evidence."""

import dataclasses
from dataclasses import dataclass

from tailhound.diagnosis.resolve import Resolved, resolve
from tailhound.flow import Reading
from tailhound.model import Incident


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
