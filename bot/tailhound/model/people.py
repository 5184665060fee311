"""What people do to an incident: who is on it, what is silenced, what the cause really was."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum


@dataclass(frozen=True, slots=True, kw_only=True)
class OnIt:
    """Somebody looks after it. `by` is a plain name, never a mention; `person` is their id."""

    by: str
    since: datetime
    person: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Silenced:
    """A silence in Alertmanager. `id` is Alertmanager's; `alerts` fired when it was set.

    `ended_at` is set once somebody ended it, or it ran out. `trouble` says why it could not be
    ended; without an `id`, why it does not stand: it was asked for, and nothing came of it.
    `asked` stands for what it mutes: equal for two that mute the same.
    """

    id: str
    by: str
    until: datetime
    alerts: int
    ended_at: datetime | None = None
    trouble: str = ""
    asked: str = ""

    def holds(self, now: datetime) -> bool:
        """Whether it still mutes something."""
        return bool(self.id) and self.ended_at is None and now < self.until

    def failed(self, now: datetime) -> bool:
        """Whether it does not stand, at a time at which it would still mute."""
        return not self.id and now < self.until


class Rating(Enum):
    """What a person says of a diagnosis."""

    RIGHT = "right"
    PARTLY = "right, but not the whole story"
    WRONG = "wrong"
    UNSURE = "can't tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """One person's word on what it really was. `cause` is a runbook's id, "" = not in the list.

    A person's later word replaces the earlier one: `person` is their id. `said_primary` is the
    primary cause that was shown when it was given, "" = none was confirmed.
    """

    rating: Rating
    cause: str
    note: str
    by: str
    at: datetime
    said_primary: str = ""
    person: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What most incidents of a storm have in common, by their labels.

    `kind` is "node" | "rack" | "workload" | "namespace" | "zone". `incidents` of them share it,
    and of those the one with the id `first` began first.
    """

    kind: str
    name: str
    incidents: int
    first: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """Its place among the incidents that wait in a storm, 1 = next.

    `alerts` came within `seconds` and made `incidents` incidents; `starts_by` is an estimate.
    `shared` is what more than half of them have in common, None = nothing.
    """

    place: int
    incidents: int
    alerts: int
    seconds: int
    starts_by: datetime
    shared: Shared | None = None
