"""The parts of a web application for tests: a reader that holds incidents, an intake, a clock."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tailhound.diagnosis.report import as_json
from tailhound.errors import StoreUnavailable
from tailhound.model import Incident, State
from tailhound.settings import Settings
from tailhound.web.metrics import Metrics
from tailhound.web.parts import Counts, HealthLine, Parts, RunbookLine
from tests.samples.causes import THROTTLING
from tests.samples.incidents import LISTED
from tests.samples.story import NOW, QUERY


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A raw output as the store gives it."""

    question: str
    text: str
    size: int
    truncated: bool = False


@dataclass(slots=True)
class Shelf:
    """A reader that holds incidents in memory; `down` = it refuses like a database that is gone."""

    incidents: tuple[Incident, ...] = LISTED
    outputs: tuple[Output, ...] = (Output(question=QUERY, text="chat-json-2 1\n", size=14),)
    at: int = 41
    down: bool = False
    asked: list[str] = field(default_factory=list)

    def list(
        self,
        *,
        limit: int = 50,
        states: Sequence[State] = (),
        text: str = "",
        before: datetime | None = None,
        after: str = "",
    ) -> tuple[Incident, ...]:
        """As IncidentReader.list."""
        self._ask("list")
        found = [
            incident
            for incident in sorted(
                self.incidents, key=lambda one: (-one.received_at.timestamp(), one.id)
            )
            if (not states or incident.state in states)
            and text.lower() in f"{incident.id} {incident.subject.where} {incident.name}".lower()
            and (before is None or _is_behind(incident, before, after))
        ]
        return tuple(found[:limit])

    def get(self, id: str) -> Incident | None:
        """As IncidentReader.get."""
        self._ask("get")
        return next((one for one in self.incidents if one.id == id.upper()), None)

    def raw(self, id: str) -> tuple[Output, ...]:
        """As IncidentReader.raw."""
        self._ask("raw")
        return self.outputs if id.upper() == "8R5W" else ()

    def revision(self) -> int:
        """As IncidentReader.revision."""
        self._ask("revision")
        return self.at

    def counts(self) -> Counts:
        """How many incidents there are of each state."""
        self._ask("counts")
        states = [incident.state for incident in self.incidents]
        return Counts(
            incidents={state: states.count(state) for state in State},
            outbox_waiting=3,
            outbox_oldest_seconds=1.5,
        )

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if self.down:
            raise StoreUnavailable("tailhound.db is locked")


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an intake answers."""

    incidents: tuple[str, ...] = ("7F3K",)
    new: int = 1
    repeats: int = 0
    dropped: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Intake:
    """An intake that remembers the bodies it was given."""

    bodies: list[bytes] = field(default_factory=list)
    receipt: Receipt = Receipt()
    raises: Exception | None = None

    async def accept(self, body: bytes) -> Receipt:
        """As Intake.accept."""
        if self.raises is not None:
            raise self.raises
        self.bodies.append(body)
        return self.receipt


RUNBOOKS = (
    RunbookLine(id="cpu-throttling", title=THROTTLING.title, owner="sre-platform", tests="7 of 7"),
    RunbookLine(
        id="kv-preemption",
        title="The KV cache is full",
        owner="llm-serving",
        status="draft",
        tests="9 of 9",
        trouble="cpu_throttling.yaml:25:52: no field on cpu named 'throttle_ratio'",
    ),
)
HEALTH = (
    HealthLine(name="Prometheus", state="answers", works=True, detail="40 ms"),
    HealthLine(
        name="SSH to gpu-node-7",
        state="times out",
        works=False,
        effect="1 cause can't be checked there",
        fix="tailhound doctor ssh gpu-node-7",
    ),
)


def parts(shelf: Shelf | None = None, intake: Intake | None = None, **changes: Any) -> Parts:
    """The parts of a web application on a shelf of incidents."""
    shelf = shelf or Shelf()
    wanted: dict[str, Any] = {
        "settings": Settings(),
        "accept": (intake or Intake()).accept,
        "reader": shelf,
        "as_json": as_json,
        "clock": lambda: NOW,
        "metrics": Metrics(),
        "counts": shelf.counts,
        "runbooks": lambda: RUNBOOKS,
        "health": lambda: HEALTH,
    }
    return Parts(**(wanted | changes))


def _is_behind(incident: Incident, before: datetime, after: str) -> bool:
    if incident.received_at == before:
        return bool(after) and incident.id > after
    return incident.received_at < before
