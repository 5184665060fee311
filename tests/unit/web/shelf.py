"""The parts of a web application for tests: a reader that holds incidents, an intake, a clock."""

from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from tailhound.app import compiled
from tailhound.diagnosis.report import as_json
from tailhound.errors import StoreUnavailable
from tailhound.model import Incident, State, Verdict, telling
from tailhound.rules.runbook import Runbook
from tailhound.rules.selftest import Result, run_tests
from tailhound.settings import Settings
from tailhound.store.accuracy import Accuracy, Record
from tailhound.store.finding import Wanted
from tailhound.web.metrics import Metrics
from tailhound.web.parts import Counts, HealthLine, Parts
from tests.samples.incidents import LISTED
from tests.samples.story import NOW, QUERY, SINCE


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

    def search(self, wanted: Wanted) -> tuple[Incident, ...]:
        """As IncidentReader.search."""
        self._ask("search")
        ordered = sorted(self.incidents, key=lambda one: (-one.received_at.timestamp(), one.id))
        return tuple(one for one in ordered if _is_wanted(one, wanted))[: wanted.limit]

    def alike(self, given: Incident, *, limit: int = 5) -> tuple[Incident, ...]:
        """As IncidentReader.alike: of the same workload, or of the same named cause."""
        self._ask("alike")
        earlier = self.search(Wanted(before=given.received_at, limit=len(self.incidents)))
        named = _named(given)
        found = [one for one in earlier if one.state is not State.JOINED
                 and (one.key == given.key or named & _named(one))]  # fmt: skip
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


@cache
def _shipped() -> tuple[Runbook, ...]:
    return compiled(Settings()).runbooks


@dataclass(frozen=True, slots=True)
class Books:
    """The shipped runbooks, with what is wrong with their files."""

    wrong: tuple[str, ...] = (
        "Not active: cpu-throttling.yaml:25:52: no field on cpu named 'throttle_ratio'",
    )
    runbooks: tuple[Runbook, ...] = field(default_factory=_shipped)

    def tests(self, runbook: str) -> tuple[Result, ...]:
        """What came of the tests that a runbook carries."""
        return run_tests(next(one for one in self.runbooks if one.id == runbook))

    def troubles(self) -> tuple[str, ...]:
        """What is wrong with the files."""
        return self.wrong


RECORD = Accuracy(
    causes={
        "cpu-throttling": Record(
            runbook="cpu-throttling", confirmed=31, right=24, partly=1, wrong=2, missed=1
        ),
        "cold-start": Record(runbook="cold-start", confirmed=4, right=3),
        "gc-pause": Record(runbook="gc-pause", missed=2),
    },
    incidents=41,
    rated=32,
    elsewhere=1,
)
HEALTH = (
    HealthLine(name="Prometheus", state="answers", works=True, detail="40 ms", since=SINCE),
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
        "catalogue": Books(),
        "accuracy": lambda _since: RECORD,
        "health": lambda: HEALTH,
    }
    return Parts(**(wanted | changes))


def _is_wanted(one: Incident, wanted: Wanted) -> bool:
    text = f"{one.id} {one.subject.where} {one.name}".lower()
    return (
        (not wanted.states or one.state in wanted.states)
        and wanted.text.lower() in text
        and wanted.workload.lower() in one.subject.where.lower()
        and (not wanted.cause or wanted.cause in _confirmed(one))
        and (wanted.since is None or one.received_at >= wanted.since)
        and (wanted.before is None or _is_behind(one, wanted.before, wanted.after))
    )


def _confirmed(one: Incident) -> set[str]:
    causes = one.diagnosis.causes if one.diagnosis else ()
    return {cause.runbook for cause in causes if cause.verdict is Verdict.CONFIRMED}


def _named(one: Incident) -> set[str]:
    return {cause.runbook for cause in telling.headline_causes(one.diagnosis)}


def _is_behind(incident: Incident, before: datetime, after: str) -> bool:
    if incident.received_at == before:
        return bool(after) and incident.id > after
    return incident.received_at < before
