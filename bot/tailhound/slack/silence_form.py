"""*Silence…*: the form opened, its counts following each choice, sent, stored."""

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Final

from slack_bolt import Ack, BoltRequest

from tailhound.durable.acts import Click, Person
from tailhound.durable.silences import Wish
from tailhound.model import Missing, Reason
from tailhound.model.wording import duration
from tailhound.slack.actions import HOURS, NOTE, SCOPE
from tailhound.slack.events import Event
from tailhound.slack.forms import Deed, Form, Found, Opened, again, errors, missing
from tailhound.slack.modals import sheet, silence
from tailhound.slack.modals.sheet import Note, View
from tailhound.slack.presses import NOT_OURS
from tailhound.slack.promptly import NOT_RECORDED, NOT_YET, Gone, Late, Silent, Told
from tailhound.slack.tools import Tools
from tailhound.store.history import Past

NO_ALERTMANAGER: Final = (
    "No Alertmanager is configured here, so nothing can be silenced: set alertmanager.url."
)
NOTHING_FIRES: Final = "No alert of it fires any more: there is nothing to silence."
ENDED: Final = "Recorded: the silence ends; the message tells it."
ENDED_BEFORE: Final = "That silence has ended already, or is about to."
NO_SILENCE: Final = "This incident has no such silence here any more. Nothing was changed."
_FIRING_SECONDS: Final = 0.7
"""What a form that is sent waits for Alertmanager, behind the store and beside Slack."""

_FOLLOWED: Final = 1_000
_NO_NOTE: Final = Note(incident="")


@dataclass(frozen=True, slots=True)
class _Now:
    """What a form means when it is sent."""

    choice: silence.Choice
    known: silence.Known


class SilenceForm(Form):
    """Full members of the workspace may silence. The form always shows what it would mute."""

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools, silence.frame)
        self._newest = _Newest()

    def button_pressed(self, ack: Ack, req: BoltRequest) -> None:
        """Open it."""
        self.pressed(ack, Event.of(req), self.open)

    def open(self, event: Event, person: Person, incident: str) -> None:
        """Open it for an incident, from a button or from a command."""
        tools = self._tools
        note = Note(incident=incident, channel=event.channel, thread=event.thread)
        if not tools.deeds.can_silence:
            tools.whisper(event, NO_ALERTMANAGER)
            return
        opened = tools.open_view(event, self.saying(note, silence.LOADING))
        if opened is None:
            return
        why_not = tools.people.why_no_member(person)
        self.show(opened, self.saying(note, why_not) if why_not else self._preview({}, note))

    def choice_made(self, ack: Ack, req: BoltRequest) -> None:
        """Another choice of what or how long: the counts follow it."""
        ack()
        event = Event.of(req)
        note = self.note(event)
        if note is not None:
            self.begin(event, lambda: self._follow(event, note))

    def try_again(self, event: Event) -> None:
        """Fill it once more."""
        note = self.note(event)
        if note is not None:
            self.show(event.view, self._preview(event.view, note))

    def end_pressed(self, ack: Ack, req: BoltRequest) -> None:
        """*End it now*, of a silence that holds: stored first, then acknowledged, then shown."""
        event = Event.of(req)
        opened = self.opened(self.asking(event))
        note = self.note(event) or _NO_NOTE
        text = opened if isinstance(opened, str) else self._ended(event, opened)
        ack()
        self.behind(lambda: self._say(event, note, text))

    def _say(self, event: Event, note: Note, text: str) -> None:
        self._tools.update_view(event.view, self.saying(note, text))

    def _ended(self, event: Event, opened: Opened) -> str:
        tools, note = self._tools, opened.note
        click = Click(note.incident, opened.person, event.envelope)
        outcome = tools.store.ask(
            lambda: tools.deeds.end_silence(click, event.value),
            late=lambda found: self._say(event, note, _end_told(found)),
        )
        return _end_told(outcome)

    def form_sent(self, ack: Ack, req: BoltRequest) -> None:
        """Stored first, then acknowledged. One form sets one silence, however often it is sent.

        Who sent it and what it mutes now is asked at the same time: in all, it takes Slack's three
        seconds at most.
        """
        event = Event.of(req)
        asked = self.asking(event)
        note = self.note(event)
        now = None if note is None else self._now(event.view, note)
        opened = self.opened(asked)
        if isinstance(opened, str):
            ack(errors({NOTE: opened}))
        elif now is None or isinstance(now, str):
            ack(errors({NOTE: now or NOT_OURS}))
        else:
            self._send(ack, event, opened, now)

    def _send(self, ack: Ack, event: Event, opened: Opened, now: "_Now") -> None:
        tools, note, choice = self._tools, opened.note, now.choice
        if silence.is_stale(event.view, choice, note, now.known, tools.now()):
            known = replace(now.known, past=self._past(choice))
            made = silence.preview(choice, known, note, tools.now(), changed=True)
            ack({"response_action": "update", "view": made})
            return
        wished = silence.wish(event.view, choice, note, now.known)
        if isinstance(wished, dict):
            ack(errors(wished))
            return
        click = Click(note.incident, opened.person, f"view:{opened.view['id']}"[:200])
        told = _recorded(wished, choice.incident.id)
        deed = Deed(lambda: tools.deeds.silence(click, wished), NOTE, told)
        self.store(ack, deed, opened)

    def allowed(self, event: Event) -> Opened | str:
        """Only full members may silence."""
        opened = super().allowed(event)
        if isinstance(opened, str):
            return opened
        return self._tools.people.why_no_member(opened.person) or opened

    def _now(self, view: View, note: Note) -> "_Now | str":
        """What a form that is sent means at this moment; why it means nothing, otherwise."""
        tools, found = self._tools, self.found(note)
        choice = _choice(found, view)
        if choice is None:
            return _why_no_choice(found)
        wanted = choice.widest.matchers
        firing = tools.others.ask(lambda: tools.deeds.firing(wanted), _FIRING_SECONDS)
        late = Missing(Reason.TIMEOUT, "Alertmanager did not answer in time")
        known = silence.Known(firing=firing.value if isinstance(firing, Told) else late)
        return _Now(choice, known)

    def _past(self, choice: silence.Choice) -> Past | None:
        tools = self._tools
        matchers, own = choice.scope.matchers, choice.incident.id
        past = tools.store.ask(lambda: tools.deeds.past(matchers, own))
        return past.value if isinstance(past, Told) else None

    def _preview(self, view: View, note: Note) -> View:
        """The form for what is chosen, or why there is none."""
        tools, found = self._tools, self.found(note)
        choice = _choice(found, view)
        if choice is None:
            return self.saying(note, _why_no_choice(found), again=again(found))
        firing = tools.deeds.firing(choice.widest.matchers)
        known = silence.Known(firing=firing, past=self._past(choice))
        return silence.preview(choice, known, note, tools.now())

    def _follow(self, event: Event, note: Note) -> None:
        """Show what the newest choice means; an older one that comes late changes nothing."""
        view, newest = event.view, self._newest
        if not newest.is_newest(event):
            return
        made = self._preview(view, note)
        hash = str(view.get("hash") or "")
        if not self._tools.update_view(view, made, hash=hash) and newest.is_newest(event):
            self._tools.update_view(view, made)


class _Newest:
    """The newest choice in each form that this process has seen. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at: OrderedDict[str, float] = OrderedDict()

    def is_newest(self, event: Event) -> bool:
        """Whether no later choice in that form is known."""
        id = str(event.view.get("id"))
        with self._lock:
            newest = max(event.at, self._at.pop(id, 0.0))
            self._at[id] = newest
            while len(self._at) > _FOLLOWED:
                self._at.popitem(last=False)
            return event.at >= newest


def _end_told(outcome: Told[bool] | Gone | Silent | Late) -> str:
    """What is said of the end of a silence."""
    if isinstance(outcome, Told):
        return ENDED if outcome.value else ENDED_BEFORE
    if isinstance(outcome, Gone):
        return NO_SILENCE
    return NOT_YET if isinstance(outcome, Late) else NOT_RECORDED


def _choice(found: Found, view: View) -> silence.Choice | None:
    if not isinstance(found, Told) or found.value is None or not found.value.firing:
        return None
    return silence.Choice.of(found.value, sheet.chosen(view, SCOPE), sheet.chosen(view, HOURS))


def _why_no_choice(found: Found) -> str:
    if isinstance(found, Told) and found.value is not None:
        return NOTHING_FIRES
    return missing(found)


def _recorded(wished: Wish, incident: str) -> str:
    lasting = duration(wished.hours * 3600)
    return (
        f"Recorded: silence for {lasting}. The message of {incident} says so as soon as "
        "Alertmanager has it."
    )
