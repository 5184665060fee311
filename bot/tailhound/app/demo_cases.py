"""The recorded incidents of the demo, and who investigates them: each from its own recording."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from tailhound.app.office import recorded
from tailhound.app.plugins import collectors
from tailhound.durable.investigation import Investigator
from tailhound.flow import Transport
from tailhound.model import Incident
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


@dataclass(frozen=True, slots=True)
class Pace:
    """How long the answers of the live one take again: so many times what they took when they were
    recorded, each at most some seconds.
    """

    slower: float
    at_most: float


QUICK = Pace(slower=1, at_most=0.5)
WATCHED = Pace(slower=8, at_most=4)
"""Slow enough to open a page and watch the answers come in."""


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


class Stage(Investigator):
    """Takes each incident's answers from its own recording; what none is of finds nothing."""

    def __init__(
        self, kept: Compiled, settings: Settings, shown: Sequence[DemoCase], pace: Pace
    ) -> None:
        super().__init__(kept, collectors(), (), settings)
        self._replays = {case.labels: _replay(case, pace) for case in shown}
        self._nothing = ReplayTransport(replace(shown[-1].recording, answers=()))

    def transports_for(self, incident: Incident) -> Sequence[Transport]:
        """The recording of this incident."""
        labels = incident.alerts[0].labels if incident.alerts else {}
        return (self._replays.get(frozenset(labels.items()), self._nothing),)


def _replay(case: DemoCase, pace: Pace) -> ReplayTransport:
    if not case.is_live:
        return ReplayTransport(case.recording)
    return ReplayTransport(case.recording, pace=pace.at_most, slower=pace.slower)


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
