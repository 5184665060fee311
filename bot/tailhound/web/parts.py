"""What the web needs from the rest of tailhound, handed over by the composition root."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from tailhound.model import Incident, State
from tailhound.rules.runbook import Runbook
from tailhound.rules.selftest import Result
from tailhound.settings import Settings
from tailhound.store.accuracy import Accuracy
from tailhound.store.finding import Wanted
from tailhound.web.metrics import Metrics


class Accepted(Protocol):
    """What became of one webhook body, after it was committed."""

    @property
    def incidents(self) -> Sequence[str]:
        """The ids of the incidents that its alerts belong to."""

    @property
    def new(self) -> int:
        """How many of its alerts changed something."""

    @property
    def repeats(self) -> int:
        """How many of them were known already and changed nothing."""

    @property
    def dropped(self) -> Mapping[str, int]:
        """How many start nothing, by the reason."""


class RawOutput(Protocol):
    """One answer as it came, redacted."""

    @property
    def question(self) -> str:
        """What was asked, as in `Asked.question`."""

    @property
    def text(self) -> str:
        """The answer, redacted; at most 256 KiB."""

    @property
    def size(self) -> int:
        """The bytes that were kept."""

    @property
    def truncated(self) -> bool:
        """Whether more came than was kept."""


class Reader(Protocol):
    """Incidents for reading, newest first. Each call blocks, and raises StoreUnavailable."""

    def search(self, wanted: Wanted) -> Sequence[Incident]:
        """The incidents that match, without their evidence."""
        ...

    def alike(self, given: Incident, *, limit: int = 5) -> Sequence[Incident]:
        """Earlier incidents of the same workload or of the same cause, newest first."""
        ...

    def get(self, id: str) -> Incident | None:
        """One incident, None when there is none of that id."""
        ...

    def raw(self, id: str) -> Sequence[RawOutput]:
        """The raw outputs of an incident, in the order in which they were asked."""
        ...

    def revision(self) -> int:
        """A number that grows with every change of what people see."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much there is of what, for the state line and the gauges.

    `unreadable` of the failed incidents stand for bodies that could not be read.
    """

    incidents: Mapping[State, int] = field(default_factory=dict)
    unreadable: int = 0
    outbox_waiting: int = 0
    outbox_refused: int = 0
    outbox_oldest_seconds: float = 0.0

    @property
    def failed(self) -> int:
        """The incidents in which tailhound itself has failed."""
        return self.incidents.get(State.FAILED, 0) - self.unreadable

    @property
    def by_state(self) -> dict[str, int]:
        """Every state's word with its number; `failed` and `unreadable` apart."""
        counted = {state.value: self.incidents.get(state, 0) for state in State}
        return counted | {State.FAILED.value: self.failed, "unreadable": self.unreadable}


class Catalogue(Protocol):
    """The runbooks that are active, and how their files stand. Each call blocks."""

    @property
    def runbooks(self) -> Sequence[Runbook]:
        """Those that are active, by id."""

    def tests(self, runbook: str) -> Sequence[Result]:
        """What came of the tests that an active runbook carries."""
        ...

    def troubles(self) -> Sequence[str]:
        """What differs between the files as they are now and what is active, a sentence each."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthLine:
    """One thing that works or does not. `state` is a few words ("answers", "times out").

    `works` None = nobody knows. `effect` is what is lost by it. `since` is when the state began.
    `section` is the heading that it stands under; `seconds` is how long its answers take. `partly`:
    it is up, and refuses single things.
    """

    name: str
    state: str
    works: bool | None
    detail: str = ""
    effect: str = ""
    fix: str = ""
    since: datetime | None = None
    section: str = "Backends"
    seconds: float | None = None
    partly: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """All changes are stopped. `at` None and `by` "" = nobody knows since when, or by whom.

    `file` is the file that does so, "" = somebody did.
    """

    by: str = ""
    at: datetime | None = None
    why: str = ""
    file: str = ""


async def _nobody_to_tell(_size: int) -> None:
    """Nobody is told about a body that was too large; the counter still counts it."""


async def _nobody_to_ask() -> None:
    """No backend is asked for the health page; it tells what is known."""


def _not_stopped() -> Stop | None:
    return None


def _no_link(_incident: Incident) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The seams of the web. Plain callables may block: they are called in the web's own pool.

    `accept` returns after the commit. `as_json` is what `/api/incidents/{id}` answers. `not_ready`
    lists why the process should get no traffic (the database is asked anyway); empty = ready.
    `oversized` is awaited with the number of bytes when a body was refused for its size, at most
    once in ten minutes. `slack_link` is the address of the incident's message, `slack_home` that of
    the channel; "" without one.
    `clock` is aware, UTC. Without `counts` nothing is said of how many there are. `look` is awaited
    before `health` is told. `stopped` is set while somebody has stopped all changes. `recorded`:
    recordings answer in place of the backends, and every page says so.
    """

    settings: Settings
    accept: Callable[[bytes], Awaitable[Accepted]]
    reader: Reader
    as_json: Callable[[Incident], dict[str, Any]]
    clock: Callable[[], datetime]
    metrics: Metrics
    counts: Callable[[], Counts] | None = None
    not_ready: Callable[[], Sequence[str]] = tuple
    oversized: Callable[[int], Awaitable[None]] = _nobody_to_tell
    catalogue: Catalogue | None = None
    accuracy: Callable[[datetime], Accuracy] | None = None
    look: Callable[[], Awaitable[None]] = _nobody_to_ask
    health: Callable[[], Sequence[HealthLine]] | None = None
    stopped: Callable[[], Stop | None] = _not_stopped
    slack_link: Callable[[Incident], str] = _no_link
    slack_home: Callable[[], str] = str
    recorded: bool = False
