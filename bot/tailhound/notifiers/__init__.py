"""Incidents out: what a notifier is, and what the outbox hands to it.

The outbox (`durable.outbox`) claims a row before it calls a notifier and records the result after;
a notifier only renders the incident and talks to its service.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from tailhound.model import Incident

TIMELINE, EVIDENCE, CHARTS, FILE = "timeline", "evidence", "charts", "file"
PARTS = (TIMELINE, EVIDENCE, CHARTS, FILE)
"""The posts in the thread of an incident that has a verdict, in their order. Charts and files are
never edited: what follows on them has a name of its own, `charts:2.14`, `file:resolved:1`.
"""

EVENT = "event:"
"""How the name of a post begins that people must notice: `event:reopened:2`."""

STORM = "storm"
"""The part that is no incident's: one message for all incidents that a channel has no room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """What a storm's message tells: since when, how many incidents there were, how many of them
    have no message of their own, and the worst of those that are still open.
    """

    since: datetime
    incidents: int
    held: int
    worst: tuple[Incident, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Like:
    """An earlier incident of the same cause: its id, when it came in, and the cause's runbook."""

    id: str
    at: datetime
    cause: str


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One incident to show in one place, in its newest state.

    `place` is the notifier's own address ("C0123" for Slack). `message` is the id of the message
    that stands already (Slack's ts), "" before the first post. `unsure` is true when an earlier
    post was sent and its answer never seen: the notifier looks for it before it posts again.
    `lost_posts` counts those posts: where nothing can be looked up, there is a second one but
    never a third. `urgent` is true for news that people wait for: a verdict, what became of a
    click, a resolution. `delayed_by` is what kept the first post back, "" = nothing, or nobody
    told. `instead_of` names the places of this incident that refuse it, where this one stands
    in for them. `like` is an earlier incident of the same cause, None where there is none, or
    no cause was found. `holds` is asked right before each call that people can see the effect
    of: once it is false another replica has taken the message over, and this one leaves it.
    """

    id: int
    incident: Incident
    place: str
    message: str = ""
    attempt: int = 1
    unsure: bool = False
    lost_posts: int = 0
    part: str = ""
    thread: str = ""
    mention: str = ""
    seen: str = ""
    storm: Storm | None = None
    posted_at: float = 0.0
    delayed_by: str = ""
    urgent: bool = False
    instead_of: tuple[str, ...] = ()
    like: Like | None = None
    holds: Callable[[], bool] = field(default=_always, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Posted:
    """The message stands in `place` under the id `message`; `seen` is a short hash of what it says.

    A part that has nothing to say yet is `Posted` with an empty `message`: it is asked again when
    the incident changes. `called` is false when the service was not asked to show anything, as all
    stands already or there is nothing to show: that says nothing about whether it takes messages.
    `loose` is true when there is no thread where it was to hang: it stands in the place itself.
    """

    place: str
    message: str
    seen: str = ""
    called: bool = True
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Later:
    """Not now (rate limit, outage, answer lost): try again after `seconds`.

    `unsure` is true when the call was sent and nobody knows whether it took effect; `lost_posts`
    then counts all posts of this message that nobody answered, as far as the notifier knows.
    `only_this` is true when other messages of the same place need not wait (this one was edited a
    moment ago).
    """

    seconds: float
    why: str
    unsure: bool = False
    only_this: bool = False
    lost_posts: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """Never like this (channel archived, token revoked): `why` names what a person must do.

    `only_this` is true when other messages of the same place may still get through, `everywhere`
    when no other place of the same service takes anything either.
    """

    why: str
    only_this: bool = False
    everywhere: bool = False


def pause(delivery: Delivery, at_most: float) -> float:
    """Seconds before the next attempt: 1, 2, 4, ..."""
    return min(at_most, float(2 ** min(9, max(0, delivery.attempt - 1))))


def uncalled(delivery: Delivery, message: str | None = None, seen: str | None = None) -> Posted:
    """Nothing had to be shown: what stands, stands."""
    return Posted(
        delivery.place,
        delivery.message if message is None else message,
        delivery.seen if seen is None else seen,
        called=False,
    )


class Notifier(Protocol):
    """Shows incidents somewhere. `deliver` never raises for trouble of the service."""

    name: str

    async def deliver(self, delivery: Delivery) -> Posted | Later | Refusal:
        """Post the incident, or edit the message that stands."""
        ...
