"""What people in Slack can set in motion or ask: the seam to the rest, filled by `tailhound.app`.

Each call blocks, is made from a thread of its own, and may raise a TailhoundError. What stores
something returns once it is stored; LookupError means that there is no such incident.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tailhound.actions.silence import Matcher
from tailhound.durable.acts import Click, Person
from tailhound.durable.silences import Wish
from tailhound.durable.switch import Moved, Seen, Stopped
from tailhound.model import Alert, Incident, Missing, Rating
from tailhound.rules.runbook import Runbook
from tailhound.settings import Role
from tailhound.store.history import Month, Past


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """What a person says of a diagnosis. `cause` is a runbook's id, "" = not in the list."""

    rating: Rating
    cause: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What came of a diagnosis that somebody asked for.

    `incident` "" = it starts nothing, for the reason `why_not`. `joined` = that incident was open
    already. `channels` are those in which its message stands, one at least for each incident;
    `seconds` is when its verdict comes.
    """

    incident: str
    joined: bool = False
    channels: tuple[str, ...] = ()
    seconds: float = 0.0
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of tailhound or of what it asks: its name, how it stands, whether it works."""

    name: str
    state: str
    works: bool | None


@dataclass(frozen=True, slots=True)
class Open:
    """The newest of the open incidents, without their evidence, and how many are open at all.

    `links` has the address of each that has one, by id.
    """

    listed: Sequence[Incident]
    amount: int
    links: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What the home tab shows. `last` is the incident that ended last, None without any; its
    address is among those of `open`.
    """

    open: Open
    last: Incident | None
    month: Month
    parts: Sequence[Part]
    stopped: Stopped | None


class Whereabouts(Protocol):
    """Where incidents stand in Slack, and which one stands there."""

    def links(self, incidents: Sequence[Incident]) -> Mapping[str, str]:
        """The address of each that has one, by id: of its message, else of its page."""
        ...

    def page(self, id: str) -> str:
        """The address of an incident's page, "" without one."""
        ...

    def at(self, channel: str, message: str) -> str:
        """The id of the incident whose message, or post in its thread, this is; "" for none."""
        ...

    def here(self, channel: str) -> Sequence[Incident]:
        """The open incidents whose message stands in a channel, the newest first."""
        ...

    def lately(self) -> Sequence[Incident]:
        """The newest incidents, those that are open before the others."""
        ...


class Deeds(Protocol):
    """The rest of tailhound, as far as people in Slack reach it."""

    @property
    def mode(self) -> str:
        """`observe`, `shadow` or `one-click`."""

    @property
    def page(self) -> str:
        """Where the pages are, "" = nowhere that people could reach."""

    @property
    def can_silence(self) -> bool:
        """Whether there is an Alertmanager to set silences in."""

    @property
    def approvals(self) -> Mapping[str, Role]:
        """Who may approve changes and end a stop, by role."""

    @property
    def runbooks(self) -> Sequence[Runbook]:
        """The active ones, by id."""

    @property
    def whereabouts(self) -> Whereabouts:
        """Where incidents stand."""

    def on_it(self, pressed: Click) -> bool:
        """Somebody looks after it; False when that very click was known."""
        ...

    def off_it(self, pressed: Click) -> bool:
        """They look after it no more; False when that very click was known."""
        ...

    def recheck(self, pressed: Click) -> bool | str:
        """Ask everything again; False when that very click was known. A sentence that says why not
        where the incident is over.
        """
        ...

    def rate(self, pressed: Click, word: Word) -> bool:
        """What it really was; False when that very click was known."""
        ...

    def agree(self, pressed: Click, shown: str) -> bool | None:
        """The diagnosis was right; False when that very click was known.

        None when another diagnosis stands than the one that was shown: nothing is stored. `shown`
        is its mark, "" = not known.
        """
        ...

    def check_now(self, incident: str) -> bool:
        """Do not let it wait its turn; False when it does not wait. It gets its own message."""
        ...

    def silence(self, pressed: Click, wish: Wish) -> bool:
        """Set a silence; False when that very click was known."""
        ...

    def end_silence(self, pressed: Click, remote_id: str) -> bool:
        """End one of the incident's own; False when it has ended, or that very click was known."""
        ...

    def stop(self, person: Person, why: str, envelope: str) -> Moved:
        """Stop all changes; what came of it. The same envelope moves nothing a second time."""
        ...

    def resume(self, envelope: str, seen: Seen) -> Moved:
        """Allow changes again, unless they are stopped otherwise than was `seen`; what came of it.
        The same envelope moves nothing a second time."""
        ...

    def diagnose(self, person: Person, labels: Mapping[str, str]) -> Begun:
        """Check something that no alert has come for."""
        ...

    def incident(self, id: str) -> Incident | None:
        """One incident, with everything that is known."""
        ...

    def open(self) -> Open:
        """The open incidents, the newest first."""
        ...

    def stopped(self) -> Stopped | None:
        """The stop switch."""
        ...

    def parts(self) -> Sequence[Part]:
        """How the backends stand."""
        ...

    def overview(self) -> Overview:
        """What the home tab shows."""
        ...

    def past(self, matchers: Sequence[Matcher], but: str) -> Past:
        """What these matchers would have muted lately, without this incident."""
        ...

    def firing(self, matchers: Sequence[Matcher]) -> tuple[Alert, ...] | Missing:
        """What they would mute now, silenced or not, by Alertmanager; within about five seconds.

        Labels are as they are, to be compared: whoever shows one redacts it.
        """
        ...

    def why_no_run(self, labels: Mapping[str, str]) -> str:
        """Why `run` of these labels would be refused now; "" when it would not. It asks nobody."""
        ...

    def run(self, runbook: str, labels: Mapping[str, str]) -> Incident:
        """Check one cause of one thing; nothing is stored. It takes as long as a verdict."""
        ...
