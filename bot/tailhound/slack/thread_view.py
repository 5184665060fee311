"""What the templates of the posts in a thread may ask. Pure; every text is escaped."""

from dataclasses import dataclass
from typing import Final

from tailhound.diagnosis.noise import is_loud
from tailhound.model import Cause, Happened, Outlook, telling
from tailhound.model.names import capital, plural, small
from tailhound.model.story import story
from tailhound.model.wording import day_clock
from tailhound.slack.escape import Mrkdwn
from tailhound.slack.view import View

LINES: Final = 20
"""The newest lines of the timeline that a post shows."""

_VERDICTS: Final = ("Verdict: ", "Verdict revised: ")


@dataclass(frozen=True, slots=True)
class ThreadView(View):
    """An incident with a verdict, as its thread tells it.

    `event` is the name of an event, such as `reopened:2`; `rows` is how many claims or images a
    post shows, `measured` how many claims have an answer.
    """

    event: str = ""
    rows: int = 0
    measured: int = 0

    @property
    def kind(self) -> str:
        """What the event is."""
        return self.event.partition(":")[0]

    @property
    def is_loud(self) -> bool:
        """Whether the channel sees it too: a broadcast carries no buttons."""
        return is_loud(self.event)

    @property
    def verdict(self) -> Mrkdwn:
        """`The CPU limit stops the engine`, `Two causes fit: A, B`, `No cause confirmed`."""
        outlook = self.diagnosis.outlook if self.diagnosis else None
        if outlook is Outlook.CAUSE_FOUND and self.title:
            return Mrkdwn(capital(self.title))
        return self.outlook

    @property
    def outlook(self) -> Mrkdwn:
        """`Cause found: the CPU limit stops the engine`, `No cause confirmed`."""
        found = self.diagnosis
        if found is None:
            return Mrkdwn("No verdict")
        if found.outlook is Outlook.CAUSE_FOUND and self.title:
            return Mrkdwn(f"Cause found: {self.title}")
        if found.outlook is Outlook.TWO_FIT:
            return Mrkdwn(f"Two causes fit: {self.names}")
        if found.outlook is Outlook.BLIND:
            return Mrkdwn(f"Cannot see: {self.blindness}")
        return Mrkdwn("No cause confirmed")

    @property
    def sure(self) -> str:
        """`high confidence`; "" where nothing is confirmed."""
        return telling.sure(self.diagnosis.confidence) if self.diagnosis else ""

    @property
    def happened(self) -> tuple[Mrkdwn, ...]:
        """The newest lines of the timeline, newest last."""
        return tuple(self._line(one) for one in story(self.incident)[-LINES:])

    @property
    def earlier(self) -> int:
        """How many lines are left out before those."""
        return max(0, len(story(self.incident)) - LINES)

    def _line(self, one: Happened) -> Mrkdwn:
        clock = day_clock(one.at, self.now, seconds=one.at.second != 0).removesuffix(" UTC")
        return Mrkdwn(f"{clock} {self.ink.sentence(one.what.rstrip('.'))}")

    @property
    def claim_count(self) -> int:
        """How many claims there are, of all causes."""
        return sum(len(cause.checks) for cause in self._claiming)

    @property
    def unmeasured(self) -> str:
        """`48 of them were not measured`; "" where all have an answer."""
        left = self.claim_count - self.measured
        if not self.measured:
            return "none of them was measured"
        return f"{left} of them {'was' if left == 1 else 'were'} not measured" if left else ""

    @property
    def claims(self) -> str:
        """`24 claims of 13 causes`."""
        return f"{plural(self.claim_count, 'claim')} of {plural(len(self._claiming), 'cause')}"

    @property
    def _claiming(self) -> tuple[Cause, ...]:
        causes = self.diagnosis.causes if self.diagnosis else ()
        return tuple(cause for cause in causes if cause.checks)

    @property
    def paging(self) -> Mrkdwn:
        """The worst alert: `LLMDHighTTFT, critical`."""
        return Mrkdwn(f"{self.alert}, {self.severity}") if self.severity else self.alert

    @property
    def verdict_before(self) -> Mrkdwn:
        """The verdict that was told before this one; "" when nobody noted it."""
        if self.incident.revised is not None:
            return self.revised_was
        told = [one.what for one in self.incident.timeline if one.what.startswith(_VERDICTS)]
        if len(told) < 2:
            return Mrkdwn("")
        was = told[-2].partition(": ")[2].partition("; it was:")[0]
        return self.ink.sentence(small(was.rstrip(".")))
