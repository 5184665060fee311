"""*Silence…*: the form opened, its counts following each choice, sent, stored."""

import threading
from collections import OrderedDict
from typing import Final

from slack_bolt import Ack, BoltRequest

from tailhound.durable.acts import Click, Person
from tailhound.durable.silences import Wish
from tailhound.model.wording import duration
from tailhound.slack.actions import HOURS, NOTE, SCOPE, SILENCE_FORM
from tailhound.slack.events import Event
from tailhound.slack.forms import STORE_SILENT, Form, Found, again, errors, missing
from tailhound.slack.modals import sheet, silence
from tailhound.slack.modals.sheet import Note, View
from tailhound.slack.presses import NOT_OURS
from tailhound.slack.promptly import Told
from tailhound.slack.tools import Tools

NO_ALERTMANAGER: Final = (
    "No Alertmanager is configured here, so nothing can be silenced: set alertmanager.url."
)
NOTHING_FIRES: Final = "No alert of it fires any more: there is nothing to silence."
ENDED: Final = "Recorded: the silence ends; the message tells it."
_FOLLOWED: Final = 1_000


class SilenceForm(Form):
    """Full members of the workspace may silence. The form always shows what it would mute."""

    callback = SILENCE_FORM

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
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
        frame = silence.frame(note)
        opened = tools.open_view(event, sheet.said(frame, silence.LOADING))
        if opened is None:
            return
        why_not = tools.people.why_no_member(person)
        self.show(opened, sheet.said(frame, why_not) if why_not else self._preview({}, note))

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
        """*End it now*, of a silence that holds."""
        event = Event.of(req)
        opened = self.sent(event)
        text = self._ended(event, opened.person, opened.note) if opened else NOT_OURS
        ack()
        if opened is not None:
            self._tools.update_view(event.view, sheet.said(silence.frame(opened.note), text))

    def _ended(self, event: Event, person: Person, note: Note) -> str:
        tools = self._tools
        why_not = tools.people.why_no_member(person)
        if why_not:
            return why_not
        click = Click(note.incident, person, event.envelope)
        outcome = tools.store.ask(lambda: tools.deeds.end_silence(click, event.value))
        if not isinstance(outcome, Told):
            return STORE_SILENT
        return ENDED if outcome.value else "That silence has ended already."

    def form_sent(self, ack: Ack, req: BoltRequest) -> None:
        """Stored first, then acknowledged. One form sets one silence, however often it is sent."""
        event = Event.of(req)
        opened = self.sent(event)
        if opened is None:
            ack(errors({NOTE: NOT_OURS}))
            return
        wished = self._wish(event, opened.person, opened.note)
        if isinstance(wished, dict):
            ack(errors(wished))
            if silence.CHANGED in wished.values():
                self.begin(event, lambda: self._follow(event, opened.note))
            return
        tools, note = self._tools, opened.note
        click = Click(note.incident, opened.person, f"view:{opened.view['id']}"[:200])
        if self.stored(ack, lambda: tools.deeds.silence(click, wished), NOTE):
            where, text = (note.channel, note.thread), _recorded(wished, note)
            self.begin(event, lambda: tools.whisper_in(where, opened.person, text))

    def _wish(self, event: Event, person: Person, note: Note) -> Wish | dict[str, str]:
        why_not = self._tools.people.why_no_member(person)
        if why_not:
            return {NOTE: why_not}
        found = self.found(note)
        choice = _choice(found, event.view)
        if choice is None:
            return {NOTE: _why_no_choice(found)}
        return silence.wish(event.view, choice, note)

    def _preview(self, view: View, note: Note) -> View:
        """The form for what is chosen, or why there is none."""
        tools, found = self._tools, self.found(note)
        choice = _choice(found, view)
        if choice is None:
            return sheet.said(silence.frame(note), _why_no_choice(found), again=again(found))
        firing = tools.deeds.firing(choice.widest.matchers)
        past = tools.store.ask(lambda: tools.deeds.past(choice.scope.matchers))
        known = silence.Known(firing=firing, past=past.value if isinstance(past, Told) else None)
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


def _choice(found: Found, view: View) -> silence.Choice | None:
    if not isinstance(found, Told) or found.value is None or not found.value.firing:
        return None
    return silence.Choice.of(found.value, sheet.chosen(view, SCOPE), sheet.chosen(view, HOURS))


def _why_no_choice(found: Found) -> str:
    if isinstance(found, Told) and found.value is not None:
        return NOTHING_FIRES
    return missing(found)


def _recorded(wished: Wish, note: Note) -> str:
    lasting = duration(wished.hours * 3600)
    return (
        f"Recorded: silence for {lasting}. The message of {note.incident} says so as soon as "
        "Alertmanager has it."
    )
