"""Everything that a template may ask about an incident. Pure; every text is escaped."""

from collections.abc import Sequence
from dataclasses import dataclass

from tailhound.model import (
    Cause,
    Outlook,
    Verdict,
    candidates,
    telling,
)
from tailhound.model.names import backend_name, plural, small
from tailhound.model.stages import explains
from tailhound.model.wording import clock, day_clock, duration
from tailhound.slack import escape, gaps, todo
from tailhound.slack.claims import claim_lines
from tailhound.slack.escape import Mrkdwn
from tailhound.slack.open_view import OpenView

_WARNING = 120
"""Characters of a warning that are shown in any case."""

_AFTER = 2
"""How terse a last line is that goes without how long the verdict took."""


@dataclass(frozen=True, slots=True)
class View(OpenView):
    """What a template may ask about an incident with or without verdicts."""

    @property
    def counts(self) -> str:
        """`12 causes checked: 0 confirmed, 2 unknown, 10 ruled out`."""
        return telling.counts(self.diagnosis)

    @property
    def evidence_lines(self) -> tuple[Mrkdwn, ...]:
        """The lines of slot E."""
        evidence = self.diagnosis.evidence if self.diagnosis else ()
        told = [("", cause) for cause in self._chain_causes()] if self.causes else []
        if self.diagnosis and self.diagnosis.outlook is Outlook.TWO_FIT:
            first, *others = self.causes
            told = [("A ", first), *(("B ", cause) for cause in others)]
        lettered = told or ([] if self.look == "resolved" else self._open_causes())
        return claim_lines(lettered, self.ink, evidence=evidence, against=bool(told))

    def _open_causes(self) -> list[tuple[str, Cause]]:
        """The candidates by their number, behind confirmed causes that no symptom places."""
        near = self.nearest
        one = len(near) == 1
        numbered = [("" if one else f"{number_} ", cause) for number_, cause in enumerate(near, 1)]
        return [("", cause) for cause in self._confirmed()] + numbered

    def _chain_causes(self) -> Sequence[Cause]:
        chain = self.diagnosis.chain if self.diagnosis else ()
        others = [cause for cause in self._confirmed() if cause.runbook in chain]
        return [*self.causes, *(cause for cause in others if not self._is_primary(cause))]

    @property
    def gaps(self) -> tuple[Mrkdwn, ...]:
        """The lines of slot N."""
        if not self.diagnosis:
            return ()
        return gaps.not_confirmed(self.diagnosis, self.ink, unknown_above=self.look == "unknown")

    @property
    def gaps_summary(self) -> Mrkdwn:
        """Slot N in one line of counts."""
        return gaps.summary(self.diagnosis, self.ink) if self.diagnosis else Mrkdwn("")

    @property
    def two(self) -> tuple[Mrkdwn, ...]:
        """The two causes that fit, a line each."""
        return tuple(
            Mrkdwn(f"{letter}. {self._link(cause, primary=True, explains=self._explains(cause))}")
            for letter, cause in zip("AB", self.causes, strict=False)
        )

    def _explains(self, cause: Cause) -> str:
        told = explains(self.diagnosis, cause) if self.diagnosis else ""
        return f" {self.ink.figure(told)}" if told else ""

    @property
    def would_tell_apart(self) -> Mrkdwn:
        """What would decide between the two causes that fit."""
        text = candidates.would_tell_apart(self.diagnosis) if self.diagnosis else ""
        return self.ink.sentence(text)

    @property
    def answered(self) -> str:
        """`38 of 40 questions answered`; "" when nothing was asked."""
        return telling.answered(self.diagnosis)

    @property
    def decided_at(self) -> str:
        """The clock of the verdict, with seconds; "" without one."""
        at = self.diagnosis.decided_at if self.diagnosis else None
        return day_clock(at, self.now, seconds=True) if at else ""

    @property
    def after_alert(self) -> str:
        """`8 s`: how long people waited for the first verdict; "" for a later one."""
        at, first = self.diagnosis.decided_at if self.diagnosis else None, self.incident.received_at
        seconds = (at - first).total_seconds() if at and self._is_first_verdict else -1.0
        return duration(round(seconds)) if seconds >= 1 and self.ink.terse < _AFTER else ""

    @property
    def _is_first_verdict(self) -> bool:
        """Whether nothing but the alert made people wait for it; a deadline says so itself."""
        it = self.incident
        in_time = it.diagnosis is not None and not it.diagnosis.at_deadline
        return in_time and it.n == 1 and it.episode == 1 and it.revised is None

    @property
    def last_verdict(self) -> Mrkdwn:
        """The verdict before this investigation, in one line; "" when there was none."""
        last = self.incident.diagnosis
        if not last:
            return Mrkdwn("")
        if found := telling.headline_causes(last):
            title = self.ink.sentence(telling.title(found[0]))
            sure = telling.sure(last.confidence)
            return Mrkdwn(f"{title} ({sure})" if sure else title)
        return Mrkdwn(last.outlook.value)

    @property
    def blind(self) -> Mrkdwn:
        """The backend that does not answer."""
        return self.ink.value(backend_name(self.diagnosis.blind if self.diagnosis else ""))

    @property
    def doctor(self) -> str:
        """`tailhound doctor prometheus`: what looks at the backend that does not answer; "" where
        it is one that the command does not know.
        """
        return telling.doctor(self.diagnosis) if self.diagnosis else ""

    @property
    def blindness(self) -> Mrkdwn:
        """`Prometheus does not answer`, `Prometheus is not configured`."""
        return self.ink.value(telling.blind(self.diagnosis)) if self.diagnosis else Mrkdwn("")

    @property
    def blind_because(self) -> Mrkdwn:
        """What it did instead of answering."""
        diagnosis = self.diagnosis
        for item in diagnosis.evidence if diagnosis else ():
            for asked in item.asked:
                if diagnosis and asked.backend == diagnosis.blind.lower() and asked.detail:
                    return self.ink.sentence(asked.detail.partition("Fix:")[0].strip().rstrip("."))
        return self.blindness

    @property
    def not_checked(self) -> str:
        """`11 of 14 causes`."""
        causes = self.diagnosis.causes if self.diagnosis else ()
        unknown = sum(1 for cause in causes if cause.verdict is Verdict.UNKNOWN)
        return f"{unknown} of {plural(len(causes), 'cause')}"

    @property
    def usual_from(self) -> Mrkdwn:
        """Which windows made the usual value: `1 h, 1 d, 7 d ago`; "" when none is told."""
        windows = self.symptom.usual_from if self.symptom else ()
        told = ", ".join(self.ink.value(window) for window in windows[:3])
        return Mrkdwn(f"{told} ago" if told else "")

    @property
    def offers(self) -> tuple[Mrkdwn, ...]:
        """What a person can do, best first, one numbered line each; where no symptom places what is
        confirmed, against that.
        """
        over = self.look == "resolved"
        found = telling.offers(self._chain_causes() or self._confirmed(), over=over)
        shadow = self.incident.mode == "shadow"
        return todo.offers(found, self.ink, shadow=shadow, page_url=self._linked)

    @property
    def warning(self) -> Mrkdwn:
        """`*Beware:* do not drain nodes.`: the same at any room, for half of it is none; "" where
        there is nothing to beware of.
        """
        if self.look not in ("confirmed", "two fit"):
            return Mrkdwn("")
        found = telling.warnings(self._chain_causes())[:1]
        return Mrkdwn("".join(f"*Beware:* {escape.sentence(one, _WARNING)}." for one in found))

    @property
    def last_offers(self) -> tuple[Mrkdwn, ...]:
        """What was suggested before, by title, best first; the rest is counted."""
        found = telling.offers(self._chain_causes())
        return todo.titles(found, self.ink)

    @property
    def known(self) -> Mrkdwn:
        """What is known without the backend that does not answer; "" when nothing is."""
        return todo.known(self.diagnosis.evidence if self.diagnosis else (), self.ink)

    @property
    def revised_at(self) -> str:
        """The clock of the revision, with seconds; "" when nothing was revised."""
        revised = self.incident.revised
        return clock(revised.at, seconds=True) if revised else ""

    @property
    def revised_was(self) -> Mrkdwn:
        """The verdict that was replaced."""
        revised = self.incident.revised
        return self.ink.sentence(small(revised.was.rstrip("."))) if revised else Mrkdwn("")

    @property
    def revised_was_at(self) -> str:
        """The clock of the verdict that was replaced."""
        revised = self.incident.revised
        return f"{revised.was_at:%H:%M:%S}" if revised else ""

    @property
    def revised_why(self) -> Mrkdwn:
        """What came in late."""
        revised = self.incident.revised
        return self.ink.sentence(revised.why.rstrip(".")) if revised else Mrkdwn("")
