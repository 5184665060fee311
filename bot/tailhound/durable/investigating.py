"""What an investigator must be able to do: the workflow calls it, a step at a time.

What `resolve`, `collect`, `deepen` and `again` return crosses a checkpoint: plain JSON (dict, list,
text, number, true, false, null), at most 256 KiB. `resolved` may hold `key`: the incident key of
the workload that the subject turned out to be; an open incident of that key takes this one in.
`record` is called for each question that was really asked: request, reply, seconds.
`collect`, `deepen` and `again` return `{"evidence": [...]}` made by `codec.evidence_to_plain`.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from tailhound.durable import gather
from tailhound.flow import Turn
from tailhound.model import Diagnosis, Evidence, Incident, Progress

Plain: TypeAlias = dict[str, Any]
Sketch: TypeAlias = Callable[[], Progress]
"""Makes the report of one moment, with what is measured by then: that takes some milliseconds."""
OnProgress: TypeAlias = Callable[[Progress, Sketch], None]
"""Called with the counts, and with what adds to them what is measured, for whoever shows it."""
Record: TypeAlias = gather.Record


class Investigating(Protocol):
    """Asks and judges for one compiled set of runbooks. Everything honours `turn.deadline`."""

    async def resolve(self, incident: Incident, turn: Turn, *, record: Record) -> Plain:
        """Which pods, nodes and workload the incident is about."""
        ...

    async def collect(
        self,
        incident: Incident,
        resolved: Plain,
        turn: Turn,
        on_progress: OnProgress,
        *,
        record: Record,
    ) -> Plain:
        """Ask all first questions. `on_progress` may be called as often as one likes."""
        ...

    async def deepen(
        self, incident: Incident, resolved: Plain, collected: Plain, turn: Turn, *, record: Record
    ) -> Plain:
        """Ask the conditional questions; only the new evidence comes back."""
        ...

    async def again(
        self,
        incident: Incident,
        resolved: Plain,
        names: Sequence[str],
        turn: Turn,
        *,
        record: Record,
    ) -> Plain:
        """Ask these questions, by the names of their evidence, once more.

        The answer holds `resolved` when the subject turned out to be another one; then its evidence
        is all there is about it.
        """
        ...

    def decide(  # noqa: PLR0913 (three of them describe how the evidence came about)
        self,
        incident: Incident,
        resolved: Plain,
        evidence: Sequence[Evidence],
        *,
        decided_at: datetime,
        at_deadline: bool,
        took_seconds: float,
    ) -> Diagnosis:
        """The verdict on what is there; pure."""
        ...


InvestigatorFor: TypeAlias = Callable[[str], Investigating]
"""The investigator of a compiled set, by its sha256; KeyError when that set can't be loaded."""
