"""The recorded incidents of the demo, and who investigates them: each from its own recording."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from tailhound.app.office import recorded
from tailhound.app.plugins import collectors
from tailhound.durable.investigating import Investigating, OnProgress, Plain, Record
from tailhound.durable.investigation import Investigator
from tailhound.flow import Turn
from tailhound.model import Diagnosis, Evidence, Incident
from tailhound.model.facts import Sample
from tailhound.requests import Ranged
from tailhound.rules.loading import Compiled
from tailhound.settings import Settings
from tailhound.shipped import shipped
from tailhound.transports.recording import Answer, Recording
from tailhound.transports.replay import ReplayTransport

LIVE = "cpu-throttling.json"
BEFORE = (
    "cold-start.json.gz",
    "batching-delay.json.gz",
    "no-cause.json.gz",
    "kv-preemption.json.gz",
)
"""What has happened before the live one, in this order."""

ENDED = "cold-start.json.gz"
"""The one that is resolved by now."""

PACE_SECONDS = 0.5
"""The longest that an answer of the live one takes again, so that it can be watched."""


Labels: TypeAlias = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class DemoCase:
    """A recorded incident, moved to now."""

    name: str
    recording: Recording

    @property
    def labels(self) -> Labels:
        """What tells its incident from the others."""
        return frozenset(self.recording.alert["alerts"][0]["labels"].items())

    @property
    def is_live(self) -> bool:
        """Whether it is the one to watch."""
        return self.name == LIVE

    def resolved(self, at: datetime) -> dict[str, Any]:
        """The body that ends it."""
        body = self.recording.alert
        ended = [{**one, "status": "resolved", "endsAt": at.isoformat()} for one in body["alerts"]]
        return {**body, "status": "resolved", "alerts": ended}


def cases(now: datetime) -> tuple[DemoCase, ...]:
    """All recorded incidents, the live one last."""
    return tuple(
        DemoCase(name, moved_to(recorded(shipped("demo") / name), now)) for name in (*BEFORE, LIVE)
    )


class Stage:
    """An investigator that takes each incident's answers from its own recording."""

    def __init__(self, parts: Mapping[Labels, Investigating], other: Investigating) -> None:
        self._parts = parts
        self._other = other

    async def resolve(self, incident: Incident, turn: Turn, *, record: Record) -> Plain:
        """See `Investigating`."""
        return await self._of(incident).resolve(incident, turn, record=record)

    async def collect(
        self,
        incident: Incident,
        resolved: Plain,
        turn: Turn,
        on_progress: OnProgress,
        *,
        record: Record,
    ) -> Plain:
        """See `Investigating`."""
        part = self._of(incident)
        return await part.collect(incident, resolved, turn, on_progress, record=record)

    async def deepen(
        self, incident: Incident, resolved: Plain, collected: Plain, turn: Turn, *, record: Record
    ) -> Plain:
        """See `Investigating`."""
        return await self._of(incident).deepen(incident, resolved, collected, turn, record=record)

    async def again(
        self,
        incident: Incident,
        resolved: Plain,
        names: Sequence[str],
        turn: Turn,
        *,
        record: Record,
    ) -> Plain:
        """See `Investigating`."""
        return await self._of(incident).again(incident, resolved, names, turn, record=record)

    def decide(  # noqa: PLR0913 - as in `Investigating`
        self,
        incident: Incident,
        resolved: Plain,
        evidence: Sequence[Evidence],
        *,
        decided_at: datetime,
        at_deadline: bool,
        took_seconds: float,
    ) -> Diagnosis:
        """See `Investigating`."""
        return self._of(incident).decide(
            incident,
            resolved,
            evidence,
            decided_at=decided_at,
            at_deadline=at_deadline,
            took_seconds=took_seconds,
        )

    def _of(self, incident: Incident) -> Investigating:
        labels = incident.alerts[0].labels if incident.alerts else {}
        return self._parts.get(frozenset(labels.items()), self._other)


def staged(shown: Sequence[DemoCase], settings: Settings) -> Callable[[Compiled], Investigating]:
    """Makes the demo's investigator. What no recording is of finds nothing in any."""

    def make(kept: Compiled) -> Investigating:
        def of(recording: Recording, pace: float) -> Investigator:
            replay = ReplayTransport(recording, pace=pace)
            return Investigator(kept, collectors(), (replay,), settings)

        parts = {
            case.labels: of(case.recording, PACE_SECONDS if case.is_live else 0.0) for case in shown
        }
        nothing = replace(shown[-1].recording, answers=())
        return Stage(parts, of(nothing, 0.0))

    return make


def moved_to(recording: Recording, now: datetime) -> Recording:
    """The recording as if it had been made now: samples and alerts move by the same time."""
    by = now - recording.as_of
    return replace(
        recording,
        as_of=now,
        alert=_moved_alert(recording.alert, by),
        answers=tuple(
            Answer(answer.request, _moved_reply(answer.reply, by.total_seconds()), answer.took)
            for answer in recording.answers
        ),
    )


def _moved_reply(reply: Any, seconds: float) -> Any:
    if isinstance(reply, tuple) and reply and isinstance(reply[0], Ranged):
        return tuple(
            Ranged(one.labels, tuple(Sample(s.at + seconds, s.value) for s in one.samples))
            for one in reply
        )
    return reply


def _moved_alert(body: Any, by: timedelta) -> Any:
    alerts = [
        {**alert, "startsAt": (datetime.fromisoformat(alert["startsAt"]) + by).isoformat()}
        for alert in body["alerts"]
    ]
    return {**body, "alerts": alerts}
