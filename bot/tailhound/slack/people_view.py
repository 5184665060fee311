"""What a message says of people: who is on it, what is silenced, what they say the cause was.

Names and notes come from outside, like all else; nobody is mentioned.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from tailhound.model import Feedback, Rating, Silenced, sayings
from tailhound.model.names import capital, cause_name, plural
from tailhound.model.wording import clock, day_clock, duration
from tailhound.slack import escape
from tailhound.slack.alert_view import AlertView
from tailhound.slack.escape import Mrkdwn
from tailhound.slack.limits import PHONE_WIDTH
from tailhound.slack.pace import RATE_LIMIT

_LATE_SECONDS = 60.0
_ON = {
    "node": "on",
    "rack": "in the rack",
    "workload": "about",
    "namespace": "in the namespace",
    "zone": "in the zone",
}
_SHORT_NAME = 8
"""Characters of a name that are shown beside anything."""

_DAY = timedelta(days=1)
_TROUBLE_LENGTH = 110
_DELAY_LENGTH = 80


@dataclass(frozen=True, slots=True)
class PeopleView(AlertView):
    """The people around an incident, and how late they were told."""

    @property
    def on_it(self) -> Mrkdwn:
        """`ben is on it since 03:03 UTC`; "" while nobody is."""
        found = self.incident.on_it
        if found is None:
            return Mrkdwn("")
        return Mrkdwn(f"{self._name(found.by)} is on it since {day_clock(found.since, self.now)}")

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to begin here."""
        return self.look in ("resolved", "joined")

    @property
    def at_hand(self) -> Mrkdwn:
        """`ben is on it · silenced until 05:10`: what the next person has to know before they
        begin, in one line of a phone, whatever the name; "" while there is nothing of it.
        """
        silent, found = self._silent, self.incident.on_it
        if self.is_over:
            return Mrkdwn("")
        if found is None:
            return Mrkdwn(capital(silent))
        since = day_clock(found.since, self.now)
        room = PHONE_WIDTH - len(f" is on it · {silent}" if silent else " is on it")
        name = escape.value(found.by, max(_SHORT_NAME, room)) or Mrkdwn("somebody")
        whole = f"{name} is on it since {since}"
        if not silent:
            return Mrkdwn(whole if len(whole) <= PHONE_WIDTH else f"{name} is on it")
        return Mrkdwn(f"{name} is on it · {silent}")

    @property
    def _silent(self) -> str:
        """`silenced until 05:10`; `silence not set` where none stands that was asked for."""
        held = [one.until for one in self.incident.silences if one.holds(self.now)]
        if held:
            last = max(held)
            at = clock(last) if last - self.now < _DAY else day_clock(last, self.now)
            return f"silenced until {at.removesuffix(' UTC')}"
        failed = any(one.failed(self.now) for one in self.incident.silences)
        return "silence not set" if failed else ""

    @property
    def silenced(self) -> Mrkdwn:
        """`Silence of ana: 3 alerts`, the longest one, and what went wrong with one that somebody
        asked for; "" while nothing is. Until when stands in the message's first lines.
        """
        silences = self.incident.silences
        held = [one for one in silences if one.holds(self.now)]
        failed = [one for one in silences if one.failed(self.now)]
        told = [self._held(held)] if held else []
        told += [self._failed(failed)] if failed else []
        return Mrkdwn(" · ".join(told))

    def _held(self, held: Sequence[Silenced]) -> str:
        last = max(held, key=lambda one: (bool(one.trouble), one.until))
        others = f", + {plural(len(held) - 1, 'more silence')}" if len(held) > 1 else ""
        trouble = f", *could not be ended:* {self._why(last)}" if last.trouble else ""
        until = day_clock(last.until, self.now)
        by, alerts = self._name(last.by), plural(last.alerts, "alert")
        if self.is_over:
            return f"Silenced by {by} until {until} ({alerts}){others}{trouble}"
        return f"Silence of {by}: {alerts}{others}{trouble}"

    def _failed(self, failed: Sequence[Silenced]) -> str:
        """`*The silence of ana was not set: these credentials may not set silences*`, the last."""
        one, many = failed[-1], len(failed) - 1
        others = f", + {many} more that failed" if many else ""
        return f"*The silence of {self._name(one.by)} {self._why(one)}*{others}"

    def _why(self, one: Silenced) -> Mrkdwn:
        return escape.sentence(one.trouble, min(_TROUBLE_LENGTH, self.ink.sentence_length))

    @property
    def late(self) -> Mrkdwn:
        """`posted 4 min late (Slack limit)`; "" for a first post in time, or not posted yet.

        Without a reason where none was told: tailhound itself was not there, or an answer was lost.
        """
        late = self.posted_at - self.incident.received_at.timestamp()
        if self.posted_at <= 0 or late <= _LATE_SECONDS:
            return Mrkdwn("")
        limited = self.delayed_by.startswith(RATE_LIMIT)
        why = "Slack limit" if limited else escape.sentence(self.delayed_by, _DELAY_LENGTH)
        told = f"posted {duration(late - late % 60)} late"
        return Mrkdwn(f"{told} ({why})" if why else told)

    @property
    def said(self) -> tuple[Mrkdwn, ...]:
        """What people say of the diagnosis, a line each, the newest word first."""
        words = sorted(self.incident.feedback, key=lambda one: one.at, reverse=True)
        ink = self.said_ink or self.ink
        shown = words[: max(1, ink.lines // 3)]
        left = self.ink.more(len(words) - len(shown))
        lines = tuple(self._word(one) for one in shown)
        if self.said_ink and ink.lines < 1 and left:
            return (Mrkdwn(f"{lines[0]} · {left}"),)
        return (*lines, Mrkdwn(left)) if left else lines

    @property
    def said_above(self) -> tuple[Mrkdwn, ...]:
        """The same under the verdict; nothing where the last line tells it."""
        return () if self.said_below else self.said

    @property
    def disputed(self) -> bool:
        """Whether somebody says that the diagnosis is wrong, and nobody that it is right."""
        ratings = {one.rating for one in self.incident.feedback}
        return Rating.WRONG in ratings and not ratings & {Rating.RIGHT, Rating.PARTLY}

    def _word(self, one: Feedback) -> Mrkdwn:
        """`*ana says:* wrong, it was node drain. “the drain came first”`; where no cause had been
        named `*ana:* none of the known causes: “a bad proxy”`.
        """
        if sayings.named_none(one):
            return self._word_without_cause(one)
        told = one.rating.value
        cause = self.ink.value(cause_name(one.cause)) if one.cause else ""
        if cause and one.rating is Rating.PARTLY:
            told = f"{told}: {cause}"
        elif cause and one.rating is Rating.WRONG:
            told = f"{told}, it was {cause}"
        note = (self.said_ink or self.ink).note(one.note)
        return Mrkdwn(f"*{self._name(one.by)} says:* {told}{f'. “{note}”' if note else ''}")

    def _word_without_cause(self, one: Feedback) -> Mrkdwn:
        told = sayings.what(one, self.ink.value(cause_name(one.cause)) if one.cause else "")
        note = self.ink.note(one.note)
        mark = "." if one.cause else ":"
        return Mrkdwn(f"*{self._name(one.by)}:* {told}{f'{mark} “{note}”' if note else ''}")

    def _name(self, name: str) -> Mrkdwn:
        return self.ink.value(name) or Mrkdwn("somebody")

    @property
    def storm(self) -> str:
        """`412 alerts in 60 s became 37 incidents`; "" when it does not wait in a storm."""
        queued = self.incident.queued
        if queued is None:
            return ""
        within = duration(queued.seconds)
        alerts = plural(queued.alerts, "alert")
        return f"{alerts} in {within} became {plural(queued.incidents, 'incident')}"

    @property
    def look_first(self) -> Mrkdwn:
        """`21 of them are on `gpu-node-3`: see incident 7F3K first`; "" where they share nothing.

        The incident that began first there is not sent to itself.
        """
        queued = self.incident.queued
        shared = queued.shared if queued else None
        if shared is None:
            return Mrkdwn("")
        said = f"{shared.incidents:,} of them are {_ON[shared.kind]} {self.ink.code(shared.name)}"
        if shared.first == self.incident.id:
            return Mrkdwn(said)
        return Mrkdwn(f"{said}: see incident {self.ink.value(shared.first)} first")
