"""What a message says of the alerts and their place. Pure; every text is escaped."""

from dataclasses import dataclass
from datetime import datetime

from tailhound.model import Incident, Progress, may_change
from tailhound.model.incident import ASKED_AGAIN_SECONDS
from tailhound.model.names import cause_name, grave, plural
from tailhound.model.wording import clock, day_clock, duration
from tailhound.notifiers import Like
from tailhound.slack.escape import Mrkdwn
from tailhound.slack.ink import Ink, ago
from tailhound.slack.look import WORDS, look_of

_ALIKE = 3
"""How terse a last line is that goes without an earlier incident."""

_CLUSTER = 2
"""How terse a notification is that goes without the cluster; the message names it in any case."""


@dataclass(frozen=True, slots=True)
class AlertView:
    """What a template may ask. `ink` says how long values and lists may be.

    `page`: the page has an address, which is `page_url` where it is to be linked. `asks`: people's
    clicks reach tailhound. `posted_at` is the Unix time of the first post, 0 before it,
    `delayed_by` what kept it back. `notes` are what else there is to know about this message:
    tailhound's own trouble, an annotation that was not followed. `like` is an earlier incident
    of the same cause. `said_ink` is the room for what people say, where that is less than for the
    rest; `said_below`: the last line tells it, for want of room above.
    """

    incident: Incident
    now: datetime
    ink: Ink
    page: bool
    asks: bool = True
    posted_at: float = 0.0
    delayed_by: str = ""
    notes: tuple[str, ...] = ()
    like: Like | None = None
    page_url: str = ""
    said_ink: Ink | None = None
    said_below: bool = False

    @property
    def look(self) -> str:
        """The mock-up's name."""
        return look_of(self.incident).value

    @property
    def word(self) -> str:
        """The state in words: `🎯 Cause found`."""
        return WORDS[look_of(self.incident)]

    @property
    def alert(self) -> Mrkdwn:
        """The name of the worst alert."""
        return self.ink.value(self.incident.name)

    @property
    def where(self) -> Mrkdwn:
        """`llm/chat-json`."""
        return self.ink.value(self.incident.subject.where)

    @property
    def cluster(self) -> Mrkdwn:
        """`eu-1`; "" where the labels name no cluster."""
        return self.ink.value(self.incident.subject.cluster)

    @property
    def where_of_all(self) -> Mrkdwn:
        """`llm/chat-json (eu-1)`: with its cluster, where there is room for it."""
        cluster = self.cluster if self.ink.terse < _CLUSTER else Mrkdwn("")
        return Mrkdwn(f"{self.where} ({cluster})") if cluster else self.where

    @property
    def terse(self) -> int:
        """How many of the lesser things a text has to do without."""
        return self.ink.terse

    @property
    def rest(self) -> str:
        """Where what is left out is to be found: `on the page`."""
        return self.ink.rest

    @property
    def place(self) -> Mrkdwn:
        """`llm / chat-json` as a code span."""
        subject = self.incident.subject
        short = subject.workload or subject.pod
        wide = f"{subject.namespace} / {short}" if subject.namespace and short else subject.where
        return self.ink.code(wide)

    @property
    def short(self) -> Mrkdwn:
        """The name alone, without its namespace."""
        subject = self.incident.subject
        return self.ink.value(subject.workload or subject.pod or subject.where)

    @property
    def severity(self) -> Mrkdwn:
        """`critical`, `severity page`; "" without one."""
        return Mrkdwn(grave(self.ink.value(self.incident.severity)))

    @property
    def owners(self) -> Mrkdwn:
        """`sre-platform`, whom labels and the runbook of the cause name; "" = nobody."""
        named = self.incident.owners
        shown = [self.ink.value(owner) for owner in named[: max(1, self.ink.lines)]]
        left = self.ink.more(len(named) - len(shown))
        return Mrkdwn(", ".join([*shown, left] if left else shown))

    @property
    def noted(self) -> Mrkdwn:
        """The notes, behind one another; "" without any."""
        return Mrkdwn(" · ".join(self.ink.sentence(note) for note in self.notes))

    @property
    def summary(self) -> Mrkdwn:
        """What the alert says about itself; "" when it says nothing."""
        notes = self.incident.worst.annotations if self.incident.worst else {}
        text = next((notes[key] for key in ("summary", "description") if notes.get(key)), "")
        return self.ink.value(text)

    @property
    def started(self) -> Mrkdwn:
        """`2 min ago (02:51 UTC)`."""
        return ago(self.incident.since)

    @property
    def since(self) -> str:
        """The clock at which it began."""
        return day_clock(self.incident.since, self.now)

    @property
    def alerts(self) -> int:
        """How many alerts the group holds."""
        return len(self.incident.alerts)

    @property
    def how_grave(self) -> Mrkdwn:
        """`critical, 3 alerts`; "" for one alert without a severity."""
        told = [self.severity] if self.severity else []
        told += [Mrkdwn(plural(self.alerts, "alert"))] if self.alerts > 1 else []
        return Mrkdwn(", ".join(told))

    @property
    def verdict_by(self) -> str:
        """The clock at which a verdict comes; "" when none was promised."""
        by = self.incident.verdict_by
        return clock(by, seconds=True) if by else ""

    @property
    def asked_until(self) -> str:
        """The clock until which who did not answer is asked again; "" when nobody is any more."""
        until = self.incident.asked_until
        return day_clock(until, self.now) if until and until > self.now else ""

    @property
    def asked_every(self) -> str:
        """`30 s`: how often who did not answer is asked again."""
        return duration(ASKED_AGAIN_SECONDS)

    @property
    def ruled_out_so_far(self) -> Mrkdwn:
        """Names of causes that are out already."""
        done = self.incident.progress.ruled_out if self.incident.progress else ()
        shown = [self.ink.value(cause_name(runbook)) for runbook in done[: min(4, self.ink.lines)]]
        left = len(done) - len(shown)
        return Mrkdwn(", ".join([*shown, f"+ {left} more"] if left else shown))

    @property
    def id(self) -> Mrkdwn:
        """`7F3K`."""
        return self.ink.value(self.incident.id)

    @property
    def joined_into(self) -> Mrkdwn:
        """The incident that goes on with these alerts."""
        return self.ink.value(self.incident.joined_into)

    @property
    def unreadable(self) -> Mrkdwn:
        """Why a body is no alert."""
        return self.ink.sentence(self.incident.unreadable.rstrip("."))

    @property
    def failed_because(self) -> Mrkdwn:
        """What tailhound itself stumbled over; "" when nobody knows."""
        return self.ink.sentence(self.incident.failed_because.rstrip("."))

    @property
    def progress(self) -> Progress:
        """How far the investigation is."""
        return self.incident.progress or Progress(answered=0, waiting=0, failed=0)

    @property
    def changes(self) -> Mrkdwn:
        """Whether tailhound may change anything."""
        return self.ink.value(may_change.allowed(self.incident.mode))

    @property
    def suggestions(self) -> Mrkdwn:
        """How the list of suggestions begins."""
        if self.incident.mode in ("observe", "shadow"):
            return Mrkdwn(f"*Suggestions only ({self.incident.mode} mode):*")
        return Mrkdwn("*You can:*")

    @property
    def alike(self) -> Mrkdwn:
        """`5B2M (14 Nov: long prompt)`: an earlier incident of the same cause; "" without one."""
        if self.like is None or self.ink.terse >= _ALIKE:
            return Mrkdwn("")
        day = f"{self.like.at.day} {self.like.at:%b}"
        cause = self.ink.value(cause_name(self.like.cause))
        return Mrkdwn(f"{self.ink.value(self.like.id)} ({day}: {cause})")

    @property
    def episode(self) -> int:
        """Which time this is, from 1."""
        return self.incident.episode

    @property
    def received(self) -> str:
        """The clock at which the first alert came in."""
        at = self.incident.received_at
        return day_clock(at, self.now, seconds=True)

    @property
    def causes_checked(self) -> str:
        """`14 causes are being checked`."""
        count = self.incident.causes_checked
        if not count:
            return "The causes are being chosen"
        return f"{plural(count, 'cause')} {'is' if count == 1 else 'are'} being checked"

    @property
    def left_out(self) -> int:
        """How many alerts Alertmanager left out of its message."""
        return self.incident.truncated_alerts

    @property
    def resolved_after(self) -> Mrkdwn:
        """`38 min`; "" while it stands, and where nobody said that it is over."""
        end = None if self.incident.unheard else self.incident.resolved_at
        seconds = (end - self.incident.since).total_seconds() if end else -1.0
        return self.ink.figure(duration(seconds) if seconds >= 0 else "")

    @property
    def unheard(self) -> str:
        """`29 Nov 03:38 UTC`, where nobody said that it is over; else ""."""
        at = self.incident.resolved_at
        return day_clock(at, self.now) if at and self.incident.unheard else ""

    @property
    def span(self) -> str:
        """`03:00 to 03:38 UTC`."""
        end = self.incident.resolved_at
        if not end:
            return f"since {self.since}"
        return f"{self.since.removesuffix(' UTC')} to {day_clock(end, self.now)}"

    @property
    def nth(self) -> str:
        """`2nd time`."""
        return f"{_ordinal(self.incident.episode)} time"

    @property
    def at_once(self) -> str:
        """`37 incidents at once`; "" when it does not wait in a storm."""
        queued = self.incident.queued
        return f"{plural(queued.incidents, 'incident')} at once" if queued else ""

    @property
    def turn(self) -> str:
        """`this one is 27th, starts by about 02:54:10 UTC`; "" when nobody can tell."""
        queued = self.incident.queued
        if queued is None:
            return ""
        by = day_clock(queued.starts_by, self.now, seconds=True)
        return f"this one is {_ordinal(queued.place)}, starts by about {by}"

    @property
    def resolved_before(self) -> str:
        """The clock at which the episode before this one was resolved; "" when there was none."""
        before = self.incident.previous_resolved_at
        return day_clock(before, self.now) if before else ""

    @property
    def came_back_after(self) -> str:
        """`13 min`, from the resolution before to the new start; "" when nobody can tell."""
        before = self.incident.previous_resolved_at
        seconds = (self.incident.since - before).total_seconds() if before else -1.0
        return duration(seconds - seconds % 60) if seconds >= 60 else ""


def _ordinal(count: int) -> str:
    """`27th`."""
    teen = 10 < count % 100 < 14
    ending = {1: "st", 2: "nd", 3: "rd"}.get(0 if teen else count % 10, "th")
    return f"{count:,}{ending}"
