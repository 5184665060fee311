"""The form *Silence alerts*: what to mute, for how long, and what that means now. Pure."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from tailhound.actions.silence import HOURS as ALL_HOURS
from tailhound.actions.silence import REASONS, Muted, Scope, muted, scopes
from tailhound.durable.silences import Wish
from tailhound.model import Alert, Incident, Missing, Silenced
from tailhound.model.names import listed, plural
from tailhound.model.wording import cut, day_clock, duration
from tailhound.slack import escape
from tailhound.slack.actions import END_SILENCE, HOURS, NOTE, SCOPE, SILENCE_FORM, TICK, WHY
from tailhound.slack.escape import Mrkdwn, clean
from tailhound.slack.kit import Block, button, context, section
from tailhound.slack.modals import muting, sheet
from tailhound.slack.modals.sheet import Frame, Note, View
from tailhound.slack.texts import written
from tailhound.store.history import Past

TITLE: Final = "Silence alerts"
LOADING: Final = "Asking Alertmanager what would be muted… up to 5 s"
CHANGED: Final = (
    "*Not silenced yet.* What this choice mutes has changed since you looked; it is shown anew. "
    "Look again."
)
FRESH_SECONDS: Final = 60.0
"""How old a preview may be where Alertmanager does not say in time what is muted now."""

NOTE_LENGTH: Final = 300
_WHY_LENGTH: Final = 500
_DEFAULT_HOURS: Final = 2.0
_HELD_SHOWN: Final = 10
_SEEN: Final = re.compile(
    r"(?P<mark>[a-z]+:[0-9a-f]{16})/(?P<alerts>-|\d{1,9})/(?P<asks>[01])/(?P<at>\d{1,12})"
)
_ID: Final = re.compile(r"[A-Za-z0-9-]{1,80}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is chosen of what an incident offers: what to mute, and for how many hours."""

    incident: Incident
    scope: Scope
    hours: float

    @classmethod
    def of(cls, incident: Incident, scope: str = "", hours: str = "") -> "Choice | None":
        """The choice with these ids, the first and 2 h where they are none; None = no choice."""
        found = scopes(incident)
        if not found:
            return None
        named = next((one for one in found if one.id == scope), found[0])
        length = next((one for one in ALL_HOURS if f"{one:g}" == hours), _DEFAULT_HOURS)
        return cls(incident=incident, scope=named, hours=length)

    @property
    def widest(self) -> Scope:
        """The choice that holds all others."""
        return scopes(self.incident)[-1]

    @property
    def mark(self) -> str:
        """Stands for what would be muted, to the letter: another mark, another silence."""
        text = "\n".join(matcher.text for matcher in self.scope.matchers)
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        return f"{self.scope.id}:{digest[:16]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What Alertmanager and the store say. `firing` is what the widest choice mutes now."""

    firing: tuple[Alert, ...] | Missing
    past: Past | None = None

    def muted(self, scope: Scope) -> Muted | None:
        """What a choice mutes now; None = nobody knows."""
        return None if isinstance(self.firing, Missing) else muted(scope.matchers, self.firing)

    def may_page(self, choice: Choice) -> bool:
        """Whether pages would be muted, for all that is known: those of the incident count, even
        where Alertmanager tells of none.
        """
        found, own = self.muted(choice.scope), _own(choice)
        return found is None or found.pages > 0 or own.pages > 0


@dataclass(frozen=True, slots=True)
class Seen:
    """The preview that a person looked at: which choice, how many alerts (None = not known),
    whether it asked for the tick, and when it was drawn.
    """

    mark: str
    alerts: int | None
    asks: bool
    at: float

    def text(self) -> str:
        """As a form's note carries it."""
        alerts = "-" if self.alerts is None else str(self.alerts)
        return f"{self.mark}/{alerts}/{int(self.asks)}/{int(self.at)}"

    @classmethod
    def of(cls, text: str) -> "Seen | None":
        """What a note carries; None when that is no preview of this version."""
        found = _SEEN.fullmatch(text)
        if found is None:
            return None
        alerts = None if found["alerts"] == "-" else int(found["alerts"])
        return cls(found["mark"], alerts, found["asks"] == "1", float(found["at"]))


def frame(note: Note, submit: str = "") -> Frame:
    """What stands around it."""
    return Frame(title=TITLE, callback=SILENCE_FORM, note=note, submit=submit)


def preview(
    choice: Choice, known: Known, note: Note, now: datetime, *, changed: bool = False
) -> View:
    """The form with what this choice means; `changed`: somebody sent it, and looked at less."""
    found = known.muted(choice.scope)
    asks = known.may_page(choice)
    seen = Seen(choice.mark, None if found is None else found.alerts, asks, now.timestamp())
    lasting = duration(choice.hours * 3600).replace("\u00a0", " ")
    return sheet.view(
        frame(replace(note, seen=seen.text()), f"Silence for {lasting}"),
        [
            section("changed", CHANGED) if changed else None,
            *_held(choice.incident, now),
            *_fields(choice, known),
            sheet.preformatted("matchers", muting.matchers(choice.scope)),
            section("effect", _effect(choice, known, now)),
            _tick() if asks else None,
            context(
                "small", "Alertmanager silence in your name · nothing is changed in the cluster"
            ),
        ],
    )


def _held(incident: Incident, now: datetime) -> Sequence[Block | None]:
    """The silences that hold already, those that last longest first, each with its end."""
    holding = [one for one in incident.silences if one.holds(now)]
    held = sorted(holding, key=lambda one: one.until, reverse=True)
    shown = [_one_held(number, one, now) for number, one in enumerate(held[:_HELD_SHOWN])]
    left = len(held) - len(shown)
    more = f"+ {plural(left, 'more silence')}; end one of these to see the next." if left else ""
    return [*shown, section("held-more", more)]


def _one_held(number: int, one: Silenced, now: datetime) -> Block | None:
    text = (
        f"Silenced by {escape.value(one.by) or 'somebody'} until {day_clock(one.until, now)} "
        f"({plural(one.alerts, 'alert')})"
    )
    if one.trouble:
        text += f", *could not be ended:* {escape.sentence(one.trouble, 160)}"
    if _ID.fullmatch(one.id) is None:
        return section(f"held-{number}", f"{text}. End it in Alertmanager: its id is none of ours.")
    end = button("End it now", END_SILENCE, value=one.id)
    return section(f"held-{number}", text, accessory=end)


def _fields(choice: Choice, known: Known) -> Sequence[Block]:
    what = {one.id: sheet.option(_titled(one, known), one.id) for one in scopes(choice.incident)}
    lengths = {hours: sheet.option(duration(hours * 3600), f"{hours:g}") for hours in ALL_HOURS}
    why = [sheet.option(reason, reason) for reason in REASONS]
    return [
        sheet.field(
            "What",
            sheet.radio(SCOPE, list(what.values()), what[choice.scope.id]),
            dispatch_action=True,
        ),
        sheet.field(
            "For how long",
            sheet.select(HOURS, list(lengths.values()), lengths[choice.hours]),
            dispatch_action=True,
        ),
        sheet.field("Why", sheet.select(WHY, why)),
        sheet.field(
            "Note (optional)",
            sheet.text_field(NOTE, NOTE_LENGTH, "shown in the channel and in Alertmanager"),
            optional=True,
        ),
    ]


def _titled(scope: Scope, known: Known) -> str:
    found = known.muted(scope)
    now = "" if found is None else f" ({found.alerts} now)"
    return f"{cut(clean(scope.title), 60)}{now}"


def _effect(choice: Choice, known: Known, now: datetime) -> str:
    found = known.muted(choice.scope)
    firing = known.firing
    why = escape.sentence(firing.detail, 160) if isinstance(firing, Missing) else ""
    return written(
        "modal_silence",
        muted=None if found is None else Mrkdwn(muting.effect(found)),
        why=why,
        past=None if known.past is None else Mrkdwn(muting.lately(known.past)),
        others=_others(choice, () if isinstance(firing, Missing) else firing),
        until=day_clock(now + timedelta(hours=choice.hours), now),
    )


def _others(choice: Choice, firing: Sequence[Alert]) -> str:
    """The alerts that go on: of the incident, and of what the widest choice would mute."""
    matchers = choice.scope.matchers
    names = dict.fromkeys(
        clean(alert.name)
        for alert in (*choice.incident.firing, *firing)
        if not all(matcher.holds(alert.labels) for matcher in matchers)
    )
    return escape.value(listed([cut(name, 40) for name in names], 2), 120) if names else ""


def _tick() -> Block:
    known = sheet.option("I know this mutes pages", "yes")
    return sheet.field(
        "Pages", {"type": "checkboxes", "action_id": TICK, "options": [known]}, optional=False
    )


def is_stale(sent: View, choice: Choice, note: Note, known: Known, now: datetime) -> bool:
    """Whether a sent form would mute what its preview did not show: other matchers, or pages that
    nobody has ticked.

    `known` is what Alertmanager says now; where it says nothing in time a preview counts for a
    minute.
    """
    seen = Seen.of(note.seen)
    if seen is None or seen.mark != choice.mark:
        return True
    if sheet.chosen(sent, SCOPE) != choice.scope.id:
        return True
    if seen.asks:
        return False
    if known.muted(choice.scope) is None and not _own(choice).pages:
        return now.timestamp() - seen.at > FRESH_SECONDS
    return known.may_page(choice)


def wish(sent: View, choice: Choice, note: Note, known: Known) -> Wish | dict[str, str]:
    """What a sent form asks for, whose preview is not stale; what is wrong with it, by field,
    otherwise.
    """
    seen, found = Seen.of(note.seen), known.muted(choice.scope)
    if f"{choice.hours:g}" != sheet.chosen(sent, HOURS):
        return {HOURS: "Choose one of these."}
    why = sheet.chosen(sent, WHY)
    if why not in REASONS:
        return {WHY: "Choose one of these."}
    if (seen is None or seen.asks) and not sheet.ticked(sent, TICK):
        return {SCOPE: "This mutes pages: tick the box below, or choose less."}
    typed = clean(sheet.chosen(sent, NOTE))[:NOTE_LENGTH]
    shown = _own(choice).alerts if seen is None or seen.alerts is None else seen.alerts
    comment = f"{why}: {typed}" if typed else why
    return Wish(
        matchers=choice.scope.matchers,
        hours=choice.hours,
        why=comment[:_WHY_LENGTH],
        alerts=shown if found is None else found.alerts,
    )


def _own(choice: Choice) -> Muted:
    """What a choice mutes of the incident itself, whatever Alertmanager says."""
    return muted(choice.scope.matchers, choice.incident.firing)
