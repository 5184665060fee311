"""An incident: alerts handled together, one message, one page."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import cached_property

from tailhound.model.alert import Alert, Subject, badness
from tailhound.model.people import Feedback, OnIt, Queued, Silenced
from tailhound.model.verdict import Diagnosis, Stage, Symptom


class State(Enum):
    """Where an incident stands. FAILED = tailhound itself failed; the alert stands."""

    DEFERRED = "deferred"
    INVESTIGATING = "investigating"
    DIAGNOSED = "diagnosed"
    MITIGATING = "mitigating"
    RESOLVED = "resolved"
    JOINED = "joined"
    FAILED = "failed"


ASKED_AGAIN_SECONDS = 30.0
"""After a verdict, who did not answer is asked again this often."""

CLOSED_STATES = frozenset({State.RESOLVED, State.JOINED})
"""Nothing more is to be done about it, here."""

OPEN_STATES = tuple(state for state in State if state not in CLOSED_STATES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an investigation is, for the message before the verdict: facts, and no suspect.

    `symptom`, `stages` and `scope` are as in a diagnosis, as far as they are measured; `ruled_out`
    names the runbooks that the evidence so far refutes.
    """

    answered: int
    waiting: int
    failed: int
    ruled_out: tuple[str, ...] = ()
    symptom: Symptom | None = None
    stages: tuple[Stage, ...] = ()
    scope: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """One line of the timeline: UTC time, plain sentence."""

    at: datetime
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Revised:
    """A verdict that late evidence replaced."""

    at: datetime
    was_at: datetime
    was: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recheck:
    """The newest time that a verdict was, or is, asked for once more, by investigation `n`.

    `by` is a plain name, "" = nobody asked: another alert came. `ended_at` is set once it has
    ended; `same`: it came to what was said before.
    """

    n: int
    since: datetime
    by: str = ""
    ended_at: datetime | None = None
    same: bool = False


@dataclass(frozen=True, kw_only=True)
class Incident:
    """Everything that a surface (Slack, web, terminal, JSON) needs to show one incident.

    It has no slots: what is read of thousands of alerts at each word of a message is kept.

    `id` is short and for people (7F3K). `key` groups alerts (see `diagnosis.group`). `episode`
    counts re-fires inside the reopen window, from 1. `n` counts investigations, from 1.
    `revision` grows with every change of what people see. `causes_checked` is the number of
    runbooks that run. `unreadable` holds the reason for a body that was stored raw. `queued` is set
    while it is DEFERRED. `feedback` holds one word per person. `unheard`: nobody said that it is
    over, but nothing was heard of it since `resolved_at`. `diagnosed_in` is the episode of the
    newest verdict, 0 = none, or nobody noted it.
    """

    id: str
    key: str
    subject: Subject
    state: State
    alerts: tuple[Alert, ...]
    received_at: datetime
    revision: int = 0
    episode: int = 1
    n: int = 1
    causes_checked: int = 0
    verdict_by: datetime | None = None
    progress: Progress | None = None
    diagnosis: Diagnosis | None = None
    diagnosed_in: int = 0
    revised: Revised | None = None
    recheck: Recheck | None = None
    resolved_at: datetime | None = None
    previous_resolved_at: datetime | None = None
    joined_into: str = ""
    failed_because: str = ""
    unreadable: str = ""
    truncated_alerts: int = 0
    repeats: int = 0
    mode: str = "observe"
    timeline: tuple[Happened, ...] = ()
    on_it: OnIt | None = None
    silences: tuple[Silenced, ...] = ()
    feedback: tuple[Feedback, ...] = ()
    queued: Queued | None = None
    asked_until: datetime | None = None
    unheard: bool = False

    @property
    def is_open(self) -> bool:
        """Whether there is something to check: it is not over, and was an alert at all."""
        return self.state not in CLOSED_STATES and not self.unreadable

    @property
    def verdict_stands(self) -> bool:
        """Whether its diagnosis is of this episode; that of an earlier one is only what it was."""
        noted = self.diagnosed_in or 1
        return self.diagnosis is not None and noted == self.episode

    @property
    def verdict(self) -> Diagnosis | None:
        """Its diagnosis, where that is of this episode."""
        return self.diagnosis if self.verdict_stands else None

    @property
    def is_rechecked(self) -> bool:
        """Whether it is being checked again while its verdict stands."""
        asked = self.recheck is not None and self.recheck.ended_at is None
        under_way = self.state in (State.INVESTIGATING, State.DEFERRED)
        return self.verdict_stands and (under_way or asked) and self.state is not State.JOINED

    @cached_property
    def firing(self) -> tuple[Alert, ...]:
        """The alerts that still fire."""
        return tuple(alert for alert in self.alerts if alert.ends_at is None)

    @cached_property
    def worst(self) -> Alert | None:
        """The worst alert that fires, of those that are over when none does; None without any.

        It is the same one in whatever order they came: among equals the one that began first.
        """
        return min(self.firing or self.alerts, key=_rank, default=None)

    @cached_property
    def worst_ones(self) -> tuple[Alert, ...]:
        """The worst alert, and those that are as bad, in the order in which they began."""
        alerts = sorted(self.firing or self.alerts, key=_rank)
        return tuple(one for one in alerts if badness(one.rated) == badness(alerts[0].rated))

    @property
    def name(self) -> str:
        """The name of the worst alert, or what stands for it."""
        return self.worst.name if self.worst else "unreadable alert"

    @property
    def severity(self) -> str:
        """The severity of the worst alert; "" without."""
        return self.worst.rated if self.worst else ""

    @property
    def is_page(self) -> bool:
        """Whether the worst alert pages somebody."""
        return self.worst is not None and self.worst.is_page

    @property
    def owners(self) -> tuple[str, ...]:
        """Who looks after what is ill, as the labels of the worst alert say, or of one that is as
        bad, and who keeps the runbooks of the causes that were found; each once.

        A lesser alert names nobody: whoever may write one could take a page to their channel.
        """
        labelled = next((alert.owner for alert in self.worst_ones if alert.owner), "")
        named = self.diagnosis.named if self.diagnosis else ()
        return tuple(dict.fromkeys(filter(None, (labelled, *(cause.owner for cause in named)))))

    @cached_property
    def since(self) -> datetime:
        """The earliest start of its alerts."""
        return min((alert.starts_at for alert in self.alerts), default=self.received_at)


def _rank(alert: Alert) -> tuple[int, datetime, str, str]:
    return badness(alert.rated), alert.starts_at, alert.name, alert.fingerprint
