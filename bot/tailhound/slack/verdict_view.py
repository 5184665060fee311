"""What a message says of the symptom and of the causes that are confirmed. Pure; escaped."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tailhound.model import Cause, Diagnosis, Progress, Stage, Symptom, Verdict, telling
from tailhound.model.names import capital, cause_name
from tailhound.model.stages import growth_of, name_of, not_measured, slow_stages, unexplained
from tailhound.model.verdict import Changed
from tailhound.model.wording import (
    NOT_MEASURED,
    day_clock,
    duration,
    grown,
    number,
    with_usual,
)
from tailhound.slack import escape
from tailhound.slack.escape import Mrkdwn
from tailhound.slack.people_view import PeopleView

_SUMMARY, _SHAPE, _SECOND_STAGE, _SCOPE, _ONSET, _ALERT, _STAGES = range(1, 8)
"""How terse a symptom is that goes without each of these, the least important first."""

_TOLD_ABOVE = 80
"""Characters of a sentence of a verdict that has no room to tell the symptom's value once more."""

_RECHECK = 160
"""Characters of what is said of a check of the verdict."""

_BESIDE = re.compile(r" \(asked by .*\)(?=…?$)|, this is still the verdict from before")
"""What goes of it where there is little room: who asked, which the thread tells."""

_UNDER_WAY = ("first", "collecting", "back", "deferred")
"""Looks of an incident whose verdict is still to come; a diagnosis is of the time before."""


@dataclass(frozen=True, slots=True)
class VerdictView(PeopleView):
    """The symptom, the causes of the headline, and what led to what."""

    @property
    def diagnosis(self) -> Diagnosis | None:
        """The verdicts; None before the first ones, and when it was over before another."""
        return self.incident.verdict if self.look == "resolved" else self.incident.diagnosis

    @property
    def rechecked(self) -> Mrkdwn:
        """`*Checking again since 03:12 UTC (asked by ana)…*`, and how it ended; "" where nobody
        checks again. It stands above the verdict, which stays as it was meanwhile.
        """
        said = telling.rechecked(self.incident, self.now)
        if self.said_ink:
            said = _BESIDE.sub("", said)
        told = escape.sentence(said, _RECHECK)
        return Mrkdwn(f"*{told}*") if told and self.incident.is_rechecked else told

    @property
    def fresh(self) -> bool:
        """Whether what is measured is of this investigation, not of the one before."""
        if self.look in _UNDER_WAY:
            return self.symptom is not None
        done = ("confirmed", "two fit", "unknown", "blind")
        return self.diagnosis is not None and self.look in done

    @property
    def _measured(self) -> Diagnosis | Progress | None:
        """What holds symptom, stages and scope: before the verdict, the progress."""
        return self.incident.progress if self.look in _UNDER_WAY else self.diagnosis

    @property
    def symptom(self) -> Symptom | None:
        """What left its usual band; None when nothing is known to have."""
        return self._measured.symptom if self._measured else None

    @property
    def symptom_name(self) -> Mrkdwn:
        """`Inter-token p50`."""
        return self.ink.value(capital(self.symptom.name)) if self.symptom else Mrkdwn("")

    @property
    def symptom_was(self) -> str:
        """`was`, `were`: of errors there are several."""
        several = self.symptom is not None and self.symptom.name.endswith("errors")
        return "were" if several else "was"

    @property
    def symptom_value(self) -> Mrkdwn:
        """`80 ms`, `at least 60 s`."""
        found = self.symptom
        text = number(found.value, found.unit, at_least=found.at_least) if found else ""
        return self.ink.figure(text)

    @property
    def symptom_usual(self) -> Mrkdwn:
        """`usually 8 ms (x10)`, `no usual value yet`."""
        found = self.symptom
        if not found:
            return Mrkdwn("")
        value = number(found.value, found.unit, at_least=found.at_least)
        text = telling.compared(found)
        return self.ink.figure(text.removeprefix(f"{value}, "))

    @property
    def symptom_note(self) -> Mrkdwn:
        """`p99 not used: 43 requests`; "" where the value needs no such word."""
        return self.ink.figure(telling.thin(self.symptom))

    @property
    def symptom_beside(self) -> Mrkdwn:
        """`also first token x1.4, end to end x2.6`: what else grew, as far as there is room for it;
        and that nobody measured what the alert names.
        """
        if not self.symptom:
            return Mrkdwn("")
        most = 2 if self.ink.terse < _SECOND_STAGE else int(self.ink.terse < _ONSET)
        left = len(self.symptom.also) - most
        more = f"+ {left} more" if most and left > 0 else ""
        also = ", ".join(part for part in (telling.also(self.symptom, most), more) if part)
        told = [self.ink.sentence(part) for part in (also, self.symptom.unmeasured) if part]
        return Mrkdwn(" · ".join(told))

    @property
    def told_at_once(self) -> Mrkdwn:
        """The value that a notification must show; "" before a verdict, or without a symptom."""
        done = self.fresh or self.look == "resolved"
        return self.symptom_value if done and self.symptom else Mrkdwn("")

    @property
    def summary_beside(self) -> Mrkdwn:
        """What the alert says, beside its name; "" where there is no room for it on a phone."""
        return self.summary if self.ink.terse < _SUMMARY else Mrkdwn("")

    @property
    def names_the_alert(self) -> bool:
        """Whether there is room for the alert's name below the symptom."""
        return self.ink.terse < _ALERT

    @property
    def how_grave_alone(self) -> Mrkdwn:
        """`severity page, 3 alerts`: how grave it is, without the alert's name."""
        told = self.how_grave
        named = not self.severity or told.startswith("severity ")
        return told if named else Mrkdwn(f"severity {told}")

    @property
    def begun(self) -> Mrkdwn:
        """`started 9 min ago (02:51 UTC)`; with the onset of the symptom where that is
        earlier: `alert started 9 min ago (12:09 UTC), slow since 11:52`.
        """
        onset = telling.since(self.symptom, self.incident.since) if self.fresh else None
        if onset is None or self.ink.terse >= _ONSET:
            return Mrkdwn(f"started {self.started}")
        how = telling.slow(self.symptom)
        return Mrkdwn(f"alert started {self.started}, {how} since {self._clock(onset)}")

    @property
    def complaint(self) -> Mrkdwn:
        """`slow tokens`, `high error share at ingress`."""
        found = self.symptom
        if not found:
            return Mrkdwn("")
        return Mrkdwn(f"{telling.slow(found)} {self.ink.value(telling.ails(found))}")

    @property
    def no_symptom(self) -> Mrkdwn:
        """`unknown (no usual value yet: first token 700 ms)`; "" where there is one."""
        return self.ink.brief(telling.no_symptom(self.diagnosis) if self.diagnosis else "")

    @property
    def changed(self) -> Mrkdwn:
        """What changed shortly before the symptom, the last of it: context, and no cause."""
        found = self.diagnosis.changed if self.diagnosis else ()
        shown = found[-max(1, min(2, self.ink.lines // 3)) :]
        told = [self._change(one) for one in shown]
        left = self.ink.more(len(found) - len(shown))
        return Mrkdwn("; ".join([*told, left] if left and told else told))

    def _change(self, one: Changed) -> str:
        by = f" (by {self.ink.value(one.by)})" if one.by else ""
        at = f"{self._clock(one.at)} " if one.at else ""
        return f"{at}{self.ink.sentence(one.what.rstrip('.'))}{by}"

    @property
    def slo(self) -> Mrkdwn:
        """`20 ms`; "" without an objective."""
        found = self.symptom
        if found is None or found.slo is None:
            return Mrkdwn("")
        return self.ink.figure(number(found.slo, found.unit))

    @property
    def shape(self) -> str:
        """How it rose, and the load, in words; "" when unknown."""
        if not self.diagnosis or self.look in _UNDER_WAY or self.ink.terse >= _SHAPE:
            return ""
        return telling.shape(self.diagnosis)

    @property
    def scope(self) -> Mrkdwn:
        """`3 of 3 pods`; "" when unknown."""
        if not self._measured or self.ink.terse >= _SCOPE:
            return Mrkdwn("")
        return self.ink.value(self._measured.scope)

    @property
    def slow_stages(self) -> tuple[Mrkdwn, ...]:
        """The stages that grew, the one that grew most first; empty when none is known to have, or
        where they are not where the time went.
        """
        if unexplained(self._measured) is not None:
            return ()
        return tuple(self._stage(stage, first=n == 0) for n, stage in enumerate(self._slow))

    @property
    def time_went(self) -> Mrkdwn:
        """`+0.25 s of +2.98 s before prefill; decode: not measured`, where the stages that grew
        explain less than half of the symptom; "" where they explain it, or none grew.
        """
        whole = unexplained(self._measured)
        if whole is None or not self._slow:
            return Mrkdwn("")
        first, *others = self._slow
        parts = [f"{self.ink.figure(grown(growth_of(first), whole))} {self._stage_name(first)}"]
        parts += [
            f"+{self.ink.figure(duration(growth_of(one)))} {self._stage_name(one)}"
            for one in others
        ]
        dark = not_measured(self._measured)[:2] if self.ink.terse < _ONSET else ()
        parts += [f"{self.ink.value(name)}: {NOT_MEASURED}" for name in dark]
        return Mrkdwn("; ".join(parts))

    @property
    def _slow(self) -> tuple[Stage, ...]:
        """The stages that grew and that there is room for."""
        most = 2 if self.ink.terse < _SECOND_STAGE else int(self.ink.terse < _STAGES)
        return slow_stages(self._measured)[:most]

    def _stage_name(self, stage: Stage) -> Mrkdwn:
        """`queue`, `before prefill (first token less queue and prefill)`."""
        told = self.ink.value(name_of(stage))
        has_room = stage.remainder and self.ink.terse < _SECOND_STAGE
        return Mrkdwn(f"{told} ({self.ink.value(stage.remainder)})" if has_room else told)

    def _stage(self, stage: Stage, *, first: bool) -> Mrkdwn:
        seconds, usual = stage.seconds or 0.0, stage.usual_seconds or 0.0
        now = number(seconds, "seconds")
        rest = with_usual(seconds, usual, "seconds").removeprefix(f"{now}, ")
        text = f"{self._stage_name(stage)} {self.ink.figure(now)}"
        usually = self.ink.figure(rest.partition(" (")[0])
        return Mrkdwn(f"{f'*{text}*' if first else text}, {usually}")

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The causes that the headline names: the primary one, or the two that fit."""
        return telling.headline_causes(self.diagnosis)

    @property
    def title(self) -> Mrkdwn:
        """The primary cause as its runbook words it, in the past once it is over."""
        if not self.causes:
            return Mrkdwn("")
        return self.ink.sentence(telling.title(self.causes[0], over=self.look == "resolved"))

    @property
    def names(self) -> Mrkdwn:
        """The headline's causes by name."""
        return Mrkdwn(", ".join(self.ink.value(cause_name(cause.runbook)) for cause in self.causes))

    @property
    def confidence(self) -> str:
        """`High`, `Medium`, `Low`; "" when nothing is confirmed."""
        sure = self.diagnosis.confidence if self.diagnosis else None
        return sure.value.capitalize() if sure else ""

    @property
    def confidence_because(self) -> Mrkdwn:
        """What lowers the confidence, a person's word too; "" for high."""
        text = telling.less_sure_because(self.causes[0]) if self.causes else ""
        told = self.ink.sentence(text) if self.confidence != "High" else ""
        disputed = "a person disputes it" if self.disputed else ""
        return Mrkdwn("; ".join(part for part in (told, disputed) if part))

    @property
    def chain(self) -> tuple[Mrkdwn, ...]:
        """What led to what, one numbered line each, the symptom last. Once it is over, the line of
        the symptom itself tells what that was, and not twice.
        """
        if not self.diagnosis:
            return ()
        found = telling.chain(self.diagnosis)
        kept = self._kept(found, max(1, self.ink.lines - 1))
        alone = len(found) == 1 and self.symptom is None
        lines = [self._link(cause, primary=self._is_primary(cause), alone=alone) for cause in kept]
        if self.symptom and self.look != "resolved":
            lines.append(self._effect(self.symptom))
        told = [Mrkdwn(f"{number_}. {line}") for number_, line in enumerate(lines, 1)]
        if len(lines) == 1:
            told = [Mrkdwn(lines[0])]
        left = self.ink.more(len(found) - len(kept))
        if left:  # it is no link of the chain, so it has no number
            told.insert(len(kept), Mrkdwn(left))
        return tuple(told)

    @property
    def chain_title(self) -> str:
        """What stands above the chain: one link alone leads to nothing."""
        return "What led to what" if len(self.chain) > 1 else "The cause"

    def _kept(self, found: Sequence[Cause], most: int) -> Sequence[Cause]:
        """The links that there is room for; the primary one is never left out."""
        left_out = [cause for cause in found[most:] if self._is_primary(cause)][:1]
        return [*found[: most - len(left_out)], *left_out]

    def _link(self, cause: Cause, *, primary: bool, explains: str = "", alone: bool = False) -> str:
        """One link of the chain; of one that is alone no order is asked."""
        title = self.ink.value(capital(cause_name(cause.runbook)))
        told = f"*{title}*" if primary else title
        at = "" if alone and cause.onset is None else self._at(cause.onset)
        return f"{at}{told}{explains}: {self.ink.link(telling.link(cause))}"

    def _is_primary(self, cause: Cause) -> bool:
        return self.diagnosis is not None and cause.runbook == self.diagnosis.primary

    def _effect(self, symptom: Symptom) -> str:
        at, remark = telling.effect(self.diagnosis) if self.diagnosis else (symptom.onset, "")
        if self.ink.sentence_length <= _TOLD_ABOVE:
            return f"{self._at(at)}{self.symptom_name}"
        return (
            f"{self._at(at)}{self.symptom_name}: {self.symptom_value}, "
            f"{self.symptom_usual.partition(' (')[0] or 'no usual value yet'}"
            f"{f' ({remark})' if remark else ''}"
        )

    def _at(self, onset: datetime | None) -> str:
        return f"{self._clock(onset)} " if onset else "(onset not known) "

    def _clock(self, at: datetime) -> str:
        """`02:59`: in a list whose other lines say that it is UTC."""
        return day_clock(at, self.now).removesuffix(" UTC")

    def _confirmed(self) -> tuple[Cause, ...]:
        return telling.of(self.diagnosis, Verdict.CONFIRMED) if self.diagnosis else ()
