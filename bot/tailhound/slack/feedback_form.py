"""*Wrong? Tell us the cause*: the form opened, sent, stored."""

from typing import Final

from slack_bolt import Ack, BoltRequest

from tailhound.durable.acts import Click, Person
from tailhound.slack.actions import FEEDBACK_FORM, RATING
from tailhound.slack.events import Event
from tailhound.slack.forms import Form, again, errors, missing
from tailhound.slack.modals import feedback, sheet
from tailhound.slack.modals.sheet import Note, View
from tailhound.slack.presses import NOT_OURS
from tailhound.slack.promptly import Told

_SAVED: Final = "Saved. The message of {} shows it to everybody; you can change it for 30 days."


class FeedbackForm(Form):
    """Anybody from here may say what it was; the newest word of each person counts."""

    callback = FEEDBACK_FORM

    def button_pressed(self, ack: Ack, req: BoltRequest) -> None:
        """Open it."""
        self.pressed(ack, Event.of(req), self._open)

    def try_again(self, event: Event) -> None:
        """Fill it once more."""
        note = self.note(event)
        if note is not None:
            self.show(event.view, self._form(note))

    def form_sent(self, ack: Ack, req: BoltRequest) -> None:
        """Stored first, then acknowledged."""
        event = Event.of(req)
        opened = self.sent(event)
        if opened is None:
            ack(errors({RATING: NOT_OURS}))
            return
        tools, note = self._tools, opened.note
        found = self.found(note)
        if not isinstance(found, Told) or found.value is None:
            ack(errors({RATING: missing(found)}))
            return
        said = feedback.word(event.view, found.value, tools.deeds.runbooks)
        if isinstance(said, dict):
            ack(errors(said))
            return
        click = Click(note.incident, opened.person, event.envelope)
        if self.stored(ack, lambda: tools.deeds.rate(click, said), RATING):
            where, text = (note.channel, note.thread), _SAVED.format(note.incident)
            self.begin(event, lambda: tools.whisper_in(where, opened.person, text))

    def _open(self, event: Event, _person: Person, incident: str) -> None:
        note = Note(incident=incident, channel=event.channel, thread=event.thread)
        loading = sheet.said(feedback.frame(note), feedback.LOADING)
        opened = self._tools.open_view(event, loading)
        if opened is not None:
            self.show(opened, self._form(note))

    def _form(self, note: Note) -> View:
        """The form, or why there is none."""
        found = self.found(note)
        if isinstance(found, Told) and found.value is not None:
            return feedback.form(found.value, self._tools.deeds.runbooks, note)
        return sheet.said(feedback.frame(note), missing(found), again=again(found))
